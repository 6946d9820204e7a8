//! The distributions fitted to each side, over its histogram.

use deadheat_model::Plots;

use super::axis::Axis;
use super::frame::{BELOW, Frame};
use super::histogram::{sides, steps};
use super::ink::of_family;
use super::picture::Picture;
use super::scene::{Key, SIDE, Scene, WIDTH};

/// Pixels of one side's frame.
const PANEL: f64 = 130.0;

pub(super) fn picture(scene: &Scene<'_>, plots: &Plots) -> Option<Picture> {
    let edges = &plots.edges;
    let (low, high) = (*edges.first()?, *edges.last()?);
    let sides = sides(scene, plots);
    let curves = || sides.iter().flat_map(|side| &side.of.curves);
    let curves: Vec<_> = curves().filter(|curve| curve.points.len() > 1).collect();
    if curves.is_empty() || low >= high {
        return None;
    }
    let mut keys: Vec<(Key, String)> = Vec::new();
    for curve in &curves {
        let (stroke, name) = of_family(curve.family);
        if keys.iter().all(|(_, known)| known != name) {
            keys.push((Key::Line(stroke), name.to_owned()));
        }
    }
    let unit = scene.comparison.metric.unit();
    let height = 58.0 + PANEL * sides.len() as f64 + BELOW - 8.0;
    let shows = "Fitted densities over the histogram of each side";
    let picture = scene.picture("densities", shows, &keys, height, |canvas, top| {
        let panel = (height - BELOW - top) / sides.len() as f64;
        for (index, side) in sides.iter().enumerate() {
            let last = index + 1 == sides.len();
            let mut x = Axis::quantities((low, high), unit, &scene.metric());
            if !last {
                x.title.clear();
                x.ticks.iter_mut().for_each(|(_, word)| word.clear());
            }
            let counts = || side.of.counts.iter().map(|count| f64::from(*count));
            let curves = || side.of.curves.iter();
            let points = curves().flat_map(|curve| curve.points.iter().map(|(_, y)| *y));
            let bars = counts().fold(1.0, f64::max);
            // A fit that is far from the bars may leave the frame.
            let highest = points.fold(bars, f64::max).min(bars * 2.0);
            let y = Axis::counts((0.0, highest * 1.15), "samples");
            let upper = top + panel * index as f64;
            let lower = upper + panel - if last { 0.0 } else { 10.0 };
            let frame = Frame::new(canvas, (SIDE, upper), (WIDTH - SIDE, lower), x, y);
            frame.filled(&steps(edges, counts()), side.ink, 0.25);
            for curve in curves() {
                let (stroke, _) = of_family(curve.family);
                frame.line(curve.points.iter().copied(), stroke);
            }
            frame.caption(&side.name);
            frame.axes();
        }
    });
    Some(picture)
}
