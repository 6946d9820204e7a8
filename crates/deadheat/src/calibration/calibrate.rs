//! Runs a whole calibration in rounds, until all rounds are done, the budget is used up or a signal
//! arrives. Each kind of race runs with the same code as users' races.

use std::path::{Path, PathBuf};
use std::time::Duration;

use deadheat_analysis::{CalibrationTerms, Options, analyse, calibrated_kind, calibration_race};
use deadheat_engine::{
    Clock, Deadline, EngineError, Inspected, Interrupts, LocalContenders, OsClock, Progress,
    Watcher, WorkerProgram, environment, machine, unix_seconds,
};
use deadheat_format::ScratchFolder;
use deadheat_model::{
    Arrangement, Benchmark, Calibration, CalibrationEnd, CalibrationRace, Conditions, EndReason,
    Plan, Program, RaceKind, RaceSettings, Run, RunEnd, TimeLimit,
};
use deadheat_report::CalibrationStanding;

use super::work::{Rounds, build_words, command_words, functions, functions_words, more};
use super::{CalibrationSpec, Effort};
use crate::command_race::CommandRaceSpec;
use crate::exit::Failure;
use crate::pairing::{Listed, Target, pair};
use crate::race::{
    BenchmarkRace, Entries, RaceError, RaceOptions, RaceOutcome, inspect_program, race_benchmarks,
    race_commands,
};
use crate::settings::{PlanUse, Selection};

/// Calibrates this machine. If a signal or the budget ends the calibration early, the result covers
/// the finished races and contains the reason. If a kind of race cannot run on this machine, the
/// result contains its problem. `race_done` receives the progress after every race.
///
/// # Errors
///
/// Returns an error if no race can run, because the request is invalid or the folder for temporary
/// files is missing.
pub fn calibrate(
    spec: &CalibrationSpec,
    race_done: &mut dyn FnMut(&CalibrationStanding),
) -> Result<Calibration, Failure> {
    spec.check()?;
    // Signals are handled for the whole calibration, because a signal between two races should be
    // neither lost nor fatal.
    let interrupts = Interrupts::install()
        .map_err(|errno| RaceError::NotStarted(EngineError::Signals(errno)))?;
    let started_at = unix_seconds();
    let deadline = Deadline::start(spec.effort.budget, &interrupts)
        .map_err(|errno| RaceError::NotStarted(EngineError::Signals(errno)))?;
    // Read before deadheat pins itself to one core, which would then be recorded as the machine.
    let here = machine(&environment());
    let mut rounds = Calibrating {
        spec,
        clock: OsClock::start(),
        deadline: &deadline,
        field: Field::new(spec)?,
        kinds: RaceKind::ALL.map(Kind::new),
        races: Vec::new(),
    };
    let ending = rounds.race(&interrupts, race_done)?;
    let terms = CalibrationTerms {
        alpha: spec.settings.alpha(),
        max_replicates: MAX_REPLICATES,
    };
    let kinds = rounds.kinds.iter().map(|kind| {
        let planned = spec.effort.planned(kind.kind);
        let problem = kind.problem.clone();
        calibrated_kind(kind.kind, planned, problem, &rounds.races, terms)
    });
    Ok(Calibration {
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        started_at,
        machine: here,
        seed: spec.settings.seed(),
        alpha: spec.settings.alpha(),
        margin: spec.settings.margin(),
        max_replicates: MAX_REPLICATES,
        quick: spec.quick,
        debug_build: cfg!(debug_assertions),
        kinds: kinds.collect(),
        elapsed_seconds: rounds.clock.elapsed_ns() as f64 / 1e9,
        ending,
    })
}

struct Kind {
    kind: RaceKind,
    /// The reason why no more races of this kind start.
    problem: Option<String>,
    races: u64,
    /// The time that all races of this kind took together, in seconds.
    seconds: f64,
    /// The mean time of a race in the slowest batch of this kind, in seconds.
    longest: f64,
}

impl Kind {
    fn new(kind: RaceKind) -> Self {
        Self {
            kind,
            problem: None,
            races: 0,
            seconds: 0.0,
            longest: 0.0,
        }
    }

    /// Returns the mean time of a race of this kind, in seconds; `None` before the first race.
    fn race_seconds(&self) -> Option<f64> {
        (self.races > 0).then(|| self.seconds / self.races as f64)
    }

