//! `deadheat plan`, which writes down the plan of a race, and `deadheat run --plan`, which races it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::Args;
use deadheat::parts::answer::to_stdout;
use deadheat::parts::exit::{Failure, Status};
use deadheat::parts::format::{ScratchFolder, is_pack, unpack};
use deadheat::parts::model::fnv1a;
use deadheat::parts::report::units::counted;
use deadheat::parts::rules::CliOverrides;
use deadheat::parts::settings::{Front, RaceSettings};
use deadheat::parts::{
    LiveProgress, PlanUse, PlannedPart, RaceOptions, RaceOutcome, race_planned, read_plan,
    settle_shard,
};

use crate::exports::ExportArgs;
use crate::options::AnswerArgs;
use crate::races::{conditions_of_part, placements, tell_of_one, typed};

/// Shown at the end of `deadheat plan --help`.
pub const EXAMPLES: &str = "\
Examples:
  deadheat plan run --save plan.json -- './old input' './new input'
  deadheat plan rev main --max-replicates 120 --save plan.json
  deadheat run --plan plan.json --shard 2/6 --save part-2.jsonl";

/// Options of `deadheat plan`.
#[derive(Debug, Args)]
pub struct PlanArgs {
    /// The race: run, bench or rev with their words, and --save with the file of the plan
    #[arg(
        value_name = "RACE",
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    race: Vec<OsString>,
}

/// The races that can be planned.
const RACES: [&str; 3] = ["run", "bench", "rev"];

/// The words of a race to be planned without the word `plan`, and what becomes of the plan.
pub fn taken_out(words: impl Iterator<Item = OsString>) -> (Vec<OsString>, PlanUse) {
    let mut words: Vec<OsString> = words.collect();
    let is_planned = match &words[..] {
        [_, plan, race, ..] => plan == "plan" && RACES.iter().any(|known| race == known),
        _ => false,
    };
    if !is_planned {
        return (words, PlanUse::Race);
    }
    words.remove(1);
    (words, PlanUse::Save)
}

/// Says what can be planned: the words of those races are read as those of a race.
pub fn plan(args: &PlanArgs) -> Result<Status, Failure> {
    let word = args.race.first().map(|word| word.to_string_lossy());
    let word = word.as_deref().unwrap_or_default();
    Err(Failure::Usage(format!(
        "plan {word}: what can be planned is {}, as in deadheat plan run --save plan.json -- ./old \
         ./new",
        RACES.join(", ")
    )))
}

/// Refuses what says nothing about a plan, before anything is built or launched for it.
pub fn check_plan(
    settings: &RaceSettings,
    save: Option<&Path>,
    exports: &ExportArgs,
) -> Result<(), Failure> {
    let refused = |text: &str| Err(Failure::Usage(text.to_owned()));
    if save.is_none() {
        return refused("plan: --save FILE says where the plan goes");
    }
    if settings.shard.is_some() {
        return refused("--shard: the part is said where the plan is raced, and not in the plan");
    }
    exports.refuse("a plan has no answer; the race of it has, and deadheat merge")
}

/// Says where the plan is, and how it is raced.
pub fn tell_of_plan(planned: &RaceOutcome) -> Result<Status, Failure> {
    let plan = &planned.run.header.plan;
    let raced = plan.benchmarks.iter().filter(|one| one.own_link.is_none());
    let file = planned.path.display();
    to_stdout(&format!(
        "plan in {file}: {}, {} at most, seed {}\n\
         race a part of it:   deadheat run --plan {file} --shard 1/4 --save part-1.jsonl\n\
         take it elsewhere:   deadheat pack {file} -o race.tar.zst\n",
        counted(raced.count() as u64, "benchmark", "benchmarks"),
        counted(plan.max_replicates().into(), "replicate", "replicates"),
        plan.seed,
    ))?;
    Ok(Status::Done)
}

