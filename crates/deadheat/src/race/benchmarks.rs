//! Races benchmarks in workers and in executables of other harnesses, from [`Entries`] to a
//! recorded run. A calibration run (pilot) completes each benchmark before the plan is frozen.

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
use super::session::RaceSession;
use super::{RaceError, RaceOutcome, not_started, take_over_signals};
use crate::rules::{benchmark_overrides, blocks_of_quantile, hold_together};
use crate::settings::PlanUse;
use crate::terminal::to_stderr;

/// Races these benchmarks, and writes each block to the run file when it is measured. Every
/// replicate has fresh processes. If a benchmark fails, the other benchmarks still race.
pub fn race_benchmarks(
    race: &BenchmarkRace,
    entries: Entries,
    watcher: &mut dyn Watcher,
) -> Result<RaceOutcome, RaceError> {
    let clock = OsClock::start();
    let interrupts = take_over_signals()?;
    // Read before deadheat pins itself to one core, which would then be recorded as the machine.
    let machine = environment();
    let design = Design {
        judged: judged(&race.settings, &entries.metrics),
        ..design(&race.settings)?
    };
    refuse_unwritable(race.save.as_deref())?;
    // A race with `until` is one of many races of a search. Its budget is the rest of the search's
    // budget, so a short budget is not refused.
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
        &mut plan,
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
    // All parts of a race share one plan, but each part has its own calibration runs, so they could
    // disagree about rounds.
    plan.design.rounds = plan.design.shard.is_none() && contenders.can_race_in_rounds(&raced);
    hold_together(&mut plan.benchmarks, &race.settings, &entries.rules);
    plan.validate()
        .map_err(|error| RaceError::Design(unraceable(error.to_string(), &left_out)))?;
    let failed = |of: usize| failures.iter().any(|failure| failure.benchmark == of);
    let neutral_links = contenders.enter(&mut plan, &failed, race, &interrupts)?;
    // With neutral links, the time of a replicate is unknown, because every replicate needs a new
    // link.
    let linked = neutral_links.iter().any(|links| links.made_by.is_ok());
    // All parts of a race need the same number of replicates, so the calibration run of one part
    // must not change this number.
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

/// Returns the judged metric: the user's choice; otherwise GPU time if it is measured, because wall
/// time then depends on how fast the CPU launches kernels; otherwise the default metric.
fn judged(settings: &RaceSettings, measured: &[Metric]) -> Metric {
    match names_no_metric(settings) && measured.contains(&Metric::Gpu) {
        true => Metric::Gpu,
        false => settings.judged(),
    }
}

fn names_no_metric(settings: &RaceSettings) -> bool {
    settings.metric.is_none() && !settings.callgrind()
}

/// Returns the number of benchmarks that this process races, without reruns. For a part of a race,
/// it counts only the benchmarks of this part.
fn benchmarks_of(plan: &Plan) -> usize {
    let itself = |benchmark: &&Benchmark| benchmark.rerun.is_none() && plan.races(benchmark);
    plan.benchmarks.iter().filter(itself).count()
}

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

/// Returns the benchmarks with their controls and with the settings that rules set for single
/// benchmarks. Returns an error if the race cannot measure a judged metric.
fn planned(
    race: &BenchmarkRace,
    mut benchmarks: Vec<Benchmark>,
    rules: &[RulesOfSome],
    plan: &mut Plan,
    contenders: &dyn PilotedContenders,
) -> Result<Vec<Benchmark>, RaceError> {
    let (measured, called) = (contenders.metrics(), contenders.called());
    for benchmark in &mut benchmarks {
        // The control is added before the calibration run, because a control of a build needs its
        // own process.
        if race.settings.control() {
            benchmark.add_control();
        }
        let listed = benchmark.overrides.judged.take();
        benchmark.overrides =
            benchmark_overrides(rules, &benchmark.name, |alpha| looks(&race.settings, alpha))?;
        if names_no_metric(&race.settings) && benchmark.overrides.judged.is_none() {
            benchmark.overrides.judged = listed;
        }
        let judged = benchmark.overrides.judged.take();
        benchmark.overrides.judged = judged.map(|metric| metric.as_in(measured));
        benchmark.blocks_per_replicate =
            blocks_of_quantile(benchmark, &race.settings).map_err(RaceError::Design)?;
        if benchmark.blocks_per_replicate.is_some() && benchmark.keeps_order() {
            return Err(RaceError::Design(format!(
                "--quantile: the harness of benchmark '{}' times batches, not single iterations",
                benchmark.name
            )));
        }
    }
    // The user names a metric without its direction, which the worker tells.
    plan.design.judged = plan.design.judged.clone().as_in(measured);
    refuse_unmeasured(&plan.design.judged, measured, called)?;
    refuse_unmeasured_overrides(&benchmarks, measured, called)?;
    Ok(benchmarks)
}

/// Adds to the problem of a plan the names of the benchmarks that were left out, because they may
/// explain why no benchmark is left to race.
fn unraceable(problem: String, left_out: &[LeftOut]) -> String {
    const NAMED: usize = 20;
    let names = left_out.iter().take(NAMED).map(|left| &*left.benchmark);
    let names: Vec<&str> = names.collect();
    let names = names.join(", ");
    match left_out.len().saturating_sub(NAMED) {
        _ if names.is_empty() => problem,
        0 => before_help(&problem, &format!("; left out: {names}")),
        more => before_help(&problem, &format!("; left out: {names} and {more} more")),
    }
}

/// Calls every contender of these benchmarks once, with a separate process per benchmark. Calls
/// `report` with the result of each benchmark as soon as it is known.
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

/// Runs a program to list its benchmarks and, unless `harness` is given, to detect its harness. If
/// `shown` is true, the output of the program is shown. `patience` limits the time of the program.
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
