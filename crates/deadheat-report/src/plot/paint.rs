//! Characters that pictures are made of, their colours, and the place they are shown at.

use deadheat_model::Verdict;

use crate::glyphs::Glyphs;
use crate::layout::wrap;

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

/// The place that pictures are shown at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scenery {
    /// Columns of the terminal.
    pub(crate) width: usize,
    /// Spaces before every line.
    pub(crate) indent: usize,
    /// The signs the reader can see.
    pub(crate) glyphs: Glyphs,
    /// `true` where colours may be used.
    pub(crate) color: bool,
    /// The verdict on what is drawn.
    pub(crate) verdict: Option<Verdict>,
}

impl Scenery {
    /// The spaces before every line.
    pub(super) fn margin(&self) -> String {
        " ".repeat(self.indent)
    }

    /// The text in lines that keep to the width.
    pub(super) fn wrap(&self, text: &str) -> String {
        wrap(&self.margin(), text, self.width)
    }

    /// The colour of the verdict, if any may be used.
    pub(super) fn verdict_color(&self) -> Option<u8> {
        color_of(self.verdict).filter(|_| self.color)
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
    /// The signs of an interval or a block beyond an edge.
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
        let unicode = glyphs == Glyphs::Unicode;
        let either = |sign: char, stand_in: char| if unicode { sign } else { stand_in };
        Strokes {
            low: either('├', '|'),
            high: either('┤', '|'),
            line: either('─', '-'),
            estimate: either('■', 'o'),
            left: either('◀', '<'),
            right: either('▶', '>'),
            up: either('▲', '^'),
            down: either('▼', 'v'),
            zero: either('┊', ':'),
            band: either('░', '.'),
            zero_line: either('─', '-'),
            margin_line: either('┈', '.'),
            dropped: either('×', 'x'),
            axis: either('─', '-'),
            tick: either('┴', '+'),
            blocks: if unicode {
                ['·', '•', '●']
            } else {
                ['o', 'O', '@']
            },
            bars: if unicode {
                &['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█']
            } else {
                &['.', ':', '#']
            },
        }
    }
}
