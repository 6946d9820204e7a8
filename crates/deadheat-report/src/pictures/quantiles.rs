//! Quantiles of ln t against those of a normal distribution.

use deadheat_model::Plots;

use super::axis::{Axis, padded};
use super::frame::{BELOW, Frame};
use super::histogram::{Side, sides};
use super::ink::{Marker, SOLID, stroke};
use super::picture::Picture;
use super::scene::{HEIGHT, Key, SIDE, Scene, WIDTH};

pub(super) fn picture(scene: &Scene<'_>, plots: &Plots) -> Option<Picture> {
    let sides: Vec<Side<'_>> = sides(scene, plots)
        .into_iter()
        .filter(|side| !side.of.normal_quantiles.is_empty())
        .collect();
    if sides.is_empty() {
        return None;
    }
    let points = || sides.iter().flat_map(|side| &side.of.normal_quantiles);
    let span = |values: &mut dyn Iterator<Item = f64>| {
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
            (low.min(value), high.max(value))
        })
    };
    let across = span(&mut points().map(|(quantile, _)| *quantile));
    let up = span(&mut points().map(|(_, logarithm)| *logarithm));
    let across = padded(across.0, across.1);
    let x = Axis::numbers(across, "quantile of the standard normal distribution");
    let up = padded(up.0, up.1);
    let y = Axis::logarithms(up, scene.comparison.metric.unit(), &scene.metric());
    let marker = |index: usize| [Marker::Dot, Marker::Up][index.min(1)];
    let keys: Vec<(Key, String)> = sides
        .iter()
        .enumerate()
        .map(|(index, side)| (Key::Point(marker(index), side.ink), side.name.clone()))
        .collect();
    let shows = "Quantiles of the logarithms; on its line a side would be log-normal";
    let picture = scene.picture("quantiles", shows, &keys, HEIGHT, |canvas, top| {
        let corner = (WIDTH - SIDE, HEIGHT - BELOW);
        let frame = Frame::new(canvas, (SIDE, top), corner, x, y);
        for side in &sides {
            if let Some((intercept, slope)) = side.of.normal_line {
                let at = |quantile: f64| (quantile, intercept + slope * quantile);
                frame.segment(at(across.0), at(across.1), stroke(side.ink, 0.9, SOLID));
            }
        }
        for (index, side) in sides.iter().enumerate() {
            for point in &side.of.normal_quantiles {
                frame.point(*point, marker(index), 1.7, side.ink);
            }
        }
        frame.axes();
    });
    Some(picture)
}
