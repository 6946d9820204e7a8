//! An SVG drawing with lines, points and text on white. Coordinates are in pixels from the upper
//! left corner, with a resolution of 0.1 pixel.
//!
//! The colours are those of Okabe and Ito, which colour-blind people can distinguish. Elements that
//! differ in colour also differ in shape or dash, so that black-and-white prints stay readable.

use std::cell::RefCell;
use std::fmt::{self, Write};

use deadheat_model::{Family, Verdict};
use unicode_width::UnicodeWidthChar;

use crate::glyphs::Glyphs;
use crate::names::{shorten, xml};

/// The requested fonts: first the font of the PNGs, then similar fonts.
const FONTS: &str = "DejaVu Sans, Verdana, Arial, sans-serif";

/// The x and y coordinates of a point, in pixels.
pub(super) type At = (f64, f64);

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
/// The colour of auxiliary lines and labels.
pub(super) const GREY: Colour = Colour(0x59, 0x59, 0x59);
/// The colour of bands that separate sections.
pub(super) const PALE: Colour = Colour(0xf3, 0xf3, 0xf3);
/// The colour of the margin.
pub(super) const BAND: Colour = Colour(0xe0, 0xe6, 0xec);

const ORANGE: Colour = Colour(0xe6, 0x9f, 0x00);
const GREEN: Colour = Colour(0x00, 0x9e, 0x73);
const BLUE: Colour = Colour(0x00, 0x72, 0xb2);
const VERMILLION: Colour = Colour(0xd5, 0x5e, 0x00);
const PURPLE: Colour = Colour(0xcc, 0x79, 0xa7);

pub(super) const BASELINE: Colour = BLUE;
pub(super) const CANDIDATE: Colour = VERMILLION;
/// The colour of dropped blocks.
pub(super) const DROPPED: Colour = VERMILLION;
/// The colour of a curve through points.
pub(super) const CURVE: Colour = ORANGE;

/// The lengths of the dashes and gaps of a dashed line, in pixels; `None` for a solid line.
pub(super) type Dash = Option<(f64, f64)>;

pub(super) const SOLID: Dash = None;
pub(super) const DASHED: Dash = Some((5.0, 3.0));
pub(super) const SHORT: Dash = Some((2.5, 2.0));

/// The colour of a line, its width in pixels, and its dash.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stroke(pub(super) Colour, pub(super) f64, pub(super) Dash);

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

/// Returns the colour and shape of a verdict. Arrows point left for faster and right for slower.
pub(super) fn of_verdict(verdict: Option<Verdict>) -> (Colour, Marker) {
    match verdict {
        Some(Verdict::Faster) => (BLUE, Marker::Left),
        Some(Verdict::Slower) => (VERMILLION, Marker::Right),
        Some(Verdict::Equivalent) => (GREEN, Marker::Square),
        Some(Verdict::Inconclusive) => (GREY, Marker::Ring),
        None => (GREY, Marker::Cross),
    }
}

/// Returns the line style of a fitted density.
pub(super) fn of_family(family: Family) -> Stroke {
    let (colour, dash) = match family {
        Family::LogNormal => (GREEN, SOLID),
        Family::Normal => (PURPLE, DASHED),
        Family::Gumbel => (BLACK, SHORT),
    };
    Stroke(colour, 1.3, dash)
}

/// The horizontal alignment of a text at its x coordinate. The y coordinate is always the vertical
/// middle of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
    /// The middle, for text rotated to read upwards.
    Upwards,
}

pub(super) struct Canvas {
    drawn: RefCell<String>,
}

/// Draws an SVG document of this size; `about` is its description for screen readers.
pub(super) fn sheet(width: f64, height: f64, about: &str, draw: impl FnOnce(&Canvas)) -> String {
    let canvas = Canvas {
        drawn: RefCell::new(String::new()),
    };
    canvas.area(&corners((0.0, 0.0), (width, height)), WHITE, 1.0);
    draw(&canvas);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" role=\"img\" font-family=\"{FONTS}\">\n\
         <title>{}</title>\n{}</svg>\n",
        xml(about),
        canvas.drawn.into_inner()
    )
}

pub(super) fn corners(a: At, b: At) -> [At; 4] {
    [a, (b.0, a.1), b, (a.0, b.1)]
}

impl Canvas {
    pub(super) fn line(&self, path: &[At], Stroke(colour, width, dash): Stroke) {
        let width = Length(width);
        let dash = dash.map_or_else(String::new, |(dash, gap)| {
            format!(" stroke-dasharray=\"{} {}\"", Length(dash), Length(gap))
        });
        let line = format_args!("stroke=\"{colour}\" stroke-width=\"{width}\"{dash}/>");
        match places(path)[..] {
            [] | [_] => {}
            [(x1, y1), (x2, y2)] => self.draw(format_args!(
                "<line x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\" {line}"
            )),
            ref path => self.draw(format_args!(
                "<polyline points=\"{}\" fill=\"none\" {line}",
                Points(path)
            )),
        }
    }

    pub(super) fn area(&self, corners: &[At], colour: Colour, opacity: f64) {
        let opacity = match opacity {
            1.0.. => String::new(),
            below => format!(" opacity=\"{below}\""),
        };
        self.draw(format_args!(
            "<polygon points=\"{}\" fill=\"{colour}\"{opacity}/>",
            Points(&places(corners))
        ));
    }

