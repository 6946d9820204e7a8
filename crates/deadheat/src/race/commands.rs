//! Races commands, from a plan to a recorded run.

use std::os::fd::RawFd;
use std::path::PathBuf;
use std::time::Duration;

use deadheat_engine::{
    Clock, CommandContenders, CommandOptions, Contenders, EngineError, Interrupts, LinkProgram,
    OsClock, Placements, Watcher, environment,
};
use deadheat_model::{
    Arrangement, BenchmarkFailure, Commit, Conditions, CounterAccess, Environment, HELP, Metric,
    NeutralLinks, Plan, RunHeader, Until,
};

use super::arrangement::arrange;
use super::header::{self, environment_of};
use super::planning::{
    add_own_links, keep_launches, plan_for_costs, refuse_unmeasured_overrides, refuse_unwritable,
};
use super::session::{RaceSession, outlives_failures};
use super::{RaceError, RaceOutcome, not_started, take_over_signals};
use crate::settings::PlanUse;

/// The options of a race of commands that are not part of its plan.
#[derive(Clone, Debug)]
pub struct RaceOptions {
    /// The run file; `None` for a new one below `.deadheat/runs`.
    pub save: Option<PathBuf>,
    /// The folder that contains `.deadheat`.
    pub folder: PathBuf,
    /// The file descriptor that receives the standard output of commands with `Output::Inherit`.
    pub shown: RawFd,
    /// The command that repeats the race; empty if it is unknown.
    pub command: Vec<String>,
    /// How the commands of a block share the machine: in turns or side by side.
    pub arrangement: Arrangement,
    /// The program that makes neutral links. It must understand `placements EXECUTABLE SEED…`, as
    /// `deadheat` does. If `None`, all commands run as they were linked.
    pub placements: Option<LinkProgram>,
    /// True if the user set no maximum number of replicates. In this case, commands that take
    /// little time get more replicates than the plan has.
    pub open: bool,
    /// True if the user set a number of launches of each command, not a number of replicates.
    pub in_launches: bool,
    /// The commits that the sides were built from; empty if a side was not built from a commit.
    pub commits: Vec<Commit>,
    /// The condition that ends the race of a benchmark; `None` to end it at its verdict.
    pub until: Option<Until>,
    /// The source of the plan (made for this race, or saved before), and whether to race it.
    pub use_of_plan: PlanUse,
    /// The limits and disturbances of this machine. deadheat records them for a part of a race, and
    /// in a plan that is saved.
    pub conditions: Conditions,
}

/// Maximum number of replicates of a rerun on the user's own link, in a race on neutral links.
const OWN_LINK_REPLICATES: u32 = 11;

/// Races the commands of a frozen plan, and writes each block to the run file when it is measured.
pub fn race_commands(
    mut plan: Plan,
    options: &RaceOptions,
    watcher: &mut dyn Watcher,
) -> Result<RaceOutcome, RaceError> {
    let interrupts = take_over_signals()?;
    refuse_unwritable(options.save.as_deref())?;
    // Read before deadheat pins itself to one core, which would then be recorded as the machine.
    let mut machine = environment();
    let placements = placements(&plan, options.placements.clone(), None, &interrupts)?;
    machine.neutral_links = placements.neutral_links().to_vec();
    let machine = environment_of(
        machine,
        &plan,
        &options.commits,
        options.use_of_plan,
        &options.conditions,
    );
    // A race with `until` is one of many in a search, which needs only its effect.
    if options.use_of_plan != PlanUse::Saved && options.until.is_none() {
        add_own_links(&mut plan, OWN_LINK_REPLICATES, |of| placements.possible(of));
    }
    let mut contenders = contenders(&plan, options.shown, true, &interrupts)?;
    let mut header = header(plan, machine, &options.command, &contenders)?;
    let clock = OsClock::start();
    let links = header.environment.neutral_links.iter();
    let on_links = links.clone().any(|links| links.made_by.is_ok());
    // With neutral links, the time of a replicate is unknown, because every replicate needs a new
    // link.
    let mut failures = Vec::new();
    if !on_links {
        failures = pilot(&mut header.plan, &mut contenders, options, &clock)
            .map_err(|error| not_started(error, &interrupts))??;
    } else if options.arrangement == Arrangement::SideBySide {
        return Err(RaceError::Design(
            "--arrangement side-by-side and neutral links cannot be combined\nhelp: --placement \
             own races the programs as you linked them"
                .to_owned(),
        ));
    }
    // The calibration of the machine raced commands in turns, with many times the noise of a race
    // side by side, so it does not apply to this race.
    let mut benchmarks = header.plan.benchmarks.iter();
    if benchmarks.any(|benchmark| benchmark.side_by_side.is_some()) {
        header.environment.calibration = None;
    }
    let spent = Duration::from_nanos(clock.elapsed_ns());
    let mut contenders = contenders.with_placements(placements);
    RaceSession {
        contenders: &mut contenders,
        interrupts: &interrupts,
        watcher,
        spent,
        use_of_plan: options.use_of_plan,
        until: options.until.clone(),
    }
    .begin(header, failures, options.save.as_deref(), &options.folder)
}

