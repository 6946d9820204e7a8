//! A recorded race, taken up where it stopped.

use std::os::fd::RawFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

use deadheat_analysis::AnytimeRule;
use deadheat_engine::{
    Contenders, FunctionContenders, FunctionOptions, GoogleBenchmarkArguments,
    GoogleBenchmarkContenders, GoogleBenchmarkOptions, Interrupts, LinkProgram, OsClock, Session,
    Watcher, rewritten_since, unix_seconds,
};
use deadheat_format::{RunFileWriter, read_header, read_run};
use deadheat_model::{Metric, Origin, Plan, Run, RunHeader, Workload};

use super::commands;
use super::outcome::{RaceError, RaceOutcome, finish, not_started, take_over_signals};

/// What a recorded race holds, where it can be taken up again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resumable {
    /// Commands, as `deadheat run` races them.
    Commands,
    /// Functions of programs that speak the worker protocol.
    Workers,
    /// Benchmarks of Google Benchmark executables.
    GoogleBenchmark,
}

impl Resumable {
    /// What the run of `path` with this header holds; an error says why it
    /// cannot be taken up again.
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
                Workload::GoogleBenchmark(_) => Ok(Self::GoogleBenchmark),
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

/// How a recorded race is taken up again.
#[derive(Clone, Debug, Default)]
pub struct ResumeOptions {
    /// Further replicates of each benchmark at most.
    pub more: u32,
    /// No block starts after so much time from now on; the budget of the plan
    /// was about its first sitting.
    pub budget: Option<Duration>,
    /// What one sample of a function, or one launch of a Google Benchmark
    /// executable, may take; commands keep the limits of their plan.
    pub timeout: Option<Duration>,
    /// Descriptor that the standard output of shown commands goes to.
    pub shown: RawFd,
    /// Whether what programs with benchmarks print is shown, on standard error.
    pub programs_shown: bool,
    /// The program that makes neutral links: one that understands
    /// `placements EXECUTABLE SEED…`. Without one all run as they were linked.
    pub placements: Option<PathBuf>,
}

/// Goes on with a recorded race where it stopped, by the rule that holds at any
/// time. Contenders, calls and design are those of its plan; a program that
/// was built anew since is refused.
pub fn resume_race(
    path: &Path,
    options: &ResumeOptions,
    watcher: &mut dyn Watcher,
) -> Result<RaceOutcome, RaceError> {
    let interrupts = take_over_signals()?;
    // The header alone first: the launcher is forked from this process and
    // should not carry along the memory of a million old samples.
    let old = read_header(path).map_err(RaceError::Resume)?;
    let kind = Resumable::of(path, &old)?;
    refuse_rewritten(path, &old)?;
    let (plan, before) = (&old.plan, &old.environment.neutral_links);
    let program = options.placements.clone();
    match kind {
        Resumable::Commands => {
            let counters = old.metrics.contains(&Metric::Cycles);
            let mut placements = commands::placements(plan, program, Some(before), &interrupts)?;
            let contenders = commands::contenders(plan, options.shown, counters, &interrupts)?;
            refuse_other_metrics(path, &old.metrics, contenders.metrics())?;
            let run = read_run(path).map_err(RaceError::Resume)?;
            placements.remember(&run.placed);
            let mut contenders = contenders.with_placements(placements);
            go_on(path, run, &mut contenders, options, &interrupts, watcher)
        }
        Resumable::Workers => {
            let how = FunctionOptions {
                program: None,
                shown: options.programs_shown,
                metrics: old.metrics.clone(),
                sample_time: None,
                timeout: options.timeout,
                pinning: plan.design.pinning.clone(),
                seed: plan.seed,
                placements: program.map(LinkProgram::new),
            };
            let run = read_run(path).map_err(RaceError::Resume)?;
            let contenders = FunctionContenders::new(how, &interrupts);
            let mut contenders = contenders.map_err(RaceError::NotStarted)?;
            contenders
                .resume(plan, before, &run.placed)
                .map_err(|error| not_started(error, &interrupts))?;
            go_on(path, run, &mut contenders, options, &interrupts, watcher)
        }
        Resumable::GoogleBenchmark => {
            let how = GoogleBenchmarkOptions {
                timeout: options.timeout,
                pinning: plan.design.pinning.clone(),
                seed: plan.seed,
                shown: options.programs_shown,
                // For pilots, of which there are none.
                wanted: GoogleBenchmarkArguments::default(),
            };
            let run = read_run(path).map_err(RaceError::Resume)?;
            let contenders = GoogleBenchmarkContenders::new(how, &interrupts);
            let mut contenders = contenders.map_err(RaceError::NotStarted)?;
            let mut placements = commands::placements(plan, program, Some(before), &interrupts)?;
            placements.remember(&run.placed);
            contenders
                .enter(plan, placements)
                .map_err(RaceError::NotStarted)?;
            go_on(path, run, &mut contenders, options, &interrupts, watcher)
        }
    }
}

/// Races behind what the run holds, and appends to its file.
fn go_on(
    path: &Path,
    mut run: Run,
    contenders: &mut dyn Contenders,
    options: &ResumeOptions,
    interrupts: &Interrupts,
    watcher: &mut dyn Watcher,
) -> Result<RaceOutcome, RaceError> {
    let version = env!("CARGO_PKG_VERSION");
    let mut writer =
        RunFileWriter::resume(path, version, unix_seconds()).map_err(RaceError::Resume)?;
    let ended = run.end.as_ref().map(|end| end.elapsed_ns);
    let elapsed_ns = ended.unwrap_or(run.elapsed_ns);
    run.resume();
    let benchmarks = run.benchmarks.iter();
    let last = benchmarks.filter_map(|samples| samples.blocks().last());
    let done = last.map(|block| block.replicate + 1).max().unwrap_or(0);
    let mut rule = AnytimeRule::new(&run.header);
    let raced = Session {
        contenders,
        clock: &OsClock::resume(elapsed_ns),
        rule: &mut rule,
        sink: &mut writer,
        watcher,
        stop: interrupts,
        max_replicates: done.saturating_add(options.more),
        budget: options.budget,
        outlive_failures: !launches_commands(&run.header.plan),
    }
    .race(&mut run);
    finish(raced, run, path.to_owned())
}

/// Whether a failure ends the whole race, as it does one of commands.
fn launches_commands(plan: &Plan) -> bool {
    let mut contenders = plan.benchmarks.iter().flat_map(|one| &one.contenders);
    contenders.any(|contender| matches!(contender.workload, Workload::Command(_)))
}

/// New replicates of another build would be taken for those of the old one.
fn refuse_rewritten(path: &Path, old: &RunHeader) -> Result<(), RaceError> {
    let Some(started_at) = old.started_at else {
        return Ok(());
    };
    let benchmarks = old.plan.benchmarks.iter();
    let contenders = benchmarks.flat_map(|benchmark| &benchmark.contenders);
    let mut rewritten = contenders.filter_map(|contender| {
        let (program, arguments) = match &contender.workload {
            // What a command is given may be what it writes.
            Workload::Command(command) => (Path::new(command.words.first()?), &[][..]),
            Workload::Worker(calls) => (&*calls.program.executable, &*calls.program.arguments),
            Workload::GoogleBenchmark(calls) => {
                (&*calls.program.executable, &*calls.program.arguments)
            }
            Workload::Function(_) | Workload::Recording => return None,
        };
        rewritten_since(program, arguments, started_at)
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
        Ok(())
    } else {
        Err(RaceError::OtherMetrics {
            path: path.to_owned(),
            then: list(then),
            now: list(now),
        })
    }
}
