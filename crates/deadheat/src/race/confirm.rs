//! The second race (`--confirm`) of benchmarks that broke a rule of the gate: which benchmarks it
//! races, at which α, and how its results are used.
//!
//! The second race alone keeps the α of the suite, whatever the first race found. If the second
//! race has k benchmarks, each is judged at min(α, 2·α/k). For an unchanged benchmark, a false
//! positive in the direction that breaks the rule has half that probability, so the probability of
//! any false positive among the k benchmarks is at most α. The first race only selects the k
//! benchmarks. If none of m benchmarks changed, the first race selects α·m/2 of them on average. So
//! the two races together fail a share of about α²·m/4 of such runs, and at most α.
//!
//! If the second race has no verdict on a benchmark, because the race was interrupted, failed or
//! reached its budget, the first race alone decides. The answer then contains a sentence about
//! this.

use std::path::{Path, PathBuf};

use deadheat_analysis::{Options, analyse};
use deadheat_format::{FileProblem, NOWHERE};
use deadheat_model::{
    Analysis, Benchmark, EndReason, Ending, RaceSettings, RulesOfSome, Run, RunHeader, in_one_line,
};

use super::entries::{BenchmarkRace, Entries};
use super::{RaceOutcome, take_over_signals};
use crate::answer::RunFiles;
use crate::exit::{Failure, Status};
use crate::rules::Gate;
use crate::second_race::{came_to_its_end, second_race_path, second_seed, with_second_race};
use crate::terminal::to_stderr;

/// A race and its analysis, with the second race of the benchmarks that broke a rule, if there was
/// one.
#[derive(Debug)]
pub struct Raced {
    /// The first race.
    pub first: RaceOutcome,
    /// The second race; `None` if there was none, or if it failed.
    pub second: Option<RaceOutcome>,
    /// The analysis of both races, with the results of the gate.
    pub analysis: Analysis,
    failure: Option<Failure>,
}

impl Raced {
    /// Analyses a race that has no second race.
    pub fn once(first: RaceOutcome, options: Options, gate: &Gate) -> Self {
        Self {
            analysis: gate.judge(analyse(&first.run, options)),
            first,
            second: None,
            failure: None,
        }
    }

    /// Runs the first race and analyses it. If `is_asked` is true, also runs a second race of the
    /// benchmarks that broke a rule. `options` returns the options for analysing a run. `race` runs
    /// the first race if its argument is `None`, otherwise the second race.
    pub fn confirmed(
        is_asked: bool,
        gate: &Gate,
        quiet: bool,
        options: impl FnOnce(&Run) -> Options,
        mut race: impl FnMut(Option<&SecondRace>) -> Result<RaceOutcome, Failure>,
    ) -> Result<Self, Failure> {
        // A signal between the two races must stop the second race, but not the program.
        let held = is_asked.then(take_over_signals).transpose()?;
        let first = race(None)?;
        let options = options(&first.run);
        let raced = Self::once(first, options, gate);
        if !is_asked {
            return Ok(raced);
        }
        let first = &raced.first;
        let header = &first.run.header;
        let Some(second) = SecondRace::after(&raced.analysis, header, &first.path, gate) else {
            return Ok(raced);
        };
        if !quiet {
            to_stderr("deadheat", &second.announcement());
        }
        let (second, failure, analysis) = match race(Some(&second)) {
            Ok(second) => {
                let both = with_second_race(raced.analysis, &second.run);
                (Some(second), None, both)
            }
            Err(failure) => {
                let reason = match &failure {
                    Failure::Interrupted { signal, .. } => EndReason::Interrupted(*signal),
                    failure => EndReason::Failed(in_one_line(&failure.to_string())),
                };
                let cut_off = Analysis {
                    second_race: Some(Ending::Recorded(reason)),
                    ..raced.analysis
                };
                (None, Some(failure.of_part("the second race")), cut_off)
            }
        };
        drop(held);
        Ok(Self {
            first: raced.first,
            second,
            analysis: gate.judge(analysis),
            failure,
        })
    }

    /// Returns the run files, as the answer names them.
    pub fn files(&self) -> RunFiles {
        let second = self.second.as_ref().map(|second| second.path.as_path());
        RunFiles::new(&self.first.path, second)
    }

    /// Returns the result of the program after the answer was printed: the failure of the second
    /// race, the signal that stopped a race, or `status`.
    pub fn ended(self, status: Status) -> Result<Status, Failure> {
        let stopped = self.second.as_ref().unwrap_or(&self.first).interrupted();
        match self.failure {
            Some(failure) => Err(failure),
            None => Ok(stopped.map_or(status, Status::Interrupted)),
        }
    }
}

