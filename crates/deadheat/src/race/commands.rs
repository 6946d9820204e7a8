//! The whole way of a race of commands: plan in, recorded run out.

use std::os::fd::RawFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

use deadheat_analysis::{AnytimeRule, PlannedRule};
use deadheat_engine::{
    CommandContenders, CommandOptions, CommandPlacements, Contenders, Interrupts, LinkProgram,
    OsClock, Session, Watcher, environment, unix_seconds,
};
use deadheat_format::{RunFileWriter, read_header, read_run};
use deadheat_model::{
    CounterAccess, Environment, Metric, NeutralLinks, Origin, Plan, Run, RunHeader, Workload,
};

use super::outcome::{
    RaceError, RaceOutcome, blocks, finish, not_started, record, take_over_signals,
};
use super::own_links;
use crate::calibration::known;
use crate::rules::refuse_own_unmeasured;

/// Where a race leaves its traces.
#[derive(Clone, Debug)]
pub struct RaceOptions {
    /// The run file; `None` for a new one below `.deadheat/runs`.
    pub save: Option<PathBuf>,
    /// The folder that `.deadheat` is looked for in.
    pub folder: PathBuf,
    /// Descriptor that the standard output of shown commands goes to.
    pub shown: RawFd,
    /// The command that runs the same race again; empty when it is not known.
    pub command: Vec<String>,
    /// The program that makes neutral links: one that understands
    /// `placements EXECUTABLE SEED…`, as `deadheat` does. Without one all
    /// commands run as they were linked.
    pub placements: Option<PathBuf>,
}

/// Replicates of a benchmark on the user's own links, beside neutral ones.
const OWN_LINK_REPLICATES: u32 = 11;

/// Races the commands of a frozen plan and records the run as it happens.
pub fn race_commands(
    mut plan: Plan,
    options: &RaceOptions,
    watcher: &mut dyn Watcher,
) -> Result<RaceOutcome, RaceError> {
    let interrupts = take_over_signals()?;
    // Before deadheat settles on one core and takes that for the machine.
    let mut machine = environment();
    let placements = placements(&plan, options, None, &interrupts)?;
    machine.neutral_links = placements.neutral_links().to_vec();
    machine.calibration = known(&machine, &plan);
    own_links::add(&mut plan, OWN_LINK_REPLICATES, |of| placements.possible(of));
    let contenders = contenders(&plan, options, true, &interrupts)?;
    let mut contenders = contenders.with_placements(placements);
    let header = RunHeader {
        command: options.command.clone(),
        ..header(plan, machine, &contenders)?
    };
    let (path, mut writer) = record(options.save.as_deref(), &options.folder, &header)?;
    let mut rule = PlannedRule::new(&header);
    let max_replicates = header.plan.design.looks.max_replicates();
    let budget = header.plan.design.budget;
    let mut run = Run::new(header);
    let raced = Session {
        contenders: &mut contenders,
        clock: &OsClock::start(),
        rule: &mut rule,
        sink: &mut writer,
        watcher,
        stop: &interrupts,
        max_replicates,
        budget,
        outlive_failures: false,
    }
    .race(&mut run);
    if raced.is_err() && blocks(&run) == 0 {
        // That it cannot be removed either changes nothing about the cause.
        let _ = writer.discard();
    }
    finish(raced, run, path)
}

