//! Characters that pictures are made of, and their colours.

use deadheat_model::Verdict;

use crate::glyphs::Glyphs;

/// The colour of a verdict as terminals number it.
pub(crate) fn color_of(verdict: Option<Verdict>) -> Option<u8> {
    Some(match verdict? {
        Verdict::Faster => 32,
        Verdict::Slower => 31,
        Verdict::Equivalent => 36,
        Verdict::Inconclusive => 33,
    })
}

/// The text in this colour; as it is where there is none, or nothing to see.
pub(super) fn painted(text: &str, color: Option<u8>) -> String {
    match color {
        Some(color) if !text.trim().is_empty() => format!("\u{1b}[{color}m{text}\u{1b}[0m"),
        _ => text.to_owned(),
    }
}

/// The characters of a picture, each one column wide.
#[derive(Clone, Copy, Debug)]
pub(super) struct Strokes {
    /// Ends of an interval, its line, and its estimate.
    pub(super) low: char,
    pub(super) high: char,
    pub(super) line: char,
    pub(super) estimate: char,
    /// What goes on beyond either edge.
    pub(super) left: char,
    pub(super) right: char,
    pub(super) up: char,
    pub(super) down: char,
    /// No change, in a row of the table; the margin around it.
    pub(super) zero: char,
    pub(super) band: char,
    /// No change and the margin, as lines across.
    pub(super) zero_line: char,
    pub(super) margin_line: char,
    /// One block, a few, and many; one that was left out.
    pub(super) blocks: [char; 3],
    pub(super) dropped: char,
    /// The axis, and a tick on it.
    pub(super) axis: char,
    pub(super) tick: char,
    /// Bars that fill a part of their cell, the last one all of it.
    pub(super) bars: &'static [char],
}

impl Strokes {
    /// Those the reader can see.
    pub(super) fn new(glyphs: Glyphs) -> Strokes {
        match glyphs {
            Glyphs::Unicode => Strokes {
                low: '├',
                high: '┤',
                line: '─',
                estimate: '■',
                left: '◀',
                right: '▶',
                up: '▲',
                down: '▼',
                zero: '┊',
                band: '░',
                zero_line: '─',
                margin_line: '┈',
                blocks: ['·', '•', '●'],
                dropped: '×',
                axis: '─',
                tick: '┴',
                bars: &['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'],
            },
            Glyphs::Ascii => Strokes {
                low: '|',
                high: '|',
                line: '-',
                estimate: 'o',
                left: '<',
                right: '>',
                up: '^',
                down: 'v',
                zero: ':',
                band: '.',
                zero_line: '-',
                margin_line: '.',
                blocks: ['o', 'O', '@'],
                dropped: 'x',
                axis: '-',
                tick: '+',
                bars: &['.', ':', '#'],
            },
        }
    }
}
