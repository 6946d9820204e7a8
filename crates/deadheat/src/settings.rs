//! Parses the values of settings, from a command line, the arguments of a benchmark, or the
//! environment.
//!
//! Every parser takes the text as the user typed it, and returns the value or an error message.

#[cfg(feature = "commands")]
#[cfg_attr(not(target_os = "linux"), path = "settings/program_elsewhere.rs")]
mod program;

use deadheat_model::{Glob, HELP};

pub use crate::repetition::random_seed;
pub use crate::terminal::Color;
pub use deadheat_model::{
    FailOn, Front, Placement, RaceSettings, Setting, TimeLimit, ValueKind, duration, fraction,
};
#[cfg(feature = "commands")]
pub use program::{is_program, program};

/// The filters that select benchmarks by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// A benchmark is selected only if its name [contains](has_part) any of these filters. An empty
    /// list matches all names.
    pub filters: Vec<String>,
    /// A benchmark is not selected if its name contains any of these filters.
    pub skips: Vec<String>,
    /// True if a name must equal a filter to match, and not only contain it.
    pub exact: bool,
    /// The treatment of ignored benchmarks.
    pub ignored: Ignored,
    /// Patterns of a rules file. A benchmark is selected only if it matches any of them. An empty
    /// list matches all benchmarks.
    pub include: Vec<Glob>,
    /// Patterns of a rules file. A benchmark is not selected if it matches any of them.
    pub exclude: Vec<Glob>,
}

/// The source of a plan (made for this race, or saved before), and whether to race it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PlanUse {
    /// The plan is raced as soon as it is frozen.
    #[default]
    Race,
    /// The plan is saved and not raced, for other machines or another time.
    Save,
    /// The plan was saved before. It is raced without calibration runs, and is not changed.
    Saved,
}

/// The treatment of benchmarks that are marked as ignored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ignored {
    /// Ignored benchmarks do not race.
    #[default]
    Out,
    /// Only ignored benchmarks race.
    Only,
    /// Ignored benchmarks race like all others.
    In,
}

impl Selection {
    /// Returns true if the filters select a benchmark with this name.
    pub fn names(&self, name: &str) -> bool {
        self.names_any(&[name])
    }

    /// Returns true if the filters select a benchmark by its name, or by its title in answers,
    /// which contains the parameters.
    pub fn names_with(&self, name: &str, parameters: &[(String, String)]) -> bool {
        self.names_any(&[name, &titled(name, parameters)])
    }

    /// Returns true if the filters select a benchmark with several names: at least one name must
    /// match, and no name may be excluded.
    pub fn names_any(&self, names: &[&str]) -> bool {
        let matches = |pattern: &String| {
            names.iter().any(|name| {
                if self.exact {
                    name == pattern
                } else {
                    has_part(name, pattern)
                }
            })
        };
        let fits = |glob: &Glob| names.iter().any(|name| glob.fits(name));
        (self.filters.is_empty() || self.filters.iter().any(matches))
            && !self.skips.iter().any(matches)
            && (self.include.is_empty() || self.include.iter().any(fits))
            && !self.exclude.iter().any(fits)
    }

    /// Returns true if a benchmark whose name is selected races. `ignored` is true if the benchmark
    /// is marked as ignored.
    pub fn runs(&self, ignored: bool) -> bool {
        match self.ignored {
            Ignored::Out => !ignored,
            Ignored::Only => ignored,
            Ignored::In => true,
        }
    }

    /// Returns true if `--list` shows a benchmark whose name is selected. `ignored` is true if the
    /// benchmark is marked as ignored; with `--ignored`, the list shows only such benchmarks.
    pub fn lists(&self, ignored: bool) -> bool {
        self.ignored != Ignored::Only || ignored
    }
}

/// Returns the name as reports print it, with the parameters that it does not contain: `sum
/// (length=10)`.
pub(crate) fn titled(name: &str, parameters: &[(String, String)]) -> String {
    let parameters = parameters.iter().map(|(key, value)| match key.as_str() {
        "" => value.clone(),
        key => format!("{key}={value}"),
    });
    let untold: Vec<String> = parameters.filter(|one| !name.contains(&**one)).collect();
    match untold.is_empty() {
        true => name.to_owned(),
        false => format!("{name} ({})", untold.join(", ")),
    }
}

