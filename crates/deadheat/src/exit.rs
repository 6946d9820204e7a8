//! Exit codes: all of them, in one place.

use std::process::ExitCode;

use deadheat_engine::{EngineError, held_back_signal};
use deadheat_format::{FileProblem, FormatError};

use crate::terminal;

/// The exit codes in words, for help texts.
pub const EXIT_CODES: &str = "\
Exit codes:
  0  done, whatever the verdict
  1  a --fail-on condition holds
  2  wrong use, or a --fail-on that could judge nothing
  3  a contender or a hook failed
  4  a file cannot be read, or its content is invalid
  5  a file cannot be written, or deadheat failed
  6  no benchmark is selected
  128 + N  stopped by signal N, such as 130 after Ctrl-C";

/// The code of a contender that failed, whether the race went on or not.
const CONTENDER_FAILED: u8 = 3;

/// The code where filters leave no benchmark.
const NOTHING_SELECTED: u8 = 6;

/// The end of deadheat when nothing went wrong with deadheat. Graver ones come later: of several
/// answers the greatest status is that of all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// Done.
    Done,
    /// A `--fail-on` could judge nothing.
    JudgedNothing,
    /// A `--fail-on` condition holds.
    ConditionHolds,
    /// Benchmarks broke down, and the answer is without them.
    ContenderFailed,
    /// A signal stopped the race; what was measured was analysed.
    Interrupted(i32),
}

impl Status {
    /// The exit code.
    pub fn code(self) -> u8 {
        match self {
            Status::Done => 0,
            Status::JudgedNothing => 2,
            Status::ConditionHolds => 1,
            Status::ContenderFailed => CONTENDER_FAILED,
            // As a shell says it: 130 for Ctrl-C.
            Status::Interrupted(signal) => (128 + signal).clamp(129, 255) as u8,
        }
    }
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        ExitCode::from(status.code())
    }
}

/// Something went wrong, and whose fault it is.
#[derive(Debug)]
pub enum Failure {
    /// The command line is invalid.
    Usage(String),
    /// No benchmark is selected.
    NothingSelected(String),
    /// A contender or hook failed.
    Contender(String),
    /// A file cannot be read, or its content is invalid.
    Data(String),
    /// deadheat itself, or the machine under it.
    Internal(String),
    /// A signal came before there was anything to answer.
    Interrupted {
        /// The race that it stopped.
        text: String,
        /// The signal.
        signal: i32,
    },
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (Self::Usage(text)
        | Self::NothingSelected(text)
        | Self::Contender(text)
        | Self::Data(text)
        | Self::Internal(text)
        | Self::Interrupted { text, .. }) = self;
        f.write_str(text)
    }
}

impl std::error::Error for Failure {}

impl Failure {
    /// A file that was named could not be used.
    pub fn reading(error: FormatError) -> Self {
        Self::interrupted(&error).unwrap_or_else(|| Self::Data(error.to_string()))
    }

    /// The signal that ended the use of a file, or the wait for one that others use.
    fn interrupted(error: &FormatError) -> Option<Self> {
        let is_ended = matches!(error.problem, FileProblem::Interrupted | FileProblem::InUse);
        let signal = held_back_signal().filter(|_| is_ended)?;
        let text = error.to_string();
        Some(Self::Interrupted { text, signal })
    }

    /// A result could not be written; `target` is the flag that asked for it,
    /// or what it should have gone to.
    pub fn writing(target: &str, error: impl std::fmt::Display) -> Self {
        Self::Internal(format!("{target}: {error}"))
    }

    /// The results cannot be written in the format that `flag` asks for, or not to its file.
    pub fn unexported(flag: &str, error: &FormatError) -> Self {
        match error.problem {
            FileProblem::NoWallTimes => Self::Usage(format!("{flag}: {error}")),
            _ => Self::writing(flag, error),
        }
    }

