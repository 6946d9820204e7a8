//! Stands in for a compiler driver.

use std::ffi::{OsStr, OsString};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::{env, io};

use crate::invocation::Intent;
use crate::note::Note;
use crate::recording::Finished;
use crate::response::Unclear;

/// A driver that could not be started.
#[derive(Debug, thiserror::Error)]
#[error("{}: {problem}; `deadheat link` takes the compiler driver and its arguments", .driver.display())]
pub struct LinkError {
    /// As it was named.
    pub driver: OsString,
    /// Why not.
    #[source]
    pub problem: io::Error,
}

impl LinkError {
    /// The exit code that a shell would give.
    pub fn code(&self) -> u8 {
        match self.problem.kind() {
            io::ErrorKind::NotFound => 127,
            _ => 126,
        }
    }
}

/// A driver that ran to its end.
#[derive(Debug)]
pub struct Linked {
    /// How it ended.
    pub status: ExitStatus,
    /// What there is to say besides what the driver said.
    pub notes: Vec<Note>,
}

impl Linked {
    /// Ends this process as the driver ended: a signal that ended the driver
    /// ends this process as well. Returns the exit code where that is left to
    /// the caller.
    pub fn end(&self) -> u8 {
        let Some(signal) = self.status.signal() else {
            return self.status.code().unwrap_or(1) as u8;
        };
        // A shell in our place, which is sent the signal. One core dump, that
        // of the driver, is enough.
        let _ = Command::new("/bin/sh")
            .args(["-c", "ulimit -c 0; kill -s \"$1\" $$", "sh"])
            .arg(signal.to_string())
            .exec();
        (128 + signal).clamp(129, 255) as u8
    }
}

/// Runs a compiler driver exactly as asked, and records the link of an
/// executable beside it.
///
/// Whatever else the driver is asked for (most of all to compile) it is left
/// to do in the place of this process: this does not return then. Nothing that
/// goes wrong in recording harms the link; it becomes a [`Note`].
///
/// # Errors
///
/// [`LinkError`] when the driver cannot be started.
pub fn link(driver: &OsStr, arguments: &[OsString]) -> Result<Linked, LinkError> {
    let failed = |problem| LinkError {
        driver: driver.to_owned(),
        problem,
    };
    let mut command = Command::new(driver);
    command.args(arguments);
    let asked = asked(driver, arguments);
    if let Asked::Other = asked {
        return Err(failed(command.exec()));
    }
    let status = command.status().map_err(failed)?;
    let mut notes = Vec::new();
    if status.success() {
        match asked {
            Asked::Other => {}
            Asked::Unclear(unclear) => notes.push(unclear),
            Asked::Link(intent, directory) => match &*intent {
                Intent::Other => {}
                // What configure scripts try out will not be raced.
                Intent::FromSources { output } if is_trial(output) => {}
                Intent::FromSources { output } => notes.push(Note::FromSources {
                    output: output.clone(),
                }),
                Intent::Link(invocation) => {
                    let finished = Finished {
                        driver: &driver.to_string_lossy(),
                        directory: &directory,
                        invocation,
                    };
                    let recorded =
                        unharmed(|| finished.record().map_err(|error| error.to_string()));
                    match recorded {
                        Ok(told) => notes = told,
                        Err(reason) => notes.push(Note::NotRecorded {
                            output: invocation.output.clone(),
                            reason,
                        }),
                    }
                }
            },
        }
    }
    Ok(Linked { status, notes })
}

/// What a driver was asked for, as far as it was understood.
#[derive(Debug)]
enum Asked {
    Other,
    Link(Box<Intent>, PathBuf),
    /// A link perhaps, and why it is not recorded.
    Unclear(Note),
}

fn asked(driver: &OsStr, arguments: &[OsString]) -> Asked {
    if arguments.iter().any(|argument| argument == "-c") || is_deadheat(driver, arguments) {
        return Asked::Other;
    }
    let unclear = |reason: String| {
        // Good enough for a message.
        let after = arguments.iter().skip_while(|argument| *argument != "-o");
        let output = after
            .skip(1)
            .map(|name| name.to_string_lossy().into_owned());
        let output = output.take(1).next().unwrap_or_else(|| "a.out".to_owned());
        Asked::Unclear(Note::NotRecorded { output, reason })
    };
    let unicode = |word: &OsStr| {
        word.to_str()
            .map(str::to_owned)
            .ok_or_else(|| format!("{} is not Unicode", word.display()))
    };
    let words = unicode(driver).and_then(|_| arguments.iter().map(|word| unicode(word)).collect());
    let words: Vec<String> = match words {
        Ok(words) => words,
        Err(reason) => return unclear(reason),
    };
    let directory = match env::current_dir() {
        Ok(directory) => directory,
        Err(error) => return unclear(format!("the working directory: {error}")),
    };
    match unharmed(|| Intent::of(&words, &directory).map_err(|Unclear(reason)| reason)) {
        Ok(Intent::Other) => Asked::Other,
        Ok(intent) => Asked::Link(Box::new(intent), directory),
        Err(reason) => unclear(reason),
    }
}

/// A mistake of ours must not cost the user a link either.
fn unharmed<T>(work: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|_| Err("deadheat broke down over it; please report this".to_owned()))
}

/// Whether the driver is `deadheat link` once more, which records by itself.
fn is_deadheat(driver: &OsStr, arguments: &[OsString]) -> bool {
    Path::new(driver)
        .file_name()
        .is_some_and(|name| name == "deadheat")
        && arguments.first().is_some_and(|first| first == "link")
}

fn is_trial(output: &str) -> bool {
    let name = Path::new(output).file_name().unwrap_or_default();
    name.to_string_lossy().starts_with("conftest")
}
