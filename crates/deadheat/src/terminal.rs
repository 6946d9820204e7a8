//! Output to the terminal: its width and colours, messages on standard error, and the line that
//! shows the progress of a race.

use std::borrow::Cow;
use std::io::{IsTerminal, Write};
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

use deadheat_engine::{Progress, Watcher, terminal_width};
#[cfg(feature = "commands")]
use deadheat_model::Benchmark;
use deadheat_model::{HELP, without_system_numbers};
use deadheat_report::{Glyphs, escape_message, progress_line, shorten, shown};

/// Returns the width for text on standard output, in columns: that of the terminal, but at most
/// 200; 100 if the width is unknown, as for a file.
pub fn width() -> usize {
    width_of_stdout().unwrap_or(100).min(200)
}

/// Returns the width for tables on standard output, in columns: that of the terminal, but at most
/// 200; 160 if the width is unknown, as for a file, because tables are harder to read with broken
/// lines.
pub fn width_of_tables() -> usize {
    width_of_stdout().unwrap_or(160).min(200)
}

/// Returns the width of standard output in columns, clamped to 40 to 300: that of the terminal, or
/// the value of the variable `COLUMNS` if standard output is not a terminal. `None` if both are
/// unknown.
pub fn width_of_stdout() -> Option<usize> {
    let columns = terminal_width(std::io::stdout().as_raw_fd()).map(usize::from);
    let asked = || std::env::var("COLUMNS").ok()?.parse().ok();
    Some(columns.or_else(asked)?.clamp(40, 300))
}

/// Returns the width of the terminal on standard error in columns; 80 if it is not a terminal.
pub fn width_of_stderr() -> usize {
    terminal_width(std::io::stderr().as_raw_fd()).map_or(80, usize::from)
}

/// The user's choice of when text is coloured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Color {
    /// Coloured on a terminal, unless NO_COLOR is set; coloured elsewhere if CLICOLOR_FORCE is set.
    #[default]
    Auto,
    /// Always coloured.
    Always,
    /// Never coloured.
    Never,
}

impl Color {
    /// All choices in the order of help texts, each with its name and a short help text.
    pub const ALL: [(Self, &'static str, &'static str); 3] = [
        (
            Self::Auto,
            "auto",
            "On a terminal, unless NO_COLOR is set; elsewhere if CLICOLOR_FORCE is",
        ),
        (Self::Always, "always", "Always"),
        (Self::Never, "never", "Never"),
    ];

    /// Parses the name of a choice. The error message lists all names.
    pub fn parse(text: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|(_, name, _)| *name == text);
        known.map(|(when, ..)| when).ok_or_else(|| {
            let names = Self::ALL.map(|(_, name, _)| name);
            format!("'{text}' is not one of {}", names.join(", "))
        })
    }

    /// Returns true if text on standard output should be coloured.
    pub fn applies(self) -> bool {
        match self {
            Self::Auto => wants_color(),
            Self::Always => true,
            Self::Never => false,
        }
    }
}

/// Returns true if text on standard output should be coloured by default: on a terminal that
/// supports colours, or if CLICOLOR_FORCE is set, but never if NO_COLOR is set.
pub fn wants_color() -> bool {
    wants_color_on(&std::io::stdout())
}

fn wants_color_on(stream: &impl IsTerminal) -> bool {
    let set = |name: &str| {
        let value = std::env::var_os(name).filter(|value| !value.is_empty())?;
        Some(value.to_string_lossy().into_owned())
    };
    colored(set, stream.is_terminal())
}

/// Returns true if output should be coloured by default. `set` returns the value of an environment
/// variable, or `None` if it is unset or empty. `terminal` is true if the output is a terminal.
fn colored(set: impl Fn(&str) -> Option<String>, terminal: bool) -> bool {
    if set("NO_COLOR").is_some() {
        return false;
    }
    if set("CLICOLOR_FORCE").is_some_and(|value| value != "0") {
        return true;
    }
    let dumb = set("TERM").is_some_and(|term| term == "dumb");
    let unwanted = set("CLICOLOR").is_some_and(|value| value == "0");
    terminal && !dumb && !unwanted
}