    /// Returns the number of races of this kind that fit into this many seconds, at the speed of
    /// the slowest batch. Returns `usize::MAX` before the first batch, because the speed is
    /// unknown.
    fn that_fit(&self, seconds: f64) -> usize {
        match self.races {
            _ if seconds <= 0.0 => 0,
            0 => usize::MAX,
            _ => (seconds / self.longest) as usize,
        }
    }
}

struct Calibrating<'a> {
    spec: &'a CalibrationSpec,
    clock: OsClock,
    /// Stops the running race at the end of the budget. The plans of the races do not contain this
    /// limit, so that they are the same as for users without a budget.
    deadline: &'a Deadline,
    field: Field<'a>,
    kinds: [Kind; 3],
    races: Vec<CalibrationRace>,
}

impl Calibrating<'_> {
    fn race(
        &mut self,
        interrupts: &Interrupts,
        race_done: &mut dyn FnMut(&CalibrationStanding),
    ) -> Result<CalibrationEnd, Failure> {
        let effort = self.spec.effort;
        let mut done = 0;
        let mut spent = false;
        for round in 0..effort.rounds {
            let mut raced_any = false;
            for place in 0..self.kinds.len() {
                if let Some(signal) = interrupts.requested() {
                    return Ok(self.stopped_by(signal));
                }
                if self.kinds[place].problem.is_some() {
                    continue;
                }
                let kind = self.kinds[place].kind;
                let mut changes = effort.changes(kind, round);
                let fit = self.kinds[place].that_fit(self.seconds_of_budget());
                spent |= fit < changes.len();
                changes.truncate(fit);
                if changes.is_empty() {
                    continue;
                }
                raced_any = true;
                let batch = u64::from(round) * self.kinds.len() as u64 + place as u64;
                let begun = self.seconds();
                let seconds_left = self.seconds_left(round, place);
                let mut tell = |races: u64| {
                    race_done(&CalibrationStanding {
                        kind,
                        done: done + races,
                        planned: planned(&effort),
                        seconds_left,
                    });
                };
                let raced = self.field.race(kind, &changes, batch, &mut tell);
                let raced = raced.or_else(|error| problem(error, batch == 0))?;
                done += changes.len() as u64;
                let took = self.seconds() - begun;
                let of_kind = &mut self.kinds[place];
                of_kind.races += changes.len() as u64;
                of_kind.seconds += took;
                of_kind.longest = of_kind.longest.max(took / changes.len() as f64);
                of_kind.problem = raced.problem;
                self.races.extend(raced.races);
                if let Some(signal) = raced.signal {
                    return Ok(self.stopped_by(signal));
                }
            }
            if !raced_any {
                break;
            }
        }
        Ok(if spent {
            CalibrationEnd::Budget
        } else {
            CalibrationEnd::Finished
        })
    }

    fn stopped_by(&self, signal: i32) -> CalibrationEnd {
        match self.deadline.sent(signal) {
            true => CalibrationEnd::Budget,
            false => CalibrationEnd::Interrupted(signal),
        }
    }

    fn seconds(&self) -> f64 {
        self.clock.elapsed_ns() as f64 / 1e9
    }

    fn seconds_of_budget(&self) -> f64 {
        self.spec.effort.budget.as_secs_f64() - self.seconds()
    }

    /// Estimates the seconds until all races are done or the budget ends. Kinds with an index below
    /// `place` have raced in this round already, the others not yet. `None` until every kind has
    /// raced once.
    fn seconds_left(&self, round: u32, place: usize) -> Option<f64> {
        let effort = &self.spec.effort;
        let mut left = 0.0;
        for (other, kind) in self.kinds.iter().enumerate() {
            if kind.problem.is_some() {
                continue;
            }
            let raced = round + u32::from(other < place);
            let to_come = effort.rounds.saturating_sub(raced);
            let per_round = effort.per_round(kind.kind);
            let races = to_come * (per_round.same + per_round.known);
            left += f64::from(races) * kind.race_seconds()?;
        }
        Some(left.min(self.seconds_of_budget()).max(0.0))
    }
}

fn planned(effort: &Effort) -> u64 {
    let of_kind = |kind| {
        let per_round = effort.per_round(kind);
        u64::from(effort.rounds) * u64::from(per_round.same + per_round.known)
    };
    RaceKind::ALL.into_iter().map(of_kind).sum()
}

