//! Plots of the differences between the sides: by block, by pair, by replicate and by look.

use deadheat_model::{DifferenceSeries, Plots};

use super::axis::{Axis, beyond, padded, view};
use super::canvas::{
    BAND, BASELINE, BLACK, CANDIDATE, CURVE, Colour, DASHED, DROPPED, GREY, Marker, PALE, SHORT,
    SOLID, Stroke,
};
use super::scene::{ALL, Frame, HEIGHT, Key, Scene, Sign, percent, percents};

/// With more replicates than this, no stripes are drawn, because they would merge into grey.
const STRIPES: usize = 80;

/// The height of the plot of pairs, which makes it nearly square, because both axes have the same
/// scale.
const SQUARE: f64 = 330.0;

const ZERO: Stroke = Stroke(BLACK, 0.7, SOLID);
const ESTIMATE: Stroke = Stroke(BLACK, 1.0, SHORT);
const INTERVAL: Stroke = Stroke(BLACK, 0.5, SOLID);
const DRIFT: Stroke = Stroke(CURVE, 1.8, SOLID);

fn radius(points: usize) -> f64 {
    if points > 600 { 1.2 } else { 1.7 }
}

fn point(marker: Marker, ink: Colour, words: &str) -> Key {
    (Sign::Point(marker, ink), words.to_owned())
}

fn line(stroke: Stroke, words: &str) -> Key {
    (Sign::Line(stroke), words.to_owned())
}

fn margin_key() -> Key {
    (Sign::Area(BAND), "margin".to_owned())
}

/// Returns an axis that shows most of the changes, all of `shown`, zero, and the margin.
fn changes(
    scene: &Scene<'_>,
    changes: impl Iterator<Item = f64>,
    shown: impl Iterator<Item = f64>,
) -> Axis {
    let (low, high) = scene.margin();
    let shown: Vec<f64> = [0.0, low, high].into_iter().chain(shown).collect();
    Axis::changes(view(changes, &shown), "change")
}

fn ground(frame: &Frame<'_>, scene: &Scene<'_>) {
    frame.band(ALL, scene.margin(), BAND);
    frame.level(0.0, ZERO);
}

/// Plots the differences of blocks in the order of execution.
pub(super) fn blocks(scene: &Scene<'_>, plots: &Plots) -> Option<String> {
    let series = plots.differences.as_ref()?;
    if series.points.is_empty() {
        return None;
    }
    let found = scene.comparison.estimate;
    let found = found.map(|found| percent(found.effect));
    let drift = || {
        let drift = series.drift.iter();
        drift.map(|(at, effect)| (f64::from(*at) + 1.0, percent(*effect)))
    };
    let places = || {
        let points = series.points.iter();
        points.map(|point| (f64::from(point.position) + 1.0, percent(point.effect)))
    };
    let shown = found.into_iter().chain(drift().map(|(_, effect)| effect));
    let y = changes(scene, places().map(|(_, effect)| effect), shown);
    let last = f64::from(series.blocks.max(1));
    let mut x = Axis::counts(padded(1.0, last), "block, in the order run");
    x.ticks.retain(|(at, _)| *at >= 1.0);
    let shows = scene.against("Block by block") + &beyond(places(), &x, &y);
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
    if series.drift.len() > 1 {
        keys.push(line(DRIFT, "drift"));
    }
    keys.extend(found.map(|_| line(ESTIMATE, "estimate")));
    keys.push(margin_key());
    Some(scene.framed(&shows, &keys, HEIGHT, (x, y), |frame| {
        stripes(frame, series, last);
        ground(frame, scene);
        let radius = radius(series.points.len());
        for (point, at) in series.points.iter().zip(places()) {
            if point.dropped {
                frame.point(at, Marker::Cross, 2.6, DROPPED);
            } else if point.baseline_first {
                frame.point(at, Marker::Dot, radius, BASELINE);
            } else {
                frame.point(at, Marker::Ring, radius + 0.3, BASELINE);
            }
        }
        frame.line(drift(), DRIFT);
        if let Some(found) = found {
            frame.level(found, ESTIMATE);
        }
    }))
}

/// Draws a pale stripe for every other replicate, with thin lines between replicates.
fn stripes(frame: &Frame<'_>, series: &DifferenceSeries, last: f64) {
    if series.starts.len() > STRIPES {
        return;
    }
    let edge = |start: &u32| f64::from(*start) + 0.5;
    let ends = series.starts.iter().skip(1).map(edge).chain([last + 0.5]);
    for (index, (start, end)) in series.starts.iter().map(edge).zip(ends).enumerate() {
        if index % 2 == 1 {
            frame.band((start, end), ALL, PALE);
        }
        if index > 0 {
            frame.upright(start, Stroke(GREY, 0.25, SOLID));
        }
    }
}

