//! A recorded race, taken up where it stopped.

use std::os::fd::RawFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

use deadheat_engine::{Contenders, LinkProgram, Watcher, rewritten_since};
use deadheat_format::{read_header, read_run};
use deadheat_model::{Metric, Origin, Program, RaceSettings, Run, RunHeader, TimeLimit, Workload};

use super::commands::{self, placements};
use super::entries::{BenchmarkRace, function_contenders};
use super::error::{RaceError, RaceOutcome, not_started, take_over_signals};
use super::harness;
use super::sitting::{PlanUse, Sitting};

/// The contents of a recorded race, where it can be taken up again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resumable {
    /// Commands, as `deadheat run` races them.
    Commands,
    /// Functions of programs that speak the worker protocol.
    Workers,
    /// Benchmarks of executables of harnesses.
    Harness,
}

impl Resumable {
    /// Returns what the run of `path` with this header holds; an error says why it cannot be taken
    /// up again.
    pub fn of(path: &Path, header: &RunHeader) -> Result<Self, RaceError> {
        let refused = |reason: &str| RaceError::NotResumable {
            path: path.to_owned(),
            reason: reason.to_owned(),
        };
        if header.origin != Origin::Race {
            return Err(refused("holds no race, but what was recorded otherwise"));
        }
        let benchmarks = header.plan.benchmarks.iter();
        let mut workloads = benchmarks.flat_map(|benchmark| &benchmark.contenders).map(
            |contender| match contender.workload {
                Workload::Command(_) => Ok(Self::Commands),
                Workload::Worker(_) => Ok(Self::Workers),
                Workload::Harness(_) => Ok(Self::Harness),
                Workload::Function(_) => Err(refused(
                    "holds functions that their own program raced, and does not say which file that \
                     was; what 'deadheat bench PROGRAM' races can go on",
                )),
                Workload::Recording => Err(refused("holds contenders that nobody can launch")),
            },
        );
        let first = workloads
            .next()
            .unwrap_or_else(|| Err(refused("holds no contender")))?;
        for workload in workloads {
            if workload? != first {
                return Err(refused("holds contenders of several kinds"));
            }
        }
        Ok(first)
    }
}

/// The options with which a recorded race is taken up again.
#[derive(Clone, Debug, Default)]
pub struct ResumeOptions {
    /// Further replicates of each benchmark at most.
    pub more: u32,
    /// No block starts after so much time from now on; the budget of the plan
    /// was about its first sitting.
    pub budget: Option<Duration>,
    /// The most time that one sample of a function, or one launch of an executable of a harness,
    /// may take; commands keep the limits of their plan.
    pub timeout: Option<Duration>,
    /// Descriptor that the standard output of shown commands goes to.
    pub shown: RawFd,
    /// True if what programs with benchmarks print is shown, on standard error.
    pub programs_shown: bool,
    /// The program that makes neutral links: one that understands
    /// `placements EXECUTABLE SEED…`. Without one all run as they were linked.
    pub placements: Option<LinkProgram>,
}

/// Goes on with a recorded race where it stopped, by the rule that holds at any
/// time. Contenders, calls and design are those of its plan; a program that
/// was built anew since is refused.
pub fn resume_race(
    path: &Path,
    options: &ResumeOptions,
    watcher: &mut dyn Watcher,
) -> Result<RaceOutcome, RaceError> {
    // The header alone first: the launcher is forked from this process and
    // should not carry along the memory of a million old samples.
    let old = read_header(path).map_err(RaceError::Resume)?;
    let of_several = if old.plan.design.shard.is_some() {
        "holds a part of a race; the command that began it goes on with it"
    } else if old.environment.merged.is_some() {
        "was merged of parts of a race; race one with more of them"
    } else {
        return go_on_with(path, old, options, false, watcher);
    };
    Err(RaceError::NotResumable {
        path: path.to_owned(),
        reason: of_several.to_owned(),
    })
}

/// Goes on with a part of a race that was stopped, up to the end that its plan has for it; nothing
/// is raced where it came to that. A part whose hosts share the replicates looks at nothing before
/// its end, so nothing is lost by having stopped.
pub fn finish_part(
    path: &Path,
    options: &ResumeOptions,
    watcher: &mut dyn Watcher,
) -> Result<RaceOutcome, RaceError> {
    let run = read_run(path).map_err(RaceError::Resume)?;
    if run.has_come_to_its_end() {
        let path = path.to_owned();
        return Ok(RaceOutcome { run, path });
    }
    let by_plan = run.is_of_shared_replicates();
    let old = run.header;
    go_on_with(path, old, options, by_plan, watcher)
}