/// Goes on with a recorded race where it stopped, by the rule that holds at
/// any time, for at most `more` replicates and as long as `budget` allows; the
/// budget of the plan was about its first sitting.
pub fn resume_commands(
    path: &Path,
    more: u32,
    budget: Option<Duration>,
    options: &RaceOptions,
    watcher: &mut dyn Watcher,
) -> Result<RaceOutcome, RaceError> {
    let interrupts = take_over_signals()?;
    // The header alone first: the launcher is forked from this process and
    // should not carry along the memory of a million old samples.
    let old = read_header(path).map_err(RaceError::Resume)?;
    let commands = |plan: &Plan| {
        plan.benchmarks
            .iter()
            .flat_map(|benchmark| &benchmark.contenders)
            .all(|contender| matches!(contender.workload, Workload::Command(_)))
    };
    if old.origin != Origin::Race || !commands(&old.plan) {
        return Err(RaceError::NotARace {
            path: path.to_owned(),
        });
    }
    let counters = old.metrics.contains(&Metric::Cycles);
    let before = &old.environment.neutral_links;
    let mut placements = placements(&old.plan, options, Some(before), &interrupts)?;
    let contenders = contenders(&old.plan, options, counters, &interrupts)?;
    if contenders.metrics() != old.metrics {
        let list = |metrics: &[Metric]| {
            metrics
                .iter()
                .map(Metric::name)
                .collect::<Vec<_>>()
                .join(", ")
        };
        return Err(RaceError::OtherMetrics {
            path: path.to_owned(),
            then: list(&old.metrics),
            now: list(contenders.metrics()),
        });
    }
    let mut run = read_run(path).map_err(RaceError::Resume)?;
    placements.remember(&run.placed);
    let mut contenders = contenders.with_placements(placements);
    let version = env!("CARGO_PKG_VERSION");
    let mut writer =
        RunFileWriter::resume(path, version, unix_seconds()).map_err(RaceError::Resume)?;
    let elapsed_ns = run
        .end
        .as_ref()
        .map_or(run.elapsed_ns, |end| end.elapsed_ns);
    run.resume();
    let done = run
        .benchmarks
        .iter()
        .filter_map(|samples| samples.blocks().last());
    let done = done.map(|last| last.replicate + 1).max().unwrap_or(0);
    let mut rule = AnytimeRule::new(&run.header);
    let raced = Session {
        contenders: &mut contenders,
        clock: &OsClock::resume(elapsed_ns),
        rule: &mut rule,
        sink: &mut writer,
        watcher,
        stop: &interrupts,
        max_replicates: done.saturating_add(more),
        budget,
        outlive_failures: false,
    }
    .race(&mut run);
    finish(raced, run, path.to_owned())
}

/// Who has neutral links; a run that is taken up again goes on with those it
/// had.
fn placements(
    plan: &Plan,
    options: &RaceOptions,
    before: Option<&[NeutralLinks]>,
    interrupts: &Interrupts,
) -> Result<CommandPlacements, RaceError> {
    let program = options.placements.clone().map(LinkProgram::new);
    CommandPlacements::find(program, plan, before, interrupts)
        .map_err(|error| not_started(error, interrupts))
}

fn contenders<'a>(
    plan: &Plan,
    options: &RaceOptions,
    counters: bool,
    interrupts: &'a Interrupts,
) -> Result<CommandContenders<'a>, RaceError> {
    let options = CommandOptions {
        shown: options.shown,
        counters,
    };
    CommandContenders::new(plan, &options, interrupts).map_err(RaceError::NotStarted)
}

fn header(
    plan: Plan,
    machine: Environment,
    contenders: &CommandContenders<'_>,
) -> Result<RunHeader, RaceError> {
    let counters = match contenders.counters() {
        Ok(()) => CounterAccess::Available,
        Err(reason) => CounterAccess::Unavailable(reason.clone()),
    };
    let judged = &plan.design.judged;
    if !contenders.metrics().contains(judged) {
        let reason = match (&counters, judged) {
            (_, Metric::Custom(_)) => {
                let known: Vec<&str> = contenders.metrics().iter().map(Metric::name).collect();
                format!("there is no such metric; there are {}", known.join(", "))
            }
            (CounterAccess::Unavailable(reason), _) => {
                format!("hardware counters cannot be read: {reason}")
            }
            (CounterAccess::Available, _) => "it is not measured for commands".to_owned(),
        };
        return Err(RaceError::MetricNotMeasured {
            metric: judged.clone(),
            reason,
        });
    }
    let whom = "commands";
    refuse_own_unmeasured(&plan.benchmarks, contenders.metrics(), whom)?;
    Ok(RunHeader {
        command: Vec::new(),
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        started_at: unix_seconds(),
        origin: Origin::Race,
        environment: Environment {
            pinned: contenders.pinned().to_vec(),
            counters: Some(counters),
            ..machine
        },
        metrics: contenders.metrics().to_vec(),
        tick_ns: Some(OsClock::measured_tick_ns()),
        left_out: Vec::new(),
        plan,
    })
}
