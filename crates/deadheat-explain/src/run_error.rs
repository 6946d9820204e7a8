//! The errors of profiling.

use std::time::Duration;
use std::{fmt, io};

use deadheat::parts::engine::{FunctionError, ToolError, ValgrindError};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Under {
    Valgrind,
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

#[derive(Debug)]
pub(crate) enum ProfileError {
    /// Valgrind cannot be used.
    Valgrind(ValgrindError),
    NoPerf,
    /// perf cannot take samples here.
    NoSamples {
        reason: String,
    },
    /// The Google Benchmark library of one side does not accept a number of iterations, so samples
    /// of both sides are not comparable.
    NoLength {
        program: String,
    },
    NoProgram {
        program: String,
    },
    NoFolder {
        folder: String,
    },
    /// Valgrind does not know an instruction of the program.
    UnknownInstruction {
        program: String,
        /// The bytes of the instruction, if Valgrind shows them.
        bytes: Option<String>,
        valgrind: String,
    },
    Failed {
        program: String,
        /// The profiler; `None` for a hook, which runs without one.
        under: Option<Under>,
        /// How the program ended, with the last lines of its standard error.
        ended: String,
    },
    TimedOut {
        program: String,
        under: Under,
        patience: Duration,
    },
    Worker {
        program: String,
        under: Under,
        cause: FunctionError,
        stderr_tail: Option<String>,
    },
    /// The worker does not mark its samples for callgrind.
    NoMarks {
        program: String,
    },
    /// The worker runs in Python, so a profile would show the interpreter.
    Interpreted {
        program: String,
    },
    Input {
        file: String,
        error: io::Error,
    },
    /// The folder for the output of a profiler cannot be created or read.
    Folder(io::Error),
    Interrupted,
}

impl fmt::Display for ProfileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Valgrind(error) => error.fmt(f),
            Self::NoPerf => f.write_str(
                "perf is not installed, or cannot be started\nhelp: install it (the package is \
                 called linux-perf, or linux-tools on Ubuntu), or count with callgrind (--by \
                 callgrind)",
            ),
            Self::NoSamples { reason } => write!(
                f,
                "perf cannot take samples here ({reason}); --by callgrind counts instructions \
                 without it"
            ),
            Self::NoLength { program } => write!(
                f,
                "'{program}' does not accept a number of iterations (Google Benchmark accepts one \
                 since 1.8), so perf's samples of the two sides cannot be compared; --by \
                 callgrind counts a single iteration"
            ),
            Self::NoProgram { program } => {
                write!(f, "the program '{program}' does not exist")
            }
            Self::NoFolder { folder } => write!(f, "the working folder '{folder}' does not exist"),
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
                     -march=x86-64-v2 for C and C++), or install a newer Valgrind",
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
                    "; programs run about fifty times slower under valgrind"
                } else {
                    ""
                };
                write!(
                    f,
                    "'{program}' under {under} did not finish within {patience:?} (--timeout) and \
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
                "'{program}' does not mark for callgrind where its samples begin and end; rebuild \
                 it with this release of deadheat (a worker in Rust, or one that uses deadheat.h, \
                 then marks them)"
            ),
            Self::Interpreted { program } => write!(
                f,
                "'{program}' is a worker in Python, and a profile would show the functions of the \
                 interpreter, not yours; use a profiler for Python"
            ),
            Self::Input { file, error } => write!(f, "cannot read {file}: {error}"),
            Self::Folder(error) => write!(
                f,
                "the folder for the profiler's output cannot be used: {error}"
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

impl From<ToolError> for ProfileError {
    fn from(error: ToolError) -> Self {
        match error {
            ToolError::Interrupted => Self::Interrupted,
            ToolError::Output(error) => Self::Folder(error),
        }
    }
}

impl From<ValgrindError> for ProfileError {
    fn from(error: ValgrindError) -> Self {
        match error {
            ValgrindError::Interrupted => Self::Interrupted,
            error => Self::Valgrind(error),
        }
    }
}

impl ProfileError {
    /// Returns true if a raced program caused the error, and not the user's request or the machine.
    pub(crate) fn is_of_a_contender(&self) -> bool {
        !matches!(
            self,
            Self::Valgrind(ValgrindError::Missing)
                | Self::NoPerf
                | Self::NoSamples { .. }
                | Self::NoLength { .. }
                | Self::Folder(_)
                | Self::Interrupted
                | Self::Interpreted { .. }
        )
    }

    /// Returns true if the user's request cannot be fulfilled on any machine.
    pub(crate) fn is_of_the_plan(&self) -> bool {
        matches!(self, Self::Interpreted { .. } | Self::NoLength { .. })
    }
}
