//! Names as they may be shown. They come from command lines and files, so they can hold anything.

use crate::enumeration::texts;
use crate::glyphs::Glyphs;
use crate::layout::Width as _;

/// The text with everything escaped that would move the cursor, change the
/// colour, reverse the reading direction or not be seen at all.
pub fn escape(text: &str, glyphs: Glyphs) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            // Harmless, though Rust would put a backslash before some of them.
            ' '..='~' => safe.push(character),
            _ if glyphs == Glyphs::Ascii => safe.extend(character.escape_default()),
            _ => {
                // A combining mark belongs to the character before it and is part of many scripts.
                // Escaped alone it would be taken apart, so it is judged behind a letter.
                let behind_a_letter = format!("a{character}");
                safe.extend(behind_a_letter.escape_debug().skip(1));
            }
        }
    }
    safe
}

/// A message in which nothing is obeyed by a terminal, nor by a runner of workflows.
///
/// A line break of ours is followed by two spaces. Any other came with a text from outside, and so
/// did one before `::` or `##[`, with which orders to a runner of GitHub begin: these are escaped.
pub fn escape_message(text: &str, glyphs: Glyphs) -> String {
    let mut lines = text.split('\n');
    let mut safe = escape(lines.next().unwrap_or_default(), glyphs);
    for line in lines {
        let order = ["::", "##["].map(|order| line.trim_start().starts_with(order));
        safe += if line.starts_with("  ") && order == [false, false] {
            "\n"
        } else {
            "\\n"
        };
        safe += &escape(line, glyphs);
    }
    safe
}

/// The text cut to `width` columns by leaving out its middle: the program
/// stands at the head and what tells two commands apart often at the tail.
pub fn shorten(text: &str, width: usize, glyphs: Glyphs) -> String {
    if has_room(text, width) {
        return text.to_owned();
    }
    let room = width.saturating_sub(glyphs.ellipsis().width());
    let head = taken(&mut text.chars(), room.div_ceil(2));
    let tail = taken(&mut text.chars().rev(), room / 2);
    let head: String = head.into_iter().collect();
    let tail: String = tail.into_iter().rev().collect();
    format!("{head}{}{tail}", glyphs.ellipsis())
}

/// A text from outside, fit to stand in a sentence or a cell of at most `width` columns.
pub(crate) fn shown(text: &str, width: usize, glyphs: Glyphs) -> String {
    shorten(&escape(text, glyphs), width, glyphs)
}

/// Returns true for a text that need not be shortened to so many columns.
pub(crate) fn has_room(text: &str, width: usize) -> bool {
    // Combining marks have no width, so a name could be narrow and endless.
    text.width() <= width && text.chars().count() <= width.saturating_mul(4)
}

fn taken(characters: &mut dyn Iterator<Item = char>, width: usize) -> Vec<char> {
    let mut room = width;
    characters
        .take(width.saturating_mul(4))
        .take_while(|character| {
            let columns = character.to_string().width();
            let fits = columns <= room;
            room = room.saturating_sub(columns);
            fits
        })
        .collect()
}

/// One label per name: escaped, at most `width` columns, and no two alike.
///
/// A command raced against itself has the same name twice, and two long names
/// may be the same once shortened; then all are numbered.
pub fn labels(names: &[&str], width: usize, glyphs: Glyphs) -> Vec<String> {
    let escaped = texts(names, &|name| match *name {
        "" => "(no name)".to_owned(),
        name => escape(name, glyphs),
    });
    let short = |width| texts(&escaped, &|name| shorten(name, width, glyphs));
    let plain = short(width);
    let alike = |label: &String| plain.iter().filter(|other| *other == label).count() > 1;
    if !plain.iter().any(alike) {
        return plain;
    }
    // All of them, not only those alike: a name may end in "(1)" by itself.
    let digits = names.len().to_string().len();
    let mut labels = short(width.saturating_sub(digits + 3));
    for (index, label) in labels.iter_mut().enumerate() {
        *label += &format!(" ({})", index + 1);
    }
    labels
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_move_the_cursor_or_hide_is_escaped() {
        let hostile = "a\n\t\u{1b}[31m\u{202e}b\u{200b}\u{7f}\u{9b}\u{2028}";
        assert_eq!(
            escape(hostile, Glyphs::Unicode),
            r"a\n\t\u{1b}[31m\u{202e}b\u{200b}\u{7f}\u{9b}\u{2028}"
        );
    }

    #[test]
    fn ordinary_writing_of_any_language_stays_as_it_is() {
        for name in [r#"./a 'b "c" \d"#, "größer", "नमस्ते", "速い", "e\u{301}"] {
            assert_eq!(escape(name, Glyphs::Unicode), name);
        }
        assert_eq!(escape("größer", Glyphs::Ascii), r"gr\u{f6}\u{df}er");
    }

    #[test]
    fn a_message_keeps_its_own_lines_and_no_others() {
        let told = |text: &str| escape_message(text, Glyphs::Unicode);
        assert_eq!(
            told("cannot read x\n  y: größer"),
            "cannot read x\n  y: größer"
        );
        assert_eq!(
            told("no rule 'a\n::error file=x::\u{1b}[2J'"),
            r"no rule 'a\n::error file=x::\u{1b}[2J'"
        );
        for order in [
            "::add-mask::x",
            "\t::error::x",
            "##[error]x",
            "  ::error::x",
        ] {
            let text = told(&format!("a\n  {order}"));
            assert!(!text.contains('\n'), "{text}");
        }
        assert_eq!(told("a\r\n  b\rc"), "a\\r\n  b\\rc");
    }

    #[test]
    fn a_long_name_keeps_its_head_and_its_tail() {
        let short = shorten("./program --input=a.txt --level=9", 20, Glyphs::Unicode);
        assert_eq!(short, "./program …--level=9");
        assert_eq!(short.width(), 20);
        let wide = shorten(&"速".repeat(40), 20, Glyphs::Ascii);
        assert!(wide.width() <= 20, "{wide}");
    }

    #[test]
    fn names_made_of_combining_marks_end() {
        let endless = format!("a{}", "\u{301}".repeat(10_000));
        assert!(shorten(&endless, 10, Glyphs::Unicode).chars().count() < 100);
    }

    #[test]
    fn no_two_labels_are_alike() {
        assert_eq!(
            labels(&["true", "true", "true (1)"], 20, Glyphs::Unicode),
            ["true (1)", "true (2)", "true (1) (3)"]
        );
        let (a, b) = ("x".repeat(500), "x".repeat(600));
        let both = labels(&[&a, &b], 20, Glyphs::Unicode);
        assert_ne!(both[0], both[1]);
        assert!(both.iter().all(|label| label.width() <= 20), "{both:?}");
    }
}
