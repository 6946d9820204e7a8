//! What a project asks of its benchmarks, as `deadheat.toml` says it.

use std::path::PathBuf;

use crate::day::Day;
use crate::fail_on::FailOn;
use crate::glob::Glob;
use crate::settings::RaceSettings;

/// All that a rules file says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RulesFile {
    /// The file.
    pub path: PathBuf,
    /// What holds for every benchmark.
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

impl RulesFile {
    /// Whether a benchmark is raced or judged.
    pub fn selects(&self, benchmark: &str) -> bool {
        let fits = |glob: &Glob| glob.fits(benchmark);
        (self.include.is_empty() || self.include.iter().any(fits)) && !self.exclude.iter().any(fits)
    }
}

/// Rules of the benchmarks whose names fit.
#[derive(Clone, Debug, PartialEq)]
pub struct RulesOfSome {
    /// Which benchmarks.
    pub name: Glob,
    /// What holds for them.
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

#[cfg(test)]
mod tests {
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
}
