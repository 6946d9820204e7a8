//! The whole way of a race of Google Benchmark executables: benchmarks in,
//! recorded run out.

use std::path::PathBuf;
use std::time::Duration;

use deadheat_engine::{
    Contenders, EngineError, FunctionError, GoogleBenchmarkArguments, GoogleBenchmarkContenders,
    GoogleBenchmarkError, GoogleBenchmarkOptions, GoogleBenchmarkPilot, GoogleBenchmarkSide,
    OsClock, Watcher, environment, unix_seconds,
};
use deadheat_model::{
    Benchmark, BenchmarkFailure, Contender, Environment, GoogleBenchmarkCalls, LeftOut,
    LeftOutReason, Metric, Origin, Pinning, Plan, Program, RepetitionLength, RulesOfSome,
    RunHeader, Workload,
};

use super::commands::placements;
use super::outcome::{RaceError, RaceOutcome, not_started, take_over_signals};
use super::own_links;
use super::recorded::Recorded;
use super::terms::{Terms, refuse_existing, refuse_unmeasured};
use crate::rules::refuse_own_unmeasured;

/// Replicates of a benchmark on the user's own links, beside neutral ones.
const OWN_LINK_REPLICATES: u32 = 6;

/// How Google Benchmark executables are raced.
#[derive(Clone, Debug)]
pub struct GoogleBenchmarkRace {
    /// Who races; the baseline first.
    pub sides: Vec<GoogleSide>,
    /// What is raced.
    pub benchmarks: Vec<GoogleEntry>,
    /// What is not, as far as is known before the pilots.
    pub left_out: Vec<LeftOut>,
    /// Smallest relative change worth acting on.
    pub margin: f64,
    /// Chance of any wrong verdict that is accepted.
    pub alpha: f64,
    /// Replicates of each benchmark at most.
    pub max_replicates: u32,
    /// Repetitions in a launch, each a block; found by the pilot when `None`.
    pub blocks: Option<u32>,
    /// Whether each baseline races a second copy of itself as well.
    pub control: bool,
    /// No replicate starts after so much time.
    pub budget: Option<Duration>,
    /// What one launch may take.
    pub timeout: Option<Duration>,
    /// The source of every random choice.
    pub seed: u64,
    /// The metric judged: wall or CPU time.
    pub judged: Metric,
    /// Cores to draw from.
    pub pinning: Pinning,
    /// The run file; `None` for a new one below `.deadheat/runs`.
    pub save: Option<PathBuf>,
    /// The folder that `.deadheat` is looked for in.
    pub folder: PathBuf,
    /// The command that runs the same race again; empty when it is not known.
    pub command: Vec<String>,
    /// The program that makes neutral links, if replicates are to run on some.
    pub placements: Option<PathBuf>,
    /// Whether what the executables print is shown on standard error.
    pub shown: bool,
    /// Rules of some benchmarks; the last that fits wins, key by key.
    pub rules: Vec<RulesOfSome>,
}

/// A side of the race.
#[derive(Clone, Debug)]
pub struct GoogleSide {
    /// The contender's name.
    pub name: String,
    /// Who is launched, with the arguments of the user.
    pub program: Program,
}

/// A benchmark of the race.
#[derive(Clone, Debug)]
pub struct GoogleEntry {
    /// The name shown.
    pub name: String,
    /// The name that the program of each of its sides knows it by.
    pub in_sides: Vec<String>,
    /// Who races in it, by place among the sides of the race; as many as there
    /// are names.
    pub sides: Vec<usize>,
}

impl GoogleBenchmarkRace {
    /// What the user's own arguments ask for. Those of one side count for
    /// both: repetitions of another length say something else.
    fn wanted(&self) -> Result<GoogleBenchmarkArguments, RaceError> {
        let mut wanted = GoogleBenchmarkArguments::default();
        for side in &self.sides {
            let read = GoogleBenchmarkArguments::read(&side.program.arguments)
                .map_err(|problem| RaceError::Design(problem.to_string()))?;
            wanted.length = wanted.length.or(read.length);
            wanted.repetitions = wanted.repetitions.or(read.repetitions);
        }
        wanted.repetitions = self.blocks.or(wanted.repetitions);
        Ok(wanted)
    }

    /// The sides of a benchmark; a place that there is none for is an error of
    /// the caller.
    fn sides_of<'a>(
        &'a self,
        entry: &'a GoogleEntry,
    ) -> Result<Vec<GoogleBenchmarkSide<'a>>, RaceError> {
        let wrong = || {
            RaceError::Design(format!(
                "benchmark '{}' has {} names for its {} sides, of {} in all",
                entry.name,
                entry.in_sides.len(),
                entry.sides.len(),
                self.sides.len()
            ))
        };
        if entry.in_sides.len() != entry.sides.len() {
            return Err(wrong());
        }
        let sides = entry.sides.iter().zip(&entry.in_sides);
        let sides = sides.map(|(place, benchmark)| {
            let side = self.sides.get(*place).ok_or_else(wrong)?;
            Ok(GoogleBenchmarkSide {
                contender: &side.name,
                program: &side.program,
                benchmark,
            })
        });
        sides.collect()
    }
}

