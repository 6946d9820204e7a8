//! Which benchmarks of a suite are meant, in the manner of libtest.

use crate::suite::Registered;

/// What the command line says about names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Selection {
    /// A benchmark is meant when its name contains one of these, or always
    /// when there are none.
    pub(super) filters: Vec<String>,
    /// It is not meant when its name contains one of these.
    pub(super) skips: Vec<String>,
    /// Names must be equal, not contain.
    pub(super) exact: bool,
    /// What becomes of ignored ones.
    pub(super) ignored: Ignored,
}

/// What becomes of benchmarks that are marked as ignored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Ignored {
    /// They are left out.
    #[default]
    Out,
    /// Only they are meant.
    Only,
    /// They are treated as all others.
    In,
}

impl Selection {
    /// Whether the name is meant.
    pub(super) fn names(&self, name: &str) -> bool {
        let matches = |pattern: &String| match self.exact {
            true => name == pattern,
            false => name.contains(pattern.as_str()),
        };
        (self.filters.is_empty() || self.filters.iter().any(matches))
            && !self.skips.iter().any(matches)
    }

    /// Whether the benchmark is run.
    pub(super) fn runs(&self, benchmark: &Registered) -> bool {
        self.names(&benchmark.name)
            && match self.ignored {
                Ignored::Out => !benchmark.ignored,
                Ignored::Only => benchmark.ignored,
                Ignored::In => true,
            }
    }

    /// Whether the benchmark is listed: `--list` shows ignored ones too, and
    /// with `--ignored` only them.
    pub(super) fn lists(&self, benchmark: &Registered) -> bool {
        self.names(&benchmark.name) && (self.ignored != Ignored::Only || benchmark.ignored)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selection(filters: &[&str], skips: &[&str], exact: bool) -> Selection {
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        Selection {
            filters: owned(filters),
            skips: owned(skips),
            exact,
            ignored: Ignored::Out,
        }
    }

    #[test]
    fn a_name_is_meant_when_it_contains_any_filter() {
        let some = selection(&["sort", "utf8"], &[], false);
        assert!(some.names("utf8/std") && some.names("quicksort"));
        assert!(!some.names("hash"));
        assert!(selection(&[], &[], false).names("anything"));
    }

    #[test]
    fn exact_means_equal() {
        let exact = selection(&["utf8"], &[], true);
        assert!(exact.names("utf8") && !exact.names("utf8/std"));
    }

    #[test]
    fn what_is_skipped_is_not_meant_even_when_it_is_named() {
        let some = selection(&["utf8"], &["rev"], false);
        assert!(some.names("utf8/std") && !some.names("utf8/rev"));
    }
}
