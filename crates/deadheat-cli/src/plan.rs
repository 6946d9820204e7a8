//! `deadheat plan`, which writes down the plan of a race; `deadheat pack`, which puts it and all that
//! it races into one file, for other machines; and `deadheat run --plan`, which races either.

use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};

use clap::Args;
use deadheat::parts::answer::to_stdout;
use deadheat::parts::exit::{Failure, Status};
use deadheat::parts::format::{
    FileProblem, PackedFile, ScratchFolder, is_pack, unpack, write_pack,
};
use deadheat::parts::model::{Arrangement, Input, Workload, fnv1a};
use deadheat::parts::report::units::counted;
use deadheat::parts::rules::CliOverrides;
use deadheat::parts::settings::{Front, RaceSettings};
use deadheat::parts::{
    LiveProgress, PlanUse, PlannedPart, RaceOptions, RaceOutcome, race_planned, read_plan,
    settle_shard,
};
use deadheat_link::LinkRecord;

use crate::clean::size;
use crate::options::{AnswerArgs, ExportArgs};
use crate::races::{conditions_of_part, placements, tell_of_one, typed};
use crate::repository::here;

/// Shown at the end of `deadheat plan --help`.
pub const PLAN_EXAMPLES: &str = "\
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
        "plan {word}: only {} can be planned\nhelp: for example: deadheat plan run --save plan.json -- \
         ./old ./new",
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
    let raced = plan.benchmarks.iter().filter(|one| one.rerun.is_none());
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
        let here = here()?;
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
            "--plan: the plan says how the race is raced\nhelp: --shard, --shard-by, --timeout and \
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

/// Shown at the end of `deadheat pack --help`.
pub const PACK_EXAMPLES: &str = "\
Examples:
  deadheat plan bench build/old build/new --save plan.json
  deadheat pack plan.json -o race.tar.zst --file testdata
  deadheat run --plan race.tar.zst --shard 2/6 --save part-2.jsonl   # on another machine";

/// Options of `deadheat pack`.
#[derive(Debug, Args)]
pub struct PackArgs {
    /// The plan, as 'deadheat plan' wrote it
    #[arg(value_name = "PLAN")]
    plan: PathBuf,
    /// The file to write
    #[arg(short = 'o', long, value_name = "FILE")]
    output: PathBuf,
    /// A file or folder that the programs read, and that their arguments do not name (repeatable)
    #[arg(long, value_name = "PATH")]
    file: Vec<PathBuf>,
}

/// Packs the plan with the programs and files that it names, and says what is in the pack.
pub fn pack(args: &PackArgs) -> Result<Status, Failure> {
    let mut header = read_plan(&args.plan)?;
    let mut files = Files::default();
    for benchmark in &mut header.plan.benchmarks {
        for contender in &mut benchmark.contenders {
            match &mut contender.workload {
                Workload::Command(line) => {
                    if let Some(directory) = &line.directory {
                        return Err(Failure::Usage(format!(
                            "'{}' runs in {}, a folder of this machine that no pack can take along",
                            line.text,
                            directory.display()
                        )));
                    }
                    if let Some((program, arguments)) = line.words.split_first_mut() {
                        files.take_program(program);
                        arguments.iter_mut().for_each(|word| files.take_word(word));
                    }
                    if let Input::File(file) = &mut line.input {
                        *file = files.take(file);
                    }
                }
                Workload::Worker(calls) => files.take_started(&mut calls.program),
                Workload::Harness(calls) => files.take_started(&mut calls.program),
                Workload::Function(_) | Workload::Recording => {}
            }
        }
    }
    for file in &args.file {
        if !is_below(file) {
            return Err(Failure::Usage(format!(
                "--file {}: it has to lie below this folder, and be named as the programs name it",
                file.display()
            )));
        }
        files.take(file);
    }
    files.packed.sort_by(|a, b| a.name.cmp(&b.name));
    let written = write_pack(&header, &files.packed, &args.output);
    let bytes = written.map_err(|error| match error.problem {
        FileProblem::CannotWrite(_) | FileProblem::AlreadyExists => {
            Failure::unwritable("--output", &error)
        }
        _ => Failure::reading(error),
    })?;
    let mut text = format!("pack in {}, {}:\n", args.output.display(), size(bytes));
    let of_links = |file: &&PackedFile| {
        let mut parts = file.name.components();
        parts.any(|part| part.as_os_str() == ".deadheat")
    };
    let (kept, named): (Vec<_>, Vec<_>) = files.packed.iter().partition(of_links);
    for file in named {
        let end = if file.source.is_dir() { "/" } else { "" };
        text += &format!("  {}{end}\n", file.name.display());
    }
    if !kept.is_empty() {
        text += &format!(
            "  and {} files that neutral links are made from\n",
            kept.len()
        );
    }
    for name in &files.expected {
        text += &format!("expected on every machine, with the same bytes: {name}\n");
    }
    to_stdout(&text)?;
    Ok(Status::Done)
}

