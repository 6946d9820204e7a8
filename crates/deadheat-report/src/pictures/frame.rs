//! A frame with two axes, into which values are drawn.

use super::axis::Axis;
use super::canvas::{Anchor, At, Canvas, Letters, corners, fitting, width};
use super::ink::{BLACK, Colour, Marker, SOLID, Stroke, stroke};

/// Pixels of the words at the ticks.
pub(super) const SMALL: f64 = 10.0;
/// Pixels of the words at an axis.
pub(super) const LABEL: f64 = 10.5;

/// Pixels from a tick to its words.
const GAP: f64 = 6.0;

/// Pixels a frame needs beside itself.
pub(super) const BELOW: f64 = 34.0;

/// Words in black or grey, level.
pub(super) fn letters(size: f64, colour: Colour, anchor: Anchor) -> Letters {
    Letters {
        size,
        colour,
        anchor,
        upwards: false,
    }
}

/// Where on the sheet which values lie.
pub(super) struct Frame<'a> {
    canvas: &'a Canvas,
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    x: Axis,
    y: Axis,
}

impl<'a> Frame<'a> {
    /// A frame between these corners, which takes room for the words at its
    /// left side from itself.
    pub(super) fn new(
        canvas: &'a Canvas,
        (left, top): At,
        (right, bottom): At,
        x: Axis,
        y: Axis,
    ) -> Self {
        let words = y.ticks.iter().map(|(_, word)| width(word, SMALL));
        let words = words.fold(0.0, f64::max);
        let title = match y.title.is_empty() {
            true => 0.0,
            false => LABEL + 6.0,
        };
        let room = match y.ticks.is_empty() {
            true => title,
            false => title + words + GAP,
        };
        Frame {
            canvas,
            left: left + room,
            right,
            top,
            bottom,
            x,
            y,
        }
    }

    /// Where a value lies.
    pub(super) fn at(&self, x: f64, y: f64) -> At {
        let across = (x - self.x.low) / (self.x.high - self.x.low);
        let up = (y - self.y.low) / (self.y.high - self.y.low);
        (
            self.left + across * (self.right - self.left),
            self.bottom - up * (self.bottom - self.top),
        )
    }

    /// The frame itself, its ticks and their words; drawn over what it holds.
    pub(super) fn axes(&self) {
        let thin = stroke(BLACK, 0.8, SOLID);
        let canvas = self.canvas;
        canvas.line(&[(self.left, self.top), (self.left, self.bottom)], thin);
        canvas.line(&[(self.left, self.bottom), (self.right, self.bottom)], thin);
        let across: Vec<(At, &str)> = self
            .x
            .ticks
            .iter()
            .map(|(value, word)| (self.at(*value, self.y.low), word.as_str()))
            .collect();
        let mut free = f64::NEG_INFINITY;
        for ((x, y), word) in across {
            canvas.line(&[(x, y), (x, y + 3.5)], thin);
            // Words that would touch those before are left out.
            let half = width(word, SMALL) / 2.0;
            // Nor may they leave the sheet with a tick at its edge.
            let middle = x.min(self.right + 7.0 - half).max(half);
            if middle - half > free {
                let at = (middle, y + 11.0);
                canvas.text(word, at, letters(SMALL, BLACK, Anchor::Middle));
                free = middle + half + 3.0;
            }
        }
        let mut words = 0.0;
        for (value, word) in &self.y.ticks {
            let (x, y) = self.at(self.x.low, *value);
            canvas.line(&[(x - 3.5, y), (x, y)], thin);
            canvas.text(word, (x - GAP, y), letters(SMALL, BLACK, Anchor::End));
            words = width(word, SMALL).max(words);
        }
        let middle = (self.left + self.right) / 2.0;
        canvas.text(
            &self.x.title,
            (middle, self.bottom + 26.0),
            letters(LABEL, BLACK, Anchor::Middle),
        );
        if !self.y.title.is_empty() {
            let upwards = Letters {
                upwards: true,
                ..letters(LABEL, BLACK, Anchor::Middle)
            };
            let x = self.left - GAP - words - 3.0 - LABEL / 2.0;
            canvas.text(&self.y.title, (x, (self.top + self.bottom) / 2.0), upwards);
        }
    }

    /// A band between two values of the upright axis.
    pub(super) fn band(&self, low: f64, high: f64, colour: Colour) {
        let (_, bottom) = self.at(self.x.low, low);
        let (_, top) = self.at(self.x.low, high);
        let (top, bottom) = (top.max(self.top), bottom.min(self.bottom));
        if top < bottom {
            let area = corners((self.left, top), (self.right, bottom));
            self.canvas.area(&area, colour, 1.0);
        }
    }

