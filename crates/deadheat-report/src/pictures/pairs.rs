//! Baseline against candidate, pair by pair.

use deadheat_model::Plots;

use super::axis::{Axis, beyond, view};
use super::frame::{BELOW, Frame};
use super::ink::{BASELINE, BLACK, CANDIDATE, DASHED, Marker, stroke};
use super::picture::Picture;
use super::scene::{Key, SIDE, Scene, WIDTH};

/// Both sides have the same scale, so it is nearly a square.
const HEIGHT: f64 = 330.0;

pub(super) fn picture(scene: &Scene<'_>, plots: &Plots) -> Option<Picture> {
    let cloud = plots.pairs.as_ref()?;
    if cloud.points.is_empty() {
        return None;
    }
    let unit = scene.comparison.metric.unit();
    let values = cloud.points.iter();
    let values = values.flat_map(|point| [point.baseline, point.candidate]);
    let range = view(values, &[]);
    let title = |name: &str| format!("{name}: {}", scene.metric());
    let x = Axis::quantities(range, unit, &title("baseline"));
    let y = Axis::quantities(range, unit, &title("candidate"));
    let places = || {
        let points = cloud.points.iter();
        points.map(|point| (point.baseline, point.candidate))
    };
    let shows = format!(
        "Pair by pair, {} against {}{}",
        scene.candidate,
        scene.baseline,
        beyond(places(), &x, &y)
    );
    let first = |first: bool| {
        cloud
            .points
            .iter()
            .any(|point| point.baseline_first == first)
    };
    let symmetry = stroke(BLACK, 0.9, DASHED);
    let mut keys = Vec::new();
    if first(true) {
        keys.push((Key::Point(Marker::Dot, BASELINE), "baseline first".into()));
    }
    if first(false) {
        keys.push((Key::Point(Marker::Up, CANDIDATE), "candidate first".into()));
    }
    keys.push((Key::Line(symmetry), "alike".into()));
    let picture = scene.picture("pairs", &shows, &keys, HEIGHT, |canvas, top| {
        let corner = (WIDTH - SIDE, HEIGHT - BELOW);
        let frame = Frame::new(canvas, (SIDE, top), corner, x, y);
        frame.line([(range.0, range.0), (range.1, range.1)], symmetry);
        let radius = if cloud.points.len() > 600 { 1.2 } else { 1.7 };
        for (point, at) in cloud.points.iter().zip(places()) {
            let (marker, ink) = match point.baseline_first {
                true => (Marker::Dot, BASELINE),
                false => (Marker::Up, CANDIDATE),
            };
            frame.point(at, marker, radius, ink);
        }
        frame.axes();
    });
    Some(picture)
}
