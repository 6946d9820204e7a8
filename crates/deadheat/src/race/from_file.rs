//! Races that start from a file: resumes a run, or races a saved plan, or a part of it. The plan
//! may be from another machine.

use std::os::fd::RawFd;
use std::path::Path;
use std::time::Duration;

use deadheat_analysis::fixed_look;
use deadheat_engine::{Contenders, LinkProgram, Watcher, rewritten_since};
use deadheat_format::{FileDigest, has_only_header, read_header, read_run};
use deadheat_model::{
    Metric, Origin, Plan, RaceSettings, Run, RunHeader, Shard, ShardBy, ShardNumber, TimeLimit,
    Workload,
};

use super::benchmarks::race_frozen;
use super::commands::{self, RaceOptions, placements, race_commands};
use super::entries::{BenchmarkRace, function_contenders};
use super::harness;
use super::header::{contents_of_programs, programs_of};
use super::session::RaceSession;
use super::shard::begun_part;
use super::trust::{StartedFile, starts};
use super::{RaceError, RaceOutcome, not_started, take_over_signals};
use crate::exit::Failure;
use crate::settings::PlanUse;

/// The kind of contenders of a race that can be resumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resumable {
    /// Commands, as `deadheat run` races them.
    Commands,
    /// Functions of programs that implement the worker protocol.
    Workers,
    /// Benchmarks of executables of harnesses.
    Harness,
}

impl Resumable {
    /// Returns the kind of contenders of the run in `path`. Returns an error with the reason if the
    /// run cannot be resumed.
    pub fn of(path: &Path, header: &RunHeader) -> Result<Self, RaceError> {
        let refused = |reason: &str| RaceError::NotResumable {
            path: path.to_owned(),
            reason: reason.to_owned(),
        };
        if header.origin != Origin::Race {
            return Err(refused("holds a recording, not a race"));
        }
        let benchmarks = header.plan.benchmarks.iter();
        let mut workloads =
            benchmarks
                .flat_map(|benchmark| &benchmark.contenders)
                .map(|contender| match contender.workload {
                    Workload::Command(_) => Ok(Self::Commands),
                    Workload::Worker(_) => Ok(Self::Workers),
                    Workload::Harness(_) => Ok(Self::Harness),
                    Workload::Function(_) => Err(refused(
                        "holds functions that their own program raced, but not the path of that \
                     program; only races by 'deadheat bench PROGRAM' can be continued",
                    )),
                    Workload::Recording => Err(refused("holds contenders that cannot be launched")),
                });
        let first = workloads
            .next()
            .unwrap_or_else(|| Err(refused("holds no contender")))?;
        for workload in workloads {
            if workload? != first {
                return Err(refused(
                    "mixes commands, workers and suites, which deadheat cannot resume together",
                ));
            }
        }
        Ok(first)
    }
}

/// The options with which a recorded race is resumed.
#[derive(Clone, Debug, Default)]
pub struct ResumeOptions {
    /// Maximum number of further replicates of each benchmark.
    pub more: u32,
    /// The time budget of the continued race, after which no block starts. The budget of the plan
    /// applied only to the first part of the race.
    pub budget: Option<Duration>,
    /// Time limit of one sample of a function, or of one launch of an executable of a harness.
    /// Commands keep the limits of their plan.
    pub timeout: Option<Duration>,
    /// The file descriptor that receives the standard output of commands with `Output::Inherit`.
    pub shown: RawFd,
    /// True if the user allows starting the commands of a file from another user or machine.
    pub trusted: bool,
    /// True to show the output of worker programs and harness executables on standard error.
    pub programs_shown: bool,
    /// The program that makes neutral links. It must understand `placements EXECUTABLE SEED…`. If
    /// `None`, all programs run as they were linked.
    pub placements: Option<LinkProgram>,
}

/// Continues a recorded race, and ends it by the anytime-valid stopping rule. The contenders, calls
/// and design come from the recorded plan. Returns an error if a program was rebuilt since then.
pub fn resume_race(
    path: &Path,
    options: &ResumeOptions,
    watcher: &mut dyn Watcher,
) -> Result<RaceOutcome, RaceError> {
    // At first only the header is read, because the launcher is forked from this process and should
    // not copy the memory of a million old samples.
    let old = read_header(path).map_err(RaceError::Resume)?;
    let of_several = if old.plan.design.shard.is_some() {
        "holds a part of a race\nhelp: to continue the part, run the command that began it again"
    } else if old.environment.merged.is_some() {
        "was merged from parts of a race\nhelp: race again with more replicates"
    } else if is_plan(path, &old)? {
        "is a plan that has not been raced yet\nhelp: deadheat run --plan FILE races it"
    } else {
        return go_on_with(path, old, options, false, watcher);
    };
    Err(RaceError::NotResumable {
        path: path.to_owned(),
        reason: of_several.to_owned(),
    })
}

