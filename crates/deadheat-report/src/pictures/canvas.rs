//! A white sheet with lines, points and words on it, written as SVG. Places are in pixels from the
//! upper left corner; a tenth of one is the finest that is told apart.

use std::cell::RefCell;
use std::fmt::{self, Write};

use unicode_width::UnicodeWidthChar;

use super::ink::{Colour, Marker, Stroke, WHITE};
use crate::glyphs::Glyphs;
use crate::names::shorten;
use crate::xml;

/// The fonts asked for: the one that PNGs are drawn with, and what looks
/// similar where it is missing.
const FONTS: &str = "DejaVu Sans, Verdana, Arial, sans-serif";

/// A place on the sheet.
pub(super) type At = (f64, f64);

/// Which end of a text stands at its place; its middle is at that height.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// How a text looks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Letters {
    /// Pixels.
    pub(super) size: f64,
    pub(super) colour: Colour,
    pub(super) anchor: Anchor,
    /// Whether it reads upwards.
    pub(super) upwards: bool,
}

/// The elements drawn so far, a line each.
pub(super) struct Canvas {
    drawn: RefCell<String>,
}

/// Draws a sheet of this size; `about` says what is to be seen to those who
/// cannot.
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
        xml::text(about),
        canvas.drawn.into_inner()
    )
}

/// The corners of a rectangle, in order.
pub(super) fn corners(a: At, b: At) -> [At; 4] {
    [a, (b.0, a.1), b, (a.0, b.1)]
}

impl Canvas {
    /// A line through these places.
    pub(super) fn line(&self, path: &[At], stroke: Stroke) {
        let Stroke {
            colour,
            width,
            dash,
        } = stroke;
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

    /// A filled area with these corners.
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

    /// A point of this radius.
    pub(super) fn point(&self, at: At, marker: Marker, radius: f64, colour: Colour) {
        let (x, y) = at;
        let circle = |ink: fmt::Arguments<'_>| {
            if let [(x, y)] = places(&[at])[..] {
                let radius = Length(radius);
                self.draw(format_args!(
                    "<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\" {ink}/>"
                ));
            }
        };
        let r = radius * 1.15;
        match marker {
            Marker::Dot => circle(format_args!("fill=\"{colour}\"")),
            Marker::Ring => circle(format_args!(
                "fill=\"none\" stroke=\"{colour}\" stroke-width=\"{}\"",
                Length(radius * 0.4)
            )),
            Marker::Square => {
                let r = radius * 0.9;
                self.area(&corners((x - r, y - r), (x + r, y + r)), colour, 1.0);
            }
            Marker::Diamond => {
                let corners = [(x - r, y), (x, y - r), (x + r, y), (x, y + r)];
                self.area(&corners, colour, 1.0);
            }
            Marker::Cross => {
                let r = radius * 0.9;
                let stroke = Stroke {
                    colour,
                    width: radius * 0.5,
                    dash: None,
                };
                self.line(&[(x - r, y - r), (x + r, y + r)], stroke);
                self.line(&[(x - r, y + r), (x + r, y - r)], stroke);
            }
            Marker::Up => self.area(&[(x - r, y + r), (x + r, y + r), (x, y - r)], colour, 1.0),
            Marker::Down => self.area(&[(x - r, y - r), (x + r, y - r), (x, y + r)], colour, 1.0),
            Marker::Left => self.area(&[(x + r, y - r), (x + r, y + r), (x - r, y)], colour, 1.0),
            Marker::Right => self.area(&[(x - r, y - r), (x - r, y + r), (x + r, y)], colour, 1.0),
        }
    }

    /// Words, their middle at that height.
    pub(super) fn text(&self, text: &str, at: At, letters: Letters) {
        let anchor = match letters.anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let [(x, y)] = places(&[at])[..] else {
            return;
        };
        let turned = match letters.upwards {
            true => format!(" transform=\"rotate(-90 {x} {y})\""),
            false => String::new(),
        };
        self.draw(format_args!(
            "<text x=\"{x}\" y=\"{y}\" dy=\"0.5ex\"{anchor} font-size=\"{}\" fill=\"{}\"{turned}>{}</text>",
            letters.size,
            letters.colour,
            xml::text(text)
        ));
    }

    fn draw(&self, element: fmt::Arguments<'_>) {
        // Writing into a string cannot fail.
        let _ = writeln!(self.drawn.borrow_mut(), "{element}");
    }
}

/// Pixels, to a tenth.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Length(f64);

impl fmt::Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The sum takes the sign from a zero.
        let tenths = (self.0 * 10.0).round() + 0.0;
        write!(f, "{}", tenths / 10.0)
    }
}

/// Places as the attribute `points` has them.
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

/// Places as they are written. One that is no number is left out, one far off
/// the sheet is brought nearer.
fn places(path: &[At]) -> Vec<(Length, Length)> {
    let near = |value: f64| Length(value.clamp(-1e5, 1e5));
    path.iter()
        .filter(|(x, y)| !x.is_nan() && !y.is_nan())
        .map(|(x, y)| (near(*x), near(*y)))
        .collect()
}

/// About how wide a text is, in pixels; rather more than it is.
pub(super) fn width(text: &str, size: f64) -> f64 {
    let ems = text.chars().map(|character| match character {
        'i' | 'j' | 'l' | 'I' | ' ' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' => 0.34,
        '(' | ')' | '[' | ']' | '/' | '\\' | '-' | 'f' | 't' | 'r' => 0.42,
        'm' | 'w' | 'M' | 'W' | '@' | '%' | '…' | '—' | '−' | '+' | '=' => 0.98,
        'c' | 'k' | 's' | 'v' | 'x' | 'y' | 'z' | '_' => 0.57,
        'A'..='Z' => 0.76,
        ' '..='~' => 0.635,
        other => match other.width() {
            // A mark without a letter to stand on is drawn as a box.
            Some(0) | None => 0.62,
            Some(1) => 0.8,
            Some(_) => 1.05,
        },
    });
    ems.sum::<f64>() * size
}

/// The text, its middle left out where it takes more than this many pixels.
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
