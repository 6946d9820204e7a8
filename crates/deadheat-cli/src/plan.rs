//! `deadheat plan`, which saves the plan of a race, and `deadheat run --plan`, which races a saved
//! plan or a pack.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::Args;
use deadheat::parts::exit::{Failure, Status};
use deadheat::parts::format::{
    FileDigest, FileProblem, FormatError, ScratchFolder, copy_pack, is_pack, refuse_file_in_use,
    unpack,
};
use deadheat::parts::model::Arrangement;
use deadheat::parts::rules::CliOverrides;
use deadheat::parts::settings::{Front, RaceSettings};
use deadheat::parts::{
    LiveProgress, PlanUse, PlannedPart, RaceOptions, StartedFile, race_planned, read_plan,
    settle_shard, starts,
};
use deadheat_options::answer::{AnswerArgs, ExportArgs};
use deadheat_options::races::{conditions_of_part, placements, tell_of_one, typed};
use deadheat_options::repository::here;

pub const PLAN_EXAMPLES: &str = "\
Examples:
  deadheat plan run --save plan.json -- './old input' './new input'
  deadheat plan rev main --max-replicates 120 --save plan.json
  deadheat run --plan plan.json --shard 2/6 --save part-2.jsonl";

/// Options of `deadheat plan`.
#[derive(Debug, Args)]
pub struct PlanArgs {
    /// The race: run, bench or rev with its arguments, and --save FILE for the plan
    #[arg(
        value_name = "RACE",
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    race: Vec<OsString>,
}

const RACES: [&str; 4] = ["run", "bench", "rev", "load"];

/// Removes the word `plan` in front of a race. Returns the other words, and [`PlanUse::Save`] if
/// `plan` was removed.
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

/// Refuses a race that cannot be planned. `deadheat plan run`, `plan bench` and `plan rev` do not
/// get here, because their words are parsed as those of the race.
pub fn plan(args: &PlanArgs) -> Result<Status, Failure> {
    let word = args.race.first().map(|word| word.to_string_lossy());
    let word = word.as_deref().unwrap_or_default();
    Err(Failure::Usage(format!(
        "plan {word}: only {} can be planned\nhelp: for example: deadheat plan run --save \
         plan.json -- ./old ./new",
        RACES.join(", ")
    )))
}

/// The request of `deadheat run --plan`, which races a saved plan or a pack.
#[derive(Debug)]
pub struct Planned {
    pub file: PathBuf,
    /// The path of the run file to write, if the user names one.
    pub save: Option<PathBuf>,
    pub quiet: bool,
    /// True if the user trusts a plan of another user or machine.
    pub trusted: bool,
    /// The settings given with `--plan`.
    pub settings: RaceSettings,
}

impl Planned {
    /// Races the plan or a part of it, and prints the answer.
    pub fn race(self, mut answer: AnswerArgs, exports: ExportArgs) -> Result<Status, Failure> {
        let timeout = self.settings.timeout(Front::Bench);
        let settings = settle_shard(self.settings.clone())?;
        // A broken rule is not confirmed by a second race, because the plan does not describe one.
        let part = RaceSettings {
            shard: settings.shard,
            ..RaceSettings::default()
        };
        answer.read_rules(&part, CliOverrides::default())?;
        exports.check(None)?;
        let here = here()?;
        let (mut file, mut unpacked, mut digest) = (self.file.clone(), None, None);
        let mut save = self.save.clone();
        if is_pack(&file).map_err(Failure::reading)? {
            let folder = self.unpacked()?;
            let scratch = ScratchFolder::create_large().map_err(Failure::reading)?;
            let named = file.clone();
            // Errors name the user's file, and not its copy.
            let refused = |error: FormatError| match error.problem {
                FileProblem::CannotWrite(_) => Failure::reading(error),
                problem => Failure::reading(problem.of(&named)),
            };
            let pack = copy_pack(&file, scratch.path()).map_err(refused)?;
            // The programs are part of the pack, so trust depends on all of its bytes.
            digest = Some(FileDigest::of_pack(&pack).map_err(refused)?);
            file = unpack(&pack, folder.path()).map_err(refused)?;
            // The plan's paths are relative to the unpacked folder, and all other paths to the
            // user's folder.
            save = save.map(|save| here.join(save));
            enter(folder.path())?;
            unpacked = Some(folder);
        }
        let planned = read_plan(&file)?;
        let digest = digest.unwrap_or_else(|| FileDigest::of_run(&planned));
        let started = StartedFile {
            by: "--plan",
            file: &self.file,
            digest,
            starts: starts(&planned.plan),
        };
        started.ensure_trusted(self.trusted)?;
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
                arrangement: Arrangement::Turns,
                placements: placements(settings.placement),
                open: false,
                in_launches: false,
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

    /// Creates the folder that the pack is unpacked into. Fails if another process races this part.
    fn unpacked(&self) -> Result<ScratchFolder, Failure> {
        if let Some(save) = &self.save {
            refuse_file_in_use(save).map_err(|error| Failure::unwritable("--save", &error))?;
        }
        ScratchFolder::create_large().map_err(Failure::reading)
    }
}

fn enter(folder: &Path) -> Result<(), Failure> {
    std::env::set_current_dir(folder)
        .map_err(|problem| Failure::Internal(format!("{}: {problem}", folder.display())))
}
