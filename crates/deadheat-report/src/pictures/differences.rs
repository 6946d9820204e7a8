//! The differences between the sides in the order they were run.

use deadheat_model::{DifferenceSeries, Plots};

use super::axis::{Axis, beyond, padded, view};
use super::frame::{BELOW, Frame};
use super::ink::{BAND, BASELINE, BLACK, CURVE, DROPPED, GREY, Marker, PALE, SHORT, SOLID, stroke};
use super::picture::Picture;
use super::scene::{HEIGHT, Key, SIDE, Scene, WIDTH, percent};

/// Replicates that stripes are drawn for; more would be a grey.
const STRIPES: usize = 80;

pub(super) fn picture(scene: &Scene<'_>, plots: &Plots) -> Option<Picture> {
    let series = plots.differences.as_ref()?;
    if series.points.is_empty() {
        return None;
    }
    let margin = scene.margin();
    let found = scene.comparison.estimate.map(|found| percent(found.effect));
    let drift = series.drift.iter().map(|(_, effect)| percent(*effect));
    let shown: Vec<f64> = [0.0, margin.0, margin.1]
        .into_iter()
        .chain(found)
        .chain(drift)
        .collect();
    let effects = series.points.iter().map(|point| percent(point.effect));
    let y = Axis::changes(view(effects, &shown), "change");
    let last = f64::from(series.blocks.max(1));
    let mut x = Axis::counts(padded(1.0, last), "block, in the order run");
    x.ticks.retain(|(at, _)| *at >= 1.0);
    let places = || {
        let points = series.points.iter();
        points.map(|point| (f64::from(point.position) + 1.0, percent(point.effect)))
    };
    let shows = format!(
        "Block by block, {} against {}{}",
        scene.candidate,
        scene.baseline,
        beyond(places(), &x, &y)
    );
    let keys = keys(series, found.is_some());
    let picture = scene.picture("differences", &shows, &keys, HEIGHT, |canvas, top| {
        let corner = (WIDTH - SIDE, HEIGHT - BELOW);
        let frame = Frame::new(canvas, (SIDE, top), corner, x, y);
        replicates(&frame, series, last);
        frame.band(margin.0, margin.1, BAND);
        frame.level(0.0, stroke(BLACK, 0.7, SOLID));
        let radius = if series.points.len() > 600 { 1.2 } else { 1.7 };
        for (point, at) in series.points.iter().zip(places()) {
            let (marker, radius, ink) = match point.dropped {
                true => (Marker::Cross, 2.6, DROPPED),
                false if point.baseline_first => (Marker::Dot, radius, BASELINE),
                false => (Marker::Ring, radius + 0.3, BASELINE),
            };
            frame.point(at, marker, radius, ink);
        }
        let drift = series.drift.iter();
        let drift = drift.map(|(at, effect)| (f64::from(*at) + 1.0, percent(*effect)));
        frame.line(drift, stroke(CURVE, 1.8, SOLID));
        if let Some(found) = found {
            frame.level(found, stroke(BLACK, 1.0, SHORT));
        }
        frame.axes();
    });
    Some(picture)
}

fn keys(series: &DifferenceSeries, found: bool) -> Vec<(Key, String)> {
    let point = |marker, ink, words: &str| (Key::Point(marker, ink), words.to_owned());
    let mut keys = Vec::new();
    let kept = |first: bool| {
        let mut kept = series.points.iter().filter(|point| !point.dropped);
        kept.any(|point| point.baseline_first == first)
    };
    if kept(true) {
        keys.push(point(Marker::Dot, BASELINE, "baseline first"));
    }
    if kept(false) {
        keys.push(point(Marker::Ring, BASELINE, "candidate first"));
    }
    if series.points.iter().any(|point| point.dropped) {
        keys.push(point(Marker::Cross, DROPPED, "dropped, disturbed"));
    }
    let line = |stroke, words: &str| (Key::Line(stroke), words.to_owned());
    if series.drift.len() > 1 {
        keys.push(line(stroke(CURVE, 1.8, SOLID), "drift"));
    }
    if found {
        keys.push(line(stroke(BLACK, 1.0, SHORT), "estimate"));
    }
    keys.push((Key::Area(BAND), "margin".to_owned()));
    keys
}

/// Every other replicate behind a pale stripe, between thin lines.
fn replicates(frame: &Frame<'_>, series: &DifferenceSeries, last: f64) {
    if series.starts.len() > STRIPES {
        return;
    }
    let edge = |start: &u32| f64::from(*start) + 0.5;
    let mut ends = series.starts.iter().skip(1).map(edge);
    for (index, start) in series.starts.iter().enumerate() {
        let end = ends.next().unwrap_or(last + 0.5);
        if index % 2 == 1 {
            frame.stripe(edge(start), end, PALE);
        }
        if index > 0 {
            frame.upright(edge(start), stroke(GREY, 0.25, SOLID));
        }
    }
}
