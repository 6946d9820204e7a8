//! Lines of text that keep to a width: wrapped sentences and plain tables.

/// Columns of a terminal that a text takes.
pub(crate) trait Width {
    fn width(&self) -> usize;
}

impl Width for str {
    // Inlined into everything that wraps a line, it was a fifteenth of what
    // this crate took to compile.
    #[inline(never)]
    fn width(&self) -> usize {
        unicode_width::UnicodeWidthStr::width(self)
    }
}

/// Spaces between two columns of a table.
pub(crate) const GAP: usize = 2;

/// Words that belong to the number before them.
const UNITS: [&str; 15] = [
    "ns", "us", "µs", "ms", "s", "min", "h", "B", "KiB", "MiB", "GiB", "ticks", "MHz", "GHz", "°C",
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

/// The same with no word cut, however narrow the width: a path in it can be copied.
pub(crate) fn wrap_whole(prefix: &str, text: &str, width: usize) -> String {
    let longest = words(text).iter().map(|word| word.width()).max();
    wrap(
        prefix,
        text,
        width.max(prefix.width() + longest.unwrap_or(0)),
    )
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
/// can be broken. `aligned` has an `l` or an `r` for every column; the heads are the first row.
pub(crate) fn table(rows: &[Vec<String>], aligned: &str, indent: usize, width: usize) -> String {
    let mut natural = vec![0; aligned.len()];
    for row in rows {
        for (widest, cell) in natural.iter_mut().zip(row) {
            *widest = cell.width().max(*widest);
        }
    }
    let room = width.saturating_sub(indent + GAP * natural.len().saturating_sub(1));
    let widths = fitted(&natural, room);
    let mut text = String::new();
    for row in rows {
        let cells = row.iter().zip(&widths);
        let cells: Vec<Vec<String>> = cells.map(|(cell, width)| broken(cell, *width)).collect();
        for line in 0..cells.iter().map(Vec::len).max().unwrap_or(0) {
            let mut whole = " ".repeat(indent);
            for ((cell, width), side) in cells.iter().zip(&widths).zip(aligned.chars()) {
                let piece = cell.get(line).map_or("", String::as_str);
                let blank = " ".repeat(width.saturating_sub(piece.width()));
                if side == 'l' {
                    whole += &format!("{piece}{blank}");
                } else {
                    whole += &format!("{blank}{piece}");
                }
                whole += &" ".repeat(GAP);
            }
            text.push_str(whole.trim_end());
            text.push('\n');
        }
    }
    text
}

/// Widths of columns that fit into the room together where they can: narrow
/// ones keep what they need, the others share what is left.
fn fitted(natural: &[usize], room: usize) -> Vec<usize> {
    let mut widths: Vec<Option<usize>> = vec![None; natural.len()];
    let (mut left, mut open) = (room, natural.len());
    loop {
        let share = left / open.max(1);
        let narrow =
            (0..natural.len()).find(|one| widths[*one].is_none() && natural[*one] <= share);
        let Some(narrow) = narrow else {
            break;
        };
        widths[narrow] = Some(natural[narrow]);
        left -= natural[narrow];
        open -= 1;
    }
    let (share, mut more) = (left / open.max(1), left % open.max(1));
    let shared = |width: Option<usize>| {
        width.unwrap_or_else(|| {
            let one = usize::from(more > 0);
            more -= one;
            (share + one).max(1)
        })
    };
    widths.into_iter().map(shared).collect()
}

/// A cell in lines of at most `width` columns, broken between words where that is possible.
fn broken(cell: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in cell.split(' ') {
        for piece in pieces(word, width.max(1)) {
            let last = lines.len() - 1;
            let line = &mut lines[last];
            if line.is_empty() {
                *line = piece;
            } else if line.width() + 1 + piece.width() <= width {
                line.push(' ');
                line.push_str(&piece);
            } else {
                lines.push(piece);
            }
        }
    }
    lines
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
            wrap("", "slower by 10.1%, or so", 14),
            "slower by\n10.1%, or so\n"
        );
    }

    #[test]
    fn a_word_too_long_for_any_line_is_cut() {
        let text = wrap("> ", &"x".repeat(25), 12);
        assert_eq!(text, format!("> {0}\n  {0}\n  xxxxx\n", "x".repeat(10)));
    }

    #[test]
    fn narrow_columns_keep_what_they_need_and_wide_ones_share_the_rest() {
        assert_eq!(fitted(&[4, 40, 60], 50), [4, 23, 23]);
        assert_eq!(fitted(&[4, 40, 60], 53), [4, 25, 24]);
        assert_eq!(fitted(&[4, 10, 60], 80), [4, 10, 60]);
        assert_eq!(fitted(&[9, 9], 0), [1, 1]);
        assert_eq!(fitted(&[], 80), [0; 0]);
    }

    #[test]
    fn a_table_stays_in_its_width_and_leaves_no_trailing_space() {
        let rows = [["name", "samples"], ["a name of many words", "12"]];
        let rows = rows.map(|row| row.map(str::to_owned).to_vec());
        let text = table(&rows, "lr", 2, 20);
        for line in text.lines() {
            assert!(line.width() <= 20, "{text}");
            assert_eq!(line.trim_end(), line);
        }
    }
}
