//! The whole way of a race of functions in worker processes: planned benchmarks
//! in, recorded run out.

use std::path::PathBuf;

use deadheat_engine::{
    Contenders, FunctionContenders, FunctionOptions, Interrupts, LinkProgram, Watcher,
    WorkerProgram, environment, unix_seconds,
};
use deadheat_model::{
    Benchmark, BenchmarkFailure, Environment, Front, LeftOut, Metric, Origin, Plan, RaceSettings,
    RulesOfSome, RunHeader,
};

use super::outcome::{RaceError, RaceOutcome, not_started, take_over_signals};
use super::recorded::Recorded;
use super::terms::{design, looks, refuse_existing, refuse_unmeasured};
use super::{own_links, planning};
#[cfg(feature = "reports")]
use crate::calibration::known;
use crate::rules::{own_rules, refuse_own_unmeasured};

/// Blocks in a replicate where neither the user nor a pilot says.
const BLOCKS: u32 = 25;

/// Replicates of a benchmark on the user's own link, beside neutral ones.
const OWN_LINK_REPLICATES: u32 = 6;

/// How functions are raced.
#[derive(Clone, Debug, Default)]
pub struct WorkerRace {
    /// What a worker process runs where a benchmark names no program: the
    /// program that races functions of its own.
    pub program: Option<WorkerProgram>,
    /// Whether what other programs print is shown, on standard error.
    pub shown: bool,
    /// How they are raced and judged.
    pub settings: RaceSettings,
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
            sample_time: self.settings.sample_time,
            timeout: self.settings.timeout(Front::Bench),
            pinning: self.settings.pinning(Front::Bench),
            seed: self.settings.seed(),
            placements: self.placements.clone().map(LinkProgram::new),
        };
        FunctionContenders::new(options, interrupts).map_err(RaceError::NotStarted)
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
    let settings = &race.settings;
    let design = design(settings, BLOCKS)?;
    refuse_existing(race.save.as_deref())?;
    refuse_unmeasured(&design.judged, &entries.metrics, "functions")?;
    let mut benchmarks = entries.benchmarks;
    for benchmark in &mut benchmarks {
        // Before its pilot: a copy of a build has a process of its own.
        if settings.control() {
            benchmark.add_control();
        }
        benchmark.rules = own_rules(&entries.rules, &benchmark.name, |alpha| {
            looks(settings, alpha)
        })?;
    }
    refuse_own_unmeasured(&benchmarks, &entries.metrics, "functions")?;
    let mut contenders = race.contenders(&entries.metrics, &interrupts)?;
    let mut plan = Plan {
        design,
        seed: settings.seed(),
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
        planning::complete(benchmark, piloted.as_ref(), settings.blocks);
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
