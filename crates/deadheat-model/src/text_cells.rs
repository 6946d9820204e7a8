//! Names and other texts as cells of a table: spreadsheets, terminals and CI runners do not execute
//! them, and readers get the original text back.

use std::borrow::Cow;
use std::fmt::Write;

/// The form of texts in the cells of a table that users open in a spreadsheet, or print in a
/// terminal or a CI log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TextCells {
    /// Puts an apostrophe before a text that a spreadsheet would run as a formula, and escapes
    /// control characters and workflow commands. Names of benchmarks are not trusted: one may be
    /// `=HYPERLINK(…)`.
    #[default]
    Guarded,
    /// Writes a text unchanged.
    Exact,
}

impl TextCells {
    /// Returns a text as the content of a cell.
    pub fn cell(self, text: &str) -> Cow<'_, str> {
        match self {
            TextCells::Exact => text.into(),
            TextCells::Guarded if is_obeyed(text) => escaped(text).into(),
            TextCells::Guarded if needs_apostrophe(text) => format!("'{text}").into(),
            TextCells::Guarded => text.into(),
        }
    }
}

/// Returns the original text of a cell, whether or not the cell was escaped; the reverse of
/// [`TextCells::cell`].
pub fn text_of_cell(cell: &str) -> Cow<'_, str> {
    if let Some(text) = cell.strip_prefix('\'')
        && needs_apostrophe(text)
    {
        return text.into();
    }
    // A text of another tool may begin with a backslash that escapes nothing; it stays unchanged.
    let text = cell.strip_prefix('\\').and_then(unescaped);
    match text.filter(|text| is_obeyed(text)) {
        Some(text) => text.into(),
        None => cell.into(),
    }
}

/// Returns true if a runner of GitHub Actions would execute a line as a workflow command because of
/// its beginning. The runner also executes [`ORDERS`] within a line.
pub fn is_workflow_command(line: &str) -> bool {
    line.trim_start().starts_with("::")
}

/// The texts that runners of GitHub, Azure and TeamCity execute anywhere in a line.
pub const ORDERS: [&str; 3] = ["##[", "##vso[", "##teamcity["];

/// Returns true if a spreadsheet may run a text as a formula, or if [`text_of_cell`] would change
/// it.
fn needs_apostrophe(text: &str) -> bool {
    let text = text.trim_start_matches(['\'', '"', ' ']);
    text.starts_with(begins_a_formula) || text.starts_with(['\t', '\r', '\n', '\\'])
}

/// Returns true for ASCII characters that begin a formula, and for their full-width forms, which
/// East Asian spreadsheets treat alike.
fn begins_a_formula(character: char) -> bool {
    matches!(character, '=' | '+' | '-' | '@' | '＝' | '＋' | '－' | '＠')
}

/// Returns true if `text` begins with a semicolon or tab that is followed by a formula. Some
/// spreadsheets split lines there (at semicolons where the comma is the decimal sign), and would
/// run what follows.
fn splits_before_a_formula(text: &str) -> bool {
    let next = text
        .strip_prefix(SEPARATORS)
        .map(|rest| rest.trim_start_matches('"'));
    next.is_some_and(|rest| rest.starts_with(begins_a_formula))
}

/// The separators of columns in spreadsheets, except the comma.
const SEPARATORS: [char; 2] = [';', '\t'];

fn is_obeyed(text: &str) -> bool {
    text.contains(is_hidden)
        || text.lines().any(is_workflow_command)
        || ORDERS.iter().any(|order| text.contains(order))
        || (text.match_indices(SEPARATORS)).any(|(at, _)| splits_before_a_formula(&text[at..]))
}

/// Returns true for characters that move the cursor, change the colour or reverse the reading
/// direction, and for invisible characters, which could hide the start of a formula.
pub fn is_hidden(character: char) -> bool {
    match character {
        '\n' | '\t' => false,
        '\u{ad}' | '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{feff}' => true,
        '\u{200b}' | '\u{2060}'..='\u{2064}' | '\u{e0000}'..='\u{e007f}' => true,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            true
        }
        _ => character.is_control(),
    }
}

