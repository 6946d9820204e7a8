//! Standard output with the buffering of Python.

use std::fmt;
use std::io::{self, IsTerminal, Write};

/// Python's exit code when its standard output cannot be written.
const CANNOT_WRITE: u8 = 120;

/// The size of the buffer, in bytes. A table of a million rows takes 190 MB. Writing the first part
/// of a table early does not change the order, because the executables have printed all their
/// output before the table begins.
const MOST_HELD: usize = 1 << 20;

/// A writer to standard output. A terminal gets each line at once. For a file or a pipe, the lines
/// are held back until the buffer is full or the output ends, as in Python, so that the output of
/// executables comes first.
#[derive(Debug)]
pub struct HeldOutput {
    held: Vec<u8>,
    at_once: bool,
    failed: Option<io::Error>,
}

impl HeldOutput {
    pub fn new() -> Self {
        Self {
            held: Vec::new(),
            at_once: io::stdout().is_terminal(),
            failed: None,
        }
    }

    /// Writes one line, concatenated from `parts`, with a line break.
    pub fn line(&mut self, parts: &[&[u8]]) {
        self.held.extend(parts.concat());
        self.text(b"\n");
    }

    /// Writes lines that end in line breaks.
    pub fn text(&mut self, text: &[u8]) {
        self.held.extend_from_slice(text);
        if self.at_once || self.held.len() > MOST_HELD {
            self.flush();
        }
    }

    fn flush(&mut self) {
        if self.failed.is_some() {
            self.held.clear();
            return;
        }
        let mut stdout = io::stdout().lock();
        let written = stdout.write_all(&self.held).and_then(|()| stdout.flush());
        self.held.clear();
        if let Err(error) = written {
            self.failed.get_or_insert(error);
        }
    }

    /// Writes the rest and returns `code`, or Python's exit code if standard output cannot be
    /// written.
    pub fn finish(mut self, program: &str, code: u8) -> u8 {
        self.flush();
        match self.failed {
            None => code,
            // The reader of the pipe has closed it because it has read enough.
            Some(error) if error.kind() == io::ErrorKind::BrokenPipe => CANNOT_WRITE,
            Some(error) => {
                complain(program, &format!("standard output: {error}"));
                CANNOT_WRITE
            }
        }
    }
}

impl fmt::Write for HeldOutput {
    /// Always returns `Ok`: `finish` reports a failure to write.
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.text(text.as_bytes());
        Ok(())
    }
}

/// Prints one line on standard error, and ignores a failure to write it.
pub fn complain(program: &str, what: &str) {
    let _ = writeln!(io::stderr(), "{program}: {what}");
}