/// Converts the error of a batch to the problem of its kind of race. Returns a usage error of the
/// first batch as an error that ends the calibration, because it would affect every race: for
/// example, a core that does not exist.
fn problem(error: RaceError, first: bool) -> Result<Batch, Failure> {
    let text = error.to_string();
    match Failure::from(error) {
        usage @ Failure::Usage(_) if first => Err(usage),
        _ => Ok(Batch {
            problem: Some(text),
            ..Batch::default()
        }),
    }
}

/// Maximum number of replicates of each race, which is the default of users' races.
const MAX_REPLICATES: u32 = 40;
/// The time limit of a sample, which is the default of users' races.
const TIMEOUT: Duration = Duration::from_secs(60);
/// The name of the run file of a batch, which is removed after the batch.
const RUN: &str = "run.jsonl";

/// The contenders of all batches, and the temporary folder of their run files.
struct Field<'a> {
    spec: &'a CalibrationSpec,
    rounds: Rounds,
    scratch: ScratchFolder,
    /// Two copies of the executable, or the reason why copying failed.
    copies: Result<[PathBuf; 2], String>,
}

#[derive(Debug, Default)]
struct Batch {
    races: Vec<CalibrationRace>,
    /// The reason why the remaining races of the batch did not run.
    problem: Option<String>,
    signal: Option<i32>,
}

impl<'a> Field<'a> {
    fn new(spec: &'a CalibrationSpec) -> Result<Self, Failure> {
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

    /// Runs a batch with one race for each of `changes`, the difference between the sides as a
    /// share of the work; 0 for equal sides.
    fn race(
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
                        "'{what}' is not a copy of deadheat"
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
        // A copy is used if it exists, because the executable itself may be replaced during the
        // calibration.
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
            arrangement: Arrangement::Turns,
            placements: None,
            open: false,
            in_launches: false,
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

    /// Returns a race of functions in workers, with the defaults of `cargo bench` and `deadheat
    /// bench`.
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

struct Stopwatch<'a> {
    /// The function to call after every race, with the number of finished races of the batch.
    tell: &'a mut dyn FnMut(u64),
    /// The finished benchmarks in the order in which they ended. Each has its index and the
    /// nanoseconds from the start of the batch to its last block.
    ends: Vec<(usize, u64)>,
}

impl<'a> Stopwatch<'a> {
    fn new(tell: &'a mut dyn FnMut(u64)) -> Self {
        Self {
            tell,
            ends: Vec::new(),
        }
    }

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
    // Computing interim results for a progress line would add to the measured time.
    fn watching(&self) -> bool {
        false
    }

    fn block_done(&mut self, _progress: &Progress<'_>) {}

    fn benchmark_done(&mut self, run: &Run, benchmark: usize) {
        self.ends.push((benchmark, run.elapsed_ns));
        (self.tell)(self.ends.len() as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_races_start_as_surely_end_in_time() {
        let mut kind = Kind::new(RaceKind::Builds);
        assert_eq!(kind.that_fit(1.0), usize::MAX, "nobody knows yet");
        assert_eq!(kind.that_fit(-1.0), 0);
        kind.races = 6;
        kind.seconds = 3.0;
        kind.longest = 0.75;
        assert_eq!((kind.that_fit(2.0), kind.that_fit(0.7)), (2, 0));
        assert_eq!(kind.that_fit(0.0), 0);
        assert_eq!(kind.race_seconds(), Some(0.5));
    }

    #[test]
    fn all_races_are_counted_that_are_planned() {
        assert_eq!(planned(&Effort::LEAST), 3 + 2 + 2);
        assert_eq!(planned(&Effort::FULL), 30 * (16 + 6 + 9));
    }

    #[test]
    fn what_would_be_wrong_with_every_race_is_told_by_the_first() {
        let wrong = || RaceError::Design("--pin 99: there is no such core".to_owned());
        assert!(matches!(problem(wrong(), true), Err(Failure::Usage(_))));
        let later = problem(wrong(), false).unwrap();
        assert!(later.problem.unwrap().contains("no such core"));
        let broken = RaceError::NotStarted(EngineError::Interrupted);
        assert!(problem(broken, true).unwrap().problem.is_some());
    }
}
