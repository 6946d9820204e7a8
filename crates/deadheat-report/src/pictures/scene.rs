//! The parts that all plots of a comparison share: its names, the title and legend, and the frame
//! with two axes.

use deadheat_model::{Comparison, Interval, LogRatio};

use super::axis::Axis;
use super::canvas::{
    Anchor, At, BLACK, Canvas, Colour, GREY, Marker, SOLID, Stroke, corners, fitting, sheet, width,
};
use crate::glyphs::Glyphs;
use crate::sentences::{self, Source};
use crate::units::ends;

/// The width of a plot in pixels, which fits into one column of a page.
pub(super) const WIDTH: f64 = 360.0;
/// The height of a plot in pixels.
pub(super) const HEIGHT: f64 = 252.0;

/// The empty border on each side, in pixels.
pub(super) const SIDE: f64 = 8.0;

const TITLE: f64 = 12.0;
const SUBTITLE: f64 = 9.5;
const KEY: f64 = 9.5;

/// A plot and its file name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// A file name without extension, made of letters, digits and hyphens. It is unique among the
    /// plots of the analysis.
    pub name: String,
    /// The picture as an SVG document.
    pub svg: String,
}

pub(super) type Key = (Sign, String);

pub(super) enum Sign {
    Line(Stroke),
    Point(Marker, Colour),
    Area(Colour),
}

pub(super) struct Scene<'a> {
    pub(super) comparison: &'a Comparison,
    /// The name of the benchmark, escaped and shortened.
    pub(super) title: String,
    pub(super) baseline: String,
    /// The name of the candidate, escaped and shortened; empty without a candidate.
    pub(super) candidate: String,
    /// The beginning of the file names of this comparison's plots.
    pub(super) stem: String,
    /// The kind of run that the samples come from.
    pub(super) source: Source,
}

impl Scene<'_> {
    /// Draws a document with the title of the comparison, the subtitle `shows` and the legend.
    /// `draw` receives the y coordinate below them.
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

    /// Draws a document with one frame below its title and legend.
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

    /// Names the metric; metrics that add up get a suffix, such as "wall time per iteration".
    pub(super) fn metric(&self) -> String {
        let name = sentences::metric(&self.comparison.terms.metric, Glyphs::Unicode);
        if self.comparison.terms.metric.adds_up() {
            format!("{name} per {}", self.source.iteration())
        } else {
            name
        }
    }

    pub(super) fn quantities(&self, span: (f64, f64)) -> Axis {
        Axis::quantities(span, self.comparison.terms.metric.unit(), &self.metric())
    }

    /// Returns a subtitle such as "Pair by pair, new against old".
    pub(super) fn against(&self, by: &str) -> String {
        format!("{by}, {} against {}", self.candidate, self.baseline)
    }

    /// Returns the lower and upper margin, in percent.
    pub(super) fn margin(&self) -> (f64, f64) {
        margin(self.comparison.terms.margin)
    }
}

/// Converts a margin to its lower and upper limit, in percent.
pub(super) fn margin(margin: f64) -> (f64, f64) {
    let theta = LogRatio::from_change(margin);
    (percent(LogRatio(-theta.0)), percent(theta))
}

/// Converts an effect to a change in percent.
pub(super) fn percent(effect: LogRatio) -> f64 {
    effect.change() * 100.0
}

/// Returns the ends of an interval, in percent.
pub(super) fn percents(interval: &Interval) -> (f64, f64) {
    let [low, high] = ends(interval);
    (low * 100.0, high * 100.0)
}

pub(super) fn head(canvas: &Canvas, title: &str, shows: &str, across: f64) {
    let room = across - 2.0 * SIDE;
    let title = fitting(title, TITLE, room);
    canvas.text(&title, (SIDE, 13.0), TITLE, BLACK, Anchor::Start);
    let shows = fitting(shows, SUBTITLE, room);
    canvas.text(&shows, (SIDE, 27.0), SUBTITLE, GREY, Anchor::Start);
}

/// Draws the legend in one or more rows; returns the y coordinate below it.
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

/// The font size of tick labels, in pixels.
const SMALL: f64 = 10.0;
/// The font size of axis titles, in pixels.
const LABEL: f64 = 10.5;

