//! What the terminal can show.

use std::io::IsTerminal;
use std::os::fd::AsRawFd;

use deadheat_engine::terminal_width;

/// Columns to use on standard output: the terminal's, within reason, or 100
/// when the answer goes to a file.
pub fn width() -> usize {
    let columns = terminal_width(std::io::stdout().as_raw_fd()).map_or(100, usize::from);
    columns.clamp(40, 200)
}

/// Columns for a table whose lines must not be broken: the terminal's, or as
/// many as it takes when it goes to a file, where there is no right edge.
pub fn width_of_tables() -> usize {
    let columns = terminal_width(std::io::stdout().as_raw_fd()).map_or(160, usize::from);
    columns.clamp(40, 200)
}

/// Columns of the terminal on standard output, within reason; `None` where the
/// answer goes elsewhere and lines have no right edge.
pub fn width_of_stdout() -> Option<usize> {
    let columns = terminal_width(std::io::stdout().as_raw_fd())?;
    Some(usize::from(columns).clamp(40, 300))
}

/// Columns of the terminal on standard error, or 80.
pub fn width_of_stderr() -> usize {
    terminal_width(std::io::stderr().as_raw_fd()).map_or(80, usize::from)
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
