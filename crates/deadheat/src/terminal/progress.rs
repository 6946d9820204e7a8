//! The line that shows the progress of a race.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use deadheat_engine::{Progress, Watcher};
#[cfg(feature = "commands")]
use deadheat_model::Benchmark;
use deadheat_report::{Glyphs, progress_line, shorten, shown};

use super::{speaks_unicode, to_stderr, width_of_stderr};

/// A line on a terminal on standard error that is redrawn in place. Has no effect if standard error
/// is not a terminal.
#[derive(Debug)]
pub struct StatusLine {
    shown: bool,
    drawn: bool,
}

impl StatusLine {
    /// Returns a line that is not drawn yet.
    pub fn new(quiet: bool) -> Self {
        Self {
            shown: !quiet && std::io::stderr().is_terminal(),
            drawn: false,
        }
    }

    /// Draws the text that `line` returns for a width in columns, after escaping control
    /// characters.
    pub fn draw(&mut self, line: impl FnOnce(usize) -> String) {
        if self.shown {
            self.drawn = true;
            // Four columns stay free for the cursor and for the `^C` that a terminal echoes.
            let width = width_of_stderr().saturating_sub(4);
            let glyphs = Glyphs::new(speaks_unicode());
            write(&shown(&line(width), width, glyphs));
        }
    }

    /// Removes the line.
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
    // A closed terminal must not stop the race.
    let mut out = std::io::stderr().lock();
    let _ = write!(out, "\r\u{1b}[2K{line}");
    let _ = out.flush();
}

/// Minimum time between two drawings of the line, in nanoseconds: ten per second.
const PAUSE_NS: u64 = 100_000_000;
/// Time between two progress messages if standard error is not a terminal.
const PAUSE_OF_LINES: Duration = Duration::from_secs(30);
/// If a race of several benchmarks will probably take at least this long, deadheat prints its
/// estimated duration at the start.
const LONG_RACE: Duration = Duration::from_secs(20);
/// Maximum width of a progress message, in columns, if standard error is not a terminal.
const WIDTH_OF_LINES: usize = 100;

/// The progress display of a race. It is drawn between blocks, by the thread that waits for the
/// contenders, so its code never runs during a measurement.
#[derive(Debug)]
pub struct LiveProgress {
    line: StatusLine,
    drawn_at_ns: Option<u64>,
    /// The name of each benchmark, and the names of its contenders, which are shown if there are
    /// several candidates.
    benchmarks: Vec<(String, Vec<String>)>,
    /// True to show the name of the benchmark even if there is only one.
    names_one: bool,
    /// The time of the last progress message, initially the start of the race; `None` if no
    /// messages are written, because standard error is a terminal or because of `--quiet`.
    lines: Option<Instant>,
}

impl LiveProgress {
    /// Returns the progress display for a race of these benchmarks. If there is only one, its name
    /// is not shown.
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

    /// Returns the progress display for a suite, which always shows the name of the benchmark.
    pub(crate) fn of_suite(quiet: bool) -> Self {
        Self {
            line: StatusLine::new(quiet),
            drawn_at_ns: None,
            benchmarks: Vec::new(),
            names_one: true,
            lines: (!quiet && !std::io::stderr().is_terminal()).then(Instant::now),
        }
    }

    /// Removes the line.
    pub fn finish(&mut self) {
        self.line.finish();
    }
}

/// Draws the line on a terminal. Otherwise writes it as a message if the last message is older than
/// [`PAUSE_OF_LINES`]. `line` returns the text for a width in columns.
fn show(
    (drawn, lines): (&mut StatusLine, &mut Option<Instant>),
    line: impl FnOnce(usize) -> String,
) {
    match lines {
        None => drawn.draw(line),
        Some(last) if last.elapsed() >= PAUSE_OF_LINES => {
            *last = Instant::now();
            to_stderr("deadheat", &line(WIDTH_OF_LINES));
        }
        Some(_) => {}
    }
}

impl Watcher for LiveProgress {
    fn pilot_begins(&mut self, benchmark: &str, (number, of): (usize, usize)) {
        let glyphs = Glyphs::new(speaks_unicode());
        let line = format!("calibration run {number} of {of}: {benchmark}");
        let line = |width| shorten(&line, width, glyphs);
        show((&mut self.line, &mut self.lines), line);
    }

    fn race_begins(&mut self, benchmarks: usize, forecast: Duration) {
        let is_shown = self.watching();
        if is_shown && benchmarks > 1 && forecast >= LONG_RACE {
            self.line.finish();
            let time = deadheat_report::whole_seconds(forecast.as_secs_f64());
            to_stderr(
                "deadheat",
                &format!("{benchmarks} benchmarks, about {time}"),
            );
        }
    }

    fn watching(&self) -> bool {
        self.line.shown || self.lines.is_some()
    }

    fn due(&self, elapsed_ns: u64) -> bool {
        if let Some(last) = self.lines {
            return last.elapsed() >= PAUSE_OF_LINES;
        }
        let drawn = self.drawn_at_ns;
        drawn.is_none_or(|drawn| elapsed_ns.saturating_sub(drawn) >= PAUSE_NS)
    }

    fn block_done(&mut self, progress: &Progress<'_>) {
        self.drawn_at_ns = Some(progress.elapsed_ns);
        // Reruns come after all other benchmarks, and are not in `self.benchmarks`.
        let of_index = self.benchmarks.get(progress.index);
        let of_index = of_index.filter(|(name, _)| name == progress.benchmark);
        let candidate = match (&progress.standing, of_index) {
            (Some(standing), Some((_, names))) if names.len() > 2 => names.get(standing.candidate),
            _ => None,
        };
        let own = progress
            .rerun
            .map(|kind| format!(", {}", kind.label()))
            .unwrap_or_default();
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
        let glyphs = Glyphs::new(speaks_unicode());
        let line = |width| progress_line(&line, width, glyphs);
        show((&mut self.line, &mut self.lines), line);
    }
}
