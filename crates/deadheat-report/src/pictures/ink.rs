//! Colours, dashes and markers. The colours are those of Okabe and Ito, which
//! colour-blind people can tell apart; whatever differs by colour differs by
//! shape or dash as well, so that it survives a black-and-white printer.

use std::fmt;

use deadheat_model::{Family, Verdict};

/// Red, green and blue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Colour(u8, u8, u8);

impl fmt::Display for Colour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Colour(red, green, blue) = self;
        write!(f, "#{red:02X}{green:02X}{blue:02X}")
    }
}

pub(super) const BLACK: Colour = Colour(0, 0, 0);
pub(super) const WHITE: Colour = Colour(255, 255, 255);
/// Of lines and words that only help to read.
pub(super) const GREY: Colour = Colour(0x59, 0x59, 0x59);
/// Of bands that tell stretches apart.
pub(super) const PALE: Colour = Colour(0xf3, 0xf3, 0xf3);
/// Of the margin.
pub(super) const BAND: Colour = Colour(0xe0, 0xe6, 0xec);

const ORANGE: Colour = Colour(0xe6, 0x9f, 0x00);
const GREEN: Colour = Colour(0x00, 0x9e, 0x73);
const BLUE: Colour = Colour(0x00, 0x72, 0xb2);
const VERMILLION: Colour = Colour(0xd5, 0x5e, 0x00);
const PURPLE: Colour = Colour(0xcc, 0x79, 0xa7);

pub(super) const BASELINE: Colour = BLUE;
pub(super) const CANDIDATE: Colour = VERMILLION;
/// Of evidence: what was dropped.
pub(super) const DROPPED: Colour = VERMILLION;
/// Of a curve through points.
pub(super) const CURVE: Colour = ORANGE;

/// How a line is broken: the lengths of dashes and gaps, in pixels; of an
/// unbroken line there are none.
pub(super) type Dash = Option<(f64, f64)>;

pub(super) const SOLID: Dash = None;
pub(super) const DASHED: Dash = Some((5.0, 3.0));
pub(super) const SHORT: Dash = Some((2.5, 2.0));

/// A line and how it is drawn; its width is in pixels.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stroke {
    pub(super) colour: Colour,
    pub(super) width: f64,
    pub(super) dash: Dash,
}

/// A line of this colour, width and dash.
pub(super) fn stroke(colour: Colour, width: f64, dash: Dash) -> Stroke {
    Stroke {
        colour,
        width,
        dash,
    }
}

/// The shape of a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Marker {
    Dot,
    Ring,
    Square,
    Diamond,
    Cross,
    Up,
    Down,
    Left,
    Right,
}

/// The colour and shape of a verdict: an arrow to the side it speaks for.
pub(super) fn of_verdict(verdict: Option<Verdict>) -> (Colour, Marker) {
    match verdict {
        Some(Verdict::Faster) => (BLUE, Marker::Left),
        Some(Verdict::Slower) => (VERMILLION, Marker::Right),
        Some(Verdict::Equivalent) => (GREEN, Marker::Square),
        Some(Verdict::Inconclusive) => (GREY, Marker::Ring),
        None => (GREY, Marker::Cross),
    }
}

/// The line of a fitted density, and what it is called.
pub(super) fn of_family(family: Family) -> (Stroke, &'static str) {
    match family {
        Family::LogNormal => (stroke(GREEN, 1.3, SOLID), "log-normal"),
        Family::Normal => (stroke(PURPLE, 1.3, DASHED), "normal"),
        Family::Gumbel => (stroke(BLACK, 1.3, SHORT), "Gumbel"),
    }
}
