//! The races of one kind in one round, each kind as users race it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use deadheat_analysis::{CalibrationTerms, Options, analyse, calibration_race};
use deadheat_engine::{Inspected, LocalContenders, Progress, Watcher, WorkerProgram};
use deadheat_format::ScratchFolder;
use deadheat_model::{
    Benchmark, CalibrationRace, Conditions, EndReason, Plan, Program, RaceKind, RaceSettings, Run,
    RunEnd, TimeLimit,
};

use super::spec::CalibrationSpec;
use super::work::{Rounds, build_words, command_words, functions, functions_words, more};
use crate::command_race::CommandRaceSpec;
use crate::exit::Failure;
use crate::pairing::{Listed, Target, pair};
use crate::race::{
    BenchmarkRace, Entries, PlanUse, RaceError, RaceOptions, RaceOutcome, inspect_program,
    race_benchmarks, race_commands,
};
use crate::settings::Selection;

/// Replicates of a race at most, as by default.
pub(super) const MAX_REPLICATES: u32 = 40;
/// The limit of a sample, as by default.
const TIMEOUT: Duration = Duration::from_secs(60);
/// The run file of a batch. Nobody keeps it.
const RUN: &str = "run.jsonl";

/// The contenders of a batch, and the folder of its runs.
pub(super) struct Field<'a> {
    spec: &'a CalibrationSpec,
    rounds: Rounds,
    scratch: ScratchFolder,
    /// Two copies of the executable, or why there are none.
    copies: Result<[PathBuf; 2], String>,
}

/// The races of a batch that came to an end.
#[derive(Debug, Default)]
pub(super) struct Batch {
    /// The races that came to their end.
    pub(super) races: Vec<CalibrationRace>,
    /// The problem that kept others from that.
    pub(super) problem: Option<String>,
    /// The signal that stopped them.
    pub(super) signal: Option<i32>,
}

impl<'a> Field<'a> {
    /// Measures the work and copies the executable.
    pub(super) fn new(spec: &'a CalibrationSpec) -> Result<Self, Failure> {
        let scratch = ScratchFolder::create().map_err(|error| {
            Failure::Internal(format!(
                "{error}; set TMPDIR to a folder for temporary files"
            ))
        })?;
        let copy = |folder| scratch.copy(&spec.program, folder, "deadheat");
        let copies = copy("old").and_then(|old| Ok([old, copy("new")?]));
        let copies = copies.map_err(|error| format!("the executable could not be copied: {error}"));
        Ok(Self {
            spec,
            rounds: Rounds::measured(spec.work),
            scratch,
            copies,
        })
    }

    /// Races these differences of work, 0 being none.
    pub(super) fn race(
        &self,
        kind: RaceKind,
        changes: &[f64],
        batch: u64,
        tell: &mut dyn FnMut(u64),
    ) -> Result<Batch, RaceError> {
        let seed = self.spec.seed_of(batch);
        let mut stopwatch = Stopwatch::new(tell);
        let raced = match kind {
            RaceKind::Functions => self.functions(changes, seed, &mut stopwatch),
            RaceKind::Builds => self.builds(changes, seed, &mut stopwatch),
            RaceKind::Commands => self.commands(changes, seed, &mut stopwatch),
        };
        self.scratch.forget(RUN);
        match raced {
            Ok(outcome) => Ok(self.judged(kind, changes, &outcome, &stopwatch)),
            Err(RaceError::Interrupted { signal }) => Ok(Batch {
                signal: Some(signal),
                ..Batch::default()
            }),
            Err(error) => Err(error),
        }
    }

