//! A load generator: its name, its options, and the reader of its output.

use super::report::Report;
use super::text::last_line;
use super::words::program;

/// When a load generator sends the next request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loop {
    /// After the reply to the previous one on the same connection.
    Closed,
    /// At a fixed rate, even if replies are late.
    Open,
}

/// A load generator whose output can be read.
#[derive(Debug)]
pub struct Generator {
    pub(super) name: &'static str,
    /// File names of the program.
    pub(super) programs: &'static [&'static str],
    pub(super) about: &'static str,
    /// What [`Generator::read`] looks for, as a noun phrase.
    pub(super) expected: &'static str,
    /// Returns true if the arguments request an open loop.
    pub(super) is_open: fn(&[String]) -> bool,
    /// Returns the place in the arguments and the words to insert there.
    pub(super) missing: fn(&[String]) -> (usize, Vec<&'static str>),
    /// Returns the latencies that the generator always prints with these arguments.
    pub(super) latencies: fn(&[String]) -> &'static [&'static str],
    /// Reads standard output and standard error.
    pub(super) reader: fn(&str, &str) -> Option<Report>,
}

impl Generator {
    /// The name by which a user selects the generator.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// One line: what the generator is for and what is read from its output.
    pub fn about(&self) -> &'static str {
        self.about
    }

    /// Returns whether the options on the command line make the generator send requests at a fixed
    /// rate.
    pub fn loop_of(&self, words: &[String]) -> Loop {
        if (self.is_open)(arguments(words)) {
            Loop::Open
        } else {
            Loop::Closed
        }
    }

    /// Returns the names of the latencies that an [`adapted`](Self::adapted) command line prints
    /// after every burst. Latencies that can be missing or rounded to zero are left out, although
    /// a report may have them.
    pub fn latencies(&self, words: &[String]) -> &'static [&'static str] {
        (self.latencies)(arguments(words))
    }

    /// Returns the options without which a part of the output is missing, for a message.
    pub(crate) fn options_for_all(&self) -> String {
        // k6 has its options after `run`.
        (self.missing)(&["run".to_owned()]).1.join(" ")
    }

    /// Reads what the generator printed about a burst.
    ///
    /// # Errors
    ///
    /// Fails if the output lacks the figures. The message says what was expected and quotes the last
    /// line of standard error, or of standard output if standard error is empty.
    pub fn read(&self, stdout: &str, stderr: &str) -> Result<Report, String> {
        if let Some(mut report) = (self.reader)(stdout, stderr) {
            report.sort_latencies();
            return Ok(report);
        }
        let last = last_line(stderr).or_else(|| last_line(stdout));
        let printed = match last {
            Some(line) => format!("the last line of the output is `{line}`"),
            None => "it printed nothing".to_owned(),
        };
        Err(format!("expected {}, but {printed}", self.expected))
    }
}

fn arguments(words: &[String]) -> &[String] {
    program(words).map_or(words, |at| &words[at + 1..])
}

pub(super) fn is_closed(_: &[String]) -> bool {
    false
}

pub(super) fn nothing_missing(_: &[String]) -> (usize, Vec<&'static str>) {
    (0, Vec::new())
}
