//! Everything that can go wrong between the plan and the last sample.

use deadheat_model::{SampleError, SinkError, in_one_line};

use crate::affinity::AffinityError;
#[cfg(feature = "commands")]
use crate::command_failure::ContenderFailure;
use crate::function_failure::FunctionFailure;
#[cfg(feature = "commands")]
use crate::function_failure::InspectionFailure;
use crate::interrupt::Interrupted;
#[cfg(feature = "commands")]
use crate::launcher::{ImageError, LauncherError};
#[cfg(feature = "commands")]
use crate::valgrind::ValgrindError;

/// The reason why a race could not be started or finished.
#[derive(Debug)]
#[non_exhaustive]
pub enum EngineError {
    /// A contender or one of its hooks failed.
    #[cfg(feature = "commands")]
    Contender(Box<ContenderFailure>),
    /// A benchmark of functions failed.
    Function(Box<FunctionFailure>),
    /// A command cannot be launched as written.
    #[cfg(feature = "commands")]
    Command {
        /// The command.
        command: String,
        /// The error.
        source: ImageError,
    },
    /// A value cannot be looked for in what commands print.
    #[cfg(feature = "commands")]
    Value {
        /// Its name.
        name: String,
        /// The problem, in words.
        problem: String,
    },
    /// The plan holds something other than functions of one program, or of two.
    NoFunctions(String),
    /// A program does not say what it can race.
    #[cfg(feature = "commands")]
    Inspection(Box<InspectionFailure>),
    /// The contenders cannot be pinned as asked.
    Affinity(AffinityError),
    /// The record of the run cannot be kept.
    Sink(SinkError),
    /// deadheat's own launcher failed.
    #[cfg(feature = "commands")]
    Launcher(LauncherError),
    /// A contender reported an impossible measurement.
    Sample {
        /// The benchmark.
        benchmark: String,
        /// The error of the sample.
        source: SampleError,
    },
    /// The plan holds something this kind of contender cannot do.
    #[cfg(feature = "commands")]
    NotRunnable {
        /// The benchmark.
        benchmark: String,
        /// The contender.
        contender: String,
    },
    /// More commands than one run can tell apart.
    #[cfg(feature = "commands")]
    TooManyCommands {
        /// The number there is.
        found: usize,
        /// The number there may be.
        max: usize,
    },
    /// callgrind, which should count instructions, cannot be used.
    #[cfg(feature = "commands")]
    Valgrind(ValgrindError),
    /// The counter that times samples lost its pace in the middle of the run.
    Clock(f64),
    /// Signals cannot be taken over.
    Signals(nix::errno::Errno),
    /// A signal asked to stop. The session turns this into an end of the run.
    Interrupted,
}

impl std::fmt::Display for EngineError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            #[cfg(feature = "commands")]
            Self::Contender(inner) => inner.fmt(f),
            Self::Function(inner) => inner.fmt(f),
            #[cfg(feature = "commands")]
            Self::Command { command, source } => write!(f, "command '{command}': {source}"),
            #[cfg(feature = "commands")]
            Self::Value { name, problem } => write!(f, "value '{name}' (--value): {problem}"),
            Self::NoFunctions(inner) => write!(
                f,
                "benchmark '{inner}': worker processes call functions of one program, or of two"
            ),
            #[cfg(feature = "commands")]
            Self::Inspection(inner) => inner.fmt(f),
            Self::Affinity(inner) => inner.fmt(f),
            Self::Sink(inner) => inner.fmt(f),
            #[cfg(feature = "commands")]
            Self::Launcher(inner) => inner.fmt(f),
            Self::Sample { benchmark, source } => write!(f, "benchmark '{benchmark}': {source}"),
            #[cfg(feature = "commands")]
            Self::NotRunnable {
                benchmark,
                contender,
            } => write!(
                f,
                "benchmark '{benchmark}', contender '{contender}': a recording cannot be run"
            ),
            #[cfg(feature = "commands")]
            Self::TooManyCommands { found, max } => write!(
                f,
                "a run can hold at most {max} commands and hooks, not {found}"
            ),
            #[cfg(feature = "commands")]
            Self::Valgrind(inner) => inner.fmt(f),
            Self::Clock(inner) => write!(
                f,
                "the processor's counter and the system's clock drifted {:.2}% apart during the run, so \
         times cannot be trusted; was this machine moved or suspended?",
                100.0 * inner
            ),
            Self::Signals(inner) => write!(f, "cannot watch for Ctrl-C: {inner}"),
            Self::Interrupted => f.write_str("interrupted"),
        }
    }
}

impl std::error::Error for EngineError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            #[cfg(feature = "commands")]
            Self::Contender(inner) => inner.source(),
            Self::Function(inner) => inner.source(),
            #[cfg(feature = "commands")]
            Self::Command { source, .. } => Some(source),
            #[cfg(feature = "commands")]
            Self::Inspection(inner) => inner.source(),
            Self::Affinity(inner) => inner.source(),
            Self::Sink(inner) => inner.source(),
            #[cfg(feature = "commands")]
            Self::Launcher(inner) => inner.source(),
            Self::Sample { source, .. } => Some(source),
            _ => None,
        }
    }
}

impl From<Interrupted> for EngineError {
    fn from(_: Interrupted) -> Self {
        Self::Interrupted
    }
}

#[cfg(feature = "commands")]
impl From<ValgrindError> for EngineError {
    fn from(inner: ValgrindError) -> Self {
        match inner {
            ValgrindError::Interrupted => Self::Interrupted,
            inner => Self::Valgrind(inner),
        }
    }
}

impl From<AffinityError> for EngineError {
    fn from(inner: AffinityError) -> Self {
        Self::Affinity(inner)
    }
}

impl From<SinkError> for EngineError {
    fn from(inner: SinkError) -> Self {
        Self::Sink(inner)
    }
}

#[cfg(feature = "commands")]
impl From<LauncherError> for EngineError {
    fn from(inner: LauncherError) -> Self {
        Self::Launcher(inner)
    }
}

impl EngineError {
    /// Returns whether a contender is to blame, and not deadheat or the machine.
    pub fn is_of_a_contender(&self) -> bool {
        match self {
            #[cfg(feature = "commands")]
            EngineError::Contender(_) | EngineError::Inspection(_) => true,
            EngineError::Function(_) | EngineError::Sample { .. } => true,
            _ => false,
        }
    }

    /// Returns whether what was planned cannot be done, here or anywhere.
    pub fn is_of_the_plan(&self) -> bool {
        match self {
            #[cfg(feature = "commands")]
            EngineError::Command { .. }
            | EngineError::TooManyCommands { .. }
            | EngineError::Value { .. }
            | EngineError::NotRunnable { .. } => true,
            EngineError::Affinity(_) | EngineError::NoFunctions(_) => true,
            _ => false,
        }
    }

    /// The message for a reader who knows which benchmark it is about.
    pub fn within_benchmark(&self) -> String {
        match self {
            EngineError::Function(failure) => failure.within_benchmark(),
            #[cfg(feature = "commands")]
            EngineError::Contender(failure) => failure.within_benchmark(),
            EngineError::Sample { source, .. } => source.to_string(),
            other => in_one_line(&other.to_string()),
        }
    }
}