    pub(super) fn point(&self, (x, y): At, marker: Marker, radius: f64, colour: Colour) {
        let circle = |ink: fmt::Arguments<'_>| {
            if let Some((x, y)) = place(&(x, y)) {
                let radius = Length(radius);
                self.draw(format_args!(
                    "<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\" {ink}/>"
                ));
            }
        };
        let shape = |corners: &[At]| {
            let corners: Vec<At> = corners.iter().map(|(a, b)| (x + a, y + b)).collect();
            self.area(&corners, colour, 1.0);
        };
        let r = radius * 1.15;
        let s = radius * 0.9;
        match marker {
            Marker::Dot => circle(format_args!("fill=\"{colour}\"")),
            Marker::Ring => circle(format_args!(
                "fill=\"none\" stroke=\"{colour}\" stroke-width=\"{}\"",
                Length(radius * 0.4)
            )),
            Marker::Cross => {
                let stroke = Stroke(colour, radius * 0.5, SOLID);
                self.line(&[(x - s, y - s), (x + s, y + s)], stroke);
                self.line(&[(x - s, y + s), (x + s, y - s)], stroke);
            }
            Marker::Square => shape(&corners((-s, -s), (s, s))),
            Marker::Diamond => shape(&[(-r, 0.0), (0.0, -r), (r, 0.0), (0.0, r)]),
            Marker::Up => shape(&[(-r, r), (r, r), (0.0, -r)]),
            Marker::Down => shape(&[(-r, -r), (r, -r), (0.0, r)]),
            Marker::Left => shape(&[(r, -r), (r, r), (-r, 0.0)]),
            Marker::Right => shape(&[(-r, -r), (-r, r), (r, 0.0)]),
        }
    }

    /// Draws text of this size in pixels, vertically centred on `at`.
    pub(super) fn text(&self, text: &str, at: At, size: f64, colour: Colour, anchor: Anchor) {
        let Some((x, y)) = place(&at) else {
            return;
        };
        let end = match anchor {
            Anchor::Start => "",
            Anchor::Middle | Anchor::Upwards => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let turned = if anchor == Anchor::Upwards {
            format!(" transform=\"rotate(-90 {x} {y})\"")
        } else {
            String::new()
        };
        self.draw(format_args!(
            "<text x=\"{x}\" y=\"{y}\" dy=\"0.5ex\"{end} font-size=\"{size}\" fill=\"{colour}\"{turned}>{}</text>",
            xml(text)
        ));
    }

    fn draw(&self, element: fmt::Arguments<'_>) {
        // Writing into a string cannot fail.
        let _ = writeln!(self.drawn.borrow_mut(), "{element}");
    }
}

/// A length in pixels, formatted with one decimal.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Length(f64);

impl fmt::Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Adding 0.0 turns −0.0 into 0.0.
        let tenths = (self.0 * 10.0).round() + 0.0;
        write!(f, "{}", tenths / 10.0)
    }
}

/// Points in the format of the attribute `points`.
struct Points<'a>(&'a [(Length, Length)]);

impl fmt::Display for Points<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (x, y)) in self.0.iter().enumerate() {
            let blank = if index > 0 { " " } else { "" };
            write!(f, "{blank}{x},{y}")?;
        }
        Ok(())
    }
}

/// Returns the coordinates to write; `None` for NaN. Coordinates far outside the drawing are
/// clamped.
fn place(at: &At) -> Option<(Length, Length)> {
    let [x, y] = [at.0, at.1].map(|value| Length(value.clamp(-1e5, 1e5)));
    (!at.0.is_nan() && !at.1.is_nan()).then_some((x, y))
}

fn places(path: &[At]) -> Vec<(Length, Length)> {
    path.iter().filter_map(place).collect()
}

/// Estimates the width of a text in pixels; rather too large than too small.
pub(super) fn width(text: &str, size: f64) -> f64 {
    let ems = text.chars().map(|character| match character {
        'i' | 'j' | 'l' | 'I' | ' ' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' => 0.34,
        '(' | ')' | '[' | ']' | '/' | '\\' | '-' | 'f' | 't' | 'r' => 0.42,
        'm' | 'w' | 'M' | 'W' | '@' | '%' | '…' | '—' | '−' | '+' | '=' => 0.98,
        'c' | 'k' | 's' | 'v' | 'x' | 'y' | 'z' | '_' => 0.57,
        'A'..='Z' => 0.76,
        ' '..='~' => 0.635,
        other => match other.width() {
            // A combining mark without a base character is drawn as a box.
            Some(0) | None => 0.62,
            Some(1) => 0.8,
            Some(_) => 1.05,
        },
    });
    ems.sum::<f64>() * size
}

/// Shortens a text in its middle so that it fits into `room` pixels.
pub(super) fn fitting(text: &str, size: f64, room: f64) -> String {
    let mut columns = 200;
    let mut short = shorten(text, columns, Glyphs::Unicode);
    while width(&short, size) > room && columns > 1 {
        columns = (columns * 19 / 20).min(columns - 1);
        short = shorten(text, columns, Glyphs::Unicode);
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_place_that_is_no_number_reaches_the_sheet() {
        let path = [(1.0, f64::NAN), (f64::INFINITY, 2.0), (3.04, -1e300)];
        assert_eq!(Points(&places(&path)).to_string(), "100000,2 3,-100000");
    }

    #[test]
    fn a_text_is_cut_to_its_room_whatever_it_is_made_of() {
        for text in ["W".repeat(500), "il".repeat(500), "速い".repeat(99)] {
            let short = fitting(&text, 10.0, 120.0);
            assert!(width(&short, 10.0) <= 120.0, "{short}");
            assert!(width(&short, 10.0) > 80.0, "{short}");
        }
        assert_eq!(fitting("sort", 10.0, 120.0), "sort");
    }
}
