//! Rules of a project for its benchmarks, as written in `deadheat.toml`, with their conditions and
//! patterns. Also the result of a gate for a comparison: the broken rule, and the reason why it may
//! be excused.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use crate::quantities::Day;
use crate::race_settings::RaceSettings;
use crate::setting_values::FailOn;

/// The contents of a rules file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RulesFile {
    /// Path of the file.
    pub path: PathBuf,
    /// The settings for every benchmark.
    pub all: RaceSettings,
    /// Patterns of the benchmarks to race or judge; all benchmarks if empty.
    pub include: Vec<Glob>,
    /// Patterns of the benchmarks to exclude.
    pub exclude: Vec<Glob>,
    /// Rules for some benchmarks, in the order of the file.
    pub some: Vec<RulesOfSome>,
    /// Exceptions that allow rules to be broken for now, in the order of the file.
    pub ignores: Vec<Ignore>,
}

/// Rules for the benchmarks that match a pattern.
#[derive(Clone, Debug, PartialEq)]
pub struct RulesOfSome {
    /// The pattern for the names of the benchmarks.
    pub name: Glob,
    /// The settings for these benchmarks.
    pub rules: RaceSettings,
}

impl RulesOfSome {
    /// Returns the rules for one benchmark. If several patterns match its name, the last one wins,
    /// key by key.
    pub fn of(some: &[RulesOfSome], benchmark: &str) -> RaceSettings {
        let fitting = some.iter().filter(|some| some.name.fits(benchmark));
        fitting.fold(RaceSettings::default(), |found, some| {
            some.rules.clone().or(&found)
        })
    }
}

/// An exception that allows a rule to be broken for now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ignore {
    /// Pattern of the benchmarks that the exception applies to.
    pub name: Glob,
    /// The reason for the exception.
    pub reason: String,
    /// The last day of the exception; `None` if it does not expire.
    pub until: Option<Day>,
    /// The only rule that the exception excuses; `None` for all rules.
    pub rule: Option<FailOn>,
    /// The line of the file at which the exception begins, counted from 1.
    pub line: u64,
}

/// A rule of `--fail-on` or of `deadheat.toml` that a comparison breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GateHit {
    /// The name of the rule, such as `slower`.
    pub rule: String,
    /// The exception that excuses the broken rule; `None` if there is none.
    pub excuse: Option<Excuse>,
    /// The reason why the evidence does not suffice to fail the run for this broken rule; `None` if
    /// it suffices.
    pub unproven: Option<Unproven>,
}

impl GateHit {
    /// Returns true if the run fails because of this broken rule.
    pub fn fails(&self) -> bool {
        self.excuse.is_none() && self.unproven.is_none()
    }
}

/// The reason why a benchmark whose verdict breaks a rule does not fail the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unproven {
    /// The slowdown is not significant after the correction for all benchmarks of the gate.
    SuiteLevel,
    /// A second race did not confirm the first.
    SecondRace,
}

impl Unproven {
    /// Returns the name used in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::SuiteLevel => "suite-level",
            Self::SecondRace => "second-race",
        }
    }
}

/// The comparisons of a run that share the α of a gate: the probability that the gate fails the run
/// by chance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SuiteLevel {
    /// Number of comparisons.
    pub comparisons: usize,
    /// Median, over the comparisons, of the relative slowdown that a comparison detects with 80%
    /// power at the corrected level; `None` if no standard error is known.
    pub detectable: Option<f64>,
}

/// The reason why a broken rule does not count for now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excuse {
    /// The reason written in the ignore list.
    pub reason: String,
    /// The last day of the exception, such as `2026-12-31`; `None` if it does not expire.
    pub until: Option<String>,
}

/// Results of the gates that do not belong to a single comparison.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gates {
    /// Names of the rules that apply to at least one benchmark; empty without rules.
    pub asked: Vec<String>,
    /// The rules file that was read.
    pub config: Option<String>,
    /// The comparisons that share the α of the rule `slower`; `None` for a single comparison.
    pub suite: Option<SuiteLevel>,
    /// True if there are rules, but they could not judge any benchmark.
    pub judged_nothing: bool,
    /// True if the user accepts that no benchmark could be judged.
    pub allows_unjudged: bool,
    /// Entries of the ignore list that excuse nothing, in the order of the file.
    pub idle: Vec<IdleIgnore>,
}

/// An entry of an ignore list that excuses nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdleIgnore {
    /// Pattern of the benchmarks that the entry is for, as written.
    pub name: String,
    /// Name of the only rule that the entry excuses; `None` for all rules.
    pub rule: Option<String>,
    /// The line of the rules file at which the entry begins, counted from 1.
    pub line: u64,
    /// The reason why the entry excuses nothing.
    pub why: Idle,
}

