//! The line on the terminal that shows how far a suite is.

use std::io::{IsTerminal, Write};

use deadheat_engine::{Progress, Watcher};
use deadheat_report::{Glyphs, progress_line};

use crate::terminal;

/// Nanoseconds between two drawings: ten a second.
const PAUSE_NS: u64 = 100_000_000;

/// Draws on standard error when that is a terminal; otherwise does nothing.
pub(super) struct Line {
    shown: bool,
    drawn_at_ns: Option<u64>,
}

impl Line {
    pub(super) fn new(quiet: bool) -> Self {
        Self {
            shown: !quiet && std::io::stderr().is_terminal(),
            drawn_at_ns: None,
        }
    }

    /// Takes the line away.
    pub(super) fn finish(&mut self) {
        if self.drawn_at_ns.take().is_some() {
            self.draw("");
        }
    }

    fn draw(&self, line: &str) {
        // A terminal that is gone is no reason to stop.
        let mut out = std::io::stderr().lock();
        let _ = write!(out, "\r\u{1b}[2K{line}");
        let _ = out.flush();
    }
}

impl Watcher for Line {
    fn watching(&self) -> bool {
        self.shown
    }

    fn due(&self, elapsed_ns: u64) -> bool {
        let drawn = self.drawn_at_ns;
        drawn.is_none_or(|drawn| elapsed_ns.saturating_sub(drawn) >= PAUSE_NS)
    }

    fn block_done(&mut self, progress: &Progress<'_>) {
        self.drawn_at_ns = Some(progress.elapsed_ns);
        let own = if progress.own_link { ", own link" } else { "" };
        let place = format!("({}/{}{own})", progress.index + 1, progress.benchmarks);
        let line = deadheat_report::Progress {
            benchmark: &format!("{} {place}", progress.benchmark),
            candidate: None,
            blocks: progress.blocks,
            blocks_at_most: progress.blocks_at_most,
            standing: progress.standing,
            seconds_left: Some(progress.left_at_most_ns as f64 / 1e9),
        };
        let glyphs = Glyphs::new(terminal::speaks_unicode());
        // The last column is left free: a cursor there may wrap.
        let width = terminal::width_of_stderr().saturating_sub(4);
        self.draw(&progress_line(&line, width, glyphs));
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.finish();
    }
}
