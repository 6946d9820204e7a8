//! Messages to the user: `WHAT failed: WHY`, followed by a line of advice.

use std::io;

/// The text that separates an error from its advice in every message.
pub const HELP: &str = "\nhelp: ";

/// The beginning of a line that quotes the output of a program.
pub const QUOTE: &str = "  | ";

/// Returns the message in one line, for a table, a file or another message. A semicolon separates
/// the advice.
pub fn in_one_line(message: &str) -> String {
    message.replace(HELP, "; ")
}

/// Returns the message with `more` appended to its error, before the advice.
pub fn before_help(message: &str, more: &str) -> String {
    let (error, help) = message.split_at(message.find(HELP).unwrap_or(message.len()));
    format!("{error}{more}{help}")
}

/// Returns the message without its advice.
pub fn without_help(message: &str) -> &str {
    message.split(HELP).next().unwrap_or_default()
}

/// Returns an error of the operating system in words, without its number.
pub fn words_of_system(error: &io::Error) -> String {
    let text = error.to_string();
    if error.raw_os_error().is_none() {
        return text;
    }
    let words = match error.kind() {
        io::ErrorKind::NotFound => "there is no such file or folder",
        io::ErrorKind::PermissionDenied => "you lack the permission",
        io::ErrorKind::AlreadyExists => "it exists already",
        io::ErrorKind::IsADirectory => "it is a folder",
        io::ErrorKind::NotADirectory => "a part of its path is not a folder",
        io::ErrorKind::StorageFull => "the disk is full",
        io::ErrorKind::ReadOnlyFilesystem => "the file system is read-only",
        _ => return without_system_numbers(&text),
    };
    words.to_owned()
}

/// Returns the message without the numbers of operating-system errors. Lines that quote the output
/// of a program keep theirs.
pub fn without_system_numbers(message: &str) -> String {
    let mut kept = String::with_capacity(message.len());
    for line in message.split_inclusive('\n') {
        let mut rest = line;
        while let Some((before, after)) = rest.split_once(" (os error ")
            && let Some((number, behind)) = after.split_once(')')
            && number.bytes().all(|byte| byte.is_ascii_digit())
            && !line.starts_with(QUOTE)
        {
            kept += before;
            rest = behind;
        }
        kept += rest;
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_follows_a_semicolon_in_one_line_and_can_be_left_out() {
        let message = "a failed: b\nhelp: c\nhelp: d";
        assert_eq!(in_one_line(message), "a failed: b; c; d");
        assert_eq!(without_help(message), "a failed: b");
        assert_eq!(in_one_line("a\n  b"), "a\n  b");
        let more = before_help(message, " (x)");
        assert_eq!(more, "a failed: b (x)\nhelp: c\nhelp: d");
        assert_eq!(before_help("a", " (x)"), "a (x)");
    }

    #[test]
    fn the_number_of_a_system_error_is_left_out_and_other_words_are_kept() {
        let known = io::Error::from_raw_os_error(13);
        assert_eq!(words_of_system(&known), "you lack the permission");
        let other = io::Error::from_raw_os_error(24);
        assert_eq!(words_of_system(&other), "Too many open files");
        let own = io::Error::other("broken (os error 13)");
        assert_eq!(words_of_system(&own), "broken (os error 13)");
        let message = "a: x (os error 2), y (os error 3)\n  | z (os error 4)\n(os error)";
        let expected = "a: x, y\n  | z (os error 4)\n(os error)";
        assert_eq!(without_system_numbers(message), expected);
    }
}