/// The reason why an entry of an ignore list excuses nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Idle {
    /// No judged benchmark matches the pattern.
    NoBenchmark,
    /// The matching benchmarks do not break any rule that the entry excuses.
    NothingBroken,
    /// The last day of the entry is over, so broken rules fail the run again.
    Expired {
        /// The last day of the entry, such as `2026-12-31`.
        until: String,
        /// True if a rule that the entry excused is broken.
        broken: bool,
    },
}

/// A pattern for the whole name of a benchmark. `*` matches any number of characters, including
/// none and slashes, `?` matches one character. All other characters match themselves, including
/// brackets, because names such as `test[1]` contain them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glob {
    pattern: String,
    wildcards: Wildcards,
    /// The length in bytes of the shortest name that can match. Searching a name for a part that is
    /// longer than the name would take time proportional to the part.
    shortest: usize,
}

/// The wildcards in a pattern. They are found once, because thousands of patterns may be compared
/// with thousands of names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wildcards {
    None,
    Stars,
    QuestionMarks,
}

impl Glob {
    /// Returns a pattern with this text. Every text is a valid pattern.
    pub fn new(pattern: impl Into<String>) -> Self {
        let pattern = pattern.into();
        let wildcards = match (pattern.contains('?'), pattern.contains('*')) {
            (true, _) => Wildcards::QuestionMarks,
            (_, true) => Wildcards::Stars,
            _ => Wildcards::None,
        };
        let stars = pattern.matches('*').count();
        Self {
            shortest: pattern.len() - stars,
            pattern,
            wildcards,
        }
    }

    /// Returns the pattern as written.
    pub fn pattern(&self) -> &str {
        &self.pattern
    }

    /// Returns true if the pattern matches the whole name.
    pub fn fits(&self, name: &str) -> bool {
        match self.wildcards {
            _ if name.len() < self.shortest => false,
            Wildcards::None => self.pattern == name,
            Wildcards::Stars => self.fits_by_parts(name),
            Wildcards::QuestionMarks => self.fits_by_characters(name),
        }
    }

    /// Matches a pattern without `?`, in time proportional to the sum of both lengths.
    fn fits_by_parts(&self, name: &str) -> bool {
        let Some((head, rest)) = self.pattern.split_once('*') else {
            return self.pattern == name;
        };
        let (middle, tail) = rest.rsplit_once('*').unwrap_or(("", rest));
        let Some(mut name) = name.strip_prefix(head) else {
            return false;
        };
        // The first match of each part is the best, because it leaves the most text to the next
        // part.
        for part in middle.split('*') {
            let Some(at) = name.find(part) else {
                return false;
            };
            name = &name[at + part.len()..];
        }
        name.ends_with(tail)
    }

    /// Like [`Glob::fits_by_parts`], but for a pattern with `?`. The time is proportional to the
    /// sum of both lengths unless a part has more than 128 characters.
    fn fits_by_characters(&self, name: &str) -> bool {
        let name: Vec<char> = name.chars().collect();
        let characters = |text: &str| text.chars().collect::<Vec<char>>();
        let Some((head, rest)) = self.pattern.split_once('*') else {
            return fits_part(&characters(&self.pattern), &name);
        };
        let (middle, tail) = rest.rsplit_once('*').unwrap_or(("", rest));
        let (head, tail) = (characters(head), characters(tail));
        let Some((start, mut name)) = name.split_at_checked(head.len()) else {
            return false;
        };
        if !fits_part(&head, start) {
            return false;
        }
        for part in middle.split('*') {
            let Some(end) = end_of_part(&characters(part), name) else {
                return false;
            };
            name = &name[end..];
        }
        let end = name.len().checked_sub(tail.len());
        end.is_some_and(|end| fits_part(&tail, &name[end..]))
    }
}

/// Returns true if a part of a pattern without `*` matches the whole text.
fn fits_part(part: &[char], text: &[char]) -> bool {
    let mut pairs = part.iter().zip(text);
    part.len() == text.len() && pairs.all(|(one, found)| *one == '?' || one == found)
}

/// Returns the place in `text` at which the first match of `part` ends.
fn end_of_part(part: &[char], text: &[char]) -> Option<usize> {
    let Some(last) = part.len().checked_sub(1) else {
        return Some(0);
    };
    if part.len() > text.len() {
        return None;
    }
    if part.len() > u128::BITS as usize {
        let mut windows = text.windows(part.len());
        return Some(windows.position(|window| fits_part(part, window))? + part.len());
    }
    // Shift-and search: bit n of `open` is set if the text read so far ends with a match of the
    // first n + 1 characters of the part. ASCII characters have a table, because this lookup takes
    // most of the time for long names.
    let (mut ascii, mut others) = ([0_u128; 128], BTreeMap::new());
    for (at, one) in part.iter().enumerate() {
        *match ascii.get_mut(*one as usize) {
            Some(places) => places,
            None => others.entry(*one).or_default(),
        } |= 1 << at;
    }
    let any = ascii[usize::from(b'?')];
    let mut open = 0_u128;
    for (at, found) in text.iter().enumerate() {
        let places = ascii.get(*found as usize).or_else(|| others.get(found));
        let fitting = places.copied().unwrap_or(0) | any;
        open = (open << 1 | 1) & fitting;
        if open >> last & 1 == 1 {
            return Some(at + 1);
        }
    }
    None
}

