//! Text layout for a maximum width: wrapped sentences and plain tables.

/// The display width of a text in terminal columns.
pub(crate) trait Width {
    fn width(&self) -> usize;
}

impl Width for str {
    // When the compiler inlined this into all callers, it took 1/15 of the compile time of this
    // crate.
    #[inline(never)]
    fn width(&self) -> usize {
        unicode_width::UnicodeWidthStr::width(self)
    }
}

/// Spaces between two columns of a table.
pub(crate) const GAP: usize = 2;

/// Units, which stay on the same line as the number before them.
const UNITS: [&str; 15] = [
    "ns", "us", "µs", "ms", "s", "min", "h", "B", "KiB", "MiB", "GiB", "ticks", "MHz", "GHz", "°C",
];

/// Wraps `text` into lines of at most `width` columns. The first line begins with `prefix`, and the
/// others are indented to the same column. A number and its unit stay together.
pub(crate) fn wrap(prefix: &str, text: &str, width: usize) -> String {
    let indent = prefix.width();
    let room = width.saturating_sub(indent).max(8);
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    // The width is added up because a line may be as long as the whole text if the output is not a
    // terminal.
    let mut taken = 0;
    for word in words(text) {
        for piece in pieces(&word, room) {
            let columns = piece.width();
            if line.is_empty() {
                line = piece;
                taken = columns;
            } else if taken + 1 + columns <= room {
                line.push(' ');
                line.push_str(&piece);
                taken += 1 + columns;
            } else {
                lines.push(std::mem::replace(&mut line, piece));
                taken = columns;
            }
        }
    }
    lines.push(line);
    let hanging = format!("\n{}", " ".repeat(indent));
    format!("{prefix}{}\n", lines.join(&hanging))
}

/// Like [`wrap`], but never cuts a word, however narrow the width, so that users can copy paths.
pub(crate) fn wrap_whole(prefix: &str, text: &str, width: usize) -> String {
    let longest = words(text).iter().map(|word| word.width()).max();
    wrap(
        prefix,
        text,
        width.max(prefix.width() + longest.unwrap_or(0)),
    )
}

/// Splits a text into words; a number and its unit are one word.
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

/// The maximum width of a character in columns.
const MOST_COLUMNS: usize = 4;

fn pieces(word: &str, room: usize) -> Vec<String> {
    if word.width() <= room {
        return vec![word.to_owned()];
    }
    let mut pieces = Vec::new();
    let mut piece = String::new();
    // Measures the whole piece only when its width may be near the limit. Adjacent characters may
    // join, so the width of a piece is not the sum of its characters, and measuring 100,000
    // characters after each one would be slow.
    let mut at_most = 0;
    for character in word.chars() {
        let end = piece.len();
        piece.push(character);
        at_most += MOST_COLUMNS;
        if at_most > room && end > 0 {
            at_most = piece.width();
            if at_most > room {
                pieces.push(piece[..end].to_owned());
                piece = character.to_string();
                at_most = MOST_COLUMNS;
            }
        }
    }
    pieces.push(piece);
    pieces
}

/// Formats a table without borders, indented, and at most `width` columns wide if its cells can be
/// broken. `aligned` has an `l` or an `r` for every column. The first row contains the heads.
pub(crate) fn table(rows: &[Vec<String>], aligned: &str, indent: usize, width: usize) -> String {
    let widest = |index: usize, width_of: &dyn Fn(&str) -> usize, rows: &[Vec<String>]| {
        let cells = rows.iter().filter_map(|row| row.get(index));
        cells.map(|cell| width_of(cell)).max().unwrap_or(0)
    };
    let columns = 0..aligned.len();
    let natural: Vec<usize> = (columns.clone())
        .map(|index| widest(index, &|cell| cell.width(), rows))
        .collect();
    let longest_word = |cell: &str| cell.split(' ').map(|word| word.width()).max().unwrap_or(0);
    let least = |rows: &[Vec<String>]| -> Vec<usize> {
        let words = columns
            .clone()
            .map(|index| widest(index, &longest_word, rows));
        words.collect()
    };
    let room = width.saturating_sub(indent + GAP * natural.len().saturating_sub(1));
    let all_words = least(rows);
    let least = match all_words.iter().sum::<usize>() <= room {
        true => all_words,
        false => least(&rows[..rows.len().min(1)]),
    };
    let widths = fitted(&natural, &least, room);
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

/// Returns column widths that together fit into `room`, if possible. Narrow columns keep their
/// natural width, and the others share the rest. No column is narrower than the longest word of its
/// head, unless `room` is too small for all heads.
fn fitted(natural: &[usize], least: &[usize], room: usize) -> Vec<usize> {
    if natural.iter().sum::<usize>() <= room {
        return natural.to_vec();
    }
    let heads_fit = least.iter().sum::<usize>() <= room;
    let at = |level: usize| -> Vec<usize> {
        let least = least.iter().map(|least| if heads_fit { *least } else { 1 });
        let columns = natural.iter().zip(least);
        columns
            .map(|(natural, least)| level.clamp(least.max(1), (*natural).max(least).max(1)))
            .collect()
    };
    let (mut fits, mut above) = (0, room + 1);
    while above - fits > 1 {
        let level = fits.midpoint(above);
        if at(level).iter().sum::<usize>() <= room {
            fits = level;
        } else {
            above = level;
        }
    }
    let mut widths = at(fits);
    let mut more = room.saturating_sub(widths.iter().sum());
    for (width, natural) in widths.iter_mut().zip(natural) {
        let wider = usize::from(more > 0 && *width < *natural);
        *width += wider;
        more -= wider;
    }
    widths
}

/// Breaks a cell into lines of at most `width` columns, between words if possible.
fn broken(cell: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut taken = 0;
    for word in cell.split(' ') {
        for piece in pieces(word, width.max(1)) {
            let columns = piece.width();
            let last = lines.len() - 1;
            let line = &mut lines[last];
            if line.is_empty() {
                *line = piece;
                taken = columns;
            } else if taken + 1 + columns <= width {
                line.push(' ');
                line.push_str(&piece);
                taken += 1 + columns;
            } else {
                lines.push(piece);
                taken = columns;
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
        assert_eq!(fitted(&[4, 40, 60], &[1, 1, 1], 50), [4, 23, 23]);
        assert_eq!(fitted(&[4, 40, 60], &[1, 1, 1], 53), [4, 25, 24]);
        assert_eq!(fitted(&[4, 10, 60], &[4, 4, 4], 80), [4, 10, 60]);
        assert_eq!(fitted(&[9, 9], &[2, 2], 0), [1, 1]);
        assert_eq!(fitted(&[], &[], 80), [0; 0]);
    }

    #[test]
    fn words_of_heads_are_whole_if_all_of_them_fit() {
        assert_eq!(fitted(&[30, 10, 30], &[1, 10, 1], 28), [9, 10, 9]);
        assert_eq!(fitted(&[10, 90], &[10, 4], 20), [10, 10]);
        let rows = [["part: host", "replicates"], ["one", "6"]];
        let rows = rows.map(|row| row.map(str::to_owned).to_vec());
        let shown = table(&rows, "lr", 0, 18);
        assert!(shown.contains("replicates"), "{shown}");
        assert!(shown.lines().all(|line| line.width() <= 18), "{shown}");
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
