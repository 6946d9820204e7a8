//! The meaning of the values of settings, wherever they were written: on a command line, in the
//! arguments of a benchmark, in the environment.
//!
//! Every reader takes the text as it was typed and answers with the value or
//! with a sentence for whoever typed it.

#[cfg(feature = "commands")]
mod program;

use deadheat_model::Glob;

pub use crate::repetition::random_seed;
pub use crate::terminal::Color;
pub use deadheat_model::{
    FailOn, Front, Placement, RaceSettings, Setting, TimeLimit, ValueKind, duration, fraction,
};
#[cfg(feature = "commands")]
pub use program::{is_program, program};

/// The benchmarks that the command line selects, by their names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// A benchmark is meant when its name contains one of these, or always
    /// when there are none.
    pub filters: Vec<String>,
    /// It is not meant when its name contains one of these.
    pub skips: Vec<String>,
    /// Names must be equal, not contain.
    pub exact: bool,
    /// The treatment of ignored ones.
    pub ignored: Ignored,
    /// Of all this, what a rules file includes; everything when there is none.
    pub include: Vec<Glob>,
    /// And what it excludes.
    pub exclude: Vec<Glob>,
}

/// The treatment of benchmarks that are marked as ignored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ignored {
    /// They are left out.
    #[default]
    Out,
    /// Only they are meant.
    Only,
    /// They are treated as all others.
    In,
}

impl Selection {
    /// Returns true if the name is meant.
    pub fn names(&self, name: &str) -> bool {
        self.names_any(&[name])
    }

    /// Returns true if what goes by all these names is meant: any of them may match a filter, and
    /// none may be skipped.
    pub fn names_any(&self, names: &[&str]) -> bool {
        let matches = |pattern: &String| {
            names.iter().any(|name| {
                if self.exact {
                    name == pattern
                } else {
                    name.contains(pattern.as_str())
                }
            })
        };
        let fits = |glob: &Glob| names.iter().any(|name| glob.fits(name));
        (self.filters.is_empty() || self.filters.iter().any(matches))
            && !self.skips.iter().any(matches)
            && (self.include.is_empty() || self.include.iter().any(fits))
            && !self.exclude.iter().any(fits)
    }

    /// Returns true if a benchmark with such a mark is run, if its name is meant.
    pub fn runs(&self, ignored: bool) -> bool {
        match self.ignored {
            Ignored::Out => !ignored,
            Ignored::Only => ignored,
            Ignored::In => true,
        }
    }

    /// Returns true if it is listed, if its name is meant: `--list` shows ignored ones too, and
    /// with `--ignored` only them.
    pub fn lists(&self, ignored: bool) -> bool {
        self.ignored != Ignored::Only || ignored
    }
}

/// Says that nothing is selected, and what could be.
pub fn nothing_selected<N: AsRef<str>>(names: &[N]) -> String {
    const SHOWN: usize = 10;
    let (shown, more) = names.split_at(names.len().min(SHOWN));
    let shown: Vec<&str> = shown.iter().map(N::as_ref).collect();
    let mut text = format!("no benchmark is selected; there are {}", shown.join(", "));
    if !more.is_empty() {
        text += &format!(" and {} more (--list)", more.len());
    }
    text
}

/// Makes every name the only one of its kind: the second `true` of an A/A
/// race becomes `true (2)`.
pub(crate) fn distinct(names: Vec<String>) -> Vec<String> {
    let mut taken: Vec<String> = Vec::with_capacity(names.len());
    for name in &names {
        let mut unique = name.clone();
        let mut number = 2;
        while taken.contains(&unique) || (unique != *name && names.contains(&unique)) {
            unique = format!("{name} ({number})");
            number += 1;
        }
        taken.push(unique);
    }
    taken
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
            ..Selection::default()
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
    fn what_is_excluded_is_out_even_when_it_is_included() {
        let globs = |include: &[&str], exclude: &[&str]| Selection {
            include: include.iter().copied().map(Glob::new).collect(),
            exclude: exclude.iter().copied().map(Glob::new).collect(),
            ..Selection::default()
        };
        assert!(globs(&[], &[]).names("sort"));
        assert!(!globs(&["parse/*"], &[]).names("sort"));
        assert!(globs(&["parse/*"], &["*/slow"]).names("parse/json"));
        assert!(!globs(&["parse/*"], &["*/slow"]).names("parse/slow"));
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

    #[test]
    fn of_several_names_one_that_matches_is_enough_and_one_that_is_skipped_too_much() {
        let names = ["sum", "sum (loop)"];
        assert!(selection(&["sum"], &[], true).names_any(&names));
        assert!(selection(&["sum (loop)"], &[], true).names_any(&names));
        assert!(!selection(&["loop"], &[], true).names_any(&names));
        assert!(!selection(&["sum"], &["loop"], false).names_any(&names));
    }

    #[test]
    fn ignored_ones_run_when_somebody_asks_for_them() {
        let marked = |ignored| {
            let selection = Selection {
                ignored,
                ..Selection::default()
            };
            [true, false].map(|mark| (selection.runs(mark), selection.lists(mark)))
        };
        assert_eq!(marked(Ignored::Out), [(false, true), (true, true)]);
        assert_eq!(marked(Ignored::Only), [(true, true), (false, false)]);
        assert_eq!(marked(Ignored::In), [(true, true), (true, true)]);
    }

    #[test]
    fn the_same_name_twice_is_numbered_and_others_are_left_alone() {
        let names = ["a", "b", "a", "a (2)", "a"].map(str::to_owned).to_vec();
        assert_eq!(distinct(names), ["a", "b", "a (3)", "a (2)", "a (4)"]);
    }
}
