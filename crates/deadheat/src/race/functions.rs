//! The whole way of a race of functions: suite in, recorded run out.

use std::path::PathBuf;
use std::time::Duration;

use deadheat_engine::{
    Contenders, FunctionContenders, FunctionOptions, Interrupts, LinkProgram, Watcher,
    WorkerProgram, environment, unix_seconds,
};
use deadheat_model::{BenchmarkFailure, Environment, Metric, Origin, Pinning, Plan, RunHeader};

use super::outcome::{RaceError, RaceOutcome, not_started, take_over_signals};
use super::recorded::Recorded;
use super::terms::{Terms, refuse_existing, refuse_unmeasured};
use super::{own_links, planning};
use crate::suite::Registered;

/// Blocks in a replicate where neither the user nor a pilot says.
const BLOCKS: u32 = 25;

/// Replicates of a benchmark on the user's own link, beside neutral ones.
const OWN_LINK_REPLICATES: u32 = 6;

/// How a suite is raced.
#[derive(Clone, Debug)]
pub(crate) struct FunctionRace {
    /// What a worker process runs.
    pub(crate) program: WorkerProgram,
    /// Smallest relative change worth acting on.
    pub(crate) margin: f64,
    /// Chance of any wrong verdict that is accepted.
    pub(crate) alpha: f64,
    /// Replicates of each benchmark at most.
    pub(crate) max_replicates: u32,
    /// Blocks in a replicate; found by the pilot when `None`.
    pub(crate) blocks: Option<u32>,
    /// No block starts after so much time.
    pub(crate) budget: Option<Duration>,
    /// What one sample may take.
    pub(crate) timeout: Option<Duration>,
    /// The source of every random choice.
    pub(crate) seed: u64,
    /// The metric judged.
    pub(crate) judged: Metric,
    /// Cores to draw from.
    pub(crate) pinning: Pinning,
    /// The run file; `None` for a new one below `.deadheat/runs`.
    pub(crate) save: Option<PathBuf>,
    /// The folder that `.deadheat` is looked for in.
    pub(crate) folder: PathBuf,
    /// The program that makes neutral links, if replicates are to run on some.
    pub(crate) placements: Option<PathBuf>,
}

impl FunctionRace {
    fn contenders<'a>(
        &self,
        interrupts: &'a Interrupts,
    ) -> Result<FunctionContenders<'a>, RaceError> {
        let options = FunctionOptions {
            program: self.program.clone(),
            timeout: self.timeout,
            pinning: self.pinning.clone(),
            seed: self.seed,
            placements: self.placements.clone().map(LinkProgram::new),
        };
        FunctionContenders::new(options, interrupts).map_err(RaceError::NotStarted)
    }

    fn terms(&self) -> Terms<'_> {
        Terms {
            margin: self.margin,
            alpha: self.alpha,
            max_replicates: self.max_replicates,
            blocks: self.blocks.unwrap_or(BLOCKS),
            budget: self.budget,
            judged: &self.judged,
            pinning: &self.pinning,
        }
    }
}

/// Races these benchmarks, each replicate in a process of its own, and records
/// the run as it happens. A benchmark that fails costs itself only.
pub(crate) fn race_functions(
    race: &FunctionRace,
    benchmarks: &[&Registered],
    watcher: &mut dyn Watcher,
) -> Result<RaceOutcome, RaceError> {
    let interrupts = take_over_signals()?;
    // Before deadheat settles on one core and takes that for the machine.
    let machine = environment();
    let design = race.terms().design()?;
    refuse_existing(race.save.as_deref())?;
    let mut contenders = race.contenders(&interrupts)?;
    refuse_unmeasured(&race.judged, contenders.metrics(), "functions")?;
    let mut plan = Plan {
        design,
        seed: race.seed,
        benchmarks: Vec::new(),
    };
    let mut failures = Vec::new();
    for (index, registered) in benchmarks.iter().enumerate() {
        let piloted = contenders.pilot(index, &registered.lineup());
        let piloted = match piloted {
            Ok(piloted) => Some(piloted),
            Err(error) if error.is_of_a_contender() => {
                failures.push(BenchmarkFailure {
                    benchmark: index,
                    message: error.within_benchmark(),
                });
                None
            }
            Err(error) => return Err(not_started(error, &interrupts)),
        };
        let planned = planning::benchmark(registered, piloted.as_ref(), race.blocks);
        plan.benchmarks.push(planned);
    }
    plan.validate()
        .map_err(|error| RaceError::Design(error.to_string()))?;
    let links = contenders
        .neutral_links()
        .map_err(|error| not_started(error, &interrupts))?;
    if links.as_ref().is_some_and(|links| links.made_by.is_ok()) {
        let raced = |of| !failures.iter().any(|failure| failure.benchmark == of);
        own_links::add(&mut plan, OWN_LINK_REPLICATES, raced);
    }
    contenders.enter(&plan);
    let machine = Environment {
        neutral_links: links.into_iter().collect(),
        ..machine
    };
    let header = header(plan, machine, &contenders);
    Recorded {
        save: race.save.as_deref(),
        folder: &race.folder,
        interrupts: &interrupts,
        watcher,
    }
    .race(header, failures, &mut contenders)
}

fn header(plan: Plan, machine: Environment, contenders: &FunctionContenders<'_>) -> RunHeader {
    RunHeader {
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        started_at: unix_seconds(),
        origin: Origin::Race,
        environment: Environment {
            pinned: contenders.pinned().to_vec(),
            clock: Some(contenders.clock_facts()),
            debug_build: cfg!(debug_assertions),
            ..machine
        },
        metrics: contenders.metrics().to_vec(),
        tick_ns: Some(contenders.tick_ns()),
        left_out: Vec::new(),
        plan,
    }
}

/// Calls every contender of these benchmarks once, each benchmark in a process
/// of its own, and tells what came of it as it comes.
pub(crate) fn smoke_test<E: From<RaceError>>(
    race: &FunctionRace,
    benchmarks: &[&Registered],
    mut tell: impl FnMut(&Registered, Result<(), RaceError>) -> Result<(), E>,
) -> Result<(), E> {
    let interrupts = take_over_signals()?;
    let mut contenders = race.contenders(&interrupts)?;
    for benchmark in benchmarks {
        let outcome = contenders.smoke(&benchmark.lineup());
        tell(
            benchmark,
            outcome.map_err(|error| not_started(error, &interrupts)),
        )?;
    }
    Ok(())
}
