//! The errors of a race, from the plan to the last sample.

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
    /// A function benchmark failed.
    Function(Box<FunctionFailure>),
    /// A command cannot be launched as written.
    #[cfg(feature = "commands")]
    Command {
        /// The text of the command.
        command: String,
        /// The reason why the command cannot be launched.
        source: ImageError,
    },
    /// The pattern of a value cannot be used on the output of commands.
    #[cfg(feature = "commands")]
    Value {
        /// The name of the value.
        name: String,
        /// The description of the problem.
        problem: String,
    },
    /// The contenders of a benchmark are neither functions of one program nor of programs that take
    /// turns; the text is the name of the benchmark.
    NoFunctions(String),
    /// A program does not list its benchmarks.
    #[cfg(feature = "commands")]
    Inspection(Box<InspectionFailure>),
    /// The contenders cannot be pinned as requested.
    Affinity(AffinityError),
    /// The record of the run cannot be written.
    Sink(SinkError),
    /// deadheat's own launcher failed.
    #[cfg(feature = "commands")]
    Launcher(LauncherError),
    /// A contender reported an impossible measurement.
    Sample {
        /// The name of the benchmark.
        benchmark: String,
        /// The reason why the measurement is impossible.
        source: SampleError,
    },
    /// The plan contains a contender that this race cannot run, such as a recording.
    #[cfg(feature = "commands")]
    NotRunnable {
        /// The name of the benchmark.
        benchmark: String,
        /// The name of the contender.
        contender: String,
    },
    /// The plan contains more commands than the launcher can number.
    #[cfg(feature = "commands")]
    TooManyCommands {
        /// The number of commands and hooks in the plan.
        found: usize,
        /// The maximum number of commands and hooks.
        max: usize,
    },
    /// callgrind cannot be used to count instructions.
    #[cfg(feature = "commands")]
    Valgrind(ValgrindError),
    /// The clock of the samples and the system clock drifted apart by this share of the elapsed
    /// time.
    Clock(f64),
    /// Signal handlers cannot be installed.
    Signals(nix::errno::Errno),
    /// A signal interrupted the race. The session ends the run normally.
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
                "benchmark '{inner}': its functions must belong to one program, or to two"
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
    /// Returns true if a contender caused the error, not deadheat or the machine.
    pub fn is_of_a_contender(&self) -> bool {
        match self {
            #[cfg(feature = "commands")]
            EngineError::Contender(_) | EngineError::Inspection(_) => true,
            EngineError::Function(_) | EngineError::Sample { .. } => true,
            _ => false,
        }
    }

    /// Returns true if the plan itself cannot be carried out on this or any machine.
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

    /// Returns the error message on one line, without the name of the benchmark.
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