/// Goes on with the run of this header, by its plan, or by the rule that holds at any time.
fn go_on_with(
    path: &Path,
    old: RunHeader,
    options: &ResumeOptions,
    by_plan: bool,
    watcher: &mut dyn Watcher,
) -> Result<RaceOutcome, RaceError> {
    let interrupts = take_over_signals()?;
    let kind = Resumable::of(path, &old)?;
    refuse_rewritten(path, &old)?;
    let (plan, before) = (&old.plan, &old.environment.neutral_links);
    let race = BenchmarkRace {
        shown: options.programs_shown,
        settings: RaceSettings {
            timeout: Some(TimeLimit(options.timeout)),
            pin: Some(plan.design.pinning.clone()),
            seed: Some(plan.seed),
            callgrind: Some(plan.design.callgrind),
            ..RaceSettings::default()
        },
        placements: options.placements.clone(),
        ..BenchmarkRace::default()
    };
    let placements = || placements(plan, race.placements.clone(), Some(before), &interrupts);
    let mut go_on = |contenders: &mut dyn Contenders, run: Run| {
        let sitting = Sitting {
            contenders,
            interrupts: &interrupts,
            watcher: &mut *watcher,
            spent: Duration::ZERO,
            use_of_plan: PlanUse::Saved,
            until: None,
        };
        if by_plan {
            sitting.go_on_by_plan(path, run)
        } else {
            sitting.go_on(path, run, options.more, options.budget)
        }
    };
    match kind {
        Resumable::Commands => {
            let counters = old.metrics.contains(&Metric::Cycles);
            let mut placements = placements()?;
            let contenders = commands::contenders(plan, options.shown, counters, &interrupts)?;
            refuse_other_metrics(path, &old.metrics, contenders.metrics())?;
            let run = read_run(path).map_err(RaceError::Resume)?;
            placements.remember(&run.placed);
            go_on(&mut contenders.with_placements(placements), run)
        }
        Resumable::Workers => {
            let run = read_run(path).map_err(RaceError::Resume)?;
            let mut contenders = function_contenders(&race, &old.metrics, &interrupts)?;
            contenders
                .resume(plan, before, &run.placed)
                .map_err(|error| not_started(error, &interrupts))?;
            go_on(&mut contenders, run)
        }
        Resumable::Harness => {
            let run = read_run(path).map_err(RaceError::Resume)?;
            let mut contenders = harness::contenders(&race, &plan.benchmarks, &interrupts)?;
            let mut placements = placements()?;
            placements.remember(&run.placed);
            contenders
                .enter(plan, placements)
                .map_err(RaceError::NotStarted)?;
            go_on(&mut contenders, run)
        }
    }
}

/// New replicates of another build would be taken for those of the old one.
fn refuse_rewritten(path: &Path, old: &RunHeader) -> Result<(), RaceError> {
    let Some(started_at) = old.started_at else {
        return Ok(());
    };
    let benchmarks = old.plan.benchmarks.iter();
    let contenders = benchmarks.flat_map(|benchmark| &benchmark.contenders);
    fn started(program: &Program) -> (PathBuf, &[String]) {
        (program.executable.clone(), &program.arguments)
    }
    let mut rewritten = contenders.filter_map(|contender| {
        let (program, arguments) = match &contender.workload {
            // What a command is given may be what it writes.
            Workload::Command(command) => (command.program()?, &[][..]),
            Workload::Worker(calls) => started(&calls.program),
            Workload::Harness(calls) => started(&calls.program),
            Workload::Function(_) | Workload::Recording => return None,
        };
        rewritten_since(&program, arguments, started_at)
    });
    match rewritten.next() {
        None => Ok(()),
        Some(program) => Err(RaceError::NotResumable {
            path: path.to_owned(),
            reason: format!(
                "was begun before '{}' was written as it is now; race anew",
                program.display()
            ),
        }),
    }
}

fn refuse_other_metrics(path: &Path, then: &[Metric], now: &[Metric]) -> Result<(), RaceError> {
    let list = |metrics: &[Metric]| {
        let names: Vec<&str> = metrics.iter().map(Metric::name).collect();
        names.join(", ")
    };
    if then == now {
        return Ok(());
    }
    let (then, now) = (list(then), list(now));
    Err(RaceError::NotResumable {
        path: path.to_owned(),
        reason: format!("records {then}, here and now there is {now}"),
    })
}
