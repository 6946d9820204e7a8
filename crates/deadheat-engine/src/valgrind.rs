//! Valgrind's callgrind, which counts every instruction: its arguments, its output, and the command
//! lines of commands that run under it.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fmt, io};

use crate::executable::find_executable;
use crate::function_failure::FunctionError;
use crate::interrupt::Interrupts;
use crate::launch_folder::{LaunchFolder, NumberedFile};
use crate::tool::{Tool, ToolError};
use crate::worker::WorkerProgram;

/// The maximum number of bytes that are read of a callgrind dump.
const MOST_BYTES: u64 = 1 << 30;

const VERSION: Duration = Duration::from_secs(30);

/// The name prefix of the files with instruction counts that callgrind writes.
const DUMP: &str = "dump.";
/// The name prefix of Valgrind's logs.
const WORDS: &str = "log.";
/// The maximum number of bytes that are read of a Valgrind log.
const MOST_WORDS: u64 = 1 << 20;

/// The line that marks a callgrind dump as requested by a worker, which requests one dump per
/// sample.
const OF_A_SAMPLE: &str = "desc: Trigger: Client Request";

/// Valgrind, as found on this machine.
#[derive(Clone, Debug)]
pub struct Valgrind {
    program: PathBuf,
    version: String,
}

/// Valgrind cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValgrindError {
    /// Valgrind is not in `PATH`.
    Missing,
    /// Valgrind did not report its version.
    Failed {
        /// The executable.
        program: String,
        /// The failure in words, with the end of its standard error.
        ended: String,
    },
    /// A signal asked deadheat to stop.
    Interrupted,
}

impl fmt::Display for ValgrindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str(
                "valgrind, which counts the instructions, is not installed\nhelp: install it \
                 (package valgrind), or perf (package linux-perf) if the machine has hardware \
                 counters",
            ),
            Self::Failed { program, ended } => write!(f, "'{program}' {ended}"),
            Self::Interrupted => f.write_str("interrupted"),
        }
    }
}

impl std::error::Error for ValgrindError {}

impl Valgrind {
    /// Finds Valgrind in `PATH` and reads its version.
    pub fn find(interrupts: &Interrupts) -> Result<Self, ValgrindError> {
        let program = find_executable("valgrind").ok_or(ValgrindError::Missing)?;
        let tool = Tool {
            patience: Some(VERSION),
            ..Tool::new(&program, ["--version"])
        };
        let failed = |ended| ValgrindError::Failed {
            program: program.display().to_string(),
            ended,
        };
        let said = tool.read(interrupts).map_err(|error| match error {
            ToolError::Interrupted => ValgrindError::Interrupted,
            error => failed(error.to_string()),
        })?;
        if let Some(ended) = said.problem() {
            return Err(failed(ended));
        }
        let version = String::from_utf8_lossy(&said.output).trim().to_owned();
        Ok(Self { program, version })
    }

    /// Returns the path of the Valgrind executable.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// Returns the name and version of Valgrind, such as `valgrind-3.19.0`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Returns the arguments of Valgrind that come before the program to run and its arguments.
    /// callgrind writes its counts into `folder`; `collect` are the callgrind options that select
    /// what is counted.
    pub fn arguments(
        &self,
        folder: &LaunchFolder,
        collect: impl IntoIterator<Item = String>,
    ) -> Vec<OsString> {
        let below = |option: &str, beginning: &str| {
            let mut argument = OsString::from(option);
            // Valgrind replaces `%p` by the process id, and `%%` by a percent sign.
            let folder = folder.path().as_os_str().as_bytes();
            let folder: Vec<&[u8]> = folder.split(|byte| *byte == b'%').collect();
            argument.push(OsStr::from_bytes(&folder.join(&b"%%"[..])));
            argument.push(format!("/{beginning}%p"));
            argument
        };
        let mut arguments = vec![
            THESE_ONLY.into(),
            COUNTS.into(),
            below("--callgrind-out-file=", DUMP),
            below("--log-file=", WORDS),
            // Counts the programs that a script or a command starts, too.
            "--trace-children=yes".into(),
            "--dump-line=yes".into(),
            "--dump-instr=no".into(),
        ];
        arguments.extend(collect.into_iter().map(OsString::from));
        arguments
    }

    /// Returns a program that runs a worker under callgrind. callgrind counts only the samples that
    /// the worker marks, and writes the counts into `folder`.
    pub fn around_worker(&self, program: &WorkerProgram, folder: &LaunchFolder) -> WorkerProgram {
        let marked = "--collect-atstart=no".to_owned();
        let arguments = self.arguments(folder, [marked]);
        program.under(&self.program, arguments)
    }
}