/// Returns true for a file that `deadheat plan` wrote and that holds no measurements yet.
fn is_plan(path: &Path, header: &RunHeader) -> Result<bool, RaceError> {
    // Only plans and parts of races record the boot id.
    let is_planned = header.environment.boot.is_some();
    Ok(is_planned && has_only_header(path).map_err(RaceError::Resume)?)
}

/// Resumes a part of a race. If the part is complete, only checks that its programs are unchanged.
/// If the parts divide the replicates, the part continues to the end of its plan, because it is
/// analysed only at its end. If the parts divide the benchmarks, it ends by the anytime-valid
/// stopping rule.
pub fn finish_part(
    path: &Path,
    options: &ResumeOptions,
    watcher: &mut dyn Watcher,
) -> Result<RaceOutcome, RaceError> {
    let run = read_run(path).map_err(RaceError::Resume)?;
    if run.has_come_to_its_end() {
        refuse_rewritten(path, &run.header)?;
        let path = path.to_owned();
        return Ok(RaceOutcome { run, path });
    }
    let by_plan = run.is_of_shared_replicates();
    let old = run.header;
    go_on_with(path, old, options, by_plan, watcher)
}

/// Resumes the run with the header `old`: to the end of its plan if `by_plan`, otherwise until the
/// anytime-valid stopping rule ends it.
fn go_on_with(
    path: &Path,
    old: RunHeader,
    options: &ResumeOptions,
    by_plan: bool,
    watcher: &mut dyn Watcher,
) -> Result<RaceOutcome, RaceError> {
    let kind = Resumable::of(path, &old)?;
    let started = StartedFile {
        by: "--resume",
        file: path,
        digest: FileDigest::of_run(&old),
        starts: starts(&old.plan),
    };
    // The question comes before the signal handlers are installed, so that Ctrl-C at the question
    // ends the program.
    let trusted = started.ensure_trusted(options.trusted);
    trusted.map_err(|failure| RaceError::Untrusted(failure.to_string()))?;
    let interrupts = take_over_signals()?;
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
        let session = RaceSession {
            contenders,
            interrupts: &interrupts,
            watcher: &mut *watcher,
            spent: Duration::ZERO,
            use_of_plan: PlanUse::Saved,
            until: None,
        };
        let further = (!by_plan).then_some((options.more, options.budget));
        session.go_on(path, run, further)
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

/// Returns an error if programs, scripts or inputs changed since the race began.
fn refuse_rewritten(path: &Path, old: &RunHeader) -> Result<(), RaceError> {
    if !old.environment.programs.is_empty() {
        return refuse_other_files("--resume", path, old);
    }
    // Older versions of deadheat did not record the digests of programs, so the modification times
    // are compared.
    let Some(started_at) = old.started_at else {
        return Ok(());
    };
    let mut rewritten = programs_of(&old.plan)
        .filter_map(|files| rewritten_since(&files.program, &files.read, started_at));
    match rewritten.next() {
        None => Ok(()),
        Some(program) => Err(RaceError::NotResumable {
            path: path.to_owned(),
            reason: format!(
                "cannot be resumed, because '{}' was written after the race began\nhelp: start a new race",
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
        reason: format!("records the metrics {then}, but this race would measure {now}"),
    })
}

/// Reads the plan in a file that `deadheat plan` wrote.
///
/// # Errors
///
/// Returns an error if the file is not a plan, or if another version of deadheat wrote it.
pub fn read_plan(path: &Path) -> Result<RunHeader, Failure> {
    let header = read_header(path).map_err(Failure::reading)?;
    let refused = |reason: String| Failure::Data(format!("{} {reason}", path.display()));
    Resumable::of(path, &header)?;
    if header.plan.design.shard.is_some() {
        let text = "is a part of a race, not a plan\nhelp: name the plan that deadheat plan wrote \
                    for all parts";
        return Err(refused(text.to_owned()));
    }
    let is_plan = has_only_header(path).map_err(Failure::reading)?;
    if header.environment.programs.is_empty() || !is_plan {
        let text = "is the record of a race, not a plan\nhelp: deadheat plan run --save plan.json \
                    -- ./old ./new writes a plan";
        return Err(refused(text.to_owned()));
    }
    let version = env!("CARGO_PKG_VERSION");
    if header.tool_version != version {
        let theirs = &header.tool_version;
        let text = format!(
            "was made by deadheat {theirs}, and this is {version}\nhelp: make the plan again"
        );
        return Err(refused(text));
    }
    Ok(header)
}

/// A saved plan, or a part of one, with the options for racing it.
#[derive(Clone, Debug)]
pub struct PlannedPart<'a> {
    /// The file of the plan, for messages.
    pub file: &'a Path,
    /// The number of the part, and what the parts divide: replicates or benchmarks. `None` for the
    /// whole plan.
    pub part: Option<(ShardNumber, ShardBy)>,
    /// The options of the race, such as its run file.
    pub options: RaceOptions,
    /// Time limit of one sample of a function, or of one launch of an executable of a harness.
    /// Commands keep the limits of their plan.
    pub timeout: Option<Duration>,
}

/// Races a saved plan or a part of it. If the run file contains an unfinished part, resumes that
/// part.
///
/// # Errors
///
/// Returns an error if programs, scripts or inputs differ from those of the plan, or if the race
/// fails.
pub fn race_planned(
    planned: &RunHeader,
    how: PlannedPart<'_>,
    watcher: &mut dyn Watcher,
) -> Result<RaceOutcome, Failure> {
    let mut planned = planned.clone();
    refuse_other_files("--plan", how.file, &planned)?;
    if let Some((ShardNumber::Of(index, count), by)) = how.part {
        let most = planned.plan.max_replicates();
        take_part(&mut planned.plan, Shard::of(index, count, by, most))?;
    }
    let options = RaceOptions {
        use_of_plan: PlanUse::Saved,
        open: false,
        in_launches: false,
        commits: planned.environment.commits.clone(),
        ..how.options
    };
    let (save, part) = (options.save.as_deref(), planned.plan.design.shard);
    if let Some(begun) = begun_part(save, part, &options.command)? {
        let path = save.unwrap_or(Path::new(""));
        if begun.plan != planned.plan {
            let (path, file) = (path.display(), how.file.display());
            return Err(Failure::Usage(format!(
                "--save {path}: it holds a part of another plan than {file}\nhelp: choose another \
                 name"
            )));
        }
        let going_on = ResumeOptions {
            more: begun.plan.max_replicates(),
            timeout: how.timeout,
            shown: options.shown,
            placements: options.placements.clone(),
            ..ResumeOptions::default()
        };
        return Ok(finish_part(path, &going_on, watcher)?);
    }
    let raced = match Resumable::of(how.file, &planned)? {
        Resumable::Commands => race_commands(planned.plan, &options, watcher),
        Resumable::Workers | Resumable::Harness => {
            let race = BenchmarkRace {
                settings: RaceSettings {
                    timeout: Some(TimeLimit(how.timeout)),
                    pin: Some(planned.plan.design.pinning.clone()),
                    seed: Some(planned.plan.seed),
                    callgrind: Some(planned.plan.design.callgrind),
                    ..RaceSettings::default()
                },
                save: options.save,
                folder: options.folder,
                command: options.command,
                placements: options.placements,
                builds: planned.environment.builds.clone(),
                surroundings: planned.environment.surroundings.clone(),
                commits: options.commits,
                use_of_plan: PlanUse::Saved,
                conditions: options.conditions,
                ..BenchmarkRace::default()
            };
            race_frozen(&race, &planned, watcher)
        }
    };
    Ok(raced?)
}

/// Changes a plan to the plan of one part, the same as for a race with `--shard`.
fn take_part(plan: &mut Plan, part: Shard) -> Result<(), RaceError> {
    plan.design.shard = Some(part);
    if part.replicates == 0 {
        return Ok(());
    }
    let look = |alpha| fixed_look(part.replicates, alpha).map_err(RaceError::from);
    plan.design.looks = look(plan.design.alpha)?;
    for benchmark in &mut plan.benchmarks {
        if let Some(level) = &mut benchmark.overrides.level {
            level.looks = look(level.alpha)?;
        }
        if let Some(own) = &mut benchmark.rerun {
            own.replicates = own.replicates.min(part.replicates);
        }
    }
    Ok(())
}

/// Returns an error if programs, scripts or inputs differ from those of the plan or run that `flag`
/// names, because the replicates of another build would count as replicates of the recorded build.
fn refuse_other_files(
    flag: &'static str,
    path: &Path,
    recorded: &RunHeader,
) -> Result<(), RaceError> {
    let here = contents_of_programs(&recorded.plan);
    match first_difference(&recorded.environment.programs, &here) {
        None => Ok(()),
        Some(difference) => Err(RaceError::OtherFiles {
            flag,
            path: path.to_owned(),
            difference,
        }),
    }
}

/// Describes the first difference between the recorded files and the files on this machine; `None`
/// if all are equal. A recorded program without a digest matches any program with its name.
fn first_difference(recorded: &[(String, String)], here: &[(String, String)]) -> Option<String> {
    let places = 0..recorded.len().max(here.len());
    let mut both = places.map(|place| (recorded.get(place), here.get(place)));
    let (then, now) = both.find(|both| match both {
        (Some((name, digest)), Some((other, _))) if digest.is_empty() => name != other,
        (then, now) => then != now,
    })?;
    // A list may contain a name twice, for two programs in different folders, so the lists are
    // compared by position.
    Some(match (then, now) {
        (Some((name, _)), Some((other, _))) if name == other => {
            format!("'{name}' has different bytes here")
        }
        (Some((name, _)), _) => format!("'{name}' is missing here"),
        (None, now) => {
            let name = now.map_or("", |(name, _)| name);
            format!("the race would now use '{name}', which the file does not record")
        }
    })
}
