//! Runs a race of a frozen plan and records it, for contenders of all kinds, and for new and
//! resumed races.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use deadheat_analysis::{PlannedRule, UntilRule};
use deadheat_engine::{Clock as _, Contenders, EngineError, Interrupts, OsClock, Session, Watcher};
#[cfg(feature = "commands")]
use deadheat_format::FileDigest;
use deadheat_format::{
    FileProblem, FormatError, NOWHERE, RunFileWriter, create_run_folder, default_run_path,
};
use deadheat_model::{
    BenchmarkFailure, EndReason, Plan, RecordSink, Run, RunHeader, StoppingRule, Until, Workload,
    before_help,
};

use super::overrun::TimedSink;
#[cfg(feature = "commands")]
use super::trust::note_made_file;
use super::{RaceError, RaceOutcome};
use crate::settings::PlanUse;
use crate::terminal::to_stderr;

pub(super) struct RaceSession<'a> {
    pub(super) contenders: &'a mut dyn Contenders,
    pub(super) interrupts: &'a Interrupts,
    pub(super) watcher: &'a mut dyn Watcher,
    /// The part of the budget that is already used.
    pub(super) spent: Duration,
    pub(super) use_of_plan: PlanUse,
    /// The condition that ends the race of a benchmark; `None` to end it at its verdict.
    pub(super) until: Option<Until>,
}

/// Limits at which a race ends without a verdict.
struct Limits {
    max_replicates: u32,
    /// The user's whole time budget; calibration runs may have used a part of it.
    whole: Option<Duration>,
    budget: Option<Duration>,
}

impl RaceSession<'_> {
    /// Races the plan in `header`, unless the plan is only saved. Records the run in the file
    /// `save`, or in a new file below `.deadheat` in `folder`. First records the benchmarks whose
    /// calibration run failed.
    pub(super) fn begin(
        self,
        header: RunHeader,
        failures: Vec<BenchmarkFailure>,
        save: Option<&Path>,
        folder: &Path,
    ) -> Result<RaceOutcome, RaceError> {
        if self.use_of_plan == PlanUse::Save
            && let Some(failure) = failures.first()
        {
            let name = &header.plan.benchmarks[failure.benchmark].name;
            let message = &failure.message;
            let text = format!(
                "the calibration run of '{name}' failed, so no plan can be made (--skip excludes \
                 the benchmark): {message}"
            );
            return Err(RaceError::Unplannable(text));
        }
        let is_raced = self.use_of_plan != PlanUse::Save;
        let (path, mut writer) = record(save, folder, &header, is_raced)?;
        #[cfg(feature = "commands")]
        if path != Path::new(NOWHERE) {
            note_made_file(&FileDigest::of_run(&header));
        }
        if self.use_of_plan == PlanUse::Save {
            let run = Run::new(header);
            return Ok(RaceOutcome { run, path });
        }
        let mut rule: Box<dyn StoppingRule> = match self.until.clone() {
            None => Box::new(PlannedRule::new(&header)),
            Some(until) => Box::new(UntilRule::new(&header, until)),
        };
        let limits = Limits {
            max_replicates: header.plan.max_replicates(),
            whole: header.plan.design.budget,
            budget: header
                .plan
                .design
                .budget
                .map(|budget| budget.saturating_sub(self.spent)),
        };
        let mut run = Run::new(header);
        for failure in failures {
            writer
                .failed(&failure)
                .map_err(|error| RaceError::NotStarted(EngineError::Sink(error)))?;
            run.failures.push(failure);
        }
        let raced = self.race(&mut run, &OsClock::start(), &mut *rule, &mut writer, limits);
        if raced.is_err() && blocks(&run) == 0 {
            // An error of removing the empty run file is ignored, because the error of the race
            // matters more.
            let _ = writer.discard();
        }
        finish(raced, run, path)
    }

    /// Continues a recorded run and appends to its file. With `further`, the anytime-valid stopping
    /// rule ends the race, after at most this many more replicates and this much time. If `further`
    /// is `None`, the race continues to the end of its plan.
    #[cfg(feature = "commands")]
    pub(super) fn go_on(
        self,
        path: &Path,
        mut run: Run,
        further: Option<(u32, Option<Duration>)>,
    ) -> Result<RaceOutcome, RaceError> {
        let version = env!("CARGO_PKG_VERSION");
        let started_at = deadheat_engine::unix_seconds();
        let mut writer =
            RunFileWriter::resume(path, version, started_at).map_err(RaceError::Resume)?;
        let ended = run.end.as_ref().map(|end| end.elapsed_ns);
        let clock = OsClock::resume(ended.unwrap_or(run.elapsed_ns));
        run.resume();
        let mut rule: Box<dyn StoppingRule> = match further {
            None => Box::new(PlannedRule::new(&run.header)),
            Some(_) => Box::new(deadheat_analysis::AnytimeRule::new(&run.header)),
        };
        let plan = &run.header.plan;
        let (max_replicates, budget) = match further {
            None => (plan.max_replicates(), plan.design.budget),
            Some((more, budget)) => {
                let benchmarks = run.benchmarks.iter();
                let last = benchmarks.filter_map(|samples| samples.blocks().last());
                let done = last.map(|block| block.replicate + 1).max().unwrap_or(0);
                (done.saturating_add(more), budget)
            }
        };
        let limits = Limits {
            max_replicates,
            whole: budget,
            budget,
        };
        let raced = self.race(&mut run, &clock, &mut *rule, &mut writer, limits);
        finish(raced, run, path.to_owned())
    }

    fn race(
        self,
        run: &mut Run,
        clock: &OsClock,
        rule: &mut dyn StoppingRule,
        sink: &mut dyn RecordSink,
        limits: Limits,
    ) -> Result<(), EngineError> {
        let outlive_failures = outlives_failures(&run.header.plan);
        let mut sink = TimedSink::new(sink, clock.elapsed_ns());
        let raced = Session {
            contenders: self.contenders,
            clock,
            rule,
            sink: &mut sink,
            watcher: self.watcher,
            stop: self.interrupts,
            max_replicates: limits.max_replicates,
            budget: limits.budget,
            outlive_failures,
        }
        .race(run);
        let is_over = run
            .end
            .as_ref()
            .is_some_and(|end| matches!(end.reason, EndReason::Finished | EndReason::Budget));
        if is_over && let Some(text) = sink.overrun(limits.whole, self.spent) {
            to_stderr("note", &text);
        }
        raced
    }
}

