//! Rules that a project sets for its benchmarks, as `deadheat.toml` says them, the conditions and
//! patterns they are made of; and what a gate says of a comparison: the rule it breaks, and what
//! excuses it.

use std::fmt;
use std::path::PathBuf;

use crate::quantities::Day;
use crate::race_settings::RaceSettings;
use crate::setting_values::FailOn;

/// All that a rules file says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RulesFile {
    /// The file.
    pub path: PathBuf,
    /// The settings that hold for every benchmark.
    pub all: RaceSettings,
    /// Which benchmarks are raced or judged; all when there are none.
    pub include: Vec<Glob>,
    /// Which are not.
    pub exclude: Vec<Glob>,
    /// Rules of some benchmarks, in the order of the file.
    pub some: Vec<RulesOfSome>,
    /// Broken rules that do not fail the run for now, in the same order.
    pub ignores: Vec<Ignore>,
}

/// Rules of the benchmarks whose names fit.
#[derive(Clone, Debug, PartialEq)]
pub struct RulesOfSome {
    /// Which benchmarks.
    pub name: Glob,
    /// The settings that hold for them.
    pub rules: RaceSettings,
}

impl RulesOfSome {
    /// The rules of one benchmark: of all that fit its name the last wins, key by key.
    pub fn of(some: &[RulesOfSome], benchmark: &str) -> RaceSettings {
        let fitting = some.iter().filter(|some| some.name.fits(benchmark));
        fitting.fold(RaceSettings::default(), |found, some| {
            some.rules.clone().or(&found)
        })
    }
}

/// A rule that may be broken for now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ignore {
    /// Which benchmarks.
    pub name: Glob,
    /// Why, for whoever asks.
    pub reason: String,
    /// The last day it holds; `None` when it has no end.
    pub until: Option<Day>,
    /// The only rule it excuses; all when `None`.
    pub rule: Option<FailOn>,
    /// The line it begins at, counted from 1.
    pub line: u64,
}

/// A rule of `--fail-on` or of `deadheat.toml` that a comparison breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GateHit {
    /// The rule by its name: `slower`.
    pub rule: String,
    /// The reason why somebody accepts that; `None` where nobody does.
    pub excuse: Option<Excuse>,
    /// The evidence that is missing for a red light; `None` where there is enough.
    pub unproven: Option<Unproven>,
}

impl GateHit {
    /// Returns true if the run fails for it.
    pub fn fails(&self) -> bool {
        self.excuse.is_none() && self.unproven.is_none()
    }
}

/// The evidence that a benchmark which breaks a rule by its own verdict lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unproven {
    /// It is not slower at the level at which all benchmarks of the gate keep α together.
    SuiteLevel,
    /// A second race did not confirm the first.
    SecondRace,
}

impl Unproven {
    /// Its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::SuiteLevel => "suite-level",
            Self::SecondRace => "second-race",
        }
    }
}

/// The comparisons that a gate holds α for together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SuiteLevel {
    /// Their number.
    pub comparisons: usize,
    /// The relative change that half of them would be found slower by at that level, with 80 %
    /// power; `None` where no error is known.
    pub detectable: Option<f64>,
}

/// The reason why a broken rule does not count for now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excuse {
    /// The reason that somebody wrote down for whoever asks.
    pub reason: String,
    /// The last day it holds, as `2026-12-31`; `None` when it has no end.
    pub until: Option<String>,
}

/// Statements of the gates beside the comparisons.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gates {
    /// Rules that some benchmark must not break, by name; empty where nobody set one.
    pub asked: Vec<String>,
    /// The rules file that was read.
    pub config: Option<String>,
    /// The comparisons that the rule `slower` is held for together; `None` for a single comparison.
    pub suite: Option<SuiteLevel>,
    /// True if there are rules, and not one benchmark could be judged by them.
    pub judged_nothing: bool,
    /// True if the user accepts that.
    pub allows_unjudged: bool,
    /// Entries of its ignore list that excuse nothing, in the order of the file.
    pub idle: Vec<IdleIgnore>,
}

/// An entry of an ignore list that excuses nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdleIgnore {
    /// Which benchmarks it is about, as written.
    pub name: String,
    /// The only rule it is about, by its name; all when `None`.
    pub rule: Option<String>,
    /// The line of the rules file that it begins at, counted from 1.
    pub line: u64,
    /// The reason why it excuses nothing.
    pub why: Idle,
}

/// The reason why an entry of an ignore list excuses nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Idle {
    /// No benchmark that was judged has such a name.
    NoBenchmark,
    /// Those that have break no rule that it is about.
    NothingBroken,
    /// Its last day, as `2026-12-31`, is over. What it was about counts again.
    Expired {
        /// That day.
        until: String,
        /// True if a rule it is about is broken.
        broken: bool,
    },
}

/// A pattern on the whole name of a benchmark: `*` stands for any characters, also for none and for
/// slashes, `?` for one. All others stand for themselves, brackets too, since names such as
/// `test[1]` hold them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glob(String);

impl Glob {
    /// This pattern. Every text is one.
    pub fn new(pattern: impl Into<String>) -> Self {
        Self(pattern.into())
    }

    /// As it was written.
    pub fn pattern(&self) -> &str {
        &self.0
    }

    /// Returns true if the whole name fits.
    pub fn fits(&self, name: &str) -> bool {
        match self.0.contains('?') {
            true => self.fits_by_characters(name),
            false => self.fits_by_parts(name),
        }
    }

    /// The same, of a pattern without `?`, in time that grows with the sum of both lengths.
    fn fits_by_parts(&self, name: &str) -> bool {
        let Some((head, rest)) = self.0.split_once('*') else {
            return self.0 == name;
        };
        let (middle, tail) = rest.rsplit_once('*').unwrap_or(("", rest));
        let Some(mut name) = name.strip_prefix(head) else {
            return false;
        };
        // The first place of each part is the best: it leaves the most to the next.
        for part in middle.split('*') {
            let Some(at) = name.find(part) else {
                return false;
            };
            name = &name[at + part.len()..];
        }
        name.ends_with(tail)
    }

    fn fits_by_characters(&self, name: &str) -> bool {
        let pattern: Vec<char> = self.0.chars().collect();
        let name: Vec<char> = name.chars().collect();
        let (mut at, mut read) = (0, 0);
        // The last star, and how much of the name it has taken so far. Giving it one character more
        // is all there is to try: an earlier star can do nothing a later one cannot, so no pattern
        // takes long.
        let mut star: Option<(usize, usize)> = None;
        while read < name.len() {
            match pattern.get(at) {
                Some('*') => {
                    star = Some((at, read));
                    at += 1;
                }
                Some(one) if *one == '?' || *one == name[read] => {
                    at += 1;
                    read += 1;
                }
                _ => match &mut star {
                    Some((place, taken)) => {
                        *taken += 1;
                        (at, read) = (*place + 1, *taken);
                    }
                    None => return false,
                },
            }
        }
        pattern[at..].iter().all(|rest| *rest == '*')
    }
}

impl fmt::Display for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
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

    proptest! {
        #[test]
        fn parts_and_characters_fit_alike(pattern in "[ab*]{0,8}", name in "[abü]{0,10}") {
            let glob = Glob::new(pattern);
            prop_assert_eq!(glob.fits_by_parts(&name), glob.fits_by_characters(&name));
        }
    }

    #[test]
    fn a_pattern_of_many_stars_is_answered_before_long() {
        let glob = Glob::new("*a".repeat(200));
        assert!(!glob.fits(&"a".repeat(199)));
        assert!(glob.fits(&"ab".repeat(5_000).replace("ab", "ba")));
    }
}
