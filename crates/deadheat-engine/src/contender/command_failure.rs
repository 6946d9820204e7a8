//! What is told of a command or hook that failed.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;

use deadheat_model::{CommandLine, ContenderId, Input, Output};

use super::cause::{Cause, ContenderFailure};
use super::command::CommandContenders;
use super::output_check::harmless;
use crate::error::{EngineError, Moment};
use crate::launcher::wire::{HookEnd, Measured, Outcome};

/// Why a command could not be started.
///
/// A missing program is a puzzle when all the system says is "No such file".
fn not_started(errno: i32, command: &CommandLine) -> io::Error {
    let error = io::Error::from_raw_os_error(errno);
    let program = command.words.first().map_or("", String::as_str);
    match errno {
        libc::ENOENT if program.contains('/') => {
            io::Error::new(error.kind(), format!("there is no program '{program}'"))
        }
        libc::ENOENT => io::Error::new(
            error.kind(),
            format!("there is no program '{program}' in PATH (a shell builtin needs -S)"),
        ),
        _ => error,
    }
}

/// How a hook ended, in words.
pub(super) fn hook_end(end: HookEnd) -> String {
    match end {
        HookEnd::Exited(code) => format!("exited with code {code}"),
        HookEnd::Signalled(signal) => format!("was killed by signal {signal}"),
        HookEnd::NotStarted(errno) => {
            format!(
                "cannot be started ({})",
                io::Error::from_raw_os_error(errno)
            )
        }
    }
}

/// The last lines of a hook's standard error, on one line.
pub(super) fn tail(file: &OwnedFd) -> String {
    let Ok(file) = file.try_clone().map(File::from) else {
        return String::new();
    };
    let length = file.metadata().map_or(0, |metadata| metadata.len());
    let start = length.saturating_sub(400);
    let mut bytes = vec![0; (length - start) as usize];
    let Ok(()) = file.read_exact_at(&mut bytes, start) else {
        return String::new();
    };
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let lines: Vec<String> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| line.trim_end().chars().flat_map(harmless).collect())
        .collect();
    lines[lines.len().saturating_sub(3)..].join(" | ")
}

impl CommandContenders<'_> {
    pub(super) fn failure(
        &self,
        benchmark: usize,
        contender: usize,
        moment: Moment,
        cause: Cause,
    ) -> EngineError {
        let benchmark = &self.benchmarks[benchmark];
        let link = match moment {
            Moment::Block { .. } => self.linked.variants.get(contender).cloned().flatten(),
            _ => None,
        };
        EngineError::Contender(Box::new(ContenderFailure {
            benchmark: benchmark.name.clone(),
            command: benchmark.commands[contender].text.clone(),
            moment,
            cause,
            link,
        }))
    }

    /// The exit code of a launch that did its work, or the error it is.
    pub(super) fn judge(
        &self,
        benchmark: usize,
        contender: ContenderId,
        moment: Moment,
        measured: &Measured,
    ) -> Result<i32, EngineError> {
        let command = &self.benchmarks[benchmark].commands[contender.index()];
        let hook = |flag: &'static str, words: &Option<Vec<String>>, end: HookEnd| Cause::Hook {
            flag,
            hook: words
                .as_ref()
                .map(|words| words.join(" "))
                .unwrap_or_default(),
            ended: hook_end(end),
            errors: tail(self.launcher.hook_errors()),
        };
        let cause = match measured.outcome {
            Outcome::Exited(code) if command.exit_policy.accepts(code) => return Ok(code),
            Outcome::Exited(code) => Cause::Exited(code),
            Outcome::Signalled(signal) => Cause::Signalled(signal),
            Outcome::NotStarted(errno) => Cause::NotStarted(not_started(errno, command)),
            Outcome::TimedOut => Cause::TimedOut(command.timeout.unwrap_or_default()),
            Outcome::Cancelled => return Err(EngineError::Interrupted),
            Outcome::NoInput(errno) => Cause::NoInput {
                path: match &command.input {
                    Input::File(path) => path.clone(),
                    Input::Null => "/dev/null".into(),
                },
                error: io::Error::from_raw_os_error(errno),
            },
            Outcome::NoOutput(errno) => Cause::NoOutput {
                path: match &command.output {
                    Output::File(path) => Some(path.clone()),
                    _ => None,
                },
                error: io::Error::from_raw_os_error(errno),
            },
            Outcome::PrepareFailed(end) => hook("--prepare", &command.hooks.prepare, end),
            Outcome::ConcludeFailed(end) => hook("--conclude", &command.hooks.conclude, end),
        };
        Err(self.failure(benchmark, contender.index(), moment, cause))
    }
}