    fn judged(
        &self,
        kind: RaceKind,
        changes: &[f64],
        outcome: &RaceOutcome,
        stopwatch: &Stopwatch<'_>,
    ) -> Batch {
        let run = &outcome.run;
        let plan = &run.header.plan;
        let options = Options {
            without_figures: true,
            ..Options::default()
        };
        let analysis = analyse(run, options);
        let terms = CalibrationTerms {
            alpha: self.spec.settings.alpha(),
            max_replicates: MAX_REPLICATES,
        };
        let race = |(place, change): (usize, &f64)| {
            let name = &plan.benchmarks.get(place)?.name;
            let mut comparisons = analysis.comparisons.iter();
            let comparison = comparisons.find(|one| one.benchmark == *name)?;
            let blocks = plan.blocks_per_replicate(place);
            let replicates = run.benchmarks[place].blocks().len() as u32 / blocks;
            let seconds = stopwatch.seconds(place)?;
            let size = (blocks, replicates);
            calibration_race(comparison, (kind, *change), size, seconds, terms)
        };
        let signal = match &run.end {
            Some(RunEnd {
                reason: EndReason::Interrupted(signal),
                ..
            }) => Some(*signal),
            _ => None,
        };
        Batch {
            races: changes.iter().enumerate().filter_map(race).collect(),
            problem: run.failures.first().map(|failure| failure.message.clone()),
            signal,
        }
    }

    fn functions(
        &self,
        changes: &[f64],
        seed: u64,
        stopwatch: &mut Stopwatch<'_>,
    ) -> Result<RaceOutcome, RaceError> {
        let (work, baseline) = (self.spec.work, self.rounds.function);
        let candidates = self.candidates(baseline, changes);
        let suite = functions(work, baseline, &candidates);
        let entries = Entries {
            benchmarks: suite
                .planned()
                .into_iter()
                .map(|one| one.benchmark)
                .collect(),
            metrics: LocalContenders::metrics_here().to_vec(),
            ..Entries::default()
        };
        let words = functions_words(self.spec.role, baseline, &candidates);
        let program = WorkerProgram {
            executable: self.spec.program.clone(),
            arguments: words.iter().map(Into::into).collect(),
            directory: None,
            shown: false,
        };
        race_benchmarks(&self.worker_race(Some(program), seed), entries, stopwatch)
    }

    fn builds(
        &self,
        changes: &[f64],
        seed: u64,
        stopwatch: &mut Stopwatch<'_>,
    ) -> Result<RaceOutcome, RaceError> {
        let [old, new] = self
            .copies
            .as_ref()
            .map_err(|problem| RaceError::Design(problem.clone()))?;
        let baseline = self.rounds.function;
        let listed = |executable: &Path, changes: &[f64]| {
            let program = Program {
                executable: executable.to_owned(),
                arguments: build_words(self.spec.role, &self.candidates(baseline, changes)),
                ..Program::default()
            };
            let listing = match inspect_program(&program, None, false, Some(TIMEOUT))? {
                Inspected::Worker(listing) => listing,
                Inspected::Harness(_) => {
                    let what = executable.display();
                    return Err(RaceError::Design(format!(
                        "'{what}' is no copy of deadheat"
                    )));
                }
            };
            Ok(Some(Listed { program, listing }))
        };
        let target = Target {
            name: None,
            sides: [
                listed(old, &vec![0.0; changes.len()])?,
                listed(new, changes)?,
            ],
        };
        let sides = ["old", "new"].map(str::to_owned);
        let pairing = pair(&[target], &sides, &Selection::default());
        let entries = Entries {
            benchmarks: pairing.benchmarks,
            metrics: pairing.metrics,
            left_out: pairing.left_out,
            ..Entries::default()
        };
        race_benchmarks(&self.worker_race(None, seed), entries, stopwatch)
    }

