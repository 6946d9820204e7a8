//! The line on the terminal that shows how far a race is.

use std::io::{IsTerminal, Write};

use deadheat_engine::{Progress, Watcher};
#[cfg(feature = "commands")]
use deadheat_model::Benchmark;
use deadheat_report::{Glyphs, progress_line};

use crate::terminal;

/// A line on standard error that takes its own place when it is drawn anew; nothing where that is
/// no terminal.
#[derive(Debug)]
pub struct StatusLine {
    shown: bool,
    drawn: bool,
}

impl StatusLine {
    /// A line that was not drawn yet.
    pub fn new(quiet: bool) -> Self {
        Self {
            shown: !quiet && std::io::stderr().is_terminal(),
            drawn: false,
        }
    }

    /// Draws what `line` makes of so many columns.
    pub fn draw(&mut self, line: impl FnOnce(usize) -> String) {
        if self.shown {
            self.drawn = true;
            // A few columns are left free: for the cursor, and for the ^C that a terminal echoes.
            write(&line(terminal::width_of_stderr().saturating_sub(4)));
        }
    }

    /// Takes the line away.
    pub fn finish(&mut self) {
        if std::mem::take(&mut self.drawn) {
            write("");
        }
    }
}

impl Drop for StatusLine {
    fn drop(&mut self) {
        self.finish();
    }
}

fn write(line: &str) {
    // A terminal that is gone is no reason to stop.
    let mut out = std::io::stderr().lock();
    let _ = write!(out, "\r\u{1b}[2K{line}");
    let _ = out.flush();
}

/// Nanoseconds between two drawings: ten a second.
const PAUSE_NS: u64 = 100_000_000;

/// The progress of a race, drawn between blocks, by the thread that waits anyway: nothing of it
/// runs while something is timed.
#[derive(Debug)]
pub struct LiveProgress {
    line: StatusLine,
    drawn_at_ns: Option<u64>,
    /// Each benchmark's name and those of its contenders, where several candidates are told apart.
    benchmarks: Vec<(String, Vec<String>)>,
    /// The only benchmark is named too.
    names_one: bool,
}

impl LiveProgress {
    /// Progress of a race of these, of which the only one needs no name.
    #[cfg(feature = "commands")]
    pub fn new(benchmarks: &[Benchmark], quiet: bool) -> Self {
        let named = |benchmark: &Benchmark| {
            let rivals = benchmark.contenders.iter().take(benchmark.rivals());
            let names = rivals.map(|contender| contender.name.clone());
            (benchmark.name.clone(), names.collect())
        };
        Self {
            benchmarks: benchmarks.iter().map(named).collect(),
            names_one: false,
            ..Self::of_suite(quiet)
        }
    }

    /// Progress of a suite.
    pub(crate) fn of_suite(quiet: bool) -> Self {
        Self {
            line: StatusLine::new(quiet),
            drawn_at_ns: None,
            benchmarks: Vec::new(),
            names_one: true,
        }
    }

    /// Takes the line away.
    pub fn finish(&mut self) {
        self.line.finish();
    }
}

impl Watcher for LiveProgress {
    fn watching(&self) -> bool {
        self.line.shown
    }

    fn due(&self, elapsed_ns: u64) -> bool {
        let drawn = self.drawn_at_ns;
        drawn.is_none_or(|drawn| elapsed_ns.saturating_sub(drawn) >= PAUSE_NS)
    }

    fn block_done(&mut self, progress: &Progress<'_>) {
        self.drawn_at_ns = Some(progress.elapsed_ns);
        // What is raced once more as the user linked it comes after all others.
        let of_index = self.benchmarks.get(progress.index);
        let of_index = of_index.filter(|(name, _)| name == progress.benchmark);
        let candidate = match (&progress.standing, of_index) {
            (Some(standing), Some((_, names))) if names.len() > 2 => names.get(standing.candidate),
            _ => None,
        };
        let own = if progress.own_link { ", own link" } else { "" };
        let benchmark = if self.names_one || progress.benchmarks > 1 {
            let (place, all) = (progress.index + 1, progress.benchmarks);
            format!("{} ({place}/{all}{own})", progress.benchmark)
        } else {
            own.trim_start_matches(", ").to_owned()
        };
        let line = deadheat_report::Progress {
            benchmark: &benchmark,
            candidate: candidate.map(String::as_str),
            blocks: progress.blocks,
            blocks_at_most: progress.blocks_at_most,
            standing: progress.standing,
            seconds_left: Some(progress.left_at_most_ns as f64 / 1e9),
        };
        let glyphs = Glyphs::new(terminal::speaks_unicode());
        self.line.draw(|width| progress_line(&line, width, glyphs));
    }
}