impl fmt::Display for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.pattern)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn some(name: &str, margin: Option<f64>, alpha: Option<f64>) -> RulesOfSome {
        RulesOfSome {
            name: Glob::new(name),
            rules: RaceSettings {
                margin,
                alpha,
                ..RaceSettings::default()
            },
        }
    }

    #[test]
    fn the_last_that_fits_wins_key_by_key() {
        let list = [
            some("parse/*", Some(0.05), Some(0.01)),
            some("parse/json", Some(0.02), None),
            some("sort", Some(0.5), None),
        ];
        let of = |name| RulesOfSome::of(&list, name);
        assert_eq!(
            (of("parse/json").margin, of("parse/json").alpha),
            (Some(0.02), Some(0.01))
        );
        assert_eq!(of("parse/xml").margin, Some(0.05));
        assert_eq!(of("hash"), RaceSettings::default());
    }

    #[test]
    fn a_star_takes_anything_and_a_question_mark_one_character() {
        for (pattern, fitting, other) in [
            (
                "parse/*",
                vec!["parse/json", "parse/", "parse/a/b"],
                vec!["parse", "reparse/x"],
            ),
            ("*", vec!["", "anything at all"], vec![]),
            ("sort", vec!["sort"], vec!["sort ", "Sort", "sorted", ""]),
            ("n=?", vec!["n=1", "n=ü"], vec!["n=", "n=10"]),
            ("*a*b", vec!["ab", "xaxaxb", "a*b"], vec!["ba", "abc"]),
            ("test[1]", vec!["test[1]"], vec!["test1"]),
            ("", vec![""], vec!["a"]),
            ("a**", vec!["a", "ab"], vec!["b"]),
            ("a?c*", vec!["abc", "a?cd"], vec!["ac", "abd", ""]),
            ("*x?z*??", vec!["xyzab", "xxyz--xyzab"], vec!["xyza", "xz"]),
        ] {
            let glob = Glob::new(pattern);
            for name in fitting {
                assert!(glob.fits(name), "{pattern} fits '{name}'");
            }
            for name in other {
                assert!(!glob.fits(name), "{pattern} does not fit '{name}'");
            }
        }
    }

    /// Returns true if the pattern matches; tries every possible length of each `*`.
    fn fits_in_any_way(pattern: &[char], name: &[char]) -> bool {
        match pattern.split_first() {
            None => name.is_empty(),
            Some(('*', rest)) => (0..=name.len()).any(|at| fits_in_any_way(rest, &name[at..])),
            Some((one, rest)) => name.split_first().is_some_and(|(found, name)| {
                (*one == '?' || one == found) && fits_in_any_way(rest, name)
            }),
        }
    }

    proptest! {
        #[test]
        fn both_ways_to_match_agree_with_trying_all(
            pattern in "[ab*?]{0,8}",
            name in "[abü]{0,10}",
        ) {
            let characters = |text: &str| text.chars().collect::<Vec<char>>();
            let expected = fits_in_any_way(&characters(&pattern), &characters(&name));
            let has_question_mark = pattern.contains('?');
            let glob = Glob::new(pattern);
            prop_assert_eq!(glob.fits_by_characters(&name), expected);
            prop_assert!(has_question_mark || glob.fits_by_parts(&name) == expected);
        }
    }

    #[test]
    fn a_part_of_any_length_is_found() {
        for length in [1, 127, 128, 129, 200] {
            let part = "a".repeat(length - 1) + "?";
            let glob = Glob::new(format!("*{part}*b"));
            assert!(
                glob.fits(&("xa".to_owned() + &"a".repeat(length) + "b")),
                "{length}"
            );
            assert!(!glob.fits(&("a".repeat(length - 1) + "b")), "{length}");
        }
    }

    #[test]
    fn a_pattern_of_many_stars_is_answered_before_long() {
        let glob = Glob::new("*a".repeat(200));
        assert!(!glob.fits(&"a".repeat(199)));
        assert!(glob.fits(&"ab".repeat(5_000).replace("ab", "ba")));
    }

    #[test]
    fn a_name_shorter_than_the_pattern_does_not_fit() {
        for pattern in ["abc*", "*abc*", "a*b?", "??*?"] {
            let glob = Glob::new(pattern);
            assert!(!glob.fits("ab"), "{pattern}");
            assert!(glob.fits("abc"), "{pattern}");
        }
        assert!(Glob::new("*ä*").fits("ä") && Glob::new("?").fits("ä"));
    }
}
