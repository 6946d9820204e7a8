//! A frame with two axes, into which values are drawn.

use super::axis::Axis;
use super::canvas::{
    Anchor, At, BLACK, Canvas, Colour, Marker, SOLID, Stroke, corners, fitting, width,
};

/// Pixels of the words at the ticks.
const SMALL: f64 = 10.0;
/// Pixels of the words at an axis.
const LABEL: f64 = 10.5;

/// Pixels from a tick to its words.
const GAP: f64 = 6.0;

/// Pixels a frame needs below itself.
pub(super) const BELOW: f64 = 34.0;

/// All of an axis.
pub(super) const ALL: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

/// The part of the sheet within two axes, and the values that lie there.
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
    /// A frame between these corners, which takes room for the words at its left side from itself.
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

    /// The place of a value.
    pub(super) fn at(&self, (x, y): (f64, f64)) -> At {
        let across = (x - self.x.low) / (self.x.high - self.x.low);
        let up = (y - self.y.low) / (self.y.high - self.y.low);
        (
            self.left + across * (self.right - self.left),
            self.bottom - up * (self.bottom - self.top),
        )
    }

    /// The value nearest to this one that lies within.
    fn held(&self, (x, y): (f64, f64)) -> (f64, f64) {
        (
            x.clamp(self.x.low, self.x.high),
            y.clamp(self.y.low, self.y.high),
        )
    }

    /// The frame itself, its ticks and their words; drawn over what it holds.
    pub(super) fn axes(&self) {
        let thin = Stroke(BLACK, 0.8, SOLID);
        let canvas = self.canvas;
        canvas.line(&[(self.left, self.top), (self.left, self.bottom)], thin);
        canvas.line(&[(self.left, self.bottom), (self.right, self.bottom)], thin);
        let mut free = f64::NEG_INFINITY;
        for (value, word) in &self.x.ticks {
            let (x, y) = self.at((*value, self.y.low));
            canvas.line(&[(x, y), (x, y + 3.5)], thin);
            // Words that would touch those before are left out.
            let half = width(word, SMALL) / 2.0;
            // Nor may they leave the sheet with a tick at its edge.
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

    /// The part of an area between these values that lies within.
    pub(super) fn band(&self, (from, to): (f64, f64), (low, high): (f64, f64), colour: Colour) {
        let ((left, bottom), (right, top)) = (self.at((from, low)), self.at((to, high)));
        let (left, right) = (left.max(self.left), right.min(self.right));
        let (top, bottom) = (top.max(self.top), bottom.min(self.bottom));
        if left < right && top < bottom {
            let area = corners((left, top), (right, bottom));
            self.canvas.area(&area, colour, 1.0);
        }
    }

    /// A level line across the frame, where it lies within.
    pub(super) fn level(&self, y: f64, stroke: Stroke) {
        if self.y.holds(y) {
            self.straight([(self.x.low, y), (self.x.high, y)], stroke);
        }
    }

    /// An upright line across the frame, where it lies within.
    pub(super) fn upright(&self, x: f64, stroke: Stroke) {
        if self.x.holds(x) {
            self.straight([(x, self.y.low), (x, self.y.high)], stroke);
        }
    }

    fn straight(&self, ends: [(f64, f64); 2], stroke: Stroke) {
        self.canvas.line(&ends.map(|end| self.at(end)), stroke);
    }

    /// A straight line between two values, cut to the height of the frame.
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

    /// A level line between two values, with an arrow at an end that lies outside.
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

    /// A short level stroke that ends an upright line; at the edge an arrow.
    pub(super) fn cap(&self, value: (f64, f64), ink: Colour) {
        if !self.y.holds(value.1) {
            return self.point(value, Marker::Dot, 2.2, ink);
        }
        let (x, y) = self.at(value);
        let path = [(x - 3.0, y), (x + 3.0, y)];
        self.canvas.line(&path, Stroke(ink, 1.2, SOLID));
    }

    /// A filled shape, cut at the sides of the frame.
    pub(super) fn shape(&self, outline: &[(f64, f64)], colour: Colour, opacity: f64) {
        let corners: Vec<At> = outline
            .iter()
            .map(|value| self.at(self.held(*value)))
            .collect();
        if corners.len() > 2 {
            self.canvas.area(&corners, colour, opacity);
        }
    }

    /// An area between a line through values and the foot of the frame.
    pub(super) fn filled(&self, values: &[(f64, f64)], colour: Colour, opacity: f64) {
        let foot = |end: Option<&(f64, f64)>| end.map(|(x, _)| (*x, self.y.low));
        let line = foot(values.first())
            .into_iter()
            .chain(values.iter().copied());
        let outline: Vec<(f64, f64)> = line.chain(foot(values.last())).collect();
        self.shape(&outline, colour, opacity);
    }

    /// A line through values, cut where it leaves the frame upwards or downwards.
    pub(super) fn line(&self, values: impl IntoIterator<Item = (f64, f64)>, stroke: Stroke) {
        let values = values.into_iter().filter(|(x, _)| self.x.holds(*x));
        let path: Vec<At> = values.map(|value| self.at(self.held(value))).collect();
        self.canvas.line(&path, stroke);
    }

    /// A point; one that lies outside stands at the edge as an arrow.
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

    /// Words within the frame, at its upper left.
    pub(super) fn caption(&self, text: &str) {
        let at = (self.left + 6.0, self.top + 6.0);
        let text = fitting(text, 9.0, self.right - self.left - 12.0);
        self.canvas.text(&text, at, 9.0, BLACK, Anchor::Start);
    }
}
