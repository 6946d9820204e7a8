//! A program that a profiler starts: its words, its surroundings, its end, and the reasons why
//! there is no profile of it.

use std::ffi::OsString;
use std::fs::File;
use std::io::pipe;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;
use std::{fmt, io};

use deadheat_model::{CommandLine, ExitPolicy, Input};

use crate::executable::{find_executable, is_executable, run_in};
use crate::function_failure::FunctionError;
use crate::interrupt::{Interrupted, Interrupts, signal_name};
use crate::memory_layout::at_fixed_addresses;
use crate::subprocess::{Answer, Captured, Ending, run_captured};
use crate::worker::WorkerProgram;

/// Time that a profiler may take to say its version.
const VERSION: Duration = Duration::from_secs(30);

/// A program that is counted, and its surroundings.
pub(crate) struct Counted<'a> {
    pub(crate) program: &'a str,
    pub(crate) arguments: &'a [String],
    pub(crate) directory: Option<&'a Path>,
    /// Variables that it does not see.
    pub(crate) hidden: &'a [&'static str],
    pub(crate) stdin: Stdio,
    pub(crate) patience: Option<Duration>,
    pub(crate) policy: &'a ExitPolicy,
}

impl<'a> Counted<'a> {
    /// A command of a race; `None` where it has no words.
    pub(crate) fn of_command(line: &'a CommandLine) -> Result<Option<Self>, ProfileError> {
        let Some((program, arguments)) = without_valgrind(&line.words).split_first() else {
            return Ok(None);
        };
        Ok(Some(Self {
            program,
            arguments,
            directory: line.directory.as_deref(),
            hidden: &[],
            stdin: stdin(&line.input)?,
            patience: line.timeout,
            policy: &line.exit_policy,
        }))
    }

    /// Lets `command`, which ends with the options of a profiler, start it.
    pub(crate) fn hand_to(self, command: &mut Command) -> Result<(), ProfileError> {
        run_within(command, self.directory)?;
        // What a profiler says of a program that is not there hardly names it.
        let found = match self.directory {
            // It starts where the program runs, and looks from there.
            Some(folder) if self.program.contains('/') => {
                let here = folder.join(self.program);
                is_executable(&here).then(|| self.program.into())
            }
            _ => find_executable(self.program),
        };
        let Some(found) = found else {
            let program = self.program.to_owned();
            return Err(ProfileError::NoProgram { program });
        };
        command.arg(found).args(self.arguments).stdin(self.stdin);
        for variable in self.hidden {
            command.env_remove(variable);
        }
        Ok(())
    }
}

/// Has `command` run in this folder, or in that of deadheat.
fn run_within(command: &mut Command, directory: Option<&Path>) -> Result<(), ProfileError> {
    let Some(directory) = directory else {
        return Ok(());
    };
    if !directory.is_dir() {
        let folder = directory.display().to_string();
        return Err(ProfileError::NoFolder { folder });
    }
    run_in(command, directory);
    Ok(())
}

/// Runs it where addresses are drawn for nobody, since what lies where decides how often some
/// functions loop; what it prints is nobody's business.
pub(crate) fn run(
    command: Command,
    patience: Option<Duration>,
    interrupts: &Interrupts,
) -> Result<Captured, ProfileError> {
    let (here, there) = pipe().map_err(ProfileError::Folder)?;
    let answer = Answer::Piped {
        here,
        there,
        shown: false,
    };
    let captured = at_fixed_addresses(true, || {
        run_captured(command, answer, None, patience, interrupts)
    });
    Ok(captured?)
}

fn stdin(input: &Input) -> Result<Stdio, ProfileError> {
    match input {
        Input::Null => Ok(Stdio::null()),
        Input::File(file) => match File::open(file) {
            Ok(open) => Ok(open.into()),
            Err(error) => Err(ProfileError::Input {
                file: file.display().to_string(),
                error,
            }),
        },
    }
}

/// Asks a profiler for its version.
pub(crate) fn ask_version(
    profiler: &Path,
    interrupts: &Interrupts,
) -> Result<Captured, ProfileError> {
    let mut command = Command::new(profiler);
    command.arg("--version").stdin(Stdio::null());
    let patience = Some(VERSION);
    Ok(run_captured(
        command,
        Answer::Printed,
        None,
        patience,
        interrupts,
    )?)
}

/// A worker as a profiler starts it: with these arguments, behind which stand the worker's own
/// words.
pub(crate) fn around_worker(
    profiler: &Path,
    mut arguments: Vec<OsString>,
    program: &WorkerProgram,
) -> WorkerProgram {
    arguments.push(program.executable.clone().into());
    arguments.extend(program.arguments.iter().cloned());
    WorkerProgram {
        executable: profiler.to_owned(),
        arguments,
        ..program.clone()
    }
}