/// Returns true if the name contains the filter, and the filter does not begin or end within a
/// number: `sort/1000` does not contain `sort/10`. A filter with `/`, `::` or `=` must not begin or
/// end within a word either: `parse/json/small` contains `parse/json`, but `parse/json5` does not.
fn has_part(name: &str, filter: &str) -> bool {
    let is_parts = ["/", "::", "="].iter().any(|sign| filter.contains(sign));
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    // Returns true if a word or number of the name continues beyond an end of the filter. `own` is
    // the last character of the filter at this end, and `beyond` has the characters of the name
    // after it.
    let goes_on = |own: Option<char>, beyond: &mut dyn Iterator<Item = char>| {
        let (Some(own), Some(next)) = (own, beyond.next()) else {
            return false;
        };
        let mut is_point = || next == '.' && beyond.next().is_some_and(|c| c.is_ascii_digit());
        (is_parts && is_word(own) && is_word(next))
            || (own.is_ascii_digit() && (next.is_ascii_digit() || is_point()))
    };
    let is_whole = |at: usize| {
        let (before, behind) = (&name[..at], &name[at + filter.len()..]);
        !goes_on(filter.chars().next(), &mut before.chars().rev())
            && !goes_on(filter.chars().next_back(), &mut behind.chars())
    };
    let places = name.char_indices().map(|(at, _)| at);
    filter.is_empty()
        || places
            .filter(|at| name[*at..].starts_with(filter))
            .any(is_whole)
}

/// Returns a message that these filters select no benchmark, with names that exist.
pub fn nothing_selected<N: AsRef<str>>(names: &[N], filters: &[String]) -> String {
    const SHOWN: usize = 10;
    let (shown, more) = names.split_at(names.len().min(SHOWN));
    let shown: Vec<&str> = shown.iter().map(N::as_ref).collect();
    let mut text = format!("no benchmark is selected; there are {}", shown.join(", "));
    if !more.is_empty() {
        text += &format!(" and {} more (--list)", more.len());
    }
    let is_regex = |filter: &&String| filter.contains(['^', '$', '|', '*', '\\', '(']);
    if let Some(filter) = filters.iter().find(is_regex) {
        text += &format!(
            "{HELP}'{filter}' looks like a regular expression, but a filter is part of a name; \
             several filters are separate words"
        );
    }
    text
}

/// Makes all names different by appending numbers: the second `true` in a race of `true` against
/// itself becomes `true (2)`.
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
    fn numbers_in_filters_are_whole() {
        let selects = |filter: &str, name: &str| selection(&[filter], &[], false).names(name);
        for (filter, name) in [
            ("by_if/10", "by_if/10"),
            ("by_if/10", "by_if/10/x"),
            ("10", "by_if/10-8"),
            ("10/10", "110/10/10"),
            ("n=3", "Sort/n=3-8"),
            ("sort", "sort_list"),
            ("sort", "quicksort10"),
            ("utf8", "utf8_lossy"),
            ("1.5", "x=1.5"),
            ("", "x"),
        ] {
            assert!(selects(filter, name), "{filter} {name}");
        }
        for (filter, name) in [
            ("by_if/10", "by_if/1000"),
            ("by_if/10", "by_if/110"),
            ("1024", "sort/10240"),
            ("1024", "sort/21024"),
            ("n=1", "sum (n=1.5)"),
            ("5", "sum (n=1.5)"),
        ] {
            assert!(!selects(filter, name), "{filter} {name}");
            let skips = selection(&[], &[filter], false);
            assert!(skips.names(name), "{filter} {name}");
        }
    }

    #[test]
    fn a_filter_with_a_separator_selects_whole_parts() {
        let selects = |filter: &str, name: &str| selection(&[filter], &[], false).names(name);
        for (filter, name) in [
            ("parse/json", "parse/json"),
            ("parse/json", "fast/parse/json/small"),
            ("parse/", "parse/json"),
            ("text::sum", "text::sum (loop)"),
            ("order=random", "sum (length=10, order=random)"),
        ] {
            assert!(selects(filter, name), "{filter} {name}");
        }
        for (filter, name) in [
            ("parse/json", "parse/json5"),
            ("parse/json", "parse/json_lines"),
            ("sort/fast", "quicksort/fast"),
            ("text::sum", "text::summary"),
            ("order=rand", "sum (order=random)"),
        ] {
            assert!(!selects(filter, name), "{filter} {name}");
        }
    }

    #[test]
    fn a_benchmark_is_selected_by_the_parameters_that_are_printed() {
        let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        let parameters = [pair("length", "10"), pair("", "fast")];
        let selects = |filter: &str, exact| {
            selection(&[filter], &[], exact).names_with("by_if/10", &parameters)
        };
        assert!(selects("length=10", false) && selects("fast", false));
        assert!(!selects("length=1", false));
        assert!(selects("by_if/10", true) && selects("by_if/10 (length=10, fast)", true));
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