/// Writes a message to standard error, after `label` (`error`, `warning` or the name of the
/// program). Each piece of advice is on a separate line. Control characters from files, names and
/// the command line are escaped. A closed standard error is ignored.
pub fn to_stderr(label: &str, text: &str) {
    let glyphs = Glyphs::new(speaks_unicode());
    // Messages are coloured only on a terminal. CLICOLOR_FORCE applies only to answers, because
    // programs may read the messages from a pipe.
    let is_colored = std::io::stderr().is_terminal() && wants_color_on(&std::io::stderr());
    let mut lines = String::new();
    for (at, part) in without_system_numbers(text).split(HELP).enumerate() {
        let label = if at == 0 { label } else { "help" };
        let part = escape_message(&with_short_words(part, glyphs), glyphs);
        lines += &format!("{}: {part}\n", in_color(label, is_colored));
    }
    // Written at once, so that output of other processes cannot come between the lines.
    let _ = std::io::stderr().write_all(lines.as_bytes());
}

/// Returns the label of a message in bold, in the colour that compilers use for it.
fn in_color(label: &str, is_colored: bool) -> Cow<'_, str> {
    let color = match label {
        _ if !is_colored => return label.into(),
        "error" => "1;31",
        "warning" => "1;33",
        "help" => "1;32",
        _ => "1",
    };
    format!("\u{1b}[{color}m{label}\u{1b}[0m").into()
}

/// Shortens words of more than 1,000 bytes in their middle.
fn with_short_words(text: &str, glyphs: Glyphs) -> String {
    const LONGEST: usize = 1_000;
    const SHORT: usize = 200;
    let mut short = String::with_capacity(text.len().min(4 * LONGEST));
    for word in text.split_inclusive([' ', '\n']) {
        let (name, end) = word.split_at(word.trim_end_matches([' ', '\n']).len());
        short += &match name.len() {
            0..=LONGEST => Cow::Borrowed(name),
            _ => Cow::Owned(shorten(name, SHORT, glyphs)),
        };
        short += end;
    }
    short
}

/// Returns true if the locale is UTF-8, so that the terminal can show characters such as µ and −.
pub fn speaks_unicode() -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
        .iter()
        .filter_map(|name| std::env::var(name).ok())
        .find(|value| !value.is_empty())
        .unwrap_or_default()
        .to_ascii_lowercase();
    locale.contains("utf-8") || locale.contains("utf8")
}

/// Returns the glyphs for names on standard output. If it is not a terminal, names are UTF-8 in
/// every locale, so that a program that reads them can find the named files.
pub fn glyphs_of_stdout() -> Glyphs {
    Glyphs::new(speaks_unicode() || !std::io::stdout().is_terminal())
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn enormous_words_are_cut_and_others_are_not() {
        let glyphs = Glyphs::new(true);
        let text = "error: 'a b'\n  next line";
        assert_eq!(with_short_words(text, glyphs), text);
        let long = format!("a '{}' b\n{}", "x".repeat(70_000), "ä".repeat(2_000));
        let short = with_short_words(&long, glyphs);
        assert!(short.chars().count() < 500, "{short}");
        assert!(
            short.starts_with("a 'xx") && short.contains("xx' b\nää"),
            "{short}"
        );
    }

    /// Returns true if output is coloured by default with these environment variables.
    fn with(variables: &[(&str, &str)], terminal: bool) -> bool {
        let set = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        colored(set, terminal)
    }

    #[test]
    fn colours_are_for_terminals_that_can_show_them() {
        assert!(with(&[], true) && with(&[("TERM", "xterm-256color")], true));
        assert!(!with(&[], false));
        assert!(!with(&[("TERM", "dumb")], true));
        assert!(!with(&[("CLICOLOR", "0")], true) && with(&[("CLICOLOR", "1")], true));
    }

    #[test]
    fn who_wants_none_gets_none_and_who_insists_gets_them_anywhere() {
        assert!(!with(&[("NO_COLOR", "0")], true));
        assert!(!with(&[("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")], true));
        assert!(with(&[("CLICOLOR_FORCE", "1"), ("TERM", "dumb")], false));
        assert!(!with(&[("CLICOLOR_FORCE", "0")], false));
    }

    #[test]
    fn every_choice_is_read_by_its_name() {
        for (when, name, _) in Color::ALL {
            assert_eq!(Color::parse(name), Ok(when));
        }
        let error = Color::parse("Auto").unwrap_err();
        assert_eq!(error, "'Auto' is not one of auto, always, never");
    }

    #[test]
    fn a_choice_that_was_made_needs_no_terminal() {
        assert!(Color::Always.applies());
        assert!(!Color::Never.applies());
    }
}