/// Returns a backslash, followed by the text with escapes for backslashes, control characters, the
/// first character of a workflow command or of one of [`ORDERS`], and semicolons and tabs before a
/// formula.
fn escaped(text: &str) -> String {
    let mut safe = String::from('\\');
    for line in text.split_inclusive('\n') {
        let command = is_workflow_command(line).then(|| line.len() - line.trim_start().len());
        for (at, character) in line.char_indices() {
            match character {
                '\\' => safe += r"\\",
                _ if is_hidden(character)
                    || Some(at) == command
                    || ORDERS.iter().any(|order| line[at..].starts_with(order))
                    || splits_before_a_formula(&line[at..]) =>
                {
                    let _ = write!(safe, r"\u{{{:x}}}", u32::from(character));
                }
                _ => safe.push(character),
            }
        }
    }
    safe
}

/// Reverses [`escaped`]. `cell` must not include the backslash at the beginning. Returns `None` if
/// an escape is invalid.
fn unescaped(cell: &str) -> Option<String> {
    let mut text = String::with_capacity(cell.len());
    let mut rest = cell;
    while let Some(at) = rest.find('\\') {
        text += &rest[..at];
        rest = &rest[at + 1..];
        if let Some(behind) = rest.strip_prefix('\\') {
            text.push('\\');
            rest = behind;
        } else {
            let (digits, behind) = rest.strip_prefix("u{")?.split_once('}')?;
            text.push(char::from_u32(u32::from_str_radix(digits, 16).ok()?)?);
            rest = behind;
        }
    }
    Some(text + rest)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_a_spreadsheet_would_run_gets_an_apostrophe_unless_it_must_be_exact() {
        for (text, guarded) in [
            ("=1+1", "'=1+1"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("-O3", "'-O3"),
            ("\t1", "'\t1"),
            ("＝1+1", "'＝1+1"),
            ("＠SUM(A1)", "'＠SUM(A1)"),
            ("'=1", "''=1"),
            ("'sort'", "'sort'"),
            ("sort -n", "sort -n"),
            (r"\u{1b}", r"'\u{1b}"),
            ("sort \\\n -n", "sort \\\n -n"),
        ] {
            assert_eq!(TextCells::Guarded.cell(text), guarded);
            assert_eq!(TextCells::Exact.cell(text), text);
            assert_eq!(text_of_cell(guarded), text);
        }
    }

    #[test]
    fn what_a_terminal_or_a_runner_of_workflows_would_obey_is_escaped() {
        for (text, guarded) in [
            ("a\u{1b}[31m", r"\a\u{1b}[31m"),
            ("\u{9b}2J", r"\\u{9b}2J"),
            ("a\rb", r"\a\u{d}b"),
            ("\u{202e}a\\b", r"\\u{202e}a\\b"),
            ("::error::a", r"\\u{3a}:error::a"),
            ("a\n ##[group]b", "\\a\n \\u{23}#[group]b"),
            ("a ###[group]b", r"\a #\u{23}#[group]b"),
            ("a ##vso[b]c", r"\a \u{23}#vso[b]c"),
            ("a##teamcity[b]", r"\a\u{23}#teamcity[b]"),
            ("a;=1", r"\a\u{3b}=1"),
            ("a\t=1", r"\a\u{9}=1"),
            ("a;\"-1", r#"\a\u{3b}"-1"#),
            ("a;b;;＋1", r"\a;b;\u{3b}＋1"),
        ] {
            assert_eq!(TextCells::Guarded.cell(text), guarded);
            assert_eq!(TextCells::Exact.cell(text), text);
            assert_eq!(text_of_cell(guarded), text);
        }
    }

    #[test]
    fn a_text_of_another_tool_that_begins_with_a_backslash_stays_as_it_is() {
        for text in [
            r"\\server\share",
            r"\frac",
            r"\",
            r"\a\\b",
            r"\u{61}",
            r"\\u{110000}",
        ] {
            assert_eq!(text_of_cell(text), text);
        }
    }

    proptest! {
        #[test]
        fn every_text_is_found_again_in_its_guarded_cell(
            text in "[-'=+@＝a\t\\\\u{}1b\u{1b}]{0,8}|[:#\n \\[a;=\"]{0,8}|.*"
        ) {
            let cell = TextCells::Guarded.cell(&text);
            prop_assert!(!cell.starts_with(begins_a_formula));
            prop_assert!(!cell.starts_with(['\t', '\r', '\n']));
            prop_assert!(!cell.contains(";=") && !cell.contains(";\"="));
            prop_assert!(!cell.contains(is_hidden));
            prop_assert!(!cell.lines().any(is_workflow_command));
            prop_assert!(!ORDERS.iter().any(|order| cell.contains(order)));
            prop_assert_eq!(text_of_cell(&cell), text.as_str());
        }
    }
}
