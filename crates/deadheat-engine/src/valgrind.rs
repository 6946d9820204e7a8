//! Valgrind's callgrind, which counts every instruction: how it is started around commands and
//! workers, what it writes, and what goes wrong with it; and what other profilers share with it.

mod command;

pub use command::{COUNTED_PATTERN, ProfileError, Under, counted_words, run_hook};
pub(crate) use command::{Counted, around_worker, ask_version, checked, is_counted, run};

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

use deadheat_model::CommandLine;

use crate::executable::find_executable;
use crate::function_failure::FunctionError;
use crate::interrupt::Interrupts;
use crate::launch_folder::LaunchFolder;
use crate::worker::WorkerProgram;
use command::COUNTS;

/// Bytes of what callgrind writes for one process at most.
const MOST_BYTES: u64 = 1 << 30;
/// Bytes of Valgrind's own words that are read.
const MOST_WORDS: u64 = 1 << 20;

/// The beginnings of names in the folder: of what callgrind counted, and of what Valgrind says.
const DUMP: &str = "dump.";
const WORDS: &str = "log.";

/// Words by which Valgrind says that it does not know an instruction.
const UNKNOWN: [&str; 2] = ["unhandled instruction bytes:", "Unrecognised instruction"];

/// The trigger of the dumps that a worker asks for, one a sample.
const OF_A_SAMPLE: &str = "desc: Trigger: Client Request";

/// Valgrind, as it is found on this machine.
#[derive(Clone, Debug)]
pub struct Valgrind {
    program: PathBuf,
    version: String,
}

/// Functions that make a copy of the process, which would count as its own what was counted before:
/// that is written down first, and begins anew in both.
const FORKS: [&str; 4] = ["fork", "_Fork", "__libc_fork", "vfork"];

/// What callgrind wrote once: the counts of a process, or of a sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dump {
    /// The name of its file, for messages.
    pub name: String,
    /// The whole of it.
    pub text: String,
}

/// What callgrind collects of a process.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Collect<'a> {
    /// All of it.
    Everything,
    /// What runs below functions of these names, in which `*` stands for anything.
    Below(&'a [String]),
    /// What the process marks.
    Marked,
}

impl Valgrind {
    /// Finds it in `PATH`, and asks its version.
    pub fn find(interrupts: &Interrupts) -> Result<Self, ProfileError> {
        let program = find_executable("valgrind").ok_or(ProfileError::NoValgrind)?;
        let said = ask_version(&program, interrupts)?;
        if let Some(ended) = said.problem() {
            let program = program.display().to_string();
            return Err(ProfileError::Failed {
                program,
                under: None,
                ended,
            });
        }
        let version = String::from_utf8_lossy(&said.output).trim().to_owned();
        Ok(Self { program, version })
    }

    /// Name and version, such as `valgrind-3.19.0`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The arguments in front of a program and its own.
    fn arguments(&self, collect: Collect<'_>, folder: &LaunchFolder) -> Vec<OsString> {
        let below = |option: &str, name: &str| {
            let mut argument = OsString::from(option);
            argument.push(folder.path().join(name));
            argument
        };
        let mut arguments = vec![
            COUNTS.into(),
            below("--callgrind-out-file=", "dump.%p"),
            below("--log-file=", "log.%p"),
            // A script that ends by starting the program, and what a command starts.
            "--trace-children=yes".into(),
            "--dump-line=yes".into(),
            "--dump-instr=no".into(),
        ];
        match collect {
            Collect::Everything => {
                let dumps = FORKS.iter().map(|name| format!("--dump-before={name}"));
                arguments.extend(dumps.map(OsString::from));
            }
            Collect::Below(names) => {
                let toggles = names.iter().map(|name| format!("--toggle-collect={name}"));
                arguments.extend(toggles.map(OsString::from));
            }
            Collect::Marked => arguments.push("--collect-atstart=no".into()),
        }
        arguments
    }

    /// A worker as Valgrind starts it, which counts what the worker marks and writes it into
    /// `folder`.
    pub(crate) fn around_worker(
        &self,
        program: &WorkerProgram,
        folder: &LaunchFolder,
    ) -> WorkerProgram {
        let arguments = self.arguments(Collect::Marked, folder);
        around_worker(&self.program, arguments, program)
    }

