//! A white sheet with lines, points and words on it. Places are in pixels from
//! the upper left corner; a tenth of one is the finest that is told apart.

use plotters::backend::SVGBackend;
use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, IntoDrawingArea};
use plotters::element::{Circle, DashedPathElement, Drawable, PathElement, PointCollection};
use plotters::element::{Polygon, Text};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, FontTransform, IntoFont, ShapeStyle, TextStyle};
use unicode_width::UnicodeWidthChar;

use super::ink::{Colour, Marker, Stroke, WHITE};
use crate::glyphs::Glyphs;
use crate::names::shorten;
use crate::xml;

/// Units of the drawing library in a pixel: it counts whole ones.
const FINE: f64 = 10.0;

/// The fonts asked for: the one that PNGs are drawn with, and what looks
/// similar where it is missing.
const FONTS: &str = "DejaVu Sans, Verdana, Arial, sans-serif";

/// What the library makes of a size of text before it writes it down.
const TEXT_FACTOR: f64 = 1.24;

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

pub(super) struct Canvas<'a> {
    area: DrawingArea<SVGBackend<'a>, Shift>,
}

/// Draws a sheet of this size; `about` says what is to be seen to those who
/// cannot.
pub(super) fn sheet(
    width: f64,
    height: f64,
    about: &str,
    draw: impl FnOnce(&Canvas<'_>),
) -> String {
    let mut body = String::new();
    let size = ((width * FINE) as u32, (height * FINE) as u32);
    let area = SVGBackend::with_string(&mut body, size).into_drawing_area();
    let canvas = Canvas { area };
    canvas.area(&corners((0.0, 0.0), (width, height)), WHITE, 1.0);
    draw(&canvas);
    // The library writes the end when it lets go of the text.
    drop(canvas);
    let inside = body.split_once('\n').map_or("", |(_, inside)| inside);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {} {}\" role=\"img\">\n<title>{}</title>\n{inside}",
        size.0,
        size.1,
        xml::text(about)
    )
}

/// The corners of a rectangle, in order.
pub(super) fn corners(a: At, b: At) -> [At; 4] {
    [a, (b.0, a.1), b, (a.0, b.1)]
}

impl Canvas<'_> {
    /// A line through these places.
    pub(super) fn line(&self, path: &[At], stroke: Stroke) {
        let style = ShapeStyle {
            color: stroke.colour.to_rgba(),
            filled: false,
            stroke_width: (stroke.width * FINE).round() as u32,
        };
        let path = fine(path);
        match stroke.dash {
            None => self.draw(&PathElement::new(path, style)),
            Some((dash, gap)) => {
                let [dash, gap] = [dash, gap].map(|length| (length * FINE) as i32);
                self.draw(&DashedPathElement::new(path, dash, gap, style));
            }
        }
    }

    /// A filled area with these corners.
    pub(super) fn area(&self, corners: &[At], colour: Colour, opacity: f64) {
        let style = ShapeStyle {
            color: colour.mix(opacity),
            filled: true,
            stroke_width: 0,
        };
        self.draw(&Polygon::new(fine(corners), style));
    }

    /// A point of this radius.
    pub(super) fn point(&self, at: At, marker: Marker, radius: f64, colour: Colour) {
        let (x, y) = at;
        let round = |filled, width: f64| ShapeStyle {
            color: colour.to_rgba(),
            filled,
            stroke_width: (width * FINE) as u32,
        };
        let circle = |style| {
            if let [at] = fine(&[at])[..] {
                self.draw(&Circle::new(at, (radius * FINE) as i32, style));
            }
        };
        let r = radius * 1.15;
        match marker {
            Marker::Dot => circle(round(true, 0.0)),
            Marker::Ring => circle(round(false, radius * 0.4)),
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
        let horizontal = match letters.anchor {
            Anchor::Start => HPos::Left,
            Anchor::Middle => HPos::Center,
            Anchor::End => HPos::Right,
        };
        let size = letters.size * FINE * TEXT_FACTOR;
        let font = (FONTS, size).into_font();
        let font = match letters.upwards {
            true => font.transform(FontTransform::Rotate270),
            false => font,
        };
        let style = TextStyle::from(font)
            .color(&letters.colour)
            .pos(Pos::new(horizontal, VPos::Center));
        if let [at] = fine(&[at])[..] {
            self.draw(&Text::new(text, at, style));
        }
    }

    fn draw<'b, E>(&self, element: &'b E)
    where
        &'b E: PointCollection<'b, (i32, i32)>,
        for<'c> E: Drawable<SVGBackend<'c>>,
    {
        // Writing into a string cannot fail.
        let _ = self.area.draw(element);
    }
}

/// Places in the units of the library. One that is no number is left out, one
/// far off the sheet is brought nearer.
fn fine(path: &[At]) -> Vec<(i32, i32)> {
    let whole = |value: f64| (value * FINE).round().clamp(-1e6, 1e6) as i32;
    path.iter()
        .filter(|(x, y)| !x.is_nan() && !y.is_nan())
        .map(|(x, y)| (whole(*x), whole(*y)))
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
        assert_eq!(fine(&path), [(1_000_000, 20), (30, -1_000_000)]);
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
