//! The share of samples at or below each value.

use deadheat_model::Plots;

use super::axis::{Axis, view};
use super::frame::{BELOW, Frame};
use super::histogram::{Side, sides};
use super::ink::{DASHED, SOLID, Stroke, stroke};
use super::picture::Picture;
use super::scene::{HEIGHT, Key, SIDE, Scene, WIDTH};

pub(super) fn picture(scene: &Scene<'_>, plots: &Plots) -> Option<Picture> {
    let sides: Vec<Side<'_>> = sides(scene, plots)
        .into_iter()
        .filter(|side| !side.of.ecdf.is_empty())
        .collect();
    if sides.is_empty() {
        return None;
    }
    let values = sides.iter().flat_map(|side| &side.of.ecdf);
    let range = view(values.map(|(value, _)| *value), &[]);
    let x = Axis::quantities(range, scene.comparison.metric.unit(), &scene.metric());
    let y = Axis::shares("samples at or below");
    let line = |index: usize, side: &Side<'_>| -> Stroke {
        stroke(side.ink, 1.5, [SOLID, DASHED][index.min(1)])
    };
    let keys: Vec<(Key, String)> = sides
        .iter()
        .enumerate()
        .map(|(index, side)| (Key::Line(line(index, side)), side.name.clone()))
        .collect();
    let shows = "Empirical distribution functions";
    let picture = scene.picture("ecdf", shows, &keys, HEIGHT, |canvas, top| {
        let corner = (WIDTH - SIDE, HEIGHT - BELOW);
        let frame = Frame::new(canvas, (SIDE, top), corner, x, y);
        for (index, side) in sides.iter().enumerate() {
            let from = std::iter::once((range.0, 0.0));
            let mut height = 0.0;
            let steps = side.of.ecdf.iter().flat_map(|&(value, share)| {
                let before = std::mem::replace(&mut height, share);
                [(value, before), (value, share)]
            });
            let to = side.of.ecdf.last().map(|(_, share)| (range.1, *share));
            frame.line(from.chain(steps).chain(to), line(index, side));
        }
        frame.axes();
    });
    Some(picture)
}
