//! Opens named pipes with a time limit. `open` itself waits until another process opens the other
//! end, and only a fatal signal ends that wait.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use deadheat_model::HELP;

use crate::platform;

/// Longest wait for the other end of a named pipe. A shell opens both ends of `<(COMMAND)` and of
/// `COMMAND >PIPE &` at once, however long the command takes.
const LONGEST_WAIT: Duration = Duration::from_secs(10);

/// Wait for each further pipe after the first one timed out, so that a folder of pipes takes hardly
/// longer than one pipe.
const SHORT_WAIT: Duration = Duration::from_millis(100);

/// True after a wait for a pipe has timed out in this process; later waits are then short.
static GAVE_UP: AtomicBool = AtomicBool::new(false);

/// Opens a file for reading. Opens a named pipe only if a process opens it for writing. Fails for
/// files in `/proc` and `/sys`, because a link in a commit may lead to `/proc/kmsg`, which never
/// ends.
pub(crate) fn open_to_read(path: &Path) -> io::Result<File> {
    let is_kernels = |path: PathBuf| path.starts_with("/proc") || path.starts_with("/sys");
    if path.canonicalize().is_ok_and(is_kernels) {
        return Err(io::Error::other("it is a file of the kernel"));
    }
    match is_pipe(path) {
        true => open(path, OpenOptions::new().read(true), "writing"),
        false => File::open(path),
    }
}

/// Opens a file for writing, as [`File::create`] does. Opens a named pipe only if a process reads
/// it.
pub(crate) fn open_to_write(path: &Path) -> io::Result<File> {
    match is_pipe(path) {
        true => open(path, OpenOptions::new().write(true), "reading"),
        false => File::create(path),
    }
}

pub(crate) fn is_pipe(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|about| platform::is_pipe(about.file_type()))
}

fn open(path: &Path, options: &OpenOptions, use_of_other_end: &str) -> io::Result<File> {
    let (sender, receiver) = mpsc::channel();
    let (path, options) = (path.to_owned(), options.clone());
    // If the other end is never opened, this thread ends with the process.
    thread::spawn(move || sender.send(options.open(path)));
    let (wait, told) = match GAVE_UP.load(Ordering::Relaxed) {
        true => (
            SHORT_WAIT,
            "0.1 s (deadheat already waited 10 s for another pipe)",
        ),
        false => (LONGEST_WAIT, "10 s"),
    };
    receiver.recv_timeout(wait).unwrap_or_else(|_| {
        GAVE_UP.store(true, Ordering::Relaxed);
        Err(io::Error::new(
            io::ErrorKind::TimedOut,
            format!(
                "no process opened this pipe for {use_of_other_end} within {told}{HELP}start the \
                 other process first"
            ),
        ))
    })
}
