//! Races of benchmarks that programs hold: entries in, recorded run out. A pilot completes each
//! benchmark before the plan is frozen.

use std::time::Duration;

#[cfg(feature = "commands")]
use {
    deadheat_engine::{Inspected, WorkerProgram, inspect},
    deadheat_model::{Harness, Program},
};

use deadheat_engine::{Clock, Interrupts, OsClock, Watcher, environment};
use deadheat_model::{
    Benchmark, Design, Environment, LeftOut, Metric, NeutralLinks, Plan, RaceSettings, RulesOfSome,
    RunHeader, before_help,
};

use super::entries::{BenchmarkRace, Entries, PilotedContenders, function_contenders};
#[cfg(feature = "commands")]
use super::harness;
use super::header::{self, environment_of};
use super::pilots::Pilots;
use super::planning::{
    design, forecast, looks, plan_for_costs, refuse_short_budget, refuse_unmeasured,
    refuse_unmeasured_overrides, refuse_unwritable,
};
use super::session::{PlanUse, RaceSession};
use super::{RaceError, RaceOutcome, not_started, take_over_signals};
use crate::rules::{benchmark_overrides, blocks_of_quantile, hold_together};
use crate::terminal::to_stderr;

/// Races these benchmarks, each replicate in processes of its own, and records the run as it
/// happens. A benchmark that fails costs itself only.
pub fn race_benchmarks(
    race: &BenchmarkRace,
    entries: Entries,
    watcher: &mut dyn Watcher,
) -> Result<RaceOutcome, RaceError> {
    let clock = OsClock::start();
    let interrupts = take_over_signals()?;
    // Before deadheat settles on one core and takes that for the machine.
    let machine = environment();
    let design = Design {
        judged: judged(&race.settings, &entries.metrics),
        ..design(&race.settings)?
    };
    refuse_unwritable(race.save.as_deref())?;
    // The budget of one race of many is what the others leave of it.
    if race.until.is_none() {
        refuse_short_budget(&race.settings, &entries.benchmarks)?;
    }
    let mut contenders = contenders(race, &entries.benchmarks, &entries.metrics, &interrupts)?;
    let mut plan = Plan {
        design: Design {
            blocks_per_replicate: contenders.blocks(&race.settings),
            ..design
        },
        seed: race.settings.seed(),
        benchmarks: Vec::new(),
    };
    let benchmarks = planned(
        race,
        entries.benchmarks,
        &entries.rules,
        &plan,
        &*contenders,
    )?;
    let raced: Vec<Benchmark> = (benchmarks.iter().filter(|one| plan.races(one)))
        .cloned()
        .collect();
    let not_started = |error| not_started(error, &interrupts);
    let spent = || Duration::from_nanos(clock.elapsed_ns());
    contenders.expect(&raced).map_err(not_started)?;
    let mut pilots = Pilots::new(entries.left_out);
    pilots
        .run(
            benchmarks,
            &mut plan,
            &mut *contenders,
            &race.settings,
            (watcher, &spent),
        )
        .map_err(not_started)?;
    let Pilots {
        costs_ns,
        failures,
        left_out,
    } = pilots;
    for note in contenders.notes() {
        to_stderr("note", &note);
    }
    let raced: Vec<Benchmark> = (plan.benchmarks.iter().filter(|one| plan.races(one)))
        .cloned()
        .collect();
    // All parts of a race have one plan, and each has pilots of its own.
    plan.design.rounds = plan.design.shard.is_none() && contenders.can_race_in_rounds(&raced);
    hold_together(&mut plan.benchmarks, &race.settings, &entries.rules);
    plan.validate()
        .map_err(|error| RaceError::Design(unraceable(error.to_string(), &left_out)))?;
    let failed = |of: usize| failures.iter().any(|failure| failure.benchmark == of);
    let neutral_links = contenders.enter(&mut plan, &failed, race, &interrupts)?;
    // What a link costs nobody knows before it is made, and a replicate on neutral links needs one.
    let linked = neutral_links.iter().any(|links| links.made_by.is_ok());
    // Parts share as many replicates as somebody says, whatever pilot found what they cost.
    let shared = race.settings.replicates_of_part().is_some() || race.use_of_plan == PlanUse::Save;
    if race.settings.max_replicates.is_none() && !linked && !shared {
        plan_for_costs(&mut plan, &costs_ns, spent())?;
    }
    watcher.race_begins(benchmarks_of(&plan), forecast(&plan, &costs_ns, spent()));
    let header = header(race, &*contenders, machine, neutral_links, plan);
    RaceSession {
        contenders: &mut *contenders,
        interrupts: &interrupts,
        watcher,
        spent: spent(),
        use_of_plan: race.use_of_plan,
        until: race.until.clone(),
    }
    .begin(
        RunHeader { left_out, ..header },
        failures,
        race.save.as_deref(),
        &race.folder,
    )
}

