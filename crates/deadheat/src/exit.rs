//! The exit codes of all deadheat programs, and the failures that lead to them.

use std::process::ExitCode;
#[cfg(feature = "commands")]
use std::{panic::catch_unwind, thread};

use deadheat_format::{FileProblem, FormatError};
#[cfg(feature = "commands")]
use deadheat_model::HELP;

#[cfg(feature = "commands")]
use crate::system::with_enough_stack;
use crate::{system::held_back_signal, terminal};

/// The list of exit codes for help texts.
pub const EXIT_CODES: &str = "\
Exit codes:
  0  done, whatever the verdict
  1  a --fail-on condition holds
  2  wrong use (also an invalid deadheat.toml, or an output in a missing folder),
     or a --fail-on that could judge nothing
  3  a contender or a hook failed
  4  a file cannot be read, or its content is invalid
  5  a file cannot be written (permissions, a full disk), or deadheat failed
  6  no benchmark is selected
  128 + N  stopped by signal N, such as 130 after Ctrl-C";

const CONTENDER_FAILED: u8 = 3;

/// The exit code if a file cannot be written, or if deadheat itself failed.
const INTERNAL: u8 = 5;

const NOTHING_SELECTED: u8 = 6;

/// The result of a deadheat command that did not fail itself. Variants are in ascending order of
/// severity; if a command gives several answers, the most severe status counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// All work is done, whatever the verdicts.
    Done,
    /// A `--fail-on` rule could judge no benchmark.
    JudgedNothing,
    /// A verdict breaks a `--fail-on` rule.
    ConditionHolds,
    /// Some benchmarks failed, so the answer does not contain them.
    ContenderFailed,
    /// A signal with this number stopped the race. deadheat analysed the data measured until then.
    Interrupted(i32),
}

impl Status {
    /// Returns the exit code of this status.
    pub fn code(self) -> u8 {
        match self {
            Status::Done => 0,
            Status::JudgedNothing => 2,
            Status::ConditionHolds => 1,
            Status::ContenderFailed => CONTENDER_FAILED,
            // 128 + signal number, as in shells: 130 for Ctrl-C.
            Status::Interrupted(signal) => (128 + signal).clamp(129, 255) as u8,
        }
    }
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        ExitCode::from(status.code())
    }
}

/// A failure, with its message. The variant is the cause, which decides the exit code.
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
    /// deadheat itself failed, or an operation of the system, such as writing a file.
    Internal(String),
    /// A signal arrived before there were any results.
    Interrupted {
        /// A description of what the signal stopped.
        text: String,
        /// The number of the signal.
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
    /// Converts the error of a file that could not be read.
    pub fn reading(error: FormatError) -> Self {
        let interrupted = Self::interrupted(&error);
        interrupted.unwrap_or_else(|| match error.problem {
            FileProblem::CannotWrite(_) => Self::Internal(error.to_string()),
            _ => Self::Data(error.to_string()),
        })
    }

    /// Returns a failure if a signal interrupted reading or writing a file, or waiting for a file
    /// that another process uses; otherwise `None`.
    fn interrupted(error: &FormatError) -> Option<Self> {
        let is_ended = matches!(error.problem, FileProblem::Interrupted | FileProblem::InUse);
        let signal = held_back_signal().filter(|_| is_ended)?;
        let text = error.to_string();
        Some(Self::Interrupted { text, signal })
    }

    /// Converts the error of a result that could not be written. `target` is the option that
    /// requests the result, or the destination.
    pub fn writing(target: &str, error: impl std::fmt::Display) -> Self {
        Self::Internal(format!("{target}: {error}"))
    }

    /// Converts the error of an export: to a usage error if the format cannot represent the
    /// results, otherwise to a write error.
    pub fn unexported(flag: &str, error: &FormatError) -> Self {
        match error.problem {
            FileProblem::NoWallTimes => Self::Usage(format!("{flag}: {error}")),
            _ => Self::writing(flag, error),
        }
    }

    /// Converts the error of a file that cannot be written and that the option `flag` names: to a
    /// usage error if the path is wrong, otherwise to an internal error.
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

    /// Returns the failure with `part`, the name of the part of the work that failed, in front of
    /// its message.
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

    /// Returns the exit code of this failure, without writing a message.
    pub fn code(&self) -> u8 {
        match self {
            Failure::Usage(_) => 2,
            Failure::NothingSelected(_) => NOTHING_SELECTED,
            Failure::Contender(_) => CONTENDER_FAILED,
            Failure::Data(_) => 4,
            Failure::Internal(_) => INTERNAL,
            Failure::Interrupted { signal, .. } => Status::Interrupted(*signal).code(),
        }
    }
}

/// Runs `program` with a large stack, whatever the stack limit of the process. If the program
/// panics, the panic prints its message, and the exit code is that of an internal error.
#[cfg(feature = "commands")]
pub fn on_enough_stack(program: fn() -> ExitCode) -> ExitCode {
    // Nearly every command starts threads, which a container may forbid.
    let thread = thread::Builder::new().spawn(|| ());
    let done = thread.and_then(|_| with_enough_stack(|| catch_unwind(program)));
    match done {
        Ok(code) => code.unwrap_or(INTERNAL.into()),
        Err(error) => {
            let text = format!(
                "cannot start a thread: {error}{HELP}raise the limit of processes (`ulimit -u`, or \
                 that of the container)"
            );
            Failure::Internal(text).report().into()
        }
    }
}

/// Returns the exit code of a result. Writes a failure to standard error.
pub fn code(done: Result<Status, Failure>) -> ExitCode {
    match done {
        Ok(status) => status.into(),
        Err(failure) => failure.report().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
