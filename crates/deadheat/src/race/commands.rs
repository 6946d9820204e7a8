//! The whole way of a race of commands: plan in, recorded run out.

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
use super::session::{PlanUse, RaceSession, outlives_failures};
use super::{RaceError, RaceOutcome, not_started, take_over_signals};

/// The traces that a race of commands leaves, and the program that links.
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
    /// How the commands of a block share the machine.
    pub arrangement: Arrangement,
    /// The program that makes neutral links: one that understands
    /// `placements EXECUTABLE SEED…`, as `deadheat` does. Without one all
    /// commands run as they were linked.
    pub placements: Option<LinkProgram>,
    /// True if nobody said how many replicates there are at most: commands that take little time
    /// then get more than the plan has.
    pub open: bool,
    /// True if the user said how many launches of each command there are, not how many replicates.
    pub in_launches: bool,
    /// The commits that the sides were built from; empty where one is none.
    pub commits: Vec<Commit>,
    /// The question that ends a benchmark in place of its verdict.
    pub until: Option<Until>,
    /// Where the plan comes from, and what becomes of it.
    pub use_of_plan: PlanUse,
    /// The conditions that this host measures under, where it races a part.
    pub conditions: Conditions,
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
    refuse_unwritable(options.save.as_deref())?;
    // Before deadheat settles on one core and takes that for the machine.
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
    // One race of many is asked for its effect alone.
    if options.use_of_plan != PlanUse::Saved && options.until.is_none() {
        add_own_links(&mut plan, OWN_LINK_REPLICATES, |of| placements.possible(of));
    }
    let mut contenders = contenders(&plan, options.shown, true, &interrupts)?;
    let mut header = header(plan, machine, &options.command, &contenders)?;
    let clock = OsClock::start();
    let links = header.environment.neutral_links.iter();
    let on_links = links.clone().any(|links| links.made_by.is_ok());
    // What a link costs nobody knows before it is made, and a replicate on neutral links needs one.
    let mut failures = Vec::new();
    if !on_links {
        failures = pilot(&mut header.plan, &mut contenders, options, &clock)
            .map_err(|error| not_started(error, &interrupts))??;
    } else if options.arrangement == Arrangement::SideBySide {
        return Err(RaceError::Design(
            "--arrangement side-by-side and neutral links cannot be combined\nhelp: --placement own races \
             the programs as you linked them"
                .to_owned(),
        ));
    }
    // A calibration races commands in turns, whose noise is many times that of side by side.
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

/// All pilots together take at most the budget divided by this.
const PILOT_PART: u32 = 4;

/// Warms up the commands of every benchmark, chooses how they race, and raises the most replicates of
/// commands that take little time to what their time allows. Returns the benchmarks that failed.
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
        // A plan that is only saved is made without a launch.
        let piloted = match options.use_of_plan {
            PlanUse::Save => Ok(None),
            PlanUse::Race | PlanUse::Saved => contenders.pilot(plan, index, limit),
        };
        // One race of many is asked for its effect alone.
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

/// Finds the executables that have neutral links; a run that is taken up again goes on with
/// those it had.
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

/// The header of the run of this plan, where these contenders measure what it judges.
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
                format!(
                    "there is no such metric{HELP}there are {}",
                    known.join(", ")
                )
            }
            (CounterAccess::Unavailable(reason), Metric::Instructions) => format!(
                "hardware counters cannot be read: {reason}; --callgrind counts instructions without \
                 them"
            ),
            (CounterAccess::Unavailable(reason), _) => format!(
                "hardware counters cannot be read: {reason}{HELP}--metric cpu judges the CPU time, \
                 --callgrind the instructions that Valgrind counts"
            ),
            (CounterAccess::Available, _) => "it is not measured for commands".to_owned(),
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