/// The files of a pack.
#[derive(Default)]
struct Files {
    packed: Vec<PackedFile>,
    /// Programs that are found through `PATH`, which parts of the system lie around.
    expected: Vec<String>,
}

impl Files {
    /// Takes in a program that is started in a folder of its own, or in that of deadheat.
    fn take_started(&mut self, program: &mut deadheat::parts::model::Program) {
        let mut executable = program.executable.to_string_lossy().into_owned();
        self.take_program(&mut executable);
        program.executable = executable.into();
        program
            .arguments
            .iter_mut()
            .for_each(|word| self.take_word(word));
        program.directory = None;
    }

    /// Takes in a program with what its neutral links are made from; one without a slash is looked for
    /// in `PATH` everywhere.
    fn take_program(&mut self, program: &mut String) {
        if !program.contains('/') {
            if !self.expected.contains(program) {
                self.expected.push(program.clone());
            }
            return;
        }
        let source = PathBuf::from(&*program);
        if !source.is_file() {
            return;
        }
        let name = self.take(&source);
        let folder = name.parent().unwrap_or(Path::new("")).to_owned();
        for (file, beside) in LinkRecord::files_of(&source).unwrap_or_default() {
            self.add(file, folder.join(beside));
        }
        *program = as_program(&name);
    }

    /// Takes in an argument that is the name of a file.
    fn take_word(&mut self, word: &mut String) {
        let source = PathBuf::from(&*word);
        if source.is_file() {
            *word = self.take(&source).to_string_lossy().into_owned();
        }
    }

    /// Takes in a file or folder, and gives back its name in the pack: the same where it lies below
    /// this folder.
    fn take(&mut self, source: &Path) -> PathBuf {
        let name: PathBuf = if is_below(source) {
            let parts = source
                .components()
                .filter(|part| *part != Component::CurDir);
            parts.collect()
        } else {
            // Files of one name from several folders stay apart, and those of one folder together.
            let whole = source.canonicalize().unwrap_or_else(|_| source.to_owned());
            let folder = whole.parent().unwrap_or(Path::new("/")).as_os_str();
            let hash = fnv1a(folder.as_encoded_bytes().iter().copied());
            let file = source.file_name().unwrap_or(OsStr::new("file"));
            Path::new("elsewhere")
                .join(format!("{hash:016x}"))
                .join(file)
        };
        self.add(source.to_owned(), name.clone());
        name
    }

    fn add(&mut self, source: PathBuf, name: PathBuf) {
        if !self.packed.iter().any(|known| known.name == name) {
            self.packed.push(PackedFile { source, name });
        }
    }
}

/// Returns whether a path leads to somewhere below the folder it is seen from.
fn is_below(path: &Path) -> bool {
    let mut parts = path.components();
    parts.all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}

/// A path as that of a program: one without a slash would be looked for in `PATH`.
fn as_program(path: &Path) -> String {
    let text = path.to_string_lossy();
    if text.contains('/') {
        text.into_owned()
    } else {
        format!("./{text}")
    }
}
