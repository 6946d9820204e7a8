//! Named pipes: `open` waits until another process opens the other end, which no time limit reaches,
//! and a signal only if it ends deadheat.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use deadheat_model::HELP;

/// Longest wait for the other end of a named pipe. A shell opens both ends of `<(COMMAND)` and of
/// `COMMAND >PIPE &` at once, whatever time the command takes.
const LONGEST_WAIT: Duration = Duration::from_secs(10);

/// Opens a file for reading, and a named pipe if a process writes to it.
pub(crate) fn open_to_read(path: &Path) -> io::Result<File> {
    match is_pipe(path) {
        true => open(path, OpenOptions::new().read(true), "writing"),
        false => File::open(path),
    }
}

/// Opens a file for writing as [`File::create`] does, and a named pipe if a process reads it.
pub(crate) fn open_to_write(path: &Path) -> io::Result<File> {
    match is_pipe(path) {
        true => open(path, OpenOptions::new().write(true), "reading"),
        false => File::create(path),
    }
}

/// Returns true for a pipe, with or without a name.
pub(crate) fn is_pipe(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|about| about.file_type().is_fifo())
}

fn open(path: &Path, options: &OpenOptions, use_of_other_end: &str) -> io::Result<File> {
    let (sender, receiver) = mpsc::channel();
    let (path, options) = (path.to_owned(), options.clone());
    // If the other end is never opened, this thread ends with the process.
    thread::spawn(move || sender.send(options.open(path)));
    receiver.recv_timeout(LONGEST_WAIT).unwrap_or_else(|_| {
        Err(io::Error::new(
            io::ErrorKind::TimedOut,
            format!(
                "no process opened this pipe for {use_of_other_end} within 10 s{HELP}start the \
                 other process first"
            ),
        ))
    })
}
