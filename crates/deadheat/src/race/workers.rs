//! The whole way of a race of functions in worker processes: planned benchmarks
//! in, recorded run out.

use std::path::PathBuf;
use std::time::Duration;

use deadheat_engine::{
    Contenders, FunctionContenders, FunctionOptions, Interrupts, LinkProgram, Watcher,
    WorkerProgram, environment, unix_seconds,
};
use deadheat_model::{
    Benchmark, BenchmarkFailure, Environment, LeftOut, Metric, Origin, Pinning, Plan, RulesOfSome,
    RunHeader,
};

#[cfg(feature = "reports")]
use super::known_calibration::known;
use super::outcome::{RaceError, RaceOutcome, not_started, take_over_signals};
use super::recorded::Recorded;
use super::terms::{Terms, refuse_existing, refuse_unmeasured};
use super::{own_links, planning};
use crate::rules::refuse_own_unmeasured;

/// Blocks in a replicate where neither the user nor a pilot says.
const BLOCKS: u32 = 25;

/// Replicates of a benchmark on the user's own link, beside neutral ones.
const OWN_LINK_REPLICATES: u32 = 6;

/// How functions are raced.
#[derive(Clone, Debug)]
pub struct WorkerRace {
    /// What a worker process runs where a benchmark names no program: the
    /// program that races functions of its own.
    pub program: Option<WorkerProgram>,
    /// Whether what other programs print is shown, on standard error.
    pub shown: bool,
    /// Smallest relative change worth acting on.
    pub margin: f64,
    /// Chance of any wrong verdict that is accepted.
    pub alpha: f64,
    /// Replicates of each benchmark at most.
    pub max_replicates: u32,
    /// Blocks in a replicate; found by the pilot when `None`.
    pub blocks: Option<u32>,
    /// Whether each baseline races a second copy of itself as well.
    pub control: bool,
    /// No block starts after so much time.
    pub budget: Option<Duration>,
    /// What a sample lasts at least, where not only its clock decides.
    pub sample_time: Option<Duration>,
    /// What one sample may take.
    pub timeout: Option<Duration>,
    /// The source of every random choice.
    pub seed: u64,
    /// The metric judged.
    pub judged: Metric,
    /// Cores to draw from.
    pub pinning: Pinning,
    /// The run file; `None` for a new one below `.deadheat/runs`.
    pub save: Option<PathBuf>,
    /// The folder that `.deadheat` is looked for in.
    pub folder: PathBuf,
    /// The command that runs the same race again; empty when it is not known.
    pub command: Vec<String>,
    /// The program that makes neutral links, if replicates are to run on some:
    /// one that understands `placements EXECUTABLE SEED…`.
    pub placements: Option<PathBuf>,
}

/// What is raced, and what is not.
#[derive(Clone, Debug, Default)]
pub struct Entries {
    /// The benchmarks, their functions to be called once in each sample: how
    /// often they are really called a pilot finds.
    pub benchmarks: Vec<Benchmark>,
    /// What every sample measures.
    pub metrics: Vec<Metric>,
    /// Benchmarks that somebody might look for.
    pub left_out: Vec<LeftOut>,
    /// Rules of some benchmarks; the last that fits wins, key by key.
    pub rules: Vec<RulesOfSome>,
}

impl WorkerRace {
    fn contenders<'a>(
        &self,
        metrics: &[Metric],
        interrupts: &'a Interrupts,
    ) -> Result<FunctionContenders<'a>, RaceError> {
        let options = FunctionOptions {
            program: self.program.clone(),
            shown: self.shown,
            metrics: metrics.to_vec(),
            sample_time: self.sample_time,
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

/// Races these benchmarks, each replicate in processes of its own, and records
/// the run as it happens. A benchmark that fails costs itself only.
pub fn race_workers(
    race: &WorkerRace,
    entries: Entries,
    watcher: &mut dyn Watcher,
) -> Result<RaceOutcome, RaceError> {
    let interrupts = take_over_signals()?;
    // Before deadheat settles on one core and takes that for the machine.
    let machine = environment();
    let design = race.terms().design()?;
    refuse_existing(race.save.as_deref())?;
    refuse_unmeasured(&race.judged, &entries.metrics, "functions")?;
    let mut benchmarks = entries.benchmarks;
    for benchmark in &mut benchmarks {
        // Before its pilot: a copy of a build has a process of its own.
        if race.control {
            benchmark.add_control();
        }
        benchmark.overrides = race
            .terms()
            .benchmark_overrides(&entries.rules, &benchmark.name)?;
    }
    refuse_own_unmeasured(&benchmarks, &entries.metrics, "functions")?;
    let mut contenders = race.contenders(&entries.metrics, &interrupts)?;
    let mut plan = Plan {
        design,
        seed: race.seed,
        benchmarks,
    };
    let mut failures = Vec::new();
    for (index, benchmark) in plan.benchmarks.iter_mut().enumerate() {
        let piloted = match contenders.pilot(index, benchmark) {
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
        planning::complete(benchmark, piloted.as_ref(), race.blocks);
    }
    plan.validate()
        .map_err(|error| RaceError::Design(error.to_string()))?;
    let links = contenders
        .neutral_links()
        .map_err(|error| not_started(error, &interrupts))?;
    let linked: Vec<bool> = plan
        .benchmarks
        .iter()
        .map(|benchmark| contenders.has_neutral_links(benchmark))
        .collect();
    let raced = |of: usize| !failures.iter().any(|failure| failure.benchmark == of);
    own_links::add(&mut plan, OWN_LINK_REPLICATES, |of| linked[of] && raced(of));
    contenders
        .enter(&plan)
        .map_err(|error| not_started(error, &interrupts))?;
    let machine = Environment {
        neutral_links: links,
        debug_build: race.program.is_some() && cfg!(debug_assertions),
        #[cfg(feature = "reports")]
        calibration: known(&machine, &plan),
        ..machine
    };
    let header = RunHeader {
        command: race.command.clone(),
        ..header(plan, machine, entries.left_out, &contenders)
    };
    Recorded {
        save: race.save.as_deref(),
        folder: &race.folder,
        interrupts: &interrupts,
        watcher,
    }
    .race(header, failures, &mut contenders)
}

fn header(
    plan: Plan,
    machine: Environment,
    left_out: Vec<LeftOut>,
    contenders: &FunctionContenders<'_>,
) -> RunHeader {
    RunHeader {
        command: Vec::new(),
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        started_at: unix_seconds(),
        origin: Origin::Race,
        environment: Environment {
            pinned: contenders.pinned().to_vec(),
            clock: Some(contenders.clock_facts()),
            ..machine
        },
        metrics: contenders.metrics().to_vec(),
        tick_ns: Some(contenders.tick_ns()),
        left_out,
        plan,
    }
}

/// Calls every contender of these benchmarks once, each benchmark in a process
/// of its own, and tells what came of it as it comes.
pub(crate) fn smoke_test<E: From<RaceError>>(
    race: &WorkerRace,
    entries: &Entries,
    mut tell: impl FnMut(&Benchmark, Result<(), RaceError>) -> Result<(), E>,
) -> Result<(), E> {
    let interrupts = take_over_signals()?;
    let mut contenders = race.contenders(&entries.metrics, &interrupts)?;
    for benchmark in &entries.benchmarks {
        let outcome = contenders.smoke(benchmark);
        tell(
            benchmark,
            outcome.map_err(|error| not_started(error, &interrupts)),
        )?;
    }
    Ok(())
}