/// The distance from a tick to its label, in pixels.
const GAP: f64 = 6.0;

/// The space below a frame for tick labels and title, in pixels.
pub(super) const BELOW: f64 = 34.0;

/// The whole range of an axis.
pub(super) const ALL: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

/// A rectangle of the drawing with two axes, into which plots draw values.
pub(super) struct Frame<'a> {
    pub(super) canvas: &'a Canvas,
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    x: Axis,
    y: Axis,
}

impl<'a> Frame<'a> {
    /// Creates a frame between these corners; the labels of the y axis reduce its width.
    pub(super) fn new(
        canvas: &'a Canvas,
        (left, top): At,
        (right, bottom): At,
        x: Axis,
        y: Axis,
    ) -> Self {
        let words = y.ticks.iter().map(|(_, word)| width(word, SMALL));
        let words = words.fold(0.0, f64::max);
        let title = if y.title.is_empty() { 0.0 } else { LABEL + 6.0 };
        let ticks = if y.ticks.is_empty() { 0.0 } else { words + GAP };
        Frame {
            canvas,
            left: left + (title + ticks),
            right,
            top,
            bottom,
            x,
            y,
        }
    }

    pub(super) fn at(&self, (x, y): (f64, f64)) -> At {
        let across = (x - self.x.low) / (self.x.high - self.x.low);
        let up = (y - self.y.low) / (self.y.high - self.y.low);
        (
            self.left + across * (self.right - self.left),
            self.bottom - up * (self.bottom - self.top),
        )
    }

    /// Returns the nearest value within the frame.
    fn held(&self, (x, y): (f64, f64)) -> (f64, f64) {
        (
            x.clamp(self.x.low, self.x.high),
            y.clamp(self.y.low, self.y.high),
        )
    }

    /// Draws the border, the ticks and the labels, over the content of the frame.
    pub(super) fn axes(&self) {
        let thin = Stroke(BLACK, 0.8, SOLID);
        let canvas = self.canvas;
        canvas.line(&[(self.left, self.top), (self.left, self.bottom)], thin);
        canvas.line(&[(self.left, self.bottom), (self.right, self.bottom)], thin);
        let mut free = f64::NEG_INFINITY;
        for (value, word) in &self.x.ticks {
            let (x, y) = self.at((*value, self.y.low));
            canvas.line(&[(x, y), (x, y + 3.5)], thin);
            // A label that would touch the previous label is omitted.
            let half = width(word, SMALL) / 2.0;
            // Labels of ticks near an edge are moved so that they stay within the drawing.
            let middle = x.min(self.right + 7.0 - half).max(half);
            if middle - half > free {
                canvas.text(word, (middle, y + 11.0), SMALL, BLACK, Anchor::Middle);
                free = middle + half + 3.0;
            }
        }
        let mut words = 0.0;
        for (value, word) in &self.y.ticks {
            let (x, y) = self.at((self.x.low, *value));
            canvas.line(&[(x - 3.5, y), (x, y)], thin);
            canvas.text(word, (x - GAP, y), SMALL, BLACK, Anchor::End);
            words = width(word, SMALL).max(words);
        }
        let at = ((self.left + self.right) / 2.0, self.bottom + 26.0);
        canvas.text(&self.x.title, at, LABEL, BLACK, Anchor::Middle);
        if !self.y.title.is_empty() {
            let x = self.left - GAP - words - 3.0 - LABEL / 2.0;
            let at = (x, (self.top + self.bottom) / 2.0);
            canvas.text(&self.y.title, at, LABEL, BLACK, Anchor::Upwards);
        }
    }

    pub(super) fn band(&self, (from, to): (f64, f64), (low, high): (f64, f64), colour: Colour) {
        let ((left, bottom), (right, top)) = (self.at((from, low)), self.at((to, high)));
        let (left, right) = (left.max(self.left), right.min(self.right));
        let (top, bottom) = (top.max(self.top), bottom.min(self.bottom));
        if left < right && top < bottom {
            let area = corners((left, top), (right, bottom));
            self.canvas.area(&area, colour, 1.0);
        }
    }

    pub(super) fn level(&self, y: f64, stroke: Stroke) {
        if self.y.holds(y) {
            self.straight([(self.x.low, y), (self.x.high, y)], stroke);
        }
    }

