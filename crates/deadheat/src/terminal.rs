//! Output to the terminal: its width and colours, messages on standard error, and the line that
//! shows the progress of a race.

#[cfg(target_os = "linux")]
mod progress;

use std::borrow::Cow;
use std::io::{IsTerminal, Write};

use deadheat_model::{HELP, without_system_numbers};
use deadheat_report::{Glyphs, escape_message, shorten};

use crate::system;

#[cfg(target_os = "linux")]
pub use progress::{LiveProgress, StatusLine};

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
    let columns = system::columns_of_stdout().map(usize::from);
    let asked = || std::env::var("COLUMNS").ok()?.parse().ok();
    Some(columns.or_else(asked)?.clamp(40, 300))
}

/// Returns the width of the terminal on standard error in columns; 80 if it is not a terminal.
pub fn width_of_stderr() -> usize {
    system::columns_of_stderr().map_or(80, usize::from)
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
/// supports colours, unless CLICOLOR is 0, or on any output if CLICOLOR_FORCE is set; but never if
/// NO_COLOR is set.
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
    terminal && !dumb && !unwanted && system::enable_colors()
}

/// Writes a message to standard error, after `label` (`error`, `warning` or the name of the
/// program). Each piece of advice is on a separate line. Control characters from files, names and
/// the command line are escaped. A closed standard error is ignored.
pub fn to_stderr(label: &str, text: &str) {
    let glyphs = Glyphs::new(speaks_unicode());
    to_stderr_in_full(
        label,
        &with_short_words(&without_system_numbers(text), glyphs),
    );
}

/// Prints a message like [`to_stderr`], but shortens nothing, because the user must see the whole
/// text to decide.
pub(crate) fn to_stderr_in_full(label: &str, text: &str) {
    let glyphs = Glyphs::new(speaks_unicode());
    // Messages are coloured only on a terminal. CLICOLOR_FORCE applies only to answers, because
    // programs may read the messages from a pipe.
    let is_colored = std::io::stderr().is_terminal() && wants_color_on(&std::io::stderr());
    let mut lines = String::new();
    for (at, part) in text.split(HELP).enumerate() {
        let label = if at == 0 { label } else { "help" };
        let part = escape_message(part, glyphs);
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

/// Returns true if the terminal can show characters such as µ and −: if the locale is UTF-8, or on
/// the console of Windows.
pub fn speaks_unicode() -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
        .iter()
        .filter_map(|name| std::env::var(name).ok())
        .find(|value| !value.is_empty())
        .unwrap_or_default()
        .to_ascii_lowercase();
    locale.contains("utf-8") || locale.contains("utf8") || system::writes_unicode()
}

/// Returns the glyphs for names on standard output. If it is not a terminal, names are UTF-8 in
/// every locale, so that a program that reads them can find the named files.
pub fn glyphs_of_stdout() -> Glyphs {
    Glyphs::new(speaks_unicode() || !std::io::stdout().is_terminal())
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