/// The plan of a second race, derived from the first race.
#[derive(Clone, Debug, PartialEq)]
pub struct SecondRace {
    /// The seed of the second race.
    pub seed: u64,
    /// The run file of the second race.
    pub save: PathBuf,
    /// The factor by which the α of each benchmark is multiplied, at most 1.
    share: f64,
    /// The benchmarks to race again, by name and parameters.
    benchmarks: Vec<(String, Vec<(String, String)>)>,
}

impl SecondRace {
    /// Returns the second race of all benchmarks that break a rule without an excuse. `analysis`,
    /// `header` and `path` are those of the first race. `None` if no benchmark breaks a rule, or if
    /// the first race ended early.
    pub fn after(
        analysis: &Analysis,
        header: &RunHeader,
        path: &Path,
        gate: &Gate,
    ) -> Option<Self> {
        if !came_to_its_end(&analysis.ending) {
            return None;
        }
        let comparisons = analysis.comparisons.iter();
        let broken = comparisons.filter(|one| gate.asks_for_confirmation(one));
        let mut benchmarks: Vec<(String, Vec<(String, String)>)> = Vec::new();
        for one in broken {
            let named = (one.benchmark.clone(), one.details.parameters.clone());
            if benchmarks.last() != Some(&named) {
                benchmarks.push(named);
            }
        }
        (!benchmarks.is_empty()).then(|| Self {
            seed: second_seed(header),
            save: match path == Path::new(NOWHERE) {
                true => path.to_owned(),
                false => second_race_path(path),
            },
            share: (2.0 / benchmarks.len() as f64).min(1.0),
            benchmarks,
        })
    }

    /// Returns the settings of the first race, with the seed and the α of the second race.
    pub fn settings(&self, first: RaceSettings) -> RaceSettings {
        RaceSettings {
            seed: Some(self.seed),
            alpha: Some(first.alpha() * self.share),
            ..first
        }
    }

    /// Returns the rules for benchmarks selected by name, with the α of the second race.
    pub fn rules(&self, mut first: Vec<RulesOfSome>) -> Vec<RulesOfSome> {
        for some in &mut first {
            some.rules.alpha = some.rules.alpha.map(|alpha| alpha * self.share);
        }
        first
    }

    /// Returns true if the second race includes this benchmark.
    pub fn races(&self, benchmark: &Benchmark) -> bool {
        let mut benchmarks = self.benchmarks.iter();
        benchmarks.any(|(name, parameters)| {
            *name == benchmark.name && *parameters == benchmark.parameters
        })
    }

    /// Returns the request for the second race, and its benchmarks. `first` and `entries` are those
    /// of the first race, with benchmarks in workers or in executables of other harnesses.
    pub fn of_benchmarks(
        &self,
        first: &BenchmarkRace,
        entries: Entries,
    ) -> (BenchmarkRace, Entries) {
        let race = BenchmarkRace {
            settings: self.settings(first.settings.clone()),
            save: Some(self.save.clone()),
            ..first.clone()
        };
        let mut entries = Entries {
            rules: self.rules(entries.rules),
            ..entries
        };
        entries.benchmarks.retain(|one| self.races(one));
        (race, entries)
    }

    /// Returns the message that announces the second race.
    pub fn announcement(&self) -> String {
        match &self.benchmarks[..] {
            [_] => "a benchmark breaks a rule and races again".to_owned(),
            several => format!("{} benchmarks break a rule and race again", several.len()),
        }
    }
}

/// Returns an error if the run file of the second race already exists.
pub fn refuse_old_confirmation(save: Option<&Path>) -> Result<(), Failure> {
    // A link without a target is refused as well, because the race would fail to replace it.
    let there = |file: &PathBuf| file.symlink_metadata().is_ok();
    match save.map(second_race_path).filter(there) {
        None => Ok(()),
        Some(file) => Err(Failure::unwritable(
            "--confirm",
            &FileProblem::AlreadyExists.of(file),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_level_of_the_second_race_is_shared_by_all_that_are_raced_again() {
        let second = |share| SecondRace {
            seed: 1,
            save: PathBuf::new(),
            share,
            benchmarks: Vec::new(),
        };
        let alpha = |share| second(share).settings(RaceSettings::default()).alpha();
        assert_eq!((alpha(1.0), alpha(0.5)), (0.05, 0.025));
        let some = RulesOfSome {
            name: deadheat_model::Glob::new("*"),
            rules: RaceSettings {
                alpha: Some(0.01),
                ..RaceSettings::default()
            },
        };
        let rules = second(0.5).rules(vec![some]);
        assert_eq!(rules[0].rules.alpha, Some(0.005));
    }
}
