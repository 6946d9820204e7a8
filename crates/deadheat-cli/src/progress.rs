//! The line on the terminal that shows how far a race is.

use std::io::{self, IsTerminal};
use std::time::Duration;

use console::Term;
use deadheat::parts::engine::{Progress, Watcher};
use deadheat::parts::model::Benchmark;
use deadheat::parts::report::{Glyphs, progress_line};
use deadheat::parts::terminal;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle, TermLike};

/// Draws on standard error when that is a terminal; otherwise does nothing.
pub struct LiveProgress {
    bar: ProgressBar,
    shown: bool,
    /// Each benchmark's name and those of its contenders.
    benchmarks: Vec<(String, Vec<String>)>,
    glyphs: Glyphs,
}

/// A line on standard error, or nothing.
pub fn line(shown: bool) -> ProgressBar {
    // Drawn at most ten times a second, between blocks, by the thread that
    // waits anyway: nothing of it runs while a command is timed.
    let target = if shown {
        ProgressDrawTarget::term_like_with_hz(Box::new(Narrower(Term::stderr())), 10)
    } else {
        ProgressDrawTarget::hidden()
    };
    let bar = ProgressBar::with_draw_target(None, target);
    if let Ok(style) = ProgressStyle::with_template("{msg}") {
        bar.set_style(style);
    }
    bar
}

impl LiveProgress {
    /// Progress of a race of these.
    pub fn new(benchmarks: &[Benchmark], quiet: bool) -> Self {
        let shown = !quiet && std::io::stderr().is_terminal();
        let bar = line(shown);
        let named = |benchmark: &Benchmark| {
            let rivals = benchmark.contenders.iter().take(benchmark.rivals());
            (
                benchmark.name.clone(),
                rivals.map(|c| c.name.clone()).collect(),
            )
        };
        let benchmarks = benchmarks.iter().map(named).collect();
        let glyphs = Glyphs::new(terminal::speaks_unicode());
        Self {
            bar,
            shown,
            benchmarks,
            glyphs,
        }
    }

    /// Takes the line away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Drop for LiveProgress {
    fn drop(&mut self) {
        self.finish();
    }
}

/// A terminal that seems a little narrower than it is. The library fills its
/// line up to the last column; the ^C that a terminal echoes there would wrap,
/// and the line would not be found again to be taken away.
#[derive(Debug)]
struct Narrower(Term);

impl TermLike for Narrower {
    fn width(&self) -> u16 {
        self.0
            .size_checked()
            .map_or(80, |(_, columns)| columns)
            .saturating_sub(4)
    }

    fn height(&self) -> u16 {
        self.0.size().0
    }

    fn move_cursor_up(&self, n: usize) -> io::Result<()> {
        self.0.move_cursor_up(n)
    }

    fn move_cursor_down(&self, n: usize) -> io::Result<()> {
        self.0.move_cursor_down(n)
    }

    fn move_cursor_right(&self, n: usize) -> io::Result<()> {
        self.0.move_cursor_right(n)
    }

    fn move_cursor_left(&self, n: usize) -> io::Result<()> {
        self.0.move_cursor_left(n)
    }

    fn write_line(&self, line: &str) -> io::Result<()> {
        self.0.write_line(line)
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        self.0.write_str(text)
    }

    fn clear_line(&self) -> io::Result<()> {
        self.0.clear_line()
    }

    fn flush(&self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Watcher for LiveProgress {
    fn watching(&self) -> bool {
        self.shown
    }

    fn block_done(&mut self, progress: &Progress<'_>) {
        // What is raced once more as the user linked it comes after all others.
        let of_index = self.benchmarks.get(progress.index);
        let of_index = of_index.filter(|(name, _)| name == progress.benchmark);
        let candidate = match (&progress.standing, of_index) {
            (Some(standing), Some((_, names))) if names.len() > 2 => names.get(standing.candidate),
            _ => None,
        };
        let own = if progress.own_link { ", own link" } else { "" };
        let benchmark = if progress.benchmarks > 1 {
            format!(
                "{} ({}/{}{own})",
                progress.benchmark,
                progress.index + 1,
                progress.benchmarks
            )
        } else if progress.own_link {
            "own link".to_owned()
        } else {
            // The only benchmark needs no name.
            String::new()
        };
        let left = Duration::from_nanos(progress.left_at_most_ns);
        let line = deadheat::parts::report::Progress {
            benchmark: &benchmark,
            candidate: candidate.map(String::as_str),
            blocks: progress.blocks,
            blocks_at_most: progress.blocks_at_most,
            standing: progress.standing,
            seconds_left: Some(left.as_secs_f64()),
        };
        let width = usize::from(Narrower(Term::stderr()).width());
        self.bar
            .set_message(progress_line(&line, width, self.glyphs));
        self.bar.tick();
    }
}
