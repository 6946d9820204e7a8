//! What all pictures of a comparison have in common: its names and its head.

use deadheat_model::{Comparison, Interval, LogRatio, Metric};

use super::canvas::{Anchor, At, Canvas, fitting, sheet, width};
use super::frame::letters;
use super::ink::{BLACK, Colour, GREY, Marker, Stroke};
use super::picture::Picture;
use crate::glyphs::Glyphs;
use crate::sentences::{self, Source};

/// Pixels of a picture, made for one column of a page.
pub(super) const WIDTH: f64 = 360.0;
pub(super) const HEIGHT: f64 = 252.0;

/// Pixels that stay free at every side.
pub(super) const SIDE: f64 = 8.0;

const TITLE: f64 = 12.0;
const SUBTITLE: f64 = 9.5;
const KEY: f64 = 9.5;

/// How a key of the legend looks.
pub(super) enum Key {
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
    /// A picture with a head: what it is of, what it shows, and which sign
    /// stands for what. `draw` gets the height at which the rest begins.
    pub(super) fn picture(
        &self,
        kind: &str,
        shows: &str,
        keys: &[(Key, String)],
        height: f64,
        draw: impl FnOnce(&Canvas, f64),
    ) -> Picture {
        let about = format!("{}: {shows}", self.title);
        let svg = sheet(WIDTH, height, &about, |canvas| {
            head(canvas, &self.title, shows, WIDTH);
            let top = legend(canvas, keys);
            draw(canvas, top);
        });
        Picture::new(format!("{}-{kind}", self.stem), svg)
    }

    /// "wall time per iteration", of a metric that adds up.
    pub(super) fn metric(&self) -> String {
        of_metric(&self.comparison.metric, self.source)
    }

    /// The margin to both sides, in percent.
    pub(super) fn margin(&self) -> (f64, f64) {
        margin(self.comparison.margin)
    }
}

fn of_metric(metric: &Metric, source: Source) -> String {
    let name = sentences::metric(metric, Glyphs::Unicode);
    match metric.adds_up() {
        true => format!("{name} per {}", source.iteration()),
        false => name,
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
pub(super) fn ends(interval: &Interval) -> (f64, f64) {
    (percent(interval.low), percent(interval.high))
}

/// Title and subtitle.
pub(super) fn head(canvas: &Canvas, title: &str, shows: &str, across: f64) {
    let room = across - 2.0 * SIDE;
    let title = fitting(title, TITLE, room);
    canvas.text(&title, (SIDE, 13.0), letters(TITLE, BLACK, Anchor::Start));
    let shows = fitting(shows, SUBTITLE, room);
    canvas.text(&shows, (SIDE, 27.0), letters(SUBTITLE, GREY, Anchor::Start));
}

/// The keys in a row or more; gives the height at which the rest begins.
fn legend(canvas: &Canvas, keys: &[(Key, String)]) -> f64 {
    let (mut x, mut y) = (SIDE, 41.0);
    if keys.is_empty() {
        return y;
    }
    for (key, words) in keys {
        let words = fitting(words, KEY, WIDTH * 0.62);
        let needed = 18.0 + width(&words, KEY) + 10.0;
        if x > SIDE && x + needed > WIDTH - SIDE + 10.0 {
            (x, y) = (SIDE, y + 13.0);
        }
        self::key(canvas, key, (x, y));
        canvas.text(&words, (x + 18.0, y), letters(KEY, BLACK, Anchor::Start));
        x += needed;
    }
    y + 14.0
}

fn key(canvas: &Canvas, key: &Key, (x, y): At) {
    match key {
        Key::Line(stroke) => canvas.line(&[(x, y), (x + 14.0, y)], *stroke),
        Key::Point(marker, colour) => canvas.point((x + 7.0, y), *marker, 3.2, *colour),
        Key::Area(colour) => {
            let area = super::canvas::corners((x, y - 4.0), (x + 14.0, y + 4.0));
            canvas.area(&area, *colour, 1.0);
        }
    }
}
