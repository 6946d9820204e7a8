//! The shape of each side, with its quartiles.

use deadheat_model::{BoxPlot, Distribution, Plots};

use super::axis::{Axis, view};
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
    let whiskers = boxes
        .iter()
        .flat_map(|one| [one.whisker_low, one.whisker_high]);
    let outliers = boxes.iter().flat_map(|one| one.outliers.iter().copied());
    let violins = sides.iter().flat_map(|side| &side.of.violin);
    let violins = violins.filter(|(_, density)| *density > 0.02);
    let whiskers: Vec<f64> = whiskers.collect();
    let range = view(outliers.chain(violins.map(|(value, _)| *value)), &whiskers);
    let x = Axis::quantities(range, scene.comparison.metric.unit(), &scene.metric());
    let rows = sides.len() as f64;
    let y = Axis::hidden((0.0, rows));
    let height = 34.0 + ROW * rows + BELOW;
    let shows = "Densities, quartiles and whiskers (1.5 interquartile ranges); points lie beyond";
    let picture = scene.picture("violins", shows, &[], height, |canvas, top| {
        let corner = (WIDTH - SIDE, height - BELOW);
        let frame = Frame::new(canvas, (SIDE, top - 7.0), corner, x, y);
        let mut outside = 0;
        for (index, side) in sides.iter().enumerate() {
            let middle = rows - index as f64 - 0.58;
            violin(&frame, side.of, middle, side.ink);
            if let Some(one) = &side.of.box_plot {
                outside += box_plot(&frame, one, middle, side.ink);
            }
            let (_, y) = frame.at(range.0, middle + 0.48);
            name(canvas, &side.name, (SIDE + 6.0, y), side.ink);
        }
        frame.outside(outside);
        frame.axes();
    });
    Some(picture)
}

fn name(canvas: &Canvas<'_>, name: &str, at: At, ink: Colour) {
    let name = fitting(name, 9.5, WIDTH / 2.0);
    canvas.text(&name, at, letters(9.5, ink, Anchor::Start));
}

fn violin(frame: &Frame<'_, '_>, side: &Distribution, middle: f64, ink: Colour) {
    let curve = |sign: f64| {
        let at = move |(value, density): &(f64, f64)| (*value, middle + sign * density * WIDE);
        side.violin.iter().map(at)
    };
    let outline: Vec<(f64, f64)> = curve(1.0).chain(curve(-1.0).rev()).collect();
    frame.shape(&outline, ink, 0.3);
    frame.line(curve(1.0), stroke(ink, 0.9, SOLID));
    frame.line(curve(-1.0), stroke(ink, 0.9, SOLID));
}

/// Draws one, and gives how many of its points lie outside the frame.
fn box_plot(frame: &Frame<'_, '_>, one: &BoxPlot, middle: f64, ink: Colour) -> usize {
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
    let outliers = one.outliers.iter();
    let shown = outliers.map(|value| frame.point((*value, middle), Marker::Ring, 1.5, ink));
    shown.filter(|inside| !inside).count()
}
