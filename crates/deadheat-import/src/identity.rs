//! Identifies a benchmark of another tool by its name, package, parameters and so on.

use std::borrow::Cow;
use std::fmt;

/// The full identity of a benchmark. The displayed name of the benchmark contains only those parts
/// that a comparison needs. The identity is empty if the tool's own names identify benchmarks
/// completely.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Identity {
    /// The base name of the benchmark, without qualifiers.
    pub base: String,
    /// Package, mode, parameters and so on, in the order in which the name shows them.
    pub qualifiers: Vec<Qualifier>,
}

/// A part of an identity in addition to the base name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Qualifier {
    /// The name of the qualifier: `package`, `mode`, or the name of a parameter.
    pub key: Cow<'static, str>,
    /// The value of the qualifier.
    pub value: String,
    /// The place of the qualifier in the name.
    pub place: QualifierPlace,
    /// The condition under which the name shows the qualifier.
    pub shown: QualifierShown,
}

/// The place of a qualifier in a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum QualifierPlace {
    /// In front of the base name: `package.name`.
    Package,
    /// After a slash: `name/contender`.
    Contender,
    /// `name-8`, the suffix with which Go shows the number of threads.
    Suffix,
    /// After a colon: `name:mode`.
    Mode,
    /// `name (key=value)`: a parameter of the benchmark.
    Parameter,
    /// `name (key=value)` after the parameters: a setting of the tool.
    Setting,
    /// In brackets: `name [key=value]`.
    Brackets,
}

/// The condition under which a name shows a qualifier. For all but the last variant, benchmarks
/// with different values measure different work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum QualifierShown {
    /// The name always shows the qualifier, unless the qualifier differs only between sides.
    Always,
    /// The name shows the qualifier if benchmarks of one side differ in the qualifier.
    IfSideDiffers,
    /// The name shows the qualifier if benchmarks of one file differ in the qualifier. Two files
    /// with different values, such as those of two commits, may still measure the same work.
    IfFileDiffers,
}

impl Identity {
    /// Returns an identity without qualifiers.
    pub fn new(base: impl Into<String>) -> Self {
        Self {
            base: base.into(),
            qualifiers: Vec::new(),
        }
    }

    /// Adds a qualifier.
    pub fn with(
        mut self,
        key: impl Into<Cow<'static, str>>,
        value: impl Into<String>,
        place: QualifierPlace,
        shown: QualifierShown,
    ) -> Self {
        self.qualifiers.push(Qualifier {
            key: key.into(),
            value: value.into(),
            place,
            shown,
        });
        self
    }

    /// Returns true if the identity has neither a base name nor qualifiers.
    pub(crate) fn is_empty(&self) -> bool {
        self.base.is_empty() && self.qualifiers.is_empty()
    }

    /// Returns the name with the qualifiers for which `shows` returns true.
    pub(crate) fn name(&self, shows: impl Fn(&Qualifier) -> bool) -> String {
        let mut name = self.base.clone();
        let (mut parameters, mut brackets) = (Vec::new(), Vec::new());
        for one in self.qualifiers.iter().filter(|one| shows(one)) {
            let value = &one.value;
            match one.place {
                QualifierPlace::Package => name = format!("{value}.{name}"),
                QualifierPlace::Contender => name = format!("{name}/{value}"),
                QualifierPlace::Suffix if value.is_empty() => {}
                QualifierPlace::Suffix => name = format!("{name}-{value}"),
                QualifierPlace::Mode => name = format!("{name}:{value}"),
                QualifierPlace::Parameter | QualifierPlace::Setting => {
                    parameters.push(one.to_string())
                }
                QualifierPlace::Brackets => brackets.push(one.to_string()),
            }
        }
        if !parameters.is_empty() {
            name = format!("{name} ({})", parameters.join(", "));
        }
        if !brackets.is_empty() {
            name = format!("{name} [{}]", brackets.join(", "));
        }
        name
    }
}

impl Qualifier {
    /// Returns true if both qualifiers have the same key and the same place.
    pub fn is_of_kind(&self, other: &Qualifier) -> bool {
        self.place == other.place && self.key == other.key
    }

    /// Returns true if benchmarks that differ in this qualifier measure different work.
    pub fn binds(&self) -> bool {
        self.shown < QualifierShown::IfFileDiffers
    }
}

impl fmt::Display for Qualifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.key {
            "" => f.write_str(&self.value),
            key => write!(f, "{key}={}", self.value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_qualifier_has_its_place_in_the_name() {
        let always = QualifierShown::Always;
        let identity = Identity::new("Sort")
            .with("package", "a/b", QualifierPlace::Package, always)
            .with("threads", "8", QualifierPlace::Suffix, always)
            .with("mode", "avgt", QualifierPlace::Mode, always)
            .with("n", "3", QualifierPlace::Parameter, always)
            .with("", "quick", QualifierPlace::Parameter, always)
            .with("job", "Server", QualifierPlace::Setting, always)
            .with("branch", "main", QualifierPlace::Brackets, always);
        assert_eq!(
            identity.name(|_| true),
            "a/b.Sort-8:avgt (n=3, quick, job=Server) [branch=main]"
        );
        assert_eq!(identity.name(|one| one.key == "mode"), "Sort:avgt");
        assert_eq!(identity.name(|_| false), "Sort");
        let alone = Identity::new("Sort").with("threads", "", QualifierPlace::Suffix, always);
        assert_eq!(alone.name(|_| true), "Sort");
        let contender =
            Identity::new("Sort").with("contender", "x", QualifierPlace::Contender, always);
        assert_eq!(contender.name(|_| true), "Sort/x");
    }
}