    pub(super) fn upright(&self, x: f64, stroke: Stroke) {
        if self.x.holds(x) {
            self.straight([(x, self.y.low), (x, self.y.high)], stroke);
        }
    }

    fn straight(&self, ends: [(f64, f64); 2], stroke: Stroke) {
        self.canvas.line(&ends.map(|end| self.at(end)), stroke);
    }

    /// Draws a straight line between two values, cut at the top and bottom of the frame.
    pub(super) fn segment(&self, from: (f64, f64), to: (f64, f64), stroke: Stroke) {
        let rise = to.1 - from.1;
        let mut cut = (0.0f64, 1.0f64);
        if rise != 0.0 {
            let edges = [self.y.low, self.y.high].map(|edge| (edge - from.1) / rise);
            cut.0 = cut.0.max(edges[0].min(edges[1]));
            cut.1 = cut.1.min(edges[0].max(edges[1]));
        }
        if cut.0 < cut.1 {
            let between = |share: f64| (from.0 + share * (to.0 - from.0), from.1 + share * rise);
            self.straight([between(cut.0), between(cut.1)], stroke);
        }
    }

    /// Draws a horizontal line between two values, with an arrow at each end that is outside the
    /// frame.
    pub(super) fn span(&self, (low, high): (f64, f64), y: f64, stroke: Stroke) {
        let held = |x: f64| x.clamp(self.x.low, self.x.high);
        self.straight([(held(low), y), (held(high), y)], stroke);
        for (end, arrow) in [(low, Marker::Left), (high, Marker::Right)] {
            if held(end) != end {
                let at = self.at((held(end), y));
                self.canvas.point(at, arrow, 2.2, stroke.0);
            }
        }
    }

    /// Draws the short horizontal stroke at the end of a vertical line, or an arrow if the end is
    /// outside the frame.
    pub(super) fn cap(&self, value: (f64, f64), ink: Colour) {
        if !self.y.holds(value.1) {
            return self.point(value, Marker::Dot, 2.2, ink);
        }
        let (x, y) = self.at(value);
        let path = [(x - 3.0, y), (x + 3.0, y)];
        self.canvas.line(&path, Stroke(ink, 1.2, SOLID));
    }

    pub(super) fn shape(&self, outline: &[(f64, f64)], colour: Colour, opacity: f64) {
        let corners: Vec<At> = outline
            .iter()
            .map(|value| self.at(self.held(*value)))
            .collect();
        if corners.len() > 2 {
            self.canvas.area(&corners, colour, opacity);
        }
    }

    /// Fills the area between a line through values and the bottom of the frame.
    pub(super) fn filled(&self, values: &[(f64, f64)], colour: Colour, opacity: f64) {
        let foot = |end: Option<&(f64, f64)>| end.map(|(x, _)| (*x, self.y.low));
        let line = foot(values.first())
            .into_iter()
            .chain(values.iter().copied());
        let outline: Vec<(f64, f64)> = line.chain(foot(values.last())).collect();
        self.shape(&outline, colour, opacity);
    }

    pub(super) fn line(&self, values: impl IntoIterator<Item = (f64, f64)>, stroke: Stroke) {
        let values = values.into_iter().filter(|(x, _)| self.x.holds(*x));
        let path: Vec<At> = values.map(|value| self.at(self.held(value))).collect();
        self.canvas.line(&path, stroke);
    }

    /// Draws a point; a point outside the frame is an arrow at the edge.
    pub(super) fn point(&self, value: (f64, f64), marker: Marker, radius: f64, ink: Colour) {
        let held = self.held(value);
        let shape = if held == value {
            marker
        } else if value.0 < held.0 {
            Marker::Left
        } else if value.0 > held.0 {
            Marker::Right
        } else if value.1 < held.1 {
            Marker::Down
        } else {
            Marker::Up
        };
        self.canvas.point(self.at(held), shape, radius, ink);
    }

    /// Draws text in the upper left corner of the frame.
    pub(super) fn caption(&self, text: &str) {
        let at = (self.left + 6.0, self.top + 6.0);
        let text = fitting(text, 9.0, self.right - self.left - 12.0);
        self.canvas.text(&text, at, 9.0, BLACK, Anchor::Start);
    }
}
