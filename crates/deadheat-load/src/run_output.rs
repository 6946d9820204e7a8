//! What a server or a load generator prints, read while it runs and kept in bounds.

use std::io::{BufRead, BufReader, Read};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use regex_lite::Regex;

/// The number of bytes of a long output that are kept, from its end.
const KEPT: usize = 1 << 20;
/// The maximum number of lines of a server that a message quotes.
const QUOTED: usize = 5;
/// The maximum number of characters of a line that a message quotes.
const QUOTED_LINE: usize = 200;
/// The maximum number of bytes that are read as one line.
const LONGEST_LINE: u64 = 64 << 10;

/// The last lines that a server has printed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log(Arc<Mutex<Kept>>);

#[derive(Debug, Default)]
struct Kept {
    lines: Vec<String>,
    awaited: Option<Regex>,
    is_seen: bool,
}

impl Log {
    pub(crate) fn awaiting(regex: Option<&Regex>) -> Self {
        let kept = Kept {
            awaited: regex.cloned(),
            ..Kept::default()
        };
        Self(Arc::new(Mutex::new(kept)))
    }

    /// Reads a stream to its end, in a thread.
    pub(crate) fn follow(&self, stream: impl Read + Send + 'static) {
        let log = self.clone();
        let read = move || {
            let mut stream = BufReader::new(stream);
            let mut line = Vec::new();
            loop {
                line.clear();
                match stream
                    .by_ref()
                    .take(LONGEST_LINE)
                    .read_until(b'\n', &mut line)
                {
                    Ok(0) | Err(_) => return,
                    Ok(_) => log.add(&String::from_utf8_lossy(&line)),
                }
            }
        };
        // Without the thread, the server blocks as soon as the pipe is full, and its burst times out.
        let _ = thread::Builder::new().spawn(read);
    }

    fn add(&self, line: &str) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept
            .awaited
            .as_ref()
            .is_some_and(|regex| regex.is_match(line))
        {
            kept.is_seen = true;
            kept.awaited = None;
        }
        if kept.lines.len() == QUOTED {
            kept.lines.remove(0);
        }
        kept.lines
            .push(line.trim_end().chars().take(QUOTED_LINE).collect());
    }

    /// Returns true if the awaited line was printed.
    pub(crate) fn is_seen(&self) -> bool {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .is_seen
    }

    /// Returns true if one of the last lines contains these words.
    pub(crate) fn says(&self, words: &str) -> bool {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.lines.iter().any(|line| line.contains(words))
    }

    /// Returns the last lines for a message; empty if nothing was printed.
    pub(crate) fn quoted(&self) -> String {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        quoted(kept.lines.iter().map(String::as_str))
    }
}

/// Returns the end of an output for a message.
pub(crate) fn end_of(output: &str) -> String {
    let lines: Vec<&str> = output
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    quoted(lines[lines.len().saturating_sub(QUOTED)..].iter().copied())
}

fn quoted<'a>(lines: impl Iterator<Item = &'a str>) -> String {
    let cut = |line: &str| line.trim().chars().take(QUOTED_LINE).collect::<String>();
    let lines: Vec<String> = lines.map(cut).collect();
    match lines.is_empty() {
        true => String::new(),
        false => format!("; its output ends: {}", lines.join(" | ")),
    }
}

/// Reads a stream to its end and keeps the last part of it.
pub(crate) fn read_bounded(mut stream: impl Read) -> String {
    let mut kept = Vec::new();
    let mut piece = [0; 16 << 10];
    while let Ok(bytes @ 1..) = stream.read(&mut piece) {
        kept.extend_from_slice(&piece[..bytes]);
        if kept.len() > 2 * KEPT {
            kept.drain(..kept.len() - KEPT);
        }
    }
    String::from_utf8_lossy(&kept).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_lines_are_quoted() {
        let text: String = (0..9).map(|line| format!("line {line}\n\n")).collect();
        assert_eq!(
            end_of(&text),
            "; its output ends: line 4 | line 5 | line 6 | line 7 | line 8"
        );
        assert_eq!(end_of(" \n"), "");
    }

    #[test]
    fn the_end_of_a_long_output_is_kept() {
        let long = "x".repeat(5 * KEPT) + "end";
        let kept = read_bounded(long.as_bytes());
        assert!(kept.ends_with("end") && kept.len() <= 2 * KEPT + (16 << 10));
    }
}
