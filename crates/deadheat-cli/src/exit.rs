//! Exit codes: all of them, in one place.

use std::process::ExitCode;

use deadheat::RaceError;
use deadheat::command_race::SpecError;
use deadheat::engine::EngineError;
use deadheat::format::FormatError;

/// How deadheat ends when nothing went wrong with deadheat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Done.
    Done,
    /// A `--fail-on` condition holds.
    ConditionHolds,
    /// A signal stopped the race; what was measured was analysed.
    Interrupted(i32),
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        match status {
            Status::Done => ExitCode::SUCCESS,
            Status::ConditionHolds => ExitCode::from(1),
            // As a shell says it: 130 for Ctrl-C.
            Status::Interrupted(signal) => ExitCode::from((128 + signal).clamp(129, 255) as u8),
        }
    }
}

/// Something went wrong, and whose fault it is.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// What was asked for makes no sense.
    #[error("{0}")]
    Usage(String),
    /// A contender or hook failed.
    #[error("{0}")]
    Contender(String),
    /// A file cannot be read or holds nonsense.
    #[error("{0}")]
    Data(String),
    /// deadheat itself, or the machine under it.
    #[error("{0}")]
    Internal(String),
}

impl Failure {
    /// Tells standard error and gives the exit code.
    pub fn report(&self) -> ExitCode {
        eprintln!("deadheat: error: {self}");
        ExitCode::from(match self {
            Failure::Usage(_) => 2,
            Failure::Contender(_) => 3,
            Failure::Data(_) => 4,
            Failure::Internal(_) => 5,
        })
    }
}

impl From<SpecError> for Failure {
    fn from(error: SpecError) -> Self {
        Failure::Usage(error.to_string())
    }
}

impl From<RaceError> for Failure {
    fn from(error: RaceError) -> Self {
        let text = error.to_string();
        match error {
            RaceError::NotStarted(cause) => kind_of(&cause)(text),
            RaceError::BrokenOff {
                error,
                path,
                blocks,
            } => {
                let path = path.display();
                let kept = match blocks {
                    0 => String::new(),
                    1 => format!("\n  1 block measured before is kept in {path}"),
                    n => format!("\n  {n} blocks measured before are kept in {path}"),
                };
                kind_of(&error)(format!("{text}{kept}"))
            }
            RaceError::Save(_) | RaceError::MetricNotMeasured { .. } => Failure::Usage(text),
            RaceError::Resume(cause) if cause.is_write_error() => Failure::Usage(text),
            RaceError::Resume(_) | RaceError::NotARace { .. } => Failure::Data(text),
            RaceError::OtherMetrics { .. } => Failure::Data(text),
        }
    }
}

fn kind_of(error: &EngineError) -> fn(String) -> Failure {
    match error {
        EngineError::Contender(_) => Failure::Contender,
        EngineError::Command { .. }
        | EngineError::Affinity(_)
        | EngineError::TooManyCommands { .. }
        | EngineError::NotRunnable { .. } => Failure::Usage,
        EngineError::Sink(_)
        | EngineError::Launcher(_)
        | EngineError::Sample { .. }
        | EngineError::Signals(_)
        | EngineError::Interrupted => Failure::Internal,
    }
}

/// A file named on the command line could not be used.
pub fn reading(error: FormatError) -> Failure {
    Failure::Data(error.to_string())
}

/// A result file could not be written.
pub fn writing(flag: &str, error: impl std::fmt::Display) -> Failure {
    Failure::Internal(format!("{flag}: {error}"))
}