    /// A band between two values of the level axis.
    pub(super) fn stripe(&self, from: f64, to: f64, colour: Colour) {
        let (left, _) = self.at(from, self.y.low);
        let (right, _) = self.at(to, self.y.low);
        let (left, right) = (left.max(self.left), right.min(self.right));
        if left < right {
            let area = corners((left, self.top), (right, self.bottom));
            self.canvas.area(&area, colour, 1.0);
        }
    }

    /// A level line across the frame, where it lies within.
    pub(super) fn level(&self, y: f64, stroke: Stroke) {
        if self.y.holds(y) {
            let path = [self.at(self.x.low, y), self.at(self.x.high, y)];
            self.canvas.line(&path, stroke);
        }
    }

    /// An upright line across the frame, where it lies within.
    pub(super) fn upright(&self, x: f64, stroke: Stroke) {
        if self.x.holds(x) {
            let path = [self.at(x, self.y.low), self.at(x, self.y.high)];
            self.canvas.line(&path, stroke);
        }
    }

    /// A straight line between two values, cut to the frame.
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
            let path = [cut.0, cut.1].map(|share| {
                let (x, y) = between(share);
                self.at(x, y)
            });
            self.canvas.line(&path, stroke);
        }
    }

    /// A level line between two values, with an arrow at an end that lies
    /// outside.
    pub(super) fn span(&self, (low, high): (f64, f64), y: f64, stroke: Stroke) {
        let held = |x: f64| x.clamp(self.x.low, self.x.high);
        let path = [self.at(held(low), y), self.at(held(high), y)];
        self.canvas.line(&path, stroke);
        for (end, arrow) in [(low, Marker::Left), (high, Marker::Right)] {
            if held(end) != end {
                self.canvas
                    .point(self.at(held(end), y), arrow, 2.2, stroke.colour);
            }
        }
    }

    /// A short level stroke that ends an upright line; at the edge an arrow.
    pub(super) fn cap(&self, (x, y): (f64, f64), ink: Colour) {
        if !self.y.holds(y) {
            return self.point((x, y), Marker::Dot, 2.2, ink);
        }
        let (x, y) = self.at(x, y);
        let path = [(x - 3.0, y), (x + 3.0, y)];
        self.canvas.line(&path, stroke(ink, 1.2, SOLID));
    }

    /// A filled shape, cut at the sides of the frame.
    pub(super) fn shape(&self, outline: &[(f64, f64)], colour: Colour, opacity: f64) {
        let held = outline.iter().map(|(x, y)| {
            let x = x.clamp(self.x.low, self.x.high);
            self.at(x, y.clamp(self.y.low, self.y.high))
        });
        let corners: Vec<At> = held.collect();
        if corners.len() > 2 {
            self.canvas.area(&corners, colour, opacity);
        }
    }

    /// A line through values, cut where it leaves the frame upwards or
    /// downwards.
    pub(super) fn line(&self, values: impl IntoIterator<Item = (f64, f64)>, stroke: Stroke) {
        let clamped = |y: f64| y.clamp(self.y.low, self.y.high);
        let mut path: Vec<At> = Vec::new();
        for (x, y) in values {
            if self.x.holds(x) {
                path.push(self.at(x, clamped(y)));
            }
        }
        if path.len() > 1 {
            self.canvas.line(&path, stroke);
        }
    }

    /// An area between a line through values and the foot of the frame.
    pub(super) fn filled(&self, values: &[(f64, f64)], colour: Colour, opacity: f64) {
        let (Some(first), Some(last)) = (values.first(), values.last()) else {
            return;
        };
        let foot = |x: f64| (x, self.y.low);
        let whole = std::iter::once(foot(first.0))
            .chain(values.iter().copied())
            .chain([foot(last.0)]);
        let corners: Vec<At> = whole
            .map(|(x, y)| self.at(x.clamp(self.x.low, self.x.high), y.min(self.y.high)))
            .collect();
        self.canvas.area(&corners, colour, opacity);
    }

    /// A point; one that lies outside stands at the edge as an arrow.
    pub(super) fn point(&self, (x, y): (f64, f64), marker: Marker, radius: f64, ink: Colour) {
        let held = (
            x.clamp(self.x.low, self.x.high),
            y.clamp(self.y.low, self.y.high),
        );
        let at = self.at(held.0, held.1);
        let arrow = match (x < held.0, x > held.0, y < held.1) {
            (true, ..) => Marker::Left,
            (_, true, _) => Marker::Right,
            (.., true) => Marker::Down,
            _ => Marker::Up,
        };
        let shape = if held == (x, y) { marker } else { arrow };
        self.canvas.point(at, shape, radius, ink);
    }

    /// Words within the frame, at its upper left.
    pub(super) fn caption(&self, text: &str) {
        let at = (self.left + 6.0, self.top + 6.0);
        let text = fitting(text, 9.0, self.right - self.left - 12.0);
        self.canvas
            .text(&text, at, letters(9.0, BLACK, Anchor::Start));
    }
}