/// The calibration runs of all benchmarks together take at most the budget divided by this number.
const PILOT_PART: u32 = 4;

/// Makes the calibration run of every benchmark: warms up its commands, chooses between turns and
/// side by side, and sets the maximum number of replicates from their duration. Returns the
/// benchmarks that failed.
fn pilot(
    plan: &mut Plan,
    contenders: &mut CommandContenders<'_>,
    options: &RaceOptions,
    clock: &OsClock,
) -> Result<Result<Vec<BenchmarkFailure>, RaceError>, EngineError> {
    let mut failures = Vec::new();
    if !options.open && options.arrangement == Arrangement::Turns {
        return Ok(Ok(failures));
    }
    let mut costs_ns = Vec::new();
    let mut to_come = plan.benchmarks.iter().filter(|one| plan.races(one)).count() as u32;
    for index in 0..plan.benchmarks.len() {
        if !plan.races(&plan.benchmarks[index]) {
            costs_ns.push(None);
            continue;
        }
        let spent = Duration::from_nanos(clock.elapsed_ns());
        let share_of = |time: Duration| time.saturating_sub(spent) / to_come;
        let budget = plan.design.budget;
        let (limit, left) = (
            budget.map(|all| share_of(all / PILOT_PART)),
            budget.map(share_of),
        );
        to_come -= 1;
        // A plan that is only saved is made without launching the commands.
        let piloted = match options.use_of_plan {
            PlanUse::Save => Ok(None),
            PlanUse::Race | PlanUse::Saved => contenders.pilot(plan, index, limit),
        };
        // A race with `until` is one of many in a search, which needs only its effect.
        let is_rerun = options.until.is_none();
        let arranged = piloted.and_then(|in_turns_ns| {
            let known = (in_turns_ns, left);
            arrange(plan, index, known, is_rerun, options.arrangement, |how| {
                contenders.try_side_by_side(index, how)
            })
        });
        match arranged {
            Ok(cost_ns) => costs_ns.push(cost_ns),
            Err(error) if error.is_of_a_contender() && outlives_failures(plan) => {
                failures.push(BenchmarkFailure {
                    benchmark: index,
                    message: error.within_benchmark(),
                });
                costs_ns.push(None);
                continue;
            }
            Err(error) => return Err(error),
        }
        if options.in_launches
            && let Err(error) = keep_launches(plan, index)
        {
            return Ok(Err(error.into()));
        }
    }
    contenders.arrange(plan);
    if options.open
        && let Err(error) = plan_for_costs(plan, &costs_ns, Duration::ZERO)
    {
        return Ok(Err(error));
    }
    Ok(Ok(failures))
}

/// Finds the executables for which neutral links can be made. A resumed run continues with the
/// links in `before`.
pub(super) fn placements(
    plan: &Plan,
    program: Option<LinkProgram>,
    before: Option<&[NeutralLinks]>,
    interrupts: &Interrupts,
) -> Result<Placements, RaceError> {
    Placements::find(program, plan, before, interrupts)
        .map_err(|error| not_started(error, interrupts))
}

pub(super) fn contenders<'a>(
    plan: &Plan,
    shown: RawFd,
    counters: bool,
    interrupts: &'a Interrupts,
) -> Result<CommandContenders<'a>, RaceError> {
    let options = CommandOptions { shown, counters };
    CommandContenders::new(plan, &options, interrupts).map_err(RaceError::NotStarted)
}

fn header(
    plan: Plan,
    machine: Environment,
    command: &[String],
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
                format!("unknown metric{HELP}the metrics are {}", known.join(", "))
            }
            (CounterAccess::Unavailable(reason), Metric::Instructions) => format!(
                "hardware counters cannot be read: {reason}; --callgrind counts instructions \
                 without them"
            ),
            (CounterAccess::Unavailable(reason), _) => format!(
                "hardware counters cannot be read: {reason}{HELP}--metric cpu judges the CPU time, \
                 --callgrind the instructions that Valgrind counts"
            ),
            (CounterAccess::Available, _) => {
                "deadheat does not measure this metric for commands".to_owned()
            }
        };
        return Err(RaceError::MetricNotMeasured {
            metric: judged.clone(),
            reason,
        });
    }
    let whom = "commands";
    refuse_unmeasured_overrides(&plan.benchmarks, contenders.metrics(), whom)?;
    let known = Environment {
        pinned: contenders.pinned().to_vec(),
        counters: Some(counters),
        ..machine
    };
    let (metrics, tick_ns) = (contenders.metrics(), OsClock::measured_tick_ns());
    Ok(header::header(plan, known, command, metrics, tick_ns))
}