/// Runs a hook in this folder, or in that of deadheat; it is not counted.
pub fn run_hook(
    words: &[String],
    directory: Option<&Path>,
    interrupts: &Interrupts,
) -> Result<(), ProfileError> {
    let Some((program, arguments)) = words.split_first() else {
        return Ok(());
    };
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null());
    run_within(&mut command, directory)?;
    match run(command, None, interrupts)?.problem() {
        None => Ok(()),
        Some(ended) => Err(ProfileError::Failed {
            program: words.join(" "),
            under: None,
            ended,
        }),
    }
}

/// The reason, if any, why a program did not do its work under this profiler.
pub(crate) fn checked(
    program: &str,
    under: Under,
    captured: &Captured,
    policy: &ExitPolicy,
) -> Result<(), ProfileError> {
    let program = program.to_owned();
    let ended = match &captured.ending {
        None => return Ok(()),
        Some(Ending::Exited(code)) if policy.accepts(*code) => return Ok(()),
        Some(Ending::Silent(patience)) => {
            return Err(ProfileError::TimedOut {
                program,
                under,
                patience: *patience,
            });
        }
        Some(Ending::Signalled(signal)) => killed_by(*signal),
        Some(_) => captured.problem().unwrap_or_default(),
    };
    Err(ProfileError::Failed {
        program,
        under: Some(under),
        ended,
    })
}

/// The argument by which Valgrind counts, the first one of a command that is counted.
pub(super) const COUNTS: &str = "--tool=callgrind";

/// A pattern for the number of instructions in what Valgrind says at the end of each process.
pub const COUNTED_PATTERN: &str = r"==\d+== Collected : (\d+)";

/// The words of a command under callgrind, which prints on standard output the instruction count of
/// the command and of each program it executes.
///
/// Programs that it starts are followed. Without that a command that starts itself again had no
/// count, and a script around two different programs was a dead heat.
pub fn counted_words(valgrind: &Path, words: &[String]) -> Vec<String> {
    let options = [
        COUNTS,
        "--callgrind-out-file=/dev/null",
        "--log-fd=1",
        "--trace-children=yes",
        // Until it executes something, a child still has the counts of its parent.
        "--child-silent-after-fork=yes",
    ];
    let valgrind = valgrind.display().to_string();
    let options = options.iter().map(|option| (*option).to_owned());
    let words = words.iter().cloned();
    [valgrind].into_iter().chain(options).chain(words).collect()
}

/// Returns whether these are such words.
pub(crate) fn is_counted(words: &[String]) -> bool {
    words.get(1).is_some_and(|word| word == COUNTS)
}

/// The words of a command without those of Valgrind, where a race had it counted.
fn without_valgrind(words: &[String]) -> &[String] {
    if !is_counted(words) {
        return words;
    }
    // Run files of earlier versions have fewer options.
    let options = words[1..].iter().take_while(|word| word.starts_with("--"));
    &words[1 + options.count()..]
}

/// The profiler that a program runs under.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Under {
    /// Valgrind, whose callgrind counts.
    Valgrind,
    /// perf.
    Perf,
}

impl fmt::Display for Under {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Valgrind => "valgrind",
            Self::Perf => "perf",
        })
    }
}

/// A program could not be counted by callgrind, or sampled by perf.
#[derive(Debug)]
#[non_exhaustive]
pub enum ProfileError {
    /// There is no Valgrind in `PATH`.
    NoValgrind,
    /// There is no perf in `PATH`.
    NoPerf,
    /// perf may take no samples here.
    NoSamples {
        /// The reason, in words.
        reason: String,
    },
    /// perf cannot take samples of such programs of the same length on both sides.
    NoLength {
        /// The program.
        program: String,
    },
    /// There is no such program.
    NoProgram {
        /// Its name.
        program: String,
    },
    /// There is no folder for the program to run in.
    NoFolder {
        /// The folder.
        folder: String,
    },
    /// Valgrind does not know an instruction of the program.
    UnknownInstruction {
        /// The program.
        program: String,
        /// The instruction, as Valgrind shows its bytes, where it does.
        bytes: Option<String>,
        /// Valgrind's version.
        valgrind: String,
    },
    /// The program did not end well.
    Failed {
        /// The program.
        program: String,
        /// The profiler that it ran under; `None` where it was not profiled.
        under: Option<Under>,
        /// Its end, in words, and the end of its standard error.
        ended: String,
    },
    /// The program did not come back in time.
    TimedOut {
        /// The program.
        program: String,
        /// The profiler that it ran under.
        under: Under,
        /// The time that it had.
        patience: Duration,
    },
    /// A worker does not do what it is asked for.
    Worker {
        /// The program.
        program: String,
        /// The profiler that it ran under.
        under: Under,
        /// The problem with it.
        cause: FunctionError,
        /// The end of its standard error, in one line.
        stderr_tail: Option<String>,
    },
    /// A worker does not tell callgrind where samples begin and end.
    NoMarks {
        /// The program.
        program: String,
    },
    /// The worker is a program in Python.
    Interpreted {
        /// The program.
        program: String,
    },
    /// A file that the program reads cannot be opened.
    Input {
        /// The file.
        file: String,
        /// The cause.
        error: io::Error,
    },
    /// The folder for what a profiler writes cannot be made or read.
    Folder(io::Error),
    /// A signal asked deadheat to stop.
    Interrupted,
}

