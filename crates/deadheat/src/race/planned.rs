//! A plan that was frozen before, here or on another machine, and the part of it that is raced here.

use std::path::Path;
use std::time::Duration;

use deadheat_analysis::fixed_look;
use deadheat_engine::Watcher;
use deadheat_format::read_header;
use deadheat_model::{Plan, RaceSettings, RunHeader, Shard, ShardBy, ShardNumber, TimeLimit};

use super::benchmarks::race_frozen;
use super::commands::{RaceOptions, race_commands};
use super::entries::BenchmarkRace;
use super::error::{RaceError, RaceOutcome};
use super::resume::{Resumable, ResumeOptions, finish_part};
use super::shard::{begun_part, programs_of};
use super::sitting::PlanUse;
use crate::exit::Failure;

/// The plan in a file that `deadheat plan` wrote.
///
/// # Errors
///
/// A file that holds none, or one of another version of deadheat.
pub fn read_plan(path: &Path) -> Result<RunHeader, Failure> {
    let header = read_header(path).map_err(Failure::reading)?;
    let refused = |reason: String| Failure::Data(format!("--plan: {} {reason}", path.display()));
    Resumable::of(path, &header)?;
    if header.plan.design.shard.is_some() {
        let text = "holds a part of a race; deadheat plan writes the plan of a whole one";
        return Err(refused(text.to_owned()));
    }
    if header.environment.programs.is_empty() {
        let text = "does not say what the programs hold, as what deadheat plan writes does";
        return Err(refused(text.to_owned()));
    }
    let version = env!("CARGO_PKG_VERSION");
    if header.tool_version != version {
        let theirs = &header.tool_version;
        let text = format!("was made by deadheat {theirs}, and this is {version}; plan it anew");
        return Err(refused(text));
    }
    Ok(header)
}

/// The part of a plan that is raced, and how.
#[derive(Clone, Debug)]
pub struct PlannedPart<'a> {
    /// The file of the plan, for messages.
    pub file: &'a Path,
    /// The part, and the division of the race; all of it where there is none.
    pub part: Option<(ShardNumber, ShardBy)>,
    /// The traces that the race leaves.
    pub options: RaceOptions,
    /// The most time that one sample of a function, or one launch of an executable of a harness,
    /// may take; commands keep the limits of their plan.
    pub timeout: Option<Duration>,
}

/// Races a plan as it is, or a part of it; one that was begun already goes on.
///
/// # Errors
///
/// Programs that are not those of the plan, and whatever keeps a race from its end.
pub fn race_planned(
    planned: &RunHeader,
    how: PlannedPart<'_>,
    watcher: &mut dyn Watcher,
) -> Result<RaceOutcome, Failure> {
    let mut planned = planned.clone();
    refuse_other_programs(&planned, how.file)?;
    if let Some((ShardNumber::Of(index, count), by)) = how.part {
        let most = planned.plan.max_replicates();
        take_part(&mut planned.plan, Shard::of(index, count, by, most))?;
    }
    let options = RaceOptions {
        use_of_plan: PlanUse::Saved,
        open: false,
        commits: planned.environment.commits.clone(),
        ..how.options
    };
    let (save, part) = (options.save.as_deref(), planned.plan.design.shard);
    if let Some(begun) = begun_part(save, part, &options.command)? {
        let path = save.unwrap_or(Path::new(""));
        if begun.plan != planned.plan {
            let (path, file) = (path.display(), how.file.display());
            return Err(Failure::Usage(format!(
                "--save {path}: it holds a part of another plan than {file}; choose another name"
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

/// Makes of a plan that of a part of it, as the same race begun with `--shard` would have it.
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
        if let Some(own) = &mut benchmark.own_link {
            own.replicates = own.replicates.min(part.replicates);
        }
    }
    Ok(())
}

/// Refuses what would be measured in place of what was planned.
fn refuse_other_programs(planned: &RunHeader, file: &Path) -> Result<(), Failure> {
    let (theirs, ours) = (&planned.environment.programs, programs_of(&planned.plan));
    let other = theirs
        .iter()
        .enumerate()
        .find(|(at, program)| ours.get(*at) != Some(program));
    let Some((at, (name, _))) = other else {
        return Ok(());
    };
    let file = file.display();
    // Two programs of one name lie in different folders.
    Err(Failure::Contender(match ours.get(at) {
        Some((here, _)) if here == name => format!(
            "--plan {file}: '{name}' holds other bytes here than when it was planned; deadheat pack \
             takes along what was"
        ),
        _ => format!(
            "--plan {file}: '{name}' is not here; deadheat pack takes along what was planned"
        ),
    }))
}