    /// Runs a command once, and returns what callgrind counted of it and of all it started.
    pub fn count_command(
        &self,
        line: &CommandLine,
        interrupts: &Interrupts,
    ) -> Result<Vec<Dump>, ProfileError> {
        match Counted::of_command(line)? {
            Some(counted) => self.count(counted, Collect::Everything, interrupts),
            None => Ok(Vec::new()),
        }
    }

    /// Runs a program once, and returns what callgrind wrote of it.
    pub(crate) fn count(
        &self,
        counted: Counted<'_>,
        collect: Collect<'_>,
        interrupts: &Interrupts,
    ) -> Result<Vec<Dump>, ProfileError> {
        let folder = LaunchFolder::new().map_err(ProfileError::Folder)?;
        let mut command = Command::new(&self.program);
        command.args(self.arguments(collect, &folder));
        let (patience, policy) = (counted.patience, counted.policy);
        let program = counted.program;
        counted.hand_to(&mut command)?;
        let captured = run(command, patience, interrupts)?;
        let ended_well = captured.ending.is_none();
        let unknown = (!ended_well).then(|| self.unknown_instruction(program, &folder));
        if let Some(unknown) = unknown.flatten() {
            return Err(unknown);
        }
        checked(program, Under::Valgrind, &captured, policy)?;
        dumps(&folder, |_| true)
    }

    /// The error that Valgrind does not know an instruction, where it said so.
    pub(crate) fn unknown_instruction(
        &self,
        program: &str,
        folder: &LaunchFolder,
    ) -> Option<ProfileError> {
        let logs = folder.numbered(WORDS, MOST_WORDS).ok()?;
        let mut lines = logs.iter().flat_map(|log| log.text.lines());
        let line = lines.find(|line| UNKNOWN.iter().any(|words| line.contains(words)))?;
        let bytes = line.split_once(UNKNOWN[0]).map(|(_, bytes)| bytes.trim());
        Some(ProfileError::UnknownInstruction {
            program: program.to_owned(),
            bytes: bytes.map(str::to_owned),
            valgrind: self.version.clone(),
        })
    }
}

/// The dumps in the folder that are wanted, in the order in which they were written.
fn dumps(folder: &LaunchFolder, wanted: impl Fn(&str) -> bool) -> Result<Vec<Dump>, ProfileError> {
    let files = folder.numbered(DUMP, MOST_BYTES);
    let files = files.map_err(ProfileError::Folder)?.into_iter();
    let wanted = files.filter(|file| wanted(&file.text));
    let dump = |file: crate::launch_folder::NumberedFile| Dump {
        name: file.name,
        text: file.text,
    };
    Ok(wanted.map(dump).collect())
}

/// The instructions of the last samples in the folder, so many of them, which are then gone from
/// there. Whoever is raced marks its samples, or there are fewer.
pub(crate) fn instructions_of_samples(
    folder: &LaunchFolder,
    samples: usize,
) -> Result<Vec<f64>, FunctionError> {
    let protocol = |problem: String| FunctionError::Protocol(problem);
    let dumps = dumps_of_samples(folder).map_err(|error| protocol(error.to_string()))?;
    folder.clear(DUMP);
    let Some(first) = dumps.len().checked_sub(samples) else {
        return Err(protocol(
            "it does not tell callgrind where its samples begin and end; workers in Rust and those \
             of deadheat.h do, built with this release (docs/explain.md)"
                .to_owned(),
        ));
    };
    let total = |dump: &Dump| {
        let mut lines = dump.text.lines().rev();
        let total = lines.find_map(|line| line.strip_prefix("totals:")?.trim().parse().ok());
        total.ok_or_else(|| protocol(format!("callgrind's {} ends before its totals", dump.name)))
    };
    dumps[first..].iter().map(total).collect()
}

/// The dumps of samples in the folder, in the order in which these were taken.
pub(crate) fn dumps_of_samples(folder: &LaunchFolder) -> Result<Vec<Dump>, ProfileError> {
    dumps(folder, |text| text.contains(OF_A_SAMPLE))
}
