//! What every replicate says: how far processes and placements lie apart.

use deadheat_model::Plots;

use super::axis::{Axis, view};
use super::frame::{BELOW, Frame};
use super::ink::{BAND, BASELINE, BLACK, Marker, SHORT, SOLID, stroke};
use super::picture::Picture;
use super::scene::{HEIGHT, Key, SIDE, Scene, WIDTH, ends, percent};

pub(super) fn picture(scene: &Scene<'_>, plots: &Plots) -> Option<Picture> {
    let replicates = &plots.replicates;
    if replicates.is_empty() {
        return None;
    }
    let margin = scene.margin();
    let found = scene.comparison.estimate;
    let interval = found.and_then(|found| found.interval).as_ref().map(ends);
    let mut shown = vec![0.0, margin.0, margin.1];
    shown.extend(interval.iter().flat_map(|(low, high)| [*low, *high]));
    shown.extend(replicates.iter().map(|one| percent(one.effect)));
    let quartiles = replicates.iter().flat_map(|one| [one.low, one.high]);
    let y = Axis::changes(view(quartiles.map(percent), &shown), "change");
    let count = replicates.len() as f64;
    let x = Axis::counts((0.3, count + 0.7), "replicate, in the order run");
    let shows = format!(
        "Replicate by replicate, {} against {}",
        scene.candidate, scene.baseline
    );
    let bars = replicates.iter().any(|one| one.low < one.high);
    let blocks = match bars {
        true => "median and quartiles of its blocks",
        false => "its block",
    };
    let mut keys = vec![(Key::Point(Marker::Dot, BASELINE), blocks.to_owned())];
    if found.is_some() {
        keys.push((Key::Line(stroke(BLACK, 1.0, SHORT)), "estimate".into()));
    }
    if interval.is_some() {
        keys.push((Key::Line(stroke(BLACK, 0.5, SOLID)), "its interval".into()));
    }
    keys.push((Key::Area(BAND), "margin".into()));
    let picture = scene.picture("replicates", &shows, &keys, HEIGHT, |canvas, top| {
        let corner = (WIDTH - SIDE, HEIGHT - BELOW);
        let frame = Frame::new(canvas, (SIDE, top), corner, x, y);
        frame.band(margin.0, margin.1, BAND);
        frame.level(0.0, stroke(BLACK, 0.7, SOLID));
        if let Some((low, high)) = interval {
            frame.level(low, stroke(BLACK, 0.5, SOLID));
            frame.level(high, stroke(BLACK, 0.5, SOLID));
        }
        if let Some(found) = found {
            frame.level(percent(found.effect), stroke(BLACK, 1.0, SHORT));
        }
        let crowded = replicates.len() > 120;
        let thin = stroke(BASELINE, if crowded { 0.5 } else { 1.0 }, SOLID);
        for (index, one) in replicates.iter().enumerate() {
            let x = index as f64 + 1.0;
            frame.line([(x, percent(one.low)), (x, percent(one.high))], thin);
            let radius = if crowded { 1.3 } else { 2.3 };
            frame.point((x, percent(one.effect)), Marker::Dot, radius, BASELINE);
        }
        frame.axes();
    });
    Some(picture)
}
