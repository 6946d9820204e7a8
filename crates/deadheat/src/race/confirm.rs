//! The second race of benchmarks that broke a rule: which are raced again, at which level, and what
//! became of it.
//!
//! The second race alone keeps the α of the suite, whatever came of the first: of k benchmarks that
//! it races, each is judged at min(α, 2·α/k). A benchmark that did not change is called different
//! in the one direction that counts with half that chance, so any of k is with at most α. The first
//! race only chooses. Its own false alarms, of which α·m/2 are to be expected among m benchmarks,
//! make k, so where nothing changed both together turn red in about α²·m/4 of runs, at most α.
//!
//! Its file stands beside that of the first and is an ordinary run file. The seed of the second
//! follows from that of the first, which says which of them belong together.
//!
//! What the second race has no verdict on, as it was interrupted or failed, is judged by the first
//! alone, and the answer says so.

use std::path::{Path, PathBuf};

use deadheat_analysis::{Options, analyse};
#[cfg(feature = "commands")]
use deadheat_format::read_run;
use deadheat_format::{FileProblem, NOWHERE};
#[cfg(feature = "commands")]
use deadheat_model::Origin;
use deadheat_model::{
    Analysis, Benchmark, Comparison, Confirmation, EndReason, Ending, FailOn, FailedBenchmark,
    InSuite, RaceSettings, RulesOfSome, Run, Verdict, in_one_line,
};

use super::entries::{BenchmarkRace, Entries};
use super::{RaceOutcome, take_over_signals};
use crate::exit::{Failure, Status};
use crate::repetition::derived_seed;
use crate::rules::Gate;
use crate::terminal::to_stderr;

/// A race with its analysis, and the second one of what broke a rule in it, if there was one.
#[derive(Debug)]
pub struct Raced {
    /// The race.
    pub first: RaceOutcome,
    /// The second one, as far as it came to something.
    pub second: Option<RaceOutcome>,
    /// The analysis of both, held against the gate.
    pub analysis: Analysis,
    /// The failure that ended the second race.
    failure: Option<Failure>,
}

impl Raced {
    /// A race without a second one.
    pub fn once(first: RaceOutcome, options: Options, gate: &Gate) -> Self {
        Self {
            analysis: gate.judge(analyse(&first.run, options)),
            first,
            second: None,
            failure: None,
        }
    }

    /// Races, and once more what broke a rule where that `is_asked`. `options` are those of the
    /// analysis of a run, and `race` is given the second race when it is its turn.
    pub fn confirmed(
        is_asked: bool,
        gate: &Gate,
        quiet: bool,
        options: impl FnOnce(&Run) -> Options,
        mut race: impl FnMut(Option<&SecondRace>) -> Result<RaceOutcome, Failure>,
    ) -> Result<Self, Failure> {
        // A signal that comes between the two stops the second and ends nothing else.
        let held = is_asked.then(take_over_signals).transpose()?;
        let first = race(None)?;
        let options = options(&first.run);
        let raced = Self::once(first, options, gate);
        if !is_asked {
            return Ok(raced);
        }
        let first = &raced.first;
        let seed = first.run.header.plan.seed;
        let Some(second) = SecondRace::after(&raced.analysis, seed, &first.path, gate) else {
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

    /// Returns how it ended, once the answer is told, where `status` is that of the answer.
    pub fn ended(self, status: Status) -> Result<Status, Failure> {
        let stopped = self.second.as_ref().unwrap_or(&self.first).interrupted();
        match self.failure {
            Some(failure) => Err(failure),
            None => Ok(stopped.map_or(status, Status::Interrupted)),
        }
    }
}

/// A second race, as it follows from the first.
#[derive(Clone, Debug, PartialEq)]
pub struct SecondRace {
    /// Its seed.
    pub seed: u64,
    /// Its run file.
    pub save: PathBuf,
    /// The share of its α that each benchmark is judged by.
    share: f64,
    /// The benchmarks by name and parameters.
    benchmarks: Vec<(String, Vec<(String, String)>)>,
}

impl SecondRace {
    /// The second race of everything that breaks a rule which nobody excuses, from the analysis of
    /// the first race, its seed and its file; `None` where nothing does, and after a first race
    /// that was cut off.
    pub fn after(analysis: &Analysis, seed: u64, path: &Path, gate: &Gate) -> Option<Self> {
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
            seed: second_seed(seed),
            save: match path == Path::new(NOWHERE) {
                true => path.to_owned(),
                false => second_race_path(path),
            },
            share: (2.0 / benchmarks.len() as f64).min(1.0),
            benchmarks,
        })
    }

    /// The settings of the first race with the seed and level of the second.
    pub fn settings(&self, first: RaceSettings) -> RaceSettings {
        RaceSettings {
            seed: Some(self.seed),
            alpha: Some(first.alpha() * self.share),
            ..first
        }
    }

    /// The rules of some benchmarks, with the level of the second race.
    pub fn rules(&self, mut first: Vec<RulesOfSome>) -> Vec<RulesOfSome> {
        for some in &mut first {
            some.rules.alpha = some.rules.alpha.map(|alpha| alpha * self.share);
        }
        first
    }

    /// Returns true if a benchmark is raced again.
    pub fn races(&self, benchmark: &Benchmark) -> bool {
        let mut benchmarks = self.benchmarks.iter();
        benchmarks.any(|(name, parameters)| {
            *name == benchmark.name && *parameters == benchmark.parameters
        })
    }

    /// The second race of benchmarks in processes, from the first and its entries.
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