/// The metric judged, unless the user names one: GPU time where it is measured, because wall time then
/// depends on how fast the host launches.
fn judged(settings: &RaceSettings, measured: &[Metric]) -> Metric {
    match names_no_metric(settings) && measured.contains(&Metric::Gpu) {
        true => Metric::Gpu,
        false => settings.judged(),
    }
}

fn names_no_metric(settings: &RaceSettings) -> bool {
    settings.metric.is_none() && !settings.callgrind()
}

/// The number of benchmarks, each counted once.
fn benchmarks_of(plan: &Plan) -> usize {
    let itself = |benchmark: &&Benchmark| benchmark.rerun.is_none() && plan.races(benchmark);
    plan.benchmarks.iter().filter(itself).count()
}

/// Races the benchmarks of a plan that was frozen before, and records the run as it happens.
#[cfg(feature = "commands")]
pub(super) fn race_frozen(
    race: &BenchmarkRace,
    planned: &RunHeader,
    watcher: &mut dyn Watcher,
) -> Result<RaceOutcome, RaceError> {
    let interrupts = take_over_signals()?;
    let machine = environment();
    refuse_unwritable(race.save.as_deref())?;
    let plan = planned.plan.clone();
    let mut contenders = contenders(race, &plan.benchmarks, &planned.metrics, &interrupts)?;
    let neutral_links = contenders.enter_frozen(&plan, race, &interrupts)?;
    let header = RunHeader {
        left_out: planned.left_out.clone(),
        ..header(race, &*contenders, machine, neutral_links, plan)
    };
    RaceSession {
        contenders: &mut *contenders,
        interrupts: &interrupts,
        watcher,
        spent: Duration::ZERO,
        use_of_plan: PlanUse::Saved,
        until: race.until.clone(),
    }
    .begin(header, Vec::new(), race.save.as_deref(), &race.folder)
}

/// The header of the run of a frozen plan.
fn header(
    race: &BenchmarkRace,
    contenders: &dyn PilotedContenders,
    machine: Environment,
    neutral_links: Vec<NeutralLinks>,
    plan: Plan,
) -> RunHeader {
    let machine = environment_of(
        machine,
        &plan,
        &race.commits,
        race.use_of_plan,
        &race.conditions,
    );
    let known = contenders.known_of(Environment {
        neutral_links,
        builds: race.builds.clone(),
        surroundings: race.surroundings.clone(),
        debug_build: race.program.is_some() && cfg!(debug_assertions),
        ..machine
    });
    let (metrics, tick_ns) = (contenders.metrics(), contenders.tick_ns());
    header::header(plan, known, &race.command, metrics, tick_ns)
}

