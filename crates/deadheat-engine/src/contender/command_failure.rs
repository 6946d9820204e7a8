//! What is told of a command or hook that failed.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;

use deadheat_model::CommandLine;

use super::output_check::harmless;
use crate::launcher::wire::HookEnd;

/// Why a command could not be started.
///
/// A missing program is a puzzle when all the system says is "No such file".
pub(super) fn not_started(errno: i32, command: &CommandLine) -> io::Error {
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
