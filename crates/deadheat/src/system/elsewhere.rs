//! The functions of the operating system on systems on which deadheat does not measure.

use std::ffi::{OsStr, OsString};
use std::io::{self, IsTerminal as _};
use std::panic::resume_unwind;
use std::path::PathBuf;
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

use deadheat_model::HELP;
use terminal_size::{Width, terminal_size_of};

/// Returns the error message for `what`, a command or an option that measures, which needs Linux.
pub fn needs_linux(what: &str) -> String {
    format!(
        "racing needs Linux: {what} measures programs{HELP}results recorded on Linux can be read \
         here, by deadheat compare, analyze, report, merge and history"
    )
}

/// The replacement for the signal handlers of Linux. It has no effect: Ctrl-C ends the process at
/// once.
#[derive(Debug)]
pub struct Interrupts;

impl Interrupts {
    /// Succeeds without an effect.
    pub fn install() -> io::Result<Self> {
        Ok(Self)
    }

    /// Returns `None`, because deadheat handles no signals here.
    pub fn requested(&self) -> Option<i32> {
        None
    }
}

/// Returns `None`, because deadheat handles no signals here.
pub fn held_back_signal() -> Option<i32> {
    None
}

/// Has no effect, because these systems have no limit on file sizes that kills a process.
pub fn outlive_file_limits() {}

/// Has no effect, because races run only on Linux.
pub fn keep_status_of_children() {}

/// Returns false, because a write to a closed standard output fails here.
pub fn stdout_was_closed() -> bool {
    false
}

/// Returns the seconds since 1970-01-01 UTC; `None` if the clock is set before then.
pub fn unix_seconds() -> Option<u64> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.ok().map(|elapsed| elapsed.as_secs())
}

/// The stack that is enough for the program, in bytes. The main thread has 1 MiB on Windows.
const ENOUGH: usize = 8 << 20;

/// Runs `program` on a thread with enough stack.
///
/// # Errors
///
/// Returns an error if the thread cannot be started.
pub fn with_enough_stack<T: Send>(program: impl FnOnce() -> T + Send) -> io::Result<T> {
    thread::scope(|scope| {
        let named = thread::Builder::new().name("main".to_owned());
        let worker = named.stack_size(ENOUGH).spawn_scoped(scope, program)?;
        Ok(worker.join().unwrap_or_else(|panic| resume_unwind(panic)))
    })
}

/// Returns `None`, because deadheat starts no programs here.
pub fn find_executable(_name: &str) -> Option<PathBuf> {
    None
}

/// The end of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// The program exited with this code.
    Exited(i32),
    /// This signal killed the program.
    Killed(i32),
}

/// Returns an error, because deadheat starts no programs here.
///
/// # Errors
///
/// Always returns an error, which contains the reason.
pub fn run_in_foreground(program: &OsStr, _arguments: &[OsString]) -> io::Result<Ended> {
    let why = needs_linux(&format!("a run of {}", program.display()));
    Err(io::Error::new(io::ErrorKind::Unsupported, why))
}

/// Returns the number of columns of the terminal on standard output; `None` if it is not a
/// terminal.
pub fn columns_of_stdout() -> Option<u16> {
    terminal_size_of(io::stdout()).map(|(Width(columns), _)| columns)
}

/// Returns the number of columns of the terminal on standard error; `None` if it is not a terminal.
pub fn columns_of_stderr() -> Option<u16> {
    terminal_size_of(io::stderr()).map(|(Width(columns), _)| columns)
}

/// Lets the console show colours. Returns false if it cannot.
pub(crate) fn enable_colors() -> bool {
    anstyle_query::windows::enable_ansi_colors().unwrap_or(true)
}

/// Returns true if standard output shows characters outside of ASCII although no variable of the
/// locale says so: the console of Windows, which takes UTF-16.
pub(crate) fn writes_unicode() -> bool {
    cfg!(windows) && io::stdout().is_terminal()
}
