//! The parts that all pictures of a comparison share: its names, the head of the sheet with the
//! legend, and the frame below.

use deadheat_model::{Comparison, Interval, LogRatio};

use super::axis::Axis;
use super::canvas::{
    Anchor, At, BLACK, Canvas, Colour, GREY, Marker, Stroke, corners, fitting, sheet, width,
};
use super::frame::{BELOW, Frame};
use crate::glyphs::Glyphs;
use crate::sentences::{self, Source};
use crate::units::ends;

/// Pixels of a picture, made for one column of a page.
pub(super) const WIDTH: f64 = 360.0;
pub(super) const HEIGHT: f64 = 252.0;

/// Pixels that stay free at every side.
pub(super) const SIDE: f64 = 8.0;

const TITLE: f64 = 12.0;
const SUBTITLE: f64 = 9.5;
const KEY: f64 = 9.5;

/// A picture, and a name for the file it goes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// A name for a file, without an extension: letters, digits and hyphens, and no other picture
    /// of the analysis has it.
    pub name: String,
    /// The picture as an SVG document.
    pub svg: String,
}

/// A sign in the legend, and the words it stands for.
pub(super) type Key = (Sign, String);

/// The look of a sign in the legend.
pub(super) enum Sign {
    Line(Stroke),
    Point(Marker, Colour),
    Area(Colour),
}

/// One comparison on its way to its pictures.
pub(super) struct Scene<'a> {
    pub(super) comparison: &'a Comparison,
    /// The benchmark's name, fit to be shown.
    pub(super) title: String,
    pub(super) baseline: String,
    /// Empty where there is none.
    pub(super) candidate: String,
    /// The beginning of the file names.
    pub(super) stem: String,
    /// The kind of run that the samples come from.
    pub(super) source: Source,
}

impl Scene<'_> {
    /// A sheet with a head: the title of the comparison, what the picture `shows`, and the legend.
    /// `draw` gets the height at which the rest begins.
    pub(super) fn sheet(
        &self,
        shows: &str,
        keys: &[Key],
        height: f64,
        draw: impl FnOnce(&Canvas, f64),
    ) -> String {
        let about = format!("{}: {shows}", self.title);
        sheet(WIDTH, height, &about, |canvas| {
            head(canvas, &self.title, shows, WIDTH);
            let top = legend(canvas, keys);
            draw(canvas, top);
        })
    }

    /// A sheet with one frame below its head.
    pub(super) fn framed(
        &self,
        shows: &str,
        keys: &[Key],
        height: f64,
        (x, y): (Axis, Axis),
        draw: impl FnOnce(&Frame<'_>),
    ) -> String {
        self.sheet(shows, keys, height, |canvas, top| {
            let corner = (WIDTH - SIDE, height - BELOW);
            let frame = Frame::new(canvas, (SIDE, top), corner, x, y);
            draw(&frame);
            frame.axes();
        })
    }

    /// "wall time per iteration", of a metric that adds up.
    pub(super) fn metric(&self) -> String {
        let name = sentences::metric(&self.comparison.metric, Glyphs::Unicode);
        if self.comparison.metric.adds_up() {
            format!("{name} per {}", self.source.iteration())
        } else {
            name
        }
    }

    /// An axis of the metric.
    pub(super) fn quantities(&self, span: (f64, f64)) -> Axis {
        Axis::quantities(span, self.comparison.metric.unit(), &self.metric())
    }

    /// "Pair by pair, new against old".
    pub(super) fn against(&self, by: &str) -> String {
        format!("{by}, {} against {}", self.candidate, self.baseline)
    }

    /// The margin to both sides, in percent.
    pub(super) fn margin(&self) -> (f64, f64) {
        margin(self.comparison.margin)
    }
}

/// A margin to both sides, in percent.
pub(super) fn margin(margin: f64) -> (f64, f64) {
    let theta = LogRatio::from_change(margin);
    (percent(LogRatio(-theta.0)), percent(theta))
}

/// An effect as a change in percent.
pub(super) fn percent(effect: LogRatio) -> f64 {
    effect.change() * 100.0
}

/// Both ends of an interval, in percent.
pub(super) fn percents(interval: &Interval) -> (f64, f64) {
    let [low, high] = ends(interval);
    (low * 100.0, high * 100.0)
}

/// Title and subtitle.
pub(super) fn head(canvas: &Canvas, title: &str, shows: &str, across: f64) {
    let room = across - 2.0 * SIDE;
    let title = fitting(title, TITLE, room);
    canvas.text(&title, (SIDE, 13.0), TITLE, BLACK, Anchor::Start);
    let shows = fitting(shows, SUBTITLE, room);
    canvas.text(&shows, (SIDE, 27.0), SUBTITLE, GREY, Anchor::Start);
}

/// Draws the keys in a row or more; returns the height at which the rest begins.
fn legend(canvas: &Canvas, keys: &[Key]) -> f64 {
    let (mut x, mut y) = (SIDE, 41.0);
    if keys.is_empty() {
        return y;
    }
    for (sign, words) in keys {
        let words = fitting(words, KEY, WIDTH * 0.62);
        let needed = 18.0 + width(&words, KEY) + 10.0;
        if x > SIDE && x + needed > WIDTH - SIDE + 10.0 {
            (x, y) = (SIDE, y + 13.0);
        }
        self::sign(canvas, sign, (x, y));
        canvas.text(&words, (x + 18.0, y), KEY, BLACK, Anchor::Start);
        x += needed;
    }
    y + 14.0
}

fn sign(canvas: &Canvas, sign: &Sign, (x, y): At) {
    match sign {
        Sign::Line(stroke) => canvas.line(&[(x, y), (x + 14.0, y)], *stroke),
        Sign::Point(marker, colour) => canvas.point((x + 7.0, y), *marker, 3.2, *colour),
        Sign::Area(colour) => {
            let area = corners((x, y - 4.0), (x + 14.0, y + 4.0));
            canvas.area(&area, *colour, 1.0);
        }
    }
}