    fn commands(
        &self,
        changes: &[f64],
        seed: u64,
        stopwatch: &mut Stopwatch<'_>,
    ) -> Result<RaceOutcome, RaceError> {
        // A copy, where there is one: it stays what it is when the executable
        // is replaced meanwhile.
        let program = match &self.copies {
            Ok([old, _]) => old,
            Err(_) => &self.spec.program,
        };
        let baseline = self.rounds.command;
        let command = |rounds: u32| {
            let program = program.to_string_lossy().into_owned();
            let words = command_words(self.spec.role, rounds);
            shell_words::join([program].into_iter().chain(words))
        };
        let planned = |candidate: u32| {
            let spec = CommandRaceSpec {
                commands: vec![command(baseline), command(candidate)],
                settings: self.settings(seed),
                ..CommandRaceSpec::default()
            };
            spec.plan()
                .map_err(|error| RaceError::Design(error.to_string()))
        };
        let mut whole: Option<Plan> = None;
        for (place, candidate) in self.candidates(baseline, changes).into_iter().enumerate() {
            let plan = planned(candidate)?;
            let named = plan.benchmarks.iter().cloned().map(|one| Benchmark {
                name: place.to_string(),
                ..one
            });
            let named: Vec<Benchmark> = named.collect();
            match &mut whole {
                Some(whole) => whole.benchmarks.extend(named),
                None => {
                    whole = Some(Plan {
                        benchmarks: named,
                        ..plan
                    });
                }
            }
        }
        let nothing = || RaceError::Design("there is nothing to race".to_owned());
        let options = RaceOptions {
            save: Some(self.scratch.path().join(RUN)),
            folder: self.scratch.path().to_owned(),
            shown: 2,
            command: Vec::new(),
            placements: None,
            open: false,
            commits: Vec::new(),
            until: None,
            use_of_plan: PlanUse::Race,
            conditions: Conditions::default(),
        };
        race_commands(whole.ok_or_else(nothing)?, &options, stopwatch)
    }

    fn candidates(&self, baseline: u32, changes: &[f64]) -> Vec<u32> {
        changes
            .iter()
            .map(|change| more(baseline, *change))
            .collect()
    }

    /// A race of workers by the defaults of `cargo bench` and `deadheat bench`.
    fn worker_race(&self, program: Option<WorkerProgram>, seed: u64) -> BenchmarkRace {
        BenchmarkRace {
            program,
            settings: self.settings(seed),
            save: Some(self.scratch.path().join(RUN)),
            folder: self.scratch.path().to_owned(),
            ..BenchmarkRace::default()
        }
    }

    fn settings(&self, seed: u64) -> RaceSettings {
        RaceSettings {
            max_replicates: Some(MAX_REPLICATES),
            budget: None,
            timeout: Some(TimeLimit(Some(TIMEOUT))),
            seed: Some(seed),
            ..self.spec.settings.clone()
        }
    }
}

/// Watches the races of a batch: when each was over, and that it is told.
struct Stopwatch<'a> {
    /// Called after every race, with the number of those that are over.
    tell: &'a mut dyn FnMut(u64),
    /// Nanoseconds from the start of the batch to the last block of each
    /// benchmark that is over, in the order they ended.
    ends: Vec<(usize, u64)>,
}

impl<'a> Stopwatch<'a> {
    fn new(tell: &'a mut dyn FnMut(u64)) -> Self {
        Self {
            tell,
            ends: Vec::new(),
        }
    }

    /// Seconds that the race of this benchmark took.
    fn seconds(&self, benchmark: usize) -> Option<f64> {
        let place = self.ends.iter().position(|(one, _)| *one == benchmark)?;
        let before = match place {
            0 => 0,
            _ => self.ends[place - 1].1,
        };
        Some(self.ends[place].1.saturating_sub(before) as f64 / 1e9)
    }
}

impl Watcher for Stopwatch<'_> {
    // What is worked out for those who look would be part of the cost.
    fn watching(&self) -> bool {
        false
    }

    fn block_done(&mut self, _progress: &Progress<'_>) {}

    fn benchmark_done(&mut self, run: &Run, benchmark: usize) {
        self.ends.push((benchmark, run.elapsed_ns));
        (self.tell)(self.ends.len() as u64);
    }
}
