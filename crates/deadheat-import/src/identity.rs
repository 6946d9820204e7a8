//! What tells a benchmark of another tool apart from every other one.

use std::borrow::Cow;
use std::fmt;

/// The whole identity of a benchmark, of which its name shows as much as a comparison needs. A tool
/// whose names are whole leaves it empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Identity {
    /// The name without its qualifiers.
    pub base: String,
    /// Package, mode, parameters and so on, in the order in which a name shows them.
    pub qualifiers: Vec<Qualifier>,
}

/// One part of an identity beside the base.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Qualifier {
    /// The word for it: `package`, `mode`, or the name of a parameter.
    pub key: Cow<'static, str>,
    /// Its value.
    pub value: String,
    /// Where the name shows it.
    pub place: QualifierPlace,
    /// When the name shows it.
    pub shown: QualifierShown,
}

/// The place of a qualifier in a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum QualifierPlace {
    /// `package.name`.
    Package,
    /// `name/contender`.
    Contender,
    /// `name-8`, as Go shows threads.
    Suffix,
    /// `name:mode`.
    Mode,
    /// `name (key=value)`, a parameter of the benchmark.
    Parameter,
    /// `name (key=value)`, behind the parameters: a setting of the tool.
    Setting,
    /// `name [key=value]`.
    Brackets,
}

/// When a qualifier is part of a name, from the strongest binding to the weakest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum QualifierShown {
    /// Always, unless it differs only between sides.
    Always,
    /// If benchmarks of one side differ in it.
    IfSideDiffers,
    /// If benchmarks of one file differ in it. Two files that differ in it may hold the same work, as
    /// those of two commits do.
    IfFileDiffers,
}

impl Identity {
    /// An identity without qualifiers.
    pub fn new(base: impl Into<String>) -> Self {
        Self {
            base: base.into(),
            qualifiers: Vec::new(),
        }
    }

    /// The same with one more qualifier.
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

    /// Returns true if the name is all there is.
    pub(crate) fn is_empty(&self) -> bool {
        self.base.is_empty() && self.qualifiers.is_empty()
    }

    /// Returns this identity's qualifier that has the same key and place as `other`.
    pub(crate) fn alike(&self, other: &Qualifier) -> Option<&Qualifier> {
        self.qualifiers.iter().find(|own| own.is_of_kind(other))
    }

    /// The name that shows these qualifiers.
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
    /// Returns true if both have the same key in the same place.
    pub fn is_of_kind(&self, other: &Qualifier) -> bool {
        self.place == other.place && self.key == other.key
    }

    /// Returns true if benchmarks that differ in it are not the same work.
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