/// Returns true if the failure of a benchmark does not end the race. Only a race of commands with a
/// single benchmark ends if this benchmark fails.
pub(super) fn outlives_failures(plan: &Plan) -> bool {
    let mut contenders = plan.benchmarks.iter().flat_map(|one| &one.contenders);
    let races_commands = contenders.any(|one| matches!(one.workload, Workload::Command(_)));
    let benchmarks = plan.benchmarks.iter().filter(|one| one.rerun.is_none());
    !races_commands || benchmarks.count() > 1
}

/// Creates the run file: `save`, or a new file below `.deadheat` in `folder`. If the user may not
/// write to `folder`, a race continues without a run file, after a warning.
fn record(
    save: Option<&Path>,
    folder: &Path,
    header: &RunHeader,
    is_raced: bool,
) -> Result<(PathBuf, RunFileWriter), RaceError> {
    match save {
        Some(path) if path == Path::new(NOWHERE) => return unrecorded(header),
        Some(path) => {
            let writer = RunFileWriter::create(path, header).map_err(RaceError::Save)?;
            return Ok((path.to_owned(), writer));
        }
        None => {}
    }
    let recorded = record_below(folder, header);
    let forbidden = recorded.as_ref().err();
    match forbidden.filter(|error| is_raced && is_forbidden(&error.problem)) {
        Some(error) => {
            let error = before_help(&error.to_string(), "; this race is not recorded");
            to_stderr(
                "warning",
                &format!("{error}\nhelp: --save FILE records it elsewhere"),
            );
            unrecorded(header)
        }
        None => recorded.map_err(RaceError::Record),
    }
}

fn unrecorded(header: &RunHeader) -> Result<(PathBuf, RunFileWriter), RaceError> {
    let writer = RunFileWriter::unrecorded(header).map_err(RaceError::Save)?;
    Ok((PathBuf::from(NOWHERE), writer))
}

/// Returns true if a file cannot be written because of missing permissions or a read-only file
/// system, and not because of a full or broken disk.
fn is_forbidden(problem: &FileProblem) -> bool {
    use ErrorKind::{PermissionDenied, ReadOnlyFilesystem};
    matches!(problem, FileProblem::CannotWrite(error)
        if matches!(error.kind(), PermissionDenied | ReadOnlyFilesystem))
}

fn record_below(
    folder: &Path,
    header: &RunHeader,
) -> Result<(PathBuf, RunFileWriter), FormatError> {
    create_run_folder(folder)?;
    let started_at = header.started_at.unwrap_or(0);
    // Two races with the same seed may begin in the same second, which is not an error.
    for number in 1_u32.. {
        let path = default_run_path(folder, started_at, header.plan.seed, number);
        match RunFileWriter::create(&path, header) {
            Ok(writer) => return Ok((path, writer)),
            Err(error) if matches!(error.problem, FileProblem::AlreadyExists) => {}
            Err(error) => return Err(error),
        }
    }
    unreachable!("more than 2³² races of one second")
}

fn finish(
    raced: Result<(), EngineError>,
    run: Run,
    path: PathBuf,
) -> Result<RaceOutcome, RaceError> {
    match raced {
        Ok(()) => Ok(RaceOutcome { run, path }),
        Err(error) => Err(RaceError::BrokenOff {
            error,
            path,
            blocks: blocks(&run),
        }),
    }
}

fn blocks(run: &Run) -> usize {
    let of_each = run.benchmarks.iter().map(|samples| samples.blocks().len());
    of_each.sum()
}