pub(super) fn pairs(scene: &Scene<'_>, plots: &Plots) -> Option<String> {
    let points = &plots.pairs.as_ref()?.points;
    if points.is_empty() {
        return None;
    }
    let places = || points.iter().map(|one| (one.baseline, one.candidate));
    let range = view(
        places().flat_map(|(baseline, candidate)| [baseline, candidate]),
        &[],
    );
    let [x, y] = ["baseline", "candidate"].map(|name| {
        let title = format!("{name}: {}", scene.metric());
        Axis::quantities(range, scene.comparison.terms.metric.unit(), &title)
    });
    let shows = scene.against("Pair by pair") + &beyond(places(), &x, &y);
    let alike = Stroke(BLACK, 0.9, DASHED);
    let first = |first: bool| points.iter().any(|point| point.baseline_first == first);
    let mut keys = Vec::new();
    if first(true) {
        keys.push(point(Marker::Dot, BASELINE, "baseline first"));
    }
    if first(false) {
        keys.push(point(Marker::Up, CANDIDATE, "candidate first"));
    }
    keys.push(line(alike, "alike"));
    Some(scene.framed(&shows, &keys, SQUARE, (x, y), |frame| {
        frame.line([(range.0, range.0), (range.1, range.1)], alike);
        let radius = radius(points.len());
        for (point, at) in points.iter().zip(places()) {
            let (marker, ink) = if point.baseline_first {
                (Marker::Dot, BASELINE)
            } else {
                (Marker::Up, CANDIDATE)
            };
            frame.point(at, marker, radius, ink);
        }
    }))
}

/// Plots the effect of every replicate, which shows the variation between processes and placements.
pub(super) fn replicates(scene: &Scene<'_>, plots: &Plots) -> Option<String> {
    let replicates = &plots.replicates;
    if replicates.is_empty() {
        return None;
    }
    let found = scene.comparison.estimate;
    let interval = found
        .and_then(|found| found.interval)
        .as_ref()
        .map(percents);
    let ends = interval.into_iter().flat_map(|(low, high)| [low, high]);
    let shown = ends.chain(replicates.iter().map(|one| percent(one.effect)));
    let quartiles = replicates.iter().flat_map(|one| [one.low, one.high]);
    let y = changes(scene, quartiles.map(percent), shown);
    let count = replicates.len() as f64;
    let x = Axis::counts((0.3, count + 0.7), "replicate, in the order run");
    let blocks = if replicates.iter().any(|one| one.low < one.high) {
        "median and quartiles of its blocks"
    } else {
        "its block"
    };
    let mut keys = vec![point(Marker::Dot, BASELINE, blocks)];
    keys.extend(found.map(|_| line(ESTIMATE, "estimate")));
    keys.extend(interval.map(|_| line(INTERVAL, "its interval")));
    keys.push(margin_key());
    let shows = scene.against("Replicate by replicate");
    Some(scene.framed(&shows, &keys, HEIGHT, (x, y), |frame| {
        ground(frame, scene);
        if let Some((low, high)) = interval {
            frame.level(low, INTERVAL);
            frame.level(high, INTERVAL);
        }
        if let Some(found) = found {
            frame.level(percent(found.effect), ESTIMATE);
        }
        let crowded = replicates.len() > 120;
        let (width, radius) = if crowded { (0.5, 1.3) } else { (1.0, 2.3) };
        for (index, one) in replicates.iter().enumerate() {
            let x = index as f64 + 1.0;
            let quartiles = [(x, percent(one.low)), (x, percent(one.high))];
            frame.line(quartiles, Stroke(BASELINE, width, SOLID));
            frame.point((x, percent(one.effect)), Marker::Dot, radius, BASELINE);
        }
    }))
}

pub(super) fn looks(scene: &Scene<'_>, plots: &Plots) -> Option<String> {
    let looks = &plots.looks;
    let (first, last) = (looks.first()?, looks.last()?);
    let all = || {
        looks.iter().map(|look| {
            let interval = look.estimate.interval.as_ref().map(percents);
            (
                f64::from(look.replicates),
                percent(look.estimate.effect),
                interval,
            )
        })
    };
    let ends = all().filter_map(|(.., interval)| interval);
    let ends = ends.flat_map(|(low, high)| [low, high]);
    let y = changes(scene, ends, all().map(|(_, effect, _)| effect));
    let range = padded(f64::from(first.replicates), f64::from(last.replicates));
    let range = (range.0.min(range.1 - 2.0), range.1);
    let x = Axis::counts(range, "replicates looked at");
    let estimate = "estimate with the interval of the look";
    let keys = [point(Marker::Dot, BASELINE, estimate), margin_key()];
    let shows = scene.against("Look by look");
    Some(scene.framed(&shows, &keys, HEIGHT, (x, y), |frame| {
        ground(frame, scene);
        for (x, effect, interval) in all() {
            if let Some((low, high)) = interval {
                frame.line([(x, low), (x, high)], Stroke(BASELINE, 1.2, SOLID));
                frame.cap((x, low), BASELINE);
                frame.cap((x, high), BASELINE);
            }
            frame.point((x, effect), Marker::Dot, 2.4, BASELINE);
        }
    }))
}