/// Races these benchmarks, every slot of a replicate a launch of its own, and
/// records the run as it happens. A benchmark that fails costs itself only.
pub fn race_google_benchmark(
    race: &GoogleBenchmarkRace,
    watcher: &mut dyn Watcher,
) -> Result<RaceOutcome, RaceError> {
    let interrupts = take_over_signals()?;
    // Before deadheat settles on one core and takes that for the machine.
    let machine = environment();
    let terms = Terms {
        margin: race.margin,
        alpha: race.alpha,
        max_replicates: race.max_replicates,
        blocks: 1,
        budget: race.budget,
        judged: &race.judged,
        pinning: &race.pinning,
    };
    let mut plan = Plan {
        design: terms.design()?,
        seed: race.seed,
        benchmarks: Vec::new(),
    };
    refuse_existing(race.save.as_deref())?;
    let options = GoogleBenchmarkOptions {
        timeout: race.timeout,
        pinning: race.pinning.clone(),
        seed: race.seed,
        shown: race.shown,
        wanted: race.wanted()?,
    };
    let mut contenders =
        GoogleBenchmarkContenders::new(options, &interrupts).map_err(RaceError::NotStarted)?;
    let whom = "Google Benchmark executables, whose counters are shown beside the verdict,";
    refuse_unmeasured(&race.judged, contenders.metrics(), whom)?;
    let mut left_out = race.left_out.clone();
    let mut failures = Vec::new();
    for entry in &race.benchmarks {
        let sides = race.sides_of(entry)?;
        let piloted = match contenders.pilot(plan.benchmarks.len(), &entry.name, &sides) {
            Ok(piloted) => Some(piloted),
            Err(error) if error.is_of_a_contender() => {
                if let Some(reason) = reason_to_leave_out(&error) {
                    left_out.push(LeftOut {
                        benchmark: entry.name.clone(),
                        reason,
                    });
                    continue;
                }
                failures.push(BenchmarkFailure {
                    benchmark: plan.benchmarks.len(),
                    message: error.within_benchmark(),
                });
                None
            }
            Err(error) => return Err(not_started(error, &interrupts)),
        };
        let mut benchmark = Benchmark {
            rules: terms.own_rules(&race.rules, &entry.name)?,
            ..planned(entry, &sides, piloted)
        };
        if race.control {
            benchmark.add_control();
        }
        plan.benchmarks.push(benchmark);
    }
    refuse_own_unmeasured(&plan.benchmarks, contenders.metrics(), whom)?;
    plan.validate()
        .map_err(|error| RaceError::Design(unraceable(error.to_string(), &left_out)))?;
    let placements = placements(&plan, race.placements.clone(), None, &interrupts)?;
    let failed = |of| failures.iter().any(|failure| failure.benchmark == of);
    own_links::add(&mut plan, OWN_LINK_REPLICATES, |of| {
        placements.possible(of) && !failed(of)
    });
    contenders
        .enter(&plan, placements)
        .map_err(RaceError::NotStarted)?;
    let header = RunHeader {
        command: race.command.clone(),
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        started_at: unix_seconds(),
        origin: Origin::Race,
        environment: Environment {
            pinned: contenders.pinned().to_vec(),
            neutral_links: contenders.neutral_links().to_vec(),
            ..machine
        },
        metrics: contenders.metrics().to_vec(),
        tick_ns: Some(OsClock::measured_tick_ns()),
        left_out,
        plan,
    };
    Recorded {
        save: race.save.as_deref(),
        folder: &race.folder,
        interrupts: &interrupts,
        watcher,
    }
    .race(header, failures, &mut contenders)
}

/// A benchmark as planned; one whose pilot failed is planned all the same, so
/// that it has a place in the run.
fn planned(
    entry: &GoogleEntry,
    sides: &[GoogleBenchmarkSide<'_>],
    piloted: Option<GoogleBenchmarkPilot>,
) -> Benchmark {
    let piloted = piloted.unwrap_or_else(|| GoogleBenchmarkPilot {
        calls: sides.iter().map(unknown).collect(),
        counters: Vec::new(),
    });
    let blocks = piloted.calls.first().map(|calls| calls.repetitions);
    let contenders = sides.iter().zip(piloted.calls);
    let contenders = contenders.map(|(side, calls)| Contender {
        name: side.contender.to_owned(),
        workload: Workload::GoogleBenchmark(Box::new(calls)),
    });
    Benchmark {
        name: entry.name.clone(),
        contenders: contenders.collect(),
        blocks_per_replicate: blocks,
        counters: piloted.counters,
        ..Benchmark::default()
    }
}

/// The calls of a side of which nothing is known.
fn unknown(side: &GoogleBenchmarkSide<'_>) -> GoogleBenchmarkCalls {
    GoogleBenchmarkCalls {
        program: side.program.clone(),
        benchmark: side.benchmark.to_owned(),
        length: RepetitionLength::Own,
        repetitions: 1,
        threads: 1,
    }
}

/// Why a benchmark is left out that could not be piloted; `None` when it
/// failed.
fn reason_to_leave_out(error: &EngineError) -> Option<LeftOutReason> {
    let EngineError::Function(failure) = error else {
        return None;
    };
    let FunctionError::GoogleBenchmark(cause) = &failure.cause else {
        return None;
    };
    match &cause.what {
        GoogleBenchmarkError::Skipped(message) => Some(LeftOutReason::Skipped(message.clone())),
        GoogleBenchmarkError::NotAlike { .. } => {
            let contender = failure.contender.as_deref().unwrap_or_default();
            Some(LeftOutReason::NotAlike(format!(
                "'{contender}' {}",
                cause.what
            )))
        }
        _ => None,
    }
}

/// That nothing is left to race has a reason.
fn unraceable(problem: String, left_out: &[LeftOut]) -> String {
    let names: Vec<&str> = left_out
        .iter()
        .map(|left| left.benchmark.as_str())
        .collect();
    match names.is_empty() {
        true => problem,
        false => format!("{problem}; left out: {}", names.join(", ")),
    }
}
