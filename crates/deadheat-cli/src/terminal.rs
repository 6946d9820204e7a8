//! What the terminal can show.

use std::io::IsTerminal;

use console::Term;

/// Columns to use: the terminal's, or 100 when the answer goes to a file.
pub fn width() -> usize {
    let columns = Term::stdout()
        .size_checked()
        .map_or(100, |(_, columns)| usize::from(columns));
    columns.clamp(40, 200)
}

/// Whether colours are welcome on standard output.
pub fn wants_color() -> bool {
    let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    std::io::stdout().is_terminal() && !no_color && !dumb
}

/// Whether the locale is UTF-8, so that µ and − can be shown.
pub fn speaks_unicode() -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
        .iter()
        .filter_map(|name| std::env::var(name).ok())
        .find(|value| !value.is_empty())
        .unwrap_or_default()
        .to_ascii_lowercase();
    locale.contains("utf-8") || locale.contains("utf8")
}
