//! Text that must not become longer than a comment may be: blocks of items,
//! of which those that find no room are counted.

use crate::units::counted;

/// What belongs together: a table and its rows, a list and its lines.
pub(super) struct Block {
    pub(super) open: String,
    pub(super) items: Vec<String>,
    pub(super) close: String,
    /// Whether it gets its room before others.
    pub(super) needed: bool,
    /// What an item is called: one, and several.
    pub(super) called: (&'static str, &'static str),
}

/// Characters kept free for the sentence about what is missing.
const RESERVE: usize = 400;

/// Length as GitHub counts it at worst.
fn length(text: &str) -> usize {
    text.encode_utf16().count()
}

/// The blocks one below the other, in at most so many characters. Room goes to
/// the needed ones first, then to the others in their order; what is left out
/// is told at the end.
pub(super) fn joined(blocks: &[Block], at_most: usize) -> String {
    let mut room = at_most.saturating_sub(RESERVE);
    let mut shown = vec![0; blocks.len()];
    for needed in [true, false] {
        let turn = blocks.iter().zip(&mut shown);
        for (block, shown) in turn.filter(|(block, _)| block.needed == needed) {
            *shown = fitting(block, &mut room);
        }
    }
    let mut parts: Vec<String> = Vec::new();
    let mut missing: Vec<String> = Vec::new();
    for (block, shown) in blocks.iter().zip(shown) {
        if shown > 0 {
            let items = block.items[..shown].concat();
            parts.push(format!("{}{items}{}", block.open, block.close));
        }
        let more = (block.items.len() - shown) as u64;
        if more > 0 {
            missing.push(counted(more, block.called.0, block.called.1));
        }
    }
    if !missing.is_empty() {
        parts.push(format!(
            "A comment holds no more, so there is no room for {}; `deadheat report` shows all of \
             it.\n",
            missing.join(", ")
        ));
    }
    parts.join("\n")
}

/// How many items of a block find room, which they take.
fn fitting(block: &Block, room: &mut usize) -> usize {
    // The line between two blocks counts as well.
    let around = length(&block.open) + length(&block.close) + 1;
    let Some(mut left) = room.checked_sub(around) else {
        return 0;
    };
    let mut count = 0;
    for item in &block.items {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn block(name: &'static str, count: usize) -> Block {
        Block {
            open: format!("{name}\n"),
            items: (0..count)
                .map(|number| format!("- {number:06}\n"))
                .collect(),
            close: "end\n".to_owned(),
            needed: name == "b",
            called: ("line", "lines"),
        }
    }

    #[test]
    fn what_fits_is_whole_and_nothing_is_told() {
        let text = joined(&[block("a", 2), block("b", 0), block("c", 1)], 10_000);
        assert_eq!(text, "a\n- 000000\n- 000001\nend\n\nc\n- 000000\nend\n");
    }

    #[test]
    fn needed_blocks_find_room_before_others_and_keep_their_place() {
        let text = joined(&[block("a", 90), block("b", 2)], 500);
        assert!(text.starts_with("a\n"), "{text}");
        assert!(text.contains("b\n- 000000\n- 000001\nend\n"), "{text}");
        assert!(text.contains("no room for 8"), "{text}");
    }

    #[test]
    fn what_finds_no_room_is_counted_and_no_block_is_left_open() {
        for at_most in [0, 100, 401, 420, 500, 1000, 2000] {
            let text = joined(&[block("a", 30), block("b", 90)], at_most);
            assert!(length(&text) <= at_most.max(RESERVE), "{text}");
            assert_eq!(
                text.matches("end\n").count(),
                text.lines()
                    .filter(|line| ["a", "b"].contains(line))
                    .count()
            );
            let shown = text.matches("- ").count();
            assert!(shown == 120 || text.contains("no room for"), "{text}");
        }
    }
}
