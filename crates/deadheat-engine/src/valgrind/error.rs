//! The reasons why there is no profile.

use std::fmt;
use std::io;
use std::time::Duration;

use crate::function_failure::FunctionError;
use crate::interrupt::{Interrupted, signal_name};

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
                "there is no valgrind here, which counts the instructions; install it (the package \
                 is called valgrind), or perf (linux-perf) where the machine has hardware counters",
            ),
            Self::NoPerf => f.write_str(
                "there is no perf here that could be started; install it (the package is called \
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
pub(super) fn killed_by(signal: i32) -> String {
    format!("was killed by signal {signal}{}", signal_name(signal))
}