    /// The file that `flag` asks for cannot be written: a mistake in the path, or the disk's fault.
    pub fn unwritable(flag: &str, error: &FormatError) -> Self {
        if let Some(interrupted) = Self::interrupted(error) {
            return interrupted;
        }
        let text = format!("{flag}: {error}");
        if error.is_of_the_path() {
            Self::Usage(text)
        } else {
            Self::Internal(text)
        }
    }

    /// `text`, the message of an error of the engine, and whose fault it is.
    pub fn of_engine(error: &EngineError, text: String) -> Self {
        match error {
            EngineError::Sample { .. } => Self::Internal(text),
            error if error.is_of_a_contender() => Self::Contender(text),
            error if error.is_of_the_plan() => Self::Usage(text),
            _ => Self::Internal(text),
        }
    }

    /// The same failure of a part of what was asked for, which is named in front.
    pub fn of_part(self, part: &str) -> Self {
        let named = |text: String| format!("{part}: {text}");
        match self {
            Self::Usage(text) => Self::Usage(named(text)),
            Self::NothingSelected(text) => Self::NothingSelected(named(text)),
            Self::Contender(text) => Self::Contender(named(text)),
            Self::Data(text) => Self::Data(named(text)),
            Self::Internal(text) => Self::Internal(named(text)),
            Self::Interrupted { text, signal } => Self::Interrupted {
                text: named(text),
                signal,
            },
        }
    }

    /// Writes the message to standard error and returns the exit code.
    pub fn report(&self) -> u8 {
        terminal::to_stderr("error", &self.to_string());
        self.code()
    }

    /// The exit code alone.
    pub fn code(&self) -> u8 {
        match self {
            Failure::Usage(_) => 2,
            Failure::NothingSelected(_) => NOTHING_SELECTED,
            Failure::Contender(_) => CONTENDER_FAILED,
            Failure::Data(_) => 4,
            Failure::Internal(_) => 5,
            Failure::Interrupted { signal, .. } => Status::Interrupted(*signal).code(),
        }
    }
}

/// Runs a program where it has enough stack, whatever the limit of the process.
#[cfg(feature = "commands")]
pub fn on_enough_stack(program: fn() -> ExitCode) -> ExitCode {
    deadheat_engine::with_enough_stack(program).unwrap_or_else(|error| {
        let text = format!("cannot start a thread: {error}");
        Failure::Internal(text).report().into()
    })
}

/// The exit code of what was done, or of what went wrong, which standard error is told.
pub fn code(done: Result<Status, Failure>) -> ExitCode {
    match done {
        Ok(status) => status.into(),
        Err(failure) => failure.report().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadheat_engine::AffinityError;

    #[test]
    fn of_several_answers_the_gravest_decides() {
        let mut statuses = [
            Status::Interrupted(2),
            Status::Done,
            Status::ContenderFailed,
            Status::ConditionHolds,
        ];
        statuses.sort();
        assert_eq!(statuses.map(Status::code), [0, 1, 3, 130]);
    }

    #[test]
    fn every_kind_of_failure_has_its_own_code() {
        let text = || "told".to_owned();
        let failures = [
            Failure::Usage(text()),
            Failure::Contender(text()),
            Failure::Data(text()),
            Failure::Internal(text()),
            Failure::Interrupted {
                text: text(),
                signal: 2,
            },
        ];
        assert_eq!(failures.map(|failure| failure.code()), [2, 3, 4, 5, 130]);
    }

    #[test]
    fn who_is_to_blame_for_an_error_of_the_engine_is_told_apart() {
        let error = EngineError::Affinity(AffinityError::NotAllowed {
            core: 9,
            allowed: "0, 1".to_owned(),
        });
        let failure = Failure::of_engine(&error, error.to_string());
        assert!(matches!(failure, Failure::Usage(_)), "{failure:?}");
        assert_eq!(failure.to_string(), error.to_string());
        let failure = Failure::of_engine(&EngineError::Interrupted, String::new());
        assert!(matches!(failure, Failure::Internal(_)), "{failure:?}");
    }
}