/// The request of `deadheat run --plan`.
#[derive(Debug)]
pub struct Planned {
    /// The plan or pack.
    pub file: PathBuf,
    /// The run file.
    pub save: Option<PathBuf>,
    /// True if no progress is told.
    pub quiet: bool,
    /// The settings that stand beside `--plan`.
    pub settings: RaceSettings,
}

impl Planned {
    /// Races the plan or a part of it, and answers.
    pub fn race(self, mut answer: AnswerArgs, exports: ExportArgs) -> Result<Status, Failure> {
        self.refuse_settings()?;
        let timeout = self.settings.timeout(Front::Bench);
        let settings = settle_shard(self.settings.clone())?;
        // What breaks a rule is not raced once more: no plan says how.
        let part = RaceSettings {
            shard: settings.shard,
            ..RaceSettings::default()
        };
        answer.read_rules(&part, CliOverrides::default())?;
        exports.check(None)?;
        let here = std::env::current_dir()
            .map_err(|problem| Failure::Internal(format!("the current folder: {problem}")))?;
        let (mut file, mut unpacked) = (self.file.clone(), None);
        let mut save = self.save.clone();
        if is_pack(&file).map_err(Failure::reading)? {
            let folder = self.unpacked()?;
            file = unpack(&file, folder.path()).map_err(Failure::reading)?;
            // Programs and inputs are named as seen from there, and all other files as seen from here.
            save = save.map(|save| here.join(save));
            enter(folder.path())?;
            unpacked = Some(folder);
        }
        let planned = read_plan(&file)?;
        let how = PlannedPart {
            file: &self.file,
            part: settings
                .shard
                .map(|part| (part, settings.shard_by.unwrap_or_default())),
            options: RaceOptions {
                command: typed(),
                save,
                folder: here.clone(),
                shown: if answer.answer().is_document() { 2 } else { 1 },
                placements: placements(settings.placement),
                open: false,
                commits: Vec::new(),
                until: None,
                use_of_plan: PlanUse::Saved,
                conditions: conditions_of_part(&settings),
            },
            timeout,
        };
        let mut progress = LiveProgress::new(&planned.plan.benchmarks, self.quiet);
        let raced = race_planned(&planned, how, &mut progress);
        progress.finish();
        if unpacked.is_some() {
            enter(&here)?;
        }
        let mut outcome = raced?;
        if let Ok(path) = outcome.path.strip_prefix(&here) {
            outcome.path = path.to_owned();
        }
        tell_of_one(outcome, &answer, &exports)
    }

    /// The folder that the pack is unpacked into. A part that was killed and is started again has
    /// the same: its neutral links are known by their paths.
    fn unpacked(&self) -> Result<ScratchFolder, Failure> {
        let named = match &self.save {
            Some(save) => std::path::absolute(save).unwrap_or_else(|_| save.clone()),
            None => PathBuf::from(std::process::id().to_string()),
        };
        let hash = fnv1a(named.as_os_str().as_encoded_bytes().iter().copied());
        let name = format!("deadheat-pack-{hash:016x}");
        ScratchFolder::create_named(&name).map_err(Failure::reading)
    }

    /// The plan says how the race is raced.
    fn refuse_settings(&self) -> Result<(), Failure> {
        let RaceSettings {
            shard,
            shard_by,
            timeout,
            placement,
            ..
        } = self.settings.clone();
        let allowed = RaceSettings {
            shard,
            shard_by,
            timeout,
            placement,
            ..RaceSettings::default()
        };
        if self.settings == allowed {
            return Ok(());
        }
        Err(Failure::Usage(
            "--plan: the plan says how the race is raced; --shard, --shard-by, --timeout and \
             --placement are what may be said beside it"
                .to_owned(),
        ))
    }
}

/// Goes into a folder.
fn enter(folder: &Path) -> Result<(), Failure> {
    std::env::set_current_dir(folder)
        .map_err(|problem| Failure::Internal(format!("{}: {problem}", folder.display())))
}
