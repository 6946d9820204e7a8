//! Rules that a project sets for its benchmarks, as `deadheat.toml` says them, the conditions and
//! patterns they are made of; and what a gate says of a comparison: the rule it breaks, and what
//! excuses it.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use crate::estimate::Verdict;
use crate::metric::Metric;
use crate::quantities::Day;

/// All that a rules file says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RulesFile {
    /// The file.
    pub path: PathBuf,
    /// Rules for every benchmark.
    pub all: RuleSet,
    /// Replicates of each benchmark at most.
    pub max_replicates: Option<u32>,
    /// Which benchmarks are raced or judged; all when there are none.
    pub include: Vec<Glob>,
    /// Which are not.
    pub exclude: Vec<Glob>,
    /// Rules of some benchmarks, in the order of the file.
    pub some: Vec<RulesOfSome>,
    /// Broken rules that do not fail the run for now, in the same order.
    pub ignores: Vec<Ignore>,
}

impl RulesFile {
    /// Returns true if a benchmark is raced or judged.
    pub fn selects(&self, benchmark: &str) -> bool {
        let fits = |glob: &Glob| glob.fits(benchmark);
        (self.include.is_empty() || self.include.iter().any(fits)) && !self.exclude.iter().any(fits)
    }
}

/// Rules that may hold for all benchmarks or for some. What is `None` is not said here.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RuleSet {
    /// Smallest relative change worth acting on.
    pub margin: Option<f64>,
    /// Accepted chance of a wrong verdict.
    pub alpha: Option<f64>,
    /// The metric that is judged.
    pub metric: Option<Metric>,
    /// No block starts after this much time: of the run, or of the benchmark.
    pub budget: Option<Duration>,
    /// Which verdicts fail the run.
    pub fail_on: Option<Vec<FailOn>>,
}

impl RuleSet {
    /// The rules of one benchmark: of all that fit its name the last wins, key by key.
    pub fn of(some: &[RulesOfSome], benchmark: &str) -> RuleSet {
        let mut found = RuleSet::default();
        for rules in some.iter().filter(|some| some.name.fits(benchmark)) {
            let rules = rules.rules.clone();
            found = RuleSet {
                margin: rules.margin.or(found.margin),
                alpha: rules.alpha.or(found.alpha),
                metric: rules.metric.or(found.metric),
                budget: rules.budget.or(found.budget),
                fail_on: rules.fail_on.or(found.fail_on),
            };
        }
        found
    }
}

/// Rules of the benchmarks whose names fit.
#[derive(Clone, Debug, PartialEq)]
pub struct RulesOfSome {
    /// Which benchmarks.
    pub name: Glob,
    /// Their rules.
    pub rules: RuleSet,
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
    /// Why it does not fail the run all the same; `None` when it does.
    pub excuse: Option<Excuse>,
}

/// Why a broken rule does not count for now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excuse {
    /// The reason that somebody wrote down for whoever asks.
    pub reason: String,
    /// The last day it holds, as `2026-12-31`; `None` when it has no end.
    pub until: Option<String>,
}

/// Statements of the gates beside the comparisons.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gates {
    /// Rules that some benchmark must not break, by name; empty where nobody set one.
    pub asked: Vec<String>,
    /// The rules file that was read.
    pub config: Option<String>,
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
    /// Why it excuses nothing.
    pub why: Idle,
}

/// Why an entry of an ignore list excuses nothing.
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

/// A condition that makes a run fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailOn {
    /// A candidate is slower.
    Slower,
    /// A race is too close to call, or the data allow no verdict.
    Inconclusive,
    /// A candidate is not shown to be equivalent.
    NotEquivalent,
}

impl FailOn {
    /// All conditions, in the order they are told.
    pub const ALL: [Self; 3] = [Self::Slower, Self::Inconclusive, Self::NotEquivalent];

    /// Their names, in the same order.
    pub const NAMES: [&'static str; 3] = ["slower", "inconclusive", "not-equivalent"];

    /// The condition as it is written.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// Its meaning, in a few words.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Slower => "A candidate is slower",
            Self::Inconclusive => "A race is too close to call, or the data allow no verdict",
            Self::NotEquivalent => "A candidate is not shown to be equivalent",
        }
    }

    /// The condition of this name. The error lists those there are.
    pub fn parse(text: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|rule| rule.name() == text);
        known.ok_or_else(|| format!("'{text}' is none of {}", Self::NAMES.join(", ")))
    }

    /// Returns true if a comparison with this verdict fails; `None` stands for data that allow no
    /// verdict.
    pub fn holds(self, verdict: Option<Verdict>) -> bool {
        match self {
            Self::Slower => verdict == Some(Verdict::Slower),
            Self::Inconclusive => matches!(verdict, None | Some(Verdict::Inconclusive)),
            Self::NotEquivalent => verdict != Some(Verdict::Equivalent),
        }
    }
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
    use super::*;

    fn some(name: &str, margin: Option<f64>, alpha: Option<f64>) -> RulesOfSome {
        RulesOfSome {
            name: Glob::new(name),
            rules: RuleSet {
                margin,
                alpha,
                ..RuleSet::default()
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
        let of = |name| RuleSet::of(&list, name);
        assert_eq!(
            (of("parse/json").margin, of("parse/json").alpha),
            (Some(0.02), Some(0.01))
        );
        assert_eq!(of("parse/xml").margin, Some(0.05));
        assert_eq!(of("hash"), RuleSet::default());
    }

    #[test]
    fn what_is_excluded_is_out_even_when_it_is_included() {
        let file = |include: &[&str], exclude: &[&str]| RulesFile {
            include: include.iter().copied().map(Glob::new).collect(),
            exclude: exclude.iter().copied().map(Glob::new).collect(),
            ..RulesFile::default()
        };
        assert!(file(&[], &[]).selects("sort"));
        assert!(!file(&["parse/*"], &[]).selects("sort"));
        assert!(file(&["parse/*"], &["*/slow"]).selects("parse/json"));
        assert!(!file(&["parse/*"], &["*/slow"]).selects("parse/slow"));
    }

    #[test]
    fn a_missing_verdict_fails_everything_that_asks_for_certainty() {
        assert!(FailOn::Inconclusive.holds(None));
        assert!(FailOn::NotEquivalent.holds(None));
        assert!(!FailOn::Slower.holds(None));
        assert!(FailOn::NotEquivalent.holds(Some(Verdict::Faster)));
        assert!(!FailOn::Inconclusive.holds(Some(Verdict::Faster)));
    }

    #[test]
    fn every_condition_is_read_by_its_name() {
        for rule in FailOn::ALL {
            assert_eq!(FailOn::parse(rule.name()), Ok(rule));
        }
        assert_eq!(FailOn::ALL.map(FailOn::name), FailOn::NAMES);
        let error = FailOn::parse("faster").unwrap_err();
        assert_eq!(
            error,
            "'faster' is none of slower, inconclusive, not-equivalent"
        );
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

    #[test]
    fn a_pattern_of_many_stars_is_answered_before_long() {
        let glob = Glob::new("*a".repeat(200));
        assert!(!glob.fits(&"a".repeat(199)));
        assert!(glob.fits(&"ab".repeat(5_000).replace("ab", "ba")));
    }
}
