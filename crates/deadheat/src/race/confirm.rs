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
//! The second race has an ordinary run file next to the file of the first race. The seed of the
//! second race is derived from the whole header of the first, which shows that the two files belong
//! together. The seed of the first race would not be enough: it may be known before the race, so a
//! commit could contain a forged file of the second race.
//!
//! If the second race has no verdict on a benchmark, because the race was interrupted or failed,
//! the first race alone decides. The answer then contains a sentence about this.

use std::path::{Path, PathBuf};

use deadheat_analysis::{Options, analyse};
#[cfg(feature = "commands")]
use deadheat_format::read_run;
use deadheat_format::{FileProblem, NOWHERE, header_text};
#[cfg(feature = "commands")]
use deadheat_model::Origin;
use deadheat_model::{
    Analysis, Benchmark, Comparison, Confirmation, EndReason, Ending, FailOn, FailedBenchmark,
    InSuite, RaceSettings, RulesOfSome, Run, RunHeader, Verdict, fnv1a, in_one_line,
};

use super::entries::{BenchmarkRace, Entries};
use super::{RaceOutcome, take_over_signals};
use crate::exit::{Failure, Status};
use crate::repetition::derived_seed;
use crate::rules::Gate;
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
    /// The failure that ended the second race, if it failed.
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

/// Returns the path of the second race's run file: `run.confirm.jsonl` for `run.jsonl`.
pub fn second_race_path(first: &Path) -> PathBuf {
    first.with_extension("confirm.jsonl")
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

/// Derives the seed of the second race from the header of the first race.
fn second_seed(first: &RunHeader) -> u64 {
    derived_seed(fnv1a(header_text(first).bytes()), 0)
}

/// Returns true if `second` is the second race of `first`: it has the derived seed, and did not
/// start before `first`.
#[cfg(feature = "commands")]
fn belong_together(first: &Run, second: &Run) -> bool {
    let (first, second) = (&first.header, &second.header);
    second.plan.seed == second_seed(first) && second.started_at >= first.started_at
}

/// Returns the analysis `first` of a run, combined with its second race if there is a run file of
/// one next to `path`. Returns an error if that file cannot be read, because the second race may
/// change the answer.
#[cfg(feature = "commands")]
pub fn with_second_race_of(run: &Run, path: &Path, first: Analysis) -> Result<Analysis, Failure> {
    let second_path = second_race_path(path);
    if run.header.origin != Origin::Race || !second_path.is_file() {
        return Ok(first);
    }
    let second = read_run(&second_path).map_err(Failure::reading)?;
    if belong_together(run, &second) {
        return Ok(with_second_race(first, &second));
    }
    let (path, second) = (path.display(), second_path.display());
    let text = format!("{second} is ignored, because it is not the second race of {path}");
    to_stderr("note", &text);
    Ok(first)
}

/// Adds the results of the second race to the analysis of the first race. If the second race ended
/// early, benchmarks without a verdict in it keep only the first verdict. A benchmark that failed
/// in the second race counts as failed.
fn with_second_race(first: Analysis, second: &Run) -> Analysis {
    let options = Options {
        without_figures: true,
        ..Options::default()
    };
    with_second_analysis(first, analyse(second, options))
}

/// Combines the analysis `first` of a race with the analysis `again` of its second race.
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

/// Adds the result of the second race to a comparison, unless the second race ended early and has
/// no verdict on it.
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

/// Returns true if a race ended as planned or at the end of its budget.
fn came_to_its_end(ending: &Ending) -> bool {
    matches!(
        ending,
        Ending::Recorded(EndReason::Finished | EndReason::Budget)
    )
}

/// Returns true if two verdicts are equal, or if both are missing or too close to call.
fn agree(first: Option<Verdict>, second: Option<Verdict>) -> bool {
    let open = FailOn::Inconclusive;
    first == second || (open.holds(first) && open.holds(second))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use deadheat_testing::runs::{design, header, one_look};

    use super::*;

    #[test]
    fn the_second_file_stands_beside_the_first() {
        let second = second_race_path(Path::new("a/run.jsonl"));
        assert_eq!(second, Path::new("a/run.confirm.jsonl"));
    }

    #[test]
    fn the_second_seed_is_that_of_one_first_race() {
        let seeds = (0..100).map(|second| {
            let mut header = header(design(one_look(6)), 1, Vec::new());
            header.started_at = Some(second);
            let seed = second_seed(&header);
            assert_eq!(seed, second_seed(&header.clone()));
            assert!(seed != header.plan.seed && seed < 1 << 53);
            seed
        });
        let distinct: HashSet<u64> = seeds.collect();
        assert_eq!(distinct.len(), 100);
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
