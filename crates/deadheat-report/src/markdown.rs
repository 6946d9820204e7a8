//! An answer in GitHub-flavoured Markdown: a document of any length, or a comment that stays below
//! GitHub's length limit.

use crate::document::{
    Block, Cell, Content, Entry, Kind, Part, Row, Severity, Table, Tone, VerdictLine,
};
use crate::glyphs::Glyphs;
use crate::names::shorten;
use crate::units::counted;

/// Maximum width, in columns, of a name in a table.
const NAME_AT_MOST: usize = 100;

/// Characters reserved for the sentence about omitted items.
const RESERVE: usize = 400;

/// The Markdown of a block: items between an opening and a closing text. A pull-request comment may
/// omit some of the items.
struct Piece {
    open: String,
    items: Vec<String>,
    close: String,
    needed: bool,
    nouns: (&'static str, &'static str),
}

/// Formats blocks as Markdown, without a length limit.
pub fn document(blocks: &[Block<'_>]) -> String {
    let whole = |piece: Piece| format!("{}{}{}", piece.open, piece.items.concat(), piece.close);
    let parts = pieces(blocks).into_iter().map(whole);
    parts.collect::<Vec<_>>().join("\n")
}

/// Formats blocks as Markdown of at most `at_most` characters. Blocks marked as needed come first,
/// then the others in their order. A sentence at the end counts the omitted items.
pub(crate) fn comment(blocks: &[Block<'_>], at_most: usize) -> String {
    limited(&pieces(blocks), at_most)
}

fn limited(pieces: &[Piece], at_most: usize) -> String {
    let mut room = at_most.saturating_sub(RESERVE);
    let mut shown = vec![0; pieces.len()];
    for needed in [true, false] {
        let turn = pieces.iter().zip(&mut shown);
        for (piece, shown) in turn.filter(|(piece, _)| piece.needed == needed) {
            *shown = fitting(piece, &mut room);
        }
    }
    let mut parts: Vec<String> = Vec::new();
    let mut missing: Vec<String> = Vec::new();
    for (piece, shown) in pieces.iter().zip(shown) {
        if shown > 0 {
            let items = piece.items[..shown].concat();
            parts.push(format!("{}{items}{}", piece.open, piece.close));
        }
        let more = (piece.items.len() - shown) as u64;
        if more > 0 {
            missing.push(counted(more, piece.nouns.0, piece.nouns.1));
        }
    }
    if !missing.is_empty() {
        parts.push(format!(
            "The comment is at its size limit, so it leaves out {}; `deadheat report` shows \
             everything.\n",
            missing.join(", ")
        ));
    }
    parts.join("\n")
}

/// Returns the length in UTF-16 units, the largest count that GitHub may use.
fn length(text: &str) -> usize {
    text.encode_utf16().count()
}

/// Returns the number of items of a piece that fit into `room`, and reduces `room` by their length.
fn fitting(piece: &Piece, room: &mut usize) -> usize {
    // The empty line between two pieces counts as well.
    let around = length(&piece.open) + length(&piece.close) + 1;
    let Some(mut left) = room.checked_sub(around) else {
        return 0;
    };
    let mut count = 0;
    for item in &piece.items {
        match left.checked_sub(length(item)) {
            Some(rest) => (left, count) = (rest, count + 1),
            None => break,
        }
    }
    if count > 0 {
        *room = left;
    }
    count
}

fn pieces(blocks: &[Block<'_>]) -> Vec<Piece> {
    let pieces = blocks.iter().flat_map(|block| of_block(block, false));
    pieces.filter(|piece| !piece.items.is_empty()).collect()
}

/// Returns the pieces of a block; `folded` is true if the block is inside a fold.
fn of_block(block: &Block<'_>, folded: bool) -> Vec<Piece> {
    let piece = |open: String, items: Vec<String>| Piece {
        open,
        items,
        close: String::new(),
        needed: block.needed,
        nouns: block.nouns,
    };
    let text = |text: String| vec![piece(String::new(), vec![format!("{text}\n")])];
    let list = |items: &mut dyn Iterator<Item = String>| {
        let items = items.map(|item| format!("- {item}\n"));
        vec![piece(String::new(), items.collect())]
    };
    match &block.content {
        Content::Heading(level, title) => text(format!(
            "{} {}",
            "#".repeat(usize::from(*level)),
            prose(title)
        )),
        Content::Headline(tally, effort) => {
            let effort = effort.iter().map(|effort| format!("\n\n{effort}"));
            text(format!(
                "**deadheat**: {}{}",
                prose(tally),
                effort.collect::<String>()
            ))
        }
        Content::Gate {
            is_open,
            title,
            passed,
            broken,
        } => {
            let mark = if *is_open { "✔" } else { "✘" };
            let passed = passed.iter().map(|passed| format!(": {}", prose(passed)));
            let title = format!("{mark} **{title}**{}\n", passed.collect::<String>());
            let mut items = vec![if broken.is_empty() {
                title
            } else {
                title + "\n"
            }];
            items.extend(broken.iter().map(|hit| {
                let excuse = hit
                    .excuse
                    .iter()
                    .map(|excuse| format!(", {}", prose(excuse)));
                let excuse: String = excuse.collect();
                format!("- {}: {}{excuse}\n", codes(&hit.names), code(&hit.rule))
            }));
            vec![piece(String::new(), items)]
        }
        Content::Paragraph(paragraph, _) | Content::Closing(paragraph) => text(prose(paragraph)),
        Content::Titled(names, title) if names.is_empty() => text(prose(title)),
        Content::Titled(names, title) => text(format!("{}: {}", codes(names), prose(title))),
        Content::Verdicts(verdicts) => list(&mut verdicts.iter().map(verdict)),
        Content::Table(table) => tables(table, &piece),
        Content::Notes(notes) => {
            let word = |severity| match severity {
                Severity::Alarm => "",
                Severity::Warning => "**warning:** ",
                Severity::Note => "**note:** ",
            };
            let line_of = |note: &crate::document::Note| {
                let place = note.place.iter().map(|place| format!("{}: ", code(place)));
                let place: String = place.collect();
                format!("{}{place}{}", word(note.severity), prose(&note.text))
            };
            let (alarms, others): (Vec<_>, Vec<_>) = notes
                .iter()
                .partition(|note| folded || note.severity == Severity::Alarm);
            let mut pieces = list(&mut alarms.into_iter().map(line_of));
            let quoted = others.iter().enumerate().map(|(index, note)| {
                let gap = if index > 0 { ">\n" } else { "" };
                format!("{gap}> {}\n", line_of(note))
            });
            pieces.push(piece(String::new(), quoted.collect()));
            pieces
        }
        Content::Entry(entry) => list(&mut std::iter::once(self::entry(entry))),
        Content::List(items) => list(&mut items.iter().map(|item| prose(item))),
        Content::Facts(_, facts) => {
            let facts = facts.iter();
            list(&mut facts.map(|(name, value)| format!("{}: {}", prose(name), prose(value))))
        }
        Content::Section(title, blocks) => {
            let mut pieces = text(format!("### {}", code(title)));
            pieces.extend(blocks.iter().flat_map(|block| of_block(block, folded)));
            pieces
        }
        Content::Fold(summary, blocks) => {
            let mut inner: Vec<Piece> = blocks.iter().flat_map(|one| of_block(one, true)).collect();
            inner.retain(|piece| !piece.items.is_empty());
            let (open, items, close) = match <[Piece; 1]>::try_from(inner) {
                Ok([only]) => (only.open, only.items, only.close),
                Err(several) => {
                    let whole = |(index, piece): (usize, Piece)| {
                        let gap = if index > 0 { "\n" } else { "" };
                        format!("{gap}{}{}{}", piece.open, piece.items.concat(), piece.close)
                    };
                    let items = several.into_iter().enumerate().map(whole);
                    (String::new(), items.collect(), String::new())
                }
            };
            vec![Piece {
                close: format!("{close}\n</details>\n"),
                ..piece(summarised(summary) + &open, items)
            }]
        }
        // Plots made of characters need a font of fixed width.
        Content::Plot(_) => Vec::new(),
        Content::Code(command) => {
            let longest = command.split(|c| c != '`').map(str::len).max().unwrap_or(0);
            let fence = "`".repeat(longest.max(2) + 1);
            vec![piece(
                String::new(),
                vec![format!("{fence}sh\n{command}\n{fence}\n")],
            )]
        }
    }
}

fn summarised(summary: &str) -> String {
    format!("<details><summary>{}</summary>\n\n", prose(summary))
}

fn verdict(one: &VerdictLine) -> String {
    let names = if one.names.is_empty() {
        String::new()
    } else {
        format!("{}: ", codes(&one.names))
    };
    let strong = match one.sentence.strong.as_str() {
        "" => String::new(),
        strong => format!("**{}**", prose(strong)),
    };
    let quiet = one.sentence.parenthesis();
    let details = one.details.iter();
    let details = details.map(|detail| format!("\n  - {}", prose(detail)));
    format!(
        "{names}{strong}{}{}{}",
        prose(&quiet),
        prose(&one.sentence.rest),
        details.collect::<String>()
    )
}

fn entry(entry: &Entry) -> String {
    let parts = entry.parts.iter().map(|part| match part {
        Part::Words(words) => format!(" {}", prose(words)),
        Part::Command(command) => format!(" {}", code(command)),
    });
    format!("**{}**{}", prose(&entry.lead), parts.collect::<String>())
}

fn codes(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| code(name)).collect();
    names.join(", ")
}

/// Returns the table. If it has many rows, the unchanged rows are in a second, folded table.
fn tables(table: &Table<'_>, piece: &dyn Fn(String, Vec<String>) -> Piece) -> Vec<Piece> {
    let totals = |row: &&Row<'_>| row.cells[0].tone == Some(Tone::Total);
    let count = table.rows.len() - table.rows.iter().filter(totals).count();
    let Some((_, kept)) = table.folds.filter(|(open, _)| count > *open) else {
        return vec![piece(
            head(table),
            table.rows.iter().map(|one| row(table, one)).collect(),
        )];
    };
    let (open, rest): (Vec<&Row>, Vec<&Row>) = table.rows.iter().partition(|row| row.changed);
    let rows = |rows: &[&Row<'_>]| rows.iter().map(|one| row(table, one)).collect();
    let title = format!("{}{kept}", counted(rest.len() as u64, "row", "rows"));
    vec![
        piece(head(table), rows(&open)),
        Piece {
            close: "\n</details>\n".to_owned(),
            needed: false,
            nouns: ("row that did not change", "rows that did not change"),
            ..piece(summarised(&title) + &head(table), rows(&rest))
        },
    ]
}

fn head(table: &Table<'_>) -> String {
    let heads = table.columns.iter().map(|column| prose(&column.head));
    let rules = table.columns.iter();
    let rules = rules.map(|column| {
        if column.kind.to_the_left() {
            ":---|"
        } else {
            "---:|"
        }
    });
    format!("{}|{}\n", line(heads), rules.collect::<String>())
}

fn row(table: &Table<'_>, row: &Row<'_>) -> String {
    let cells = row.cells.iter().zip(&table.columns);
    line(cells.map(|(cell, column)| shown(cell, column.kind)))
}

fn shown(cell: &Cell, kind: Kind) -> String {
    match kind {
        Kind::Name if cell.tone == Some(Tone::Total) => format!("**{}**", cell.text),
        Kind::Name | Kind::Contender if !cell.text.is_empty() => {
            code(&shorten(&cell.text, NAME_AT_MOST, Glyphs::Unicode))
        }
        // Brackets around an interval are safe, because no link target follows them.
        Kind::Number => prose(&cell.text)
            .replace("&#91;", "[")
            .replace("&#93;", "]"),
        Kind::Name | Kind::Contender | Kind::Words => prose(&cell.text),
    }
}

fn line(cells: impl Iterator<Item = String>) -> String {
    let cells = cells.map(|cell| match cell.as_str() {
        "" => " |".to_owned(),
        cell => format!(" {cell} |"),
    });
    format!("|{}\n", cells.collect::<String>())
}

/// Formats a name as code. Names with characters that could end the code or the table cell use
/// entities; other names use backticks, which are easier to read.
fn code(name: &str) -> String {
    let risky = |c: char| matches!(c, '`' | '|' | '\\' | '<' | '>' | '&');
    if name.is_empty() {
        String::new()
    } else if name.contains(risky) || name.starts_with(' ') || name.ends_with(' ') {
        format!("<code>{}</code>", prose(name))
    } else {
        format!("`{name}`")
    }
}

/// Escapes all markup, so that the text cannot open a tag, a link, a table cell or emphasis, and
/// cannot notify GitHub users by `@name`. URLs do not become links, because names come from
/// untrusted files.
fn prose(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for (at, character) in text.char_indices() {
        match character {
            '`' | '|' | '\\' | '<' | '>' | '&' | '*' | '_' | '[' | ']' | '~' | '$' | '#' => {
                safe += &format!("&#{};", u32::from(character));
            }
            '@' => safe += "@<!-- -->",
            ':' if text[at..].starts_with("://") => safe += ":<!-- -->",
            '.' if ends_with_www(&text[..at]) => safe += "<!-- -->.",
            other => safe.push(other),
        }
    }
    safe
}

fn ends_with_www(text: &str) -> bool {
    let end = text.len().checked_sub(3).and_then(|at| text.get(at..));
    end.is_some_and(|end| end.eq_ignore_ascii_case("www"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_names_are_readable_code() {
        assert_eq!(code("./new --level=9"), "`./new --level=9`");
    }

    #[test]
    fn addresses_do_not_become_links() {
        for (text, expected) in [
            ("see https://a.example", "see https:<!-- -->//a.example"),
            ("WWW.a.example", "WWW<!-- -->.a.example"),
            ("a:b c.d", "a:b c.d"),
        ] {
            assert_eq!(prose(text), expected);
        }
    }

    #[test]
    fn names_cannot_break_out_of_their_cell() {
        for name in ["a|b", "a`b", "a\\|b", "<script>", "a&lt;b", "``"] {
            let code = code(name);
            let inside = &code["<code>".len()..code.len() - "</code>".len()];
            assert!(
                !inside.contains(['|', '`', '\\', '<', '>']),
                "{name} became {code}"
            );
        }
    }

    fn piece(name: &'static str, count: usize) -> Piece {
        Piece {
            open: format!("{name}\n"),
            items: (0..count)
                .map(|number| format!("- {number:06}\n"))
                .collect(),
            close: "end\n".to_owned(),
            needed: name == "b",
            nouns: ("line", "lines"),
        }
    }

    #[test]
    fn what_fits_is_whole_and_nothing_is_missing() {
        let text = limited(&[piece("a", 2), piece("b", 0), piece("c", 1)], 10_000);
        assert_eq!(text, "a\n- 000000\n- 000001\nend\n\nc\n- 000000\nend\n");
    }

    #[test]
    fn needed_blocks_find_room_before_others_and_keep_their_place() {
        let text = limited(&[piece("a", 90), piece("b", 2)], 500);
        assert!(text.starts_with("a\n"), "{text}");
        assert!(text.contains("b\n- 000000\n- 000001\nend\n"), "{text}");
        assert!(text.contains("leaves out 8"), "{text}");
    }

    #[test]
    fn what_finds_no_room_is_counted_and_no_block_is_left_open() {
        for at_most in [0, 100, 401, 420, 500, 1000, 2000] {
            let text = limited(&[piece("a", 30), piece("b", 90)], at_most);
            assert!(length(&text) <= at_most.max(RESERVE), "{text}");
            assert_eq!(
                text.matches("end\n").count(),
                text.lines()
                    .filter(|line| ["a", "b"].contains(line))
                    .count()
            );
            let shown = text.matches("- ").count();
            assert!(shown == 120 || text.contains("leaves out"), "{text}");
        }
    }
}