    /// That it begins, for whoever waits.
    pub fn announcement(&self) -> String {
        match &self.benchmarks[..] {
            [_] => "a benchmark breaks a rule and races again".to_owned(),
            several => format!("{} benchmarks break a rule and race again", several.len()),
        }
    }
}

/// The file of the second race: `run.confirm.jsonl` beside `run.jsonl`.
pub fn second_race_path(first: &Path) -> PathBuf {
    first.with_extension("confirm.jsonl")
}

/// Returns an error if the file for the second race already exists.
pub fn refuse_old_confirmation(save: Option<&Path>) -> Result<(), Failure> {
    match save.map(second_race_path).filter(|file| file.exists()) {
        None => Ok(()),
        Some(file) => Err(Failure::unwritable(
            "--confirm",
            &FileProblem::AlreadyExists.of(file),
        )),
    }
}

/// The seed of the second race, which is that of whoever repeats the first, too.
fn second_seed(first: u64) -> u64 {
    derived_seed(first, 0)
}

/// Returns true if a run is the second race of another: it has the seed that follows, and is not
/// older.
#[cfg(feature = "commands")]
fn belong_together(first: &Run, second: &Run) -> bool {
    let (first, second) = (&first.header, &second.header);
    second.plan.seed == second_seed(first.plan.seed) && second.started_at >= first.started_at
}

/// The analysis of a run, with its second race if the file next to the run file holds one. A second
/// race that cannot be read is an error, because it may change the answer.
#[cfg(feature = "commands")]
pub fn with_second_race_of(run: &Run, path: &Path, first: Analysis) -> Result<Analysis, Failure> {
    let path = second_race_path(path);
    if run.header.origin != Origin::Race || !path.is_file() {
        return Ok(first);
    }
    let second = read_run(path).map_err(Failure::reading)?;
    Ok(match belong_together(run, &second) {
        true => with_second_race(first, &second),
        false => first,
    })
}

/// The analysis of a first race, with the results of its second race added. A benchmark whose second
/// race ended without a verdict has no second verdict. A benchmark that failed in the second race
/// counts as failed.
fn with_second_race(first: Analysis, second: &Run) -> Analysis {
    let options = Options {
        without_figures: true,
        ..Options::default()
    };
    with_second_analysis(first, analyse(second, options))
}

/// The same from the analysis of the second race.
pub fn with_second_analysis(first: Analysis, again: Analysis) -> Analysis {
    let comparisons = first.comparisons.into_iter();
    let comparisons = comparisons.map(|one| confirmed(one, &again)).collect();
    let failed = again.failures.into_iter().map(|failure| FailedBenchmark {
        benchmark: format!("{} (second race)", failure.benchmark),
        ..failure
    });
    Analysis {
        comparisons,
        failures: first.failures.into_iter().chain(failed).collect(),
        second_race: Some(again.ending),
        ..first
    }
}

/// A comparison with what a second race says about it, if that came to its end.
fn confirmed(one: Comparison, again: &Analysis) -> Comparison {
    let name = |one: &Comparison| one.candidate.as_ref().map(|side| side.name.clone());
    let same =
        |other: &&Comparison| other.is_of_one_benchmark_with(&one) && name(other) == name(&one);
    let Some(other) = again.comparisons.iter().find(same) else {
        return one;
    };
    let is_open = matches!(other.verdict, None | Some(Verdict::Inconclusive));
    if is_open && !came_to_its_end(&again.ending) {
        return one;
    }
    let agrees = agree(one.verdict, other.verdict);
    let is_change = matches!(one.verdict, Some(Verdict::Faster | Verdict::Slower));
    Comparison {
        suite: InSuite {
            confirmation: Some(Confirmation {
                verdict: other.verdict,
                estimate: other.estimate,
                alpha: other.terms.alpha,
                agrees,
            }),
            holds: if is_change { agrees } else { one.suite.holds },
            ..one.suite
        },
        ..one
    }
}

/// Returns true if nothing cut off a race.
fn came_to_its_end(ending: &Ending) -> bool {
    matches!(
        ending,
        Ending::Recorded(EndReason::Finished | EndReason::Budget)
    )
}

/// Returns true if two races say the same: the same change, or both that nothing was proven.
fn agree(first: Option<Verdict>, second: Option<Verdict>) -> bool {
    let open = FailOn::Inconclusive;
    first == second || (open.holds(first) && open.holds(second))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_file_stands_beside_the_first() {
        let second = second_race_path(Path::new("a/run.jsonl"));
        assert_eq!(second, Path::new("a/run.confirm.jsonl"));
    }

    #[test]
    fn the_second_seed_is_another_and_always_the_same() {
        let seeds: Vec<u64> = (0..100).map(second_seed).collect();
        let mut distinct = seeds.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), 100);
        assert!(
            seeds
                .iter()
                .zip(0..)
                .all(|(second, first)| *second != first)
        );
        assert!(seeds.iter().all(|seed| *seed < 1 << 53));
    }

    #[test]
    fn two_races_agree_on_a_direction_or_on_nothing() {
        let [slower, faster] = [Some(Verdict::Slower), Some(Verdict::Faster)];
        assert!(agree(slower, slower) && !agree(slower, faster));
        assert!(!agree(slower, Some(Verdict::Inconclusive)) && !agree(slower, None));
        assert!(agree(None, Some(Verdict::Inconclusive)));
        assert!(!agree(
            Some(Verdict::Inconclusive),
            Some(Verdict::Equivalent)
        ));
    }

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
