//! The shape of each side, with its quartiles.

use deadheat_model::{BoxPlot, Distribution, Plots};

use super::axis::{Axis, beyond_the_edge, padded};
use super::canvas::{Anchor, At, Canvas, fitting};
use super::frame::{BELOW, Frame, letters};
use super::histogram::sides;
use super::ink::{BLACK, Colour, Marker, SOLID, WHITE, stroke};
use super::picture::Picture;
use super::scene::{SIDE, Scene, WIDTH};

/// Pixels for one side.
const ROW: f64 = 78.0;
/// Half of a violin at its widest, in rows.
const WIDE: f64 = 0.34;
/// Half of a box, in rows.
const BOX: f64 = 0.07;

pub(super) fn picture(scene: &Scene<'_>, plots: &Plots) -> Option<Picture> {
    let sides = sides(scene, plots);
    let boxes: Vec<&BoxPlot> = sides
        .iter()
        .filter_map(|side| side.of.box_plot.as_ref())
        .collect();
    if boxes.is_empty() {
        return None;
    }
    let range = range(&boxes);
    let x = Axis::quantities(range, scene.comparison.metric.unit(), &scene.metric());
    let rows = sides.len() as f64;
    let y = Axis::hidden((0.0, rows));
    let height = 34.0 + ROW * rows + BELOW;
    let outliers = boxes.iter().flat_map(|one| &one.outliers);
    let outside = outliers.filter(|value| !x.holds(**value)).count();
    let shows = format!("Densities and box plots{}", beyond_the_edge(outside));
    let picture = scene.picture("violins", &shows, &[], height, |canvas, top| {
        let corner = (WIDTH - SIDE, height - BELOW);
        let frame = Frame::new(canvas, (SIDE, top - 7.0), corner, x, y);
        for (index, side) in sides.iter().enumerate() {
            let middle = rows - index as f64 - 0.58;
            violin(&frame, side.of, middle, side.ink);
            if let Some(one) = &side.of.box_plot {
                box_plot(&frame, one, middle, side.ink);
            }
            let (_, y) = frame.at(range.0, middle + 0.48);
            name(canvas, &side.name, (SIDE + 6.0, y), side.ink);
        }
        frame.axes();
    });
    Some(picture)
}

/// The whiskers and some room beside them, as far as there is anything.
fn range(boxes: &[&BoxPlot]) -> (f64, f64) {
    let least = |of: &dyn Fn(&BoxPlot) -> f64| {
        boxes
            .iter()
            .map(|one| of(one))
            .fold(f64::INFINITY, f64::min)
    };
    let low = least(&|one| one.whisker_low);
    let high = -least(&|one| -one.whisker_high);
    let beside = (high - low) * 0.4;
    let outliers = || boxes.iter().flat_map(|one| one.outliers.iter().copied());
    let first = outliers().fold(low, f64::min);
    let last = outliers().fold(high, f64::max);
    padded(first.max(low - beside), last.min(high + beside))
}

fn name(canvas: &Canvas, name: &str, at: At, ink: Colour) {
    let name = fitting(name, 9.5, WIDTH / 2.0);
    canvas.text(&name, at, letters(9.5, ink, Anchor::Start));
}

fn violin(frame: &Frame<'_>, side: &Distribution, middle: f64, ink: Colour) {
    let curve = |sign: f64| {
        let at = move |(value, density): &(f64, f64)| (*value, middle + sign * density * WIDE);
        side.violin.iter().map(at)
    };
    let outline: Vec<(f64, f64)> = curve(1.0).chain(curve(-1.0).rev()).collect();
    frame.shape(&outline, ink, 0.3);
    frame.line(curve(1.0), stroke(ink, 0.9, SOLID));
    frame.line(curve(-1.0), stroke(ink, 0.9, SOLID));
}

fn box_plot(frame: &Frame<'_>, one: &BoxPlot, middle: f64, ink: Colour) {
    let thin = stroke(BLACK, 0.9, SOLID);
    frame.line([(one.whisker_low, middle), (one.lower, middle)], thin);
    frame.line([(one.upper, middle), (one.whisker_high, middle)], thin);
    let corners = [
        (one.lower, middle - BOX),
        (one.upper, middle - BOX),
        (one.upper, middle + BOX),
        (one.lower, middle + BOX),
    ];
    frame.shape(&corners, WHITE, 1.0);
    frame.line(corners.into_iter().chain([corners[0]]), thin);
    let median = [(one.median, middle - BOX), (one.median, middle + BOX)];
    frame.line(median, stroke(BLACK, 2.0, SOLID));
    for whisker in [one.whisker_low, one.whisker_high] {
        let end = [(whisker, middle - BOX / 2.0), (whisker, middle + BOX / 2.0)];
        frame.line(end, thin);
    }
    for value in &one.outliers {
        frame.point((*value, middle), Marker::Ring, 1.5, ink);
    }
}
