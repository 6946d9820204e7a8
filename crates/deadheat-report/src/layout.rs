//! Lines of text that keep to a width: wrapped sentences and plain tables.

use std::ops::Range;

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use unicode_width::UnicodeWidthStr;

/// Spaces between two columns of a table.
pub(crate) const GAP: usize = 2;

/// Words that belong to the number before them.
const UNITS: [&str; 16] = [
    "%", "ns", "us", "µs", "ms", "s", "min", "h", "B", "KiB", "MiB", "GiB", "ticks", "MHz", "GHz",
    "°C",
];

/// `text` in lines of at most `width` columns. The first begins with `prefix`,
/// the others are indented as far; a number and its unit stay together.
pub(crate) fn wrap(prefix: &str, text: &str, width: usize) -> String {
    let indent = prefix.width();
    let room = width.saturating_sub(indent).max(8);
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    for word in words(text) {
        for piece in pieces(&word, room) {
            if line.is_empty() {
                line = piece;
            } else if line.width() + 1 + piece.width() <= room {
                line.push(' ');
                line.push_str(&piece);
            } else {
                lines.push(std::mem::replace(&mut line, piece));
            }
        }
    }
    lines.push(line);
    let hanging = format!("\n{}", " ".repeat(indent));
    format!("{prefix}{}\n", lines.join(&hanging))
}

/// The words of a text; a number and its unit are one.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let bare = word.trim_end_matches([',', '.', ';', ':', ')', ']']);
        match words.last_mut() {
            Some(last) if UNITS.contains(&bare) && last.ends_with(|c: char| c.is_ascii_digit()) => {
                last.push(' ');
                last.push_str(word);
            }
            _ => words.push(word.to_owned()),
        }
    }
    words
}

/// The word, cut where it is too long for any line.
fn pieces(word: &str, room: usize) -> Vec<String> {
    if word.width() <= room {
        return vec![word.to_owned()];
    }
    let mut pieces = vec![String::new()];
    for character in word.chars() {
        let last = pieces.len() - 1;
        let longer = format!("{}{character}", pieces[last]);
        if longer.width() <= room || pieces[last].is_empty() {
            pieces[last] = longer;
        } else {
            pieces.push(character.to_string());
        }
    }
    pieces
}

/// A table without borders, indented, at most `width` columns where its cells
/// can be broken. `aligned` has an `l` or an `r` for every column.
pub(crate) fn table(
    header: &[&str],
    rows: &[Vec<String>],
    aligned: &str,
    indent: usize,
    width: usize,
) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_content_arrangement(ContentArrangement::Dynamic);
    // The gap behind the last column is trimmed, so it does not count.
    let room = width.saturating_sub(indent).saturating_add(GAP);
    table.set_width(u16::try_from(room).unwrap_or(u16::MAX));
    table.set_header(header.iter().copied());
    for row in rows {
        table.add_row(row.iter());
    }
    for (column, side) in table.column_iter_mut().zip(aligned.chars()) {
        column.set_padding((0, GAP as u16));
        column.set_cell_alignment(match side {
            'l' => CellAlignment::Left,
            _ => CellAlignment::Right,
        });
    }
    let margin = " ".repeat(indent);
    let mut text = String::new();
    for line in table.lines() {
        text.push_str(format!("{margin}{line}").trim_end());
        text.push('\n');
    }
    text
}

/// The width these columns of a table need, gaps included.
pub(crate) fn width_of(header: &[&str], rows: &[Vec<String>], columns: Range<usize>) -> usize {
    columns
        .map(|column| {
            let cells = rows.iter().map(|row| row[column].width());
            GAP + cells.chain([header[column].width()]).max().unwrap_or(0)
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrapped_lines_hang_behind_their_prefix() {
        assert_eq!(
            wrap("note: ", "one two three four five", 16),
            "note: one two\n      three four\n      five\n"
        );
    }

    #[test]
    fn a_number_is_not_parted_from_its_unit() {
        assert_eq!(
            wrap("", "slower by 10.1 %, or so", 14),
            "slower by\n10.1 %, or so\n"
        );
    }

    #[test]
    fn a_word_too_long_for_any_line_is_cut() {
        let text = wrap("> ", &"x".repeat(25), 12);
        assert_eq!(text, format!("> {0}\n  {0}\n  xxxxx\n", "x".repeat(10)));
    }

    #[test]
    fn a_table_stays_in_its_width_and_leaves_no_trailing_space() {
        let rows = vec![vec!["a name of many words".to_owned(), "12".to_owned()]];
        let text = table(&["name", "samples"], &rows, "lr", 2, 20);
        for line in text.lines() {
            assert!(line.width() <= 20, "{text}");
            assert_eq!(line.trim_end(), line);
        }
    }
}
