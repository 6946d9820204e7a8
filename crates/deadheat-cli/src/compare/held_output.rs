//! Standard output as a program in Python writes it.

use std::fmt;
use std::io::{self, IsTerminal, Write};

/// Python's exit code when its standard output cannot be written.
const CANNOT_WRITE: u8 = 120;

/// Bytes that are held back at most: a table of a million rows takes 190 MB, and stands behind all
/// that executables print.
const MOST_HELD: usize = 1 << 20;

/// Lines for standard output. A terminal gets them one by one; for a file or a pipe they are held back to the end, as
/// Python holds them back: what executables print in the meantime comes first there.
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

    /// One line, put together from parts, without its end.
    pub fn line(&mut self, parts: &[&[u8]]) {
        self.held.extend(parts.concat());
        self.text(b"\n");
    }

    /// Lines with their ends.
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

    /// Writes what is left, and gives back the exit code: the one wanted, or Python's for an output that cannot be
    /// written.
    pub fn finish(mut self, program: &str, code: u8) -> u8 {
        self.flush();
        match self.failed {
            None => code,
            // Whoever closed the pipe has read enough.
            Some(error) if error.kind() == io::ErrorKind::BrokenPipe => CANNOT_WRITE,
            Some(error) => {
                complain(program, &format!("standard output: {error}"));
                CANNOT_WRITE
            }
        }
    }
}

impl fmt::Write for HeldOutput {
    /// Whatever an output says that cannot be written is told at its end.
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.text(text.as_bytes());
        Ok(())
    }
}

/// One line on standard error; nobody may be listening there.
pub fn complain(program: &str, what: &str) {
    let _ = writeln!(io::stderr(), "{program}: {what}");
}