impl fmt::Display for ProfileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoValgrind => f.write_str(
                "there is no valgrind here, which counts the instructions\nhelp: install it (the package \
                 is called valgrind), or perf (linux-perf) where the machine has hardware counters",
            ),
            Self::NoPerf => f.write_str(
                "there is no perf here that could be started\nhelp: install it (the package is called \
                 linux-perf, or linux-tools on Ubuntu), or have callgrind count (--by callgrind)",
            ),
            Self::NoSamples { reason } => write!(
                f,
                "perf can take no samples here ({reason}); callgrind counts without (--by callgrind)"
            ),
            Self::NoLength { program } => write!(
                f,
                "'{program}' cannot be told how many iterations to make, as releases of Google \
                 Benchmark before 1.8, and samples of two lengths say nothing; callgrind counts a \
                 single one (--by callgrind)"
            ),
            Self::NoProgram { program } => {
                write!(f, "there is no program '{program}' that could be started")
            }
            Self::NoFolder { folder } => write!(f, "there is no folder '{folder}' to run in"),
            Self::UnknownInstruction {
                program,
                bytes,
                valgrind,
            } => {
                let bytes = bytes.as_ref().map(|bytes| format!(" ({bytes})"));
                write!(
                    f,
                    "'{program}' has an instruction{} that {valgrind} does not know; build both \
                     sides for an older processor (-C target-cpu=x86-64-v2 for Rust, \
                     -march=x86-64-v2 for C and C++), or take a newer Valgrind",
                    bytes.unwrap_or_default()
                )
            }
            Self::Failed {
                program,
                under,
                ended,
            } => match under {
                Some(under) => write!(f, "'{program}' under {under} {ended}"),
                None => write!(f, "'{program}' {ended}"),
            },
            Self::TimedOut {
                program,
                under,
                patience,
            } => {
                let slower = if *under == Under::Valgrind {
                    "; it is some fifty times slower there"
                } else {
                    ""
                };
                write!(
                    f,
                    "'{program}' under {under} did not come back within {patience:?} (--timeout) and \
                     was killed{slower}"
                )
            }
            Self::Worker {
                program,
                under,
                cause,
                stderr_tail,
            } => write!(
                f,
                "'{program}' under {under} {cause}{}",
                cause.with_last_words(stderr_tail.as_deref())
            ),
            Self::NoMarks { program } => write!(
                f,
                "'{program}' does not tell callgrind where its samples begin and end: workers in Rust \
                 and those of deadheat.h do, built with this release"
            ),
            Self::Interpreted { program } => write!(
                f,
                "'{program}' is a worker in Python: a profile would name the functions of the \
                 interpreter, not yours; Python's own profilers name yours"
            ),
            Self::Input { file, error } => write!(f, "cannot read {file}: {error}"),
            Self::Folder(error) => write!(
                f,
                "the folder for what the profiler writes cannot be used: {error}"
            ),
            Self::Interrupted => f.write_str("interrupted"),
        }
    }
}

impl std::error::Error for ProfileError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Folder(error) | Self::Input { error, .. } => Some(error),
            _ => None,
        }
    }
}

impl From<Interrupted> for ProfileError {
    fn from(_: Interrupted) -> Self {
        Self::Interrupted
    }
}

impl ProfileError {
    /// Returns whether a program is to blame, and not deadheat or the machine.
    pub fn is_of_a_contender(&self) -> bool {
        !matches!(
            self,
            Self::NoValgrind
                | Self::NoPerf
                | Self::NoSamples { .. }
                | Self::NoLength { .. }
                | Self::Folder(_)
                | Self::Interrupted
                | Self::Interpreted { .. }
        )
    }

    /// Returns whether what was asked for cannot be done anywhere.
    pub fn is_of_the_plan(&self) -> bool {
        matches!(self, Self::Interpreted { .. } | Self::NoLength { .. })
    }
}

/// The end of a process that was killed, in words.
fn killed_by(signal: i32) -> String {
    format!("was killed by signal {signal}{}", signal_name(signal))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn a_command_that_was_counted_is_the_same_without_valgrind() {
        let words = ["./a", "7"].map(str::to_owned);
        let counted = counted_words(Path::new("/bin/valgrind"), &words);
        assert_eq!(counted[0], "/bin/valgrind");
        assert_eq!(without_valgrind(&counted), words);
        assert_eq!(without_valgrind(&words), words);
    }
}