/// Returns the files of counts (dumps) that callgrind wrote into its folder, in the order in which
/// they were written.
pub fn callgrind_dumps(folder: &LaunchFolder) -> io::Result<Vec<NumberedFile>> {
    folder.numbered(DUMP, MOST_BYTES)
}

/// Returns the callgrind dumps of samples in a folder, in the order in which the samples were
/// taken.
pub fn callgrind_dumps_of_samples(folder: &LaunchFolder) -> io::Result<Vec<NumberedFile>> {
    let mut dumps = callgrind_dumps(folder)?;
    dumps.retain(|dump| dump.text.contains(OF_A_SAMPLE));
    Ok(dumps)
}

/// Returns Valgrind's logs about the processes that write into the folder.
pub fn valgrind_logs(folder: &LaunchFolder) -> io::Result<Vec<NumberedFile>> {
    folder.numbered(WORDS, MOST_WORDS)
}

/// Returns the instruction counts of the last `samples` samples from callgrind's dumps in a folder,
/// and removes all dumps from there. Fails if the worker does not mark its samples, because there
/// are fewer dumps then.
pub(crate) fn instructions_of_samples(
    folder: &LaunchFolder,
    samples: usize,
) -> Result<Vec<f64>, FunctionError> {
    let protocol = |problem: String| FunctionError::Protocol(problem);
    let dumps = callgrind_dumps_of_samples(folder).map_err(|error| {
        protocol(format!(
            "the folder for the profiler's output cannot be used: {error}"
        ))
    })?;
    folder.clear(DUMP);
    let Some(first) = dumps.len().checked_sub(samples) else {
        return Err(protocol(
            "it does not tell callgrind where its samples begin and end; workers in Rust or with \
             deadheat.h do, if they are built with this release (docs/explain.md)"
                .to_owned(),
        ));
    };
    let total = |dump: &NumberedFile| {
        let mut lines = dump.text.lines().rev();
        let total = lines.find_map(|line| line.strip_prefix("totals:")?.trim().parse().ok());
        total.ok_or_else(|| protocol(format!("callgrind's {} ends before its totals", dump.name)))
    };
    dumps[first..].iter().map(total).collect()
}

/// The argument that selects callgrind, the first one of a command under callgrind.
const COUNTS: &str = "--tool=callgrind";
/// Valgrind's option that ignores `.valgrindrc` and `VALGRIND_OPTS`; it must be the first. A commit
/// may contain a `.valgrindrc`, which could exclude functions from the counts.
const THESE_ONLY: &str = "--command-line-only=yes";

/// A regular expression for the number of instructions in Valgrind's message at the end of each
/// process.
pub const COUNTED_PATTERN: &str = r"==\d+== Collected : (\d+)";

/// Returns the words of a command line that runs a command under callgrind. Valgrind prints on
/// standard output the instruction count of the command and of each program it executes.
///
/// Programs that the command starts are counted, too. When they were not, a command that starts
/// itself again had no count, and two scripts around different programs were a dead heat.
pub fn counted_words(valgrind: &Path, words: &[String]) -> Vec<String> {
    let options = [
        THESE_ONLY,
        COUNTS,
        "--callgrind-out-file=/dev/null",
        "--log-fd=1",
        "--trace-children=yes",
        // Until its `execve`, a forked child still has the counts of its parent.
        "--child-silent-after-fork=yes",
    ];
    let valgrind = valgrind.display().to_string();
    let options = options.iter().map(|option| (*option).to_owned());
    let words = words.iter().cloned();
    [valgrind].into_iter().chain(options).chain(words).collect()
}

/// Returns true if [`counted_words`] made these words.
pub(crate) fn is_counted(words: &[String]) -> bool {
    // Run files of earlier versions have fewer options.
    let mut options = words.iter().skip(1).take(2);
    options.any(|word| word == COUNTS)
}

/// Returns the words of a command line without those that [`counted_words`] added.
pub fn without_valgrind(words: &[String]) -> &[String] {
    if !is_counted(words) {
        return words;
    }
    let options = words[1..].iter().take_while(|word| word.starts_with("--"));
    &words[1 + options.count()..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_was_counted_is_the_same_without_valgrind() {
        let words = ["./a", "7"].map(str::to_owned);
        let counted = counted_words(Path::new("/bin/valgrind"), &words);
        assert_eq!(counted[0], "/bin/valgrind");
        assert_eq!(without_valgrind(&counted), words);
        assert_eq!(without_valgrind(&words), words);
    }
}
