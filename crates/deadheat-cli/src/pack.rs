//! `deadheat pack`, which packs a plan and the programs and files it names into one file, for other
//! machines.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use clap::Args;
use deadheat::parts::answer::line_to_stdout;
use deadheat::parts::exit::{Failure, Status};
use deadheat::parts::format::{FileDigest, FileProblem, PackedFile, contents, write_pack};
use deadheat::parts::model::{HELP, Input, Workload, fnv1a};
use deadheat::parts::report::units::size_on_disk;
use deadheat::parts::{is_made_here, note_made_file, read_plan};
use deadheat_build::homes_of_builds;
use deadheat_link::LinkRecord;
use deadheat_options::repository::here;

pub const PACK_EXAMPLES: &str = "\
Examples:
  deadheat plan bench build/old build/new --save plan.json
  deadheat pack plan.json -o race.tar.zst --file testdata
  deadheat run --plan race.tar.zst --trust --shard 2/6 --save part-2.jsonl   # on another machine";

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
    /// Pack files that lie outside this folder too
    #[arg(short = 'y', long)]
    yes: bool,
}

pub fn pack(args: &PackArgs) -> Result<Status, Failure> {
    let mut header = read_plan(&args.plan)?;
    let is_ours = is_made_here(&FileDigest::of_run(&header));
    let mut files = Files::default();
    for benchmark in &mut header.plan.benchmarks {
        for contender in &mut benchmark.contenders {
            match &mut contender.workload {
                Workload::Command(line) => {
                    if let Some(directory) = &line.directory {
                        return Err(Failure::Usage(format!(
                            "'{}' runs in {}, a folder of this machine that a pack cannot contain",
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
                "--file {}: the path must be relative, below the current folder and without ..\
                 {HELP}the pack contains the file by this path, and the programs must open it by \
                 this path",
                file.display()
            )));
        }
        files.take(file);
    }
    let packed = files.contents()?;
    if !args.yes {
        refuse_files_elsewhere(&packed)?;
    }
    let written = write_pack(&header, &packed, &args.output);
    let bytes = written.map_err(|error| match error.problem {
        FileProblem::AlreadyExists => Failure::Usage(format!(
            "--output: cannot write {}: it exists already{HELP}choose another name, or remove the \
             file",
            args.output.display()
        )),
        FileProblem::CannotWrite(_) => Failure::unwritable("--output", &error),
        _ => Failure::reading(error),
    })?;
    // A pack of another user's plan must not become trusted, so only packs of our own plans are
    // recorded.
    if is_ours && let Ok(digest) = FileDigest::of_pack(&args.output) {
        note_made_file(&digest);
    }
    tell(&args.output, bytes, &packed, &files.expected)
}

/// Refuses files outside the current folder, except builds of revisions: a plan of another user, or
/// a symbolic link, could name any file that this user can read.
fn refuse_files_elsewhere(packed: &[PackedFile]) -> Result<(), Failure> {
    let here = here()?;
    let mut ours = homes_of_builds(&here);
    ours.push(here.canonicalize().unwrap_or(here));
    let elsewhere = packed.iter().filter_map(|file| {
        let place = file.source.canonicalize().ok()?;
        let line = match place == file.source {
            true => place.display().to_string(),
            false => format!("{}: {}", file.source.display(), place.display()),
        };
        let is_ours = ours.iter().any(|folder| place.starts_with(folder));
        (!is_ours).then_some(line)
    });
    let elsewhere: Vec<String> = elsewhere.collect();
    if elsewhere.is_empty() {
        return Ok(());
    }
    Err(Failure::Usage(format!(
        "pack: files outside this folder would be packed:\n  {}\nhelp: --yes packs them",
        elsewhere.join("\n  ")
    )))
}

/// Prints the files of a pack, and the programs that every machine must have installed.
fn tell(
    output: &Path,
    bytes: u64,
    packed: &[PackedFile],
    expected: &[String],
) -> Result<Status, Failure> {
    line_to_stdout(&format!(
        "pack in {}, {}:",
        output.display(),
        size_on_disk(bytes)
    ))?;
    let of_links = |file: &&PackedFile| {
        let mut parts = file.name.components();
        parts.any(|part| part.as_os_str() == ".deadheat")
    };
    let (kept, named): (Vec<_>, Vec<_>) = packed.iter().partition(of_links);
    for file in named {
        line_to_stdout(&format!("  {}", file.name.display()))?;
    }
    if !kept.is_empty() {
        line_to_stdout(&format!(
            "  and {} files to make neutral links from:",
            kept.len()
        ))?;
    }
    for file in kept {
        line_to_stdout(&format!("    {}", file.name.display()))?;
    }
    for name in expected {
        line_to_stdout(&format!(
            "not packed; every machine needs the same file: {name}"
        ))?;
    }
    Ok(Status::Done)
}

#[derive(Default)]
struct Files {
    packed: Vec<PackedFile>,
    /// Programs that are found through `PATH`. They are not packed, because they depend on other
    /// parts of their system.
    expected: Vec<String>,
}

impl Files {
    /// Returns all plain files, sorted by name, without duplicates.
    fn contents(&self) -> Result<Vec<PackedFile>, Failure> {
        let mut all = Vec::new();
        for file in &self.packed {
            all.extend(contents(file).map_err(Failure::reading)?);
        }
        all.sort_by(|a, b| a.name.cmp(&b.name));
        all.dedup_by(|a, b| a.name == b.name);
        Ok(all)
    }

    /// Adds a program of benchmarks and the files that its arguments name.
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

    /// Adds a program and the files that its neutral links are made from. A program without a slash
    /// is not packed, because every machine looks it up in `PATH`.
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

    /// Adds the file that an argument names, if there is one, and renames the argument.
    fn take_word(&mut self, word: &mut String) {
        let source = PathBuf::from(&*word);
        if source.is_file() {
            *word = self.take(&source).to_string_lossy().into_owned();
        }
    }

    /// Adds a file or folder and returns its name in the pack. A path below the current folder
    /// keeps its name.
    fn take(&mut self, source: &Path) -> PathBuf {
        let name: PathBuf = if is_below(source) {
            let parts = source
                .components()
                .filter(|part| *part != Component::CurDir);
            parts.collect()
        } else {
            // The hash of the folder separates files of the same name from different folders.
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

/// Returns true if a relative path stays below its starting folder.
fn is_below(path: &Path) -> bool {
    let mut parts = path.components();
    parts.all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}

/// Returns a path as the path of a program: without a slash it would be looked up in `PATH`.
fn as_program(path: &Path) -> String {
    let text = path.to_string_lossy();
    if text.contains('/') {
        text.into_owned()
    } else {
        format!("./{text}")
    }
}