/// The contenders of these benchmarks, by what they are.
#[cfg_attr(
    not(feature = "commands"),
    expect(unused_variables, reason = "all of them are functions")
)]
fn contenders<'a>(
    race: &BenchmarkRace,
    benchmarks: &[Benchmark],
    metrics: &[Metric],
    interrupts: &'a Interrupts,
) -> Result<Box<dyn PilotedContenders + 'a>, RaceError> {
    #[cfg(feature = "commands")]
    if harness::holds(benchmarks) {
        let contenders = harness::contenders(race, benchmarks, interrupts)?;
        return Ok(Box::new(contenders));
    }
    let contenders = function_contenders(race, metrics, interrupts)?;
    Ok(Box::new(contenders))
}

/// The benchmarks with their controls and what is decided for each alone, as long as what they are
/// judged by is measured.
fn planned(
    race: &BenchmarkRace,
    mut benchmarks: Vec<Benchmark>,
    rules: &[RulesOfSome],
    plan: &Plan,
    contenders: &dyn PilotedContenders,
) -> Result<Vec<Benchmark>, RaceError> {
    for benchmark in &mut benchmarks {
        // Before its pilot: a copy of a build has a process of its own.
        if race.settings.control() {
            benchmark.add_control();
        }
        let listed = benchmark.overrides.judged.take();
        benchmark.overrides =
            benchmark_overrides(rules, &benchmark.name, |alpha| looks(&race.settings, alpha))?;
        if names_no_metric(&race.settings) && benchmark.overrides.judged.is_none() {
            benchmark.overrides.judged = listed;
        }
        benchmark.blocks_per_replicate =
            blocks_of_quantile(benchmark, &race.settings).map_err(RaceError::Design)?;
        if benchmark.blocks_per_replicate.is_some() && benchmark.keeps_order() {
            return Err(RaceError::Design(format!(
                "--quantile: benchmark '{}' is one of an executable that is launched as it is, whose \
                 harness times batches instead of single iterations",
                benchmark.name
            )));
        }
    }
    let (measured, called) = (contenders.metrics(), contenders.called());
    refuse_unmeasured(&plan.design.judged, measured, called)?;
    refuse_unmeasured_overrides(&benchmarks, measured, called)?;
    Ok(benchmarks)
}

/// The problem of a plan, with the names that were left out of it: that nothing is left to race
/// has a reason.
fn unraceable(problem: String, left_out: &[LeftOut]) -> String {
    let names: Vec<&str> = left_out
        .iter()
        .map(|left| left.benchmark.as_str())
        .collect();
    if names.is_empty() {
        problem
    } else {
        before_help(&problem, &format!("; left out: {}", names.join(", ")))
    }
}

/// Calls every contender of these benchmarks once, each benchmark in a process
/// of its own, and reports what came of it as it comes.
pub(crate) fn smoke_test<E: From<RaceError>>(
    race: &BenchmarkRace,
    entries: &Entries,
    mut report: impl FnMut(&Benchmark, Result<(), RaceError>) -> Result<(), E>,
) -> Result<(), E> {
    let interrupts = take_over_signals()?;
    let mut contenders = function_contenders(race, &entries.metrics, &interrupts)?;
    contenders
        .expect(&entries.benchmarks)
        .map_err(|error| not_started(error, &interrupts))?;
    for benchmark in &entries.benchmarks {
        let outcome = contenders.smoke(benchmark);
        report(
            benchmark,
            outcome.map_err(|error| not_started(error, &interrupts)),
        )?;
    }
    Ok(())
}

/// Finds out what kind of program this is, unless the user says its harness, and what it can race.
/// Its output may be `shown`, and `patience` is how long it may take.
#[cfg(feature = "commands")]
pub fn inspect_program(
    program: &Program,
    harness: Option<Harness>,
    shown: bool,
    patience: Option<Duration>,
) -> Result<Inspected, RaceError> {
    let interrupts = take_over_signals()?;
    let program = WorkerProgram {
        executable: program.executable.clone(),
        arguments: program.arguments.iter().map(Into::into).collect(),
        directory: program.directory.clone(),
        shown,
    };
    inspect(&program, harness, patience, &interrupts)
        .map_err(|error| not_started(error, &interrupts))
}
