//! Stands in for a compiler driver.

use std::ffi::{OsStr, OsString};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::{env, io};

use crate::invocation::Intent;
use crate::note::Note;
use crate::recording::record;

/// A driver that could not be started.
#[derive(Debug, thiserror::Error)]
#[error("{}: {problem}; `deadheat link` takes the compiler driver and its arguments", .driver.display())]
pub struct LinkError {
    /// As it was named.
    pub driver: OsString,
    /// The reason.
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
    /// Its exit status.
    pub status: ExitStatus,
    /// Notes besides what the driver said.
    pub notes: Vec<Note>,
}

impl Linked {
    /// Ends this process as the driver ended: a signal that ended the driver ends this process as
    /// well. Returns the exit code where that is left to the caller.
    pub fn end(&self) -> u8 {
        let Some(signal) = self.status.signal() else {
            return self.status.code().unwrap_or(1) as u8;
        };
        // A shell in our place, which is sent the signal. One core dump, that of the driver, is
        // enough.
        let _ = Command::new("/bin/sh")
            .args(["-c", "ulimit -c 0; kill -s \"$1\" $$", "sh"])
            .arg(signal.to_string())
            .exec();
        (128 + signal).clamp(129, 255) as u8
    }
}

/// Runs a compiler driver exactly as asked, and records the link of an executable beside it.
///
/// Whatever else the driver is asked for (most of all to compile) it is left to do in the place of
/// this process: this does not return then. Nothing that goes wrong in recording harms the link; it
/// becomes a [`Note`].
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
    let understood = understood(driver, arguments);
    if let Ok(None) = understood {
        return Err(failed(command.exec()));
    }
    let status = command.status().map_err(failed)?;
    let notes = match understood {
        _ if !status.success() => Vec::new(),
        Err(unclear) => vec![unclear],
        // What configure scripts try out will not be raced.
        Ok(Some((Intent::FromSources { output }, _))) if !is_trial(&output) => {
            vec![Note::FromSources { output }]
        }
        Ok(Some((Intent::Link(invocation), directory))) => {
            let driver = driver.to_string_lossy();
            let recorded = unharmed(|| record(&driver, &directory, &invocation));
            recorded.unwrap_or_else(|reason| {
                let output = invocation.output.clone();
                vec![Note::NotRecorded { output, reason }]
            })
        }
        Ok(_) => Vec::new(),
    };
    Ok(Linked { status, notes })
}

/// The intent of a call and its working directory, `None` where no executable is linked; or the
/// note that a link, perhaps, is not recorded.
fn understood(driver: &OsStr, arguments: &[OsString]) -> Result<Option<(Intent, PathBuf)>, Note> {
    if arguments.iter().any(|argument| argument == "-c") || is_deadheat(driver, arguments) {
        return Ok(None);
    }
    let unclear = |reason: String| {
        // Good enough for a message.
        let mut from_option = arguments.iter().skip_while(|argument| *argument != "-o");
        let output = from_option.nth(1).map(|name| name.to_string_lossy());
        let output = output.map_or("a.out".to_owned(), Into::into);
        Note::NotRecorded { output, reason }
    };
    let unicode = |word: &OsStr| {
        word.to_str()
            .map(str::to_owned)
            .ok_or_else(|| format!("{} is not Unicode", word.display()))
    };
    let words = unicode(driver).and_then(|_| arguments.iter().map(|word| unicode(word)).collect());
    let words: Vec<String> = words.map_err(unclear)?;
    let directory =
        env::current_dir().map_err(|error| unclear(format!("the working directory: {error}")))?;
    match unharmed(|| Intent::of(&words, &directory)) {
        Ok(Intent::Other) => Ok(None),
        Ok(intent) => Ok(Some((intent, directory))),
        Err(reason) => Err(unclear(reason)),
    }
}

/// A mistake of ours must not cost the user a link either.
fn unharmed<T>(work: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|_| Err("deadheat broke down over it; please report this".to_owned()))
}

/// Returns true if the driver is `deadheat link` once more, which records by itself.
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
