//! Plots of each side's distribution: histogram, fitted densities, violin, distribution function
//! and normal quantiles.

use deadheat_model::{BoxPlot, Distribution, Plots};

use super::axis::{Axis, beyond_the_edge, padded, view};
use super::canvas::{
    Anchor, BASELINE, BLACK, CANDIDATE, Colour, DASHED, Dash, Marker, SHORT, SOLID, Stroke, WHITE,
    corners, fitting, of_family,
};
use super::scene::{BELOW, Frame, HEIGHT, Key, SIDE, Scene, Sign, WIDTH};
use crate::figures::family;
use crate::units::extent;

/// The height of one side's panel in the plot of densities, in pixels.
const PANEL: f64 = 130.0;

/// The height of one side's violin, in pixels.
const ROW: f64 = 78.0;
/// Half the maximum height of a violin, as a share of its row.
const WIDE: f64 = 0.34;
/// Half the height of a box, as a share of the row.
const BOX: f64 = 0.07;

struct Side<'a> {
    of: &'a Distribution,
    name: &'a str,
    ink: Colour,
    marker: Marker,
    /// The dash of the curve of all samples of this side.
    whole: Dash,
    /// The dash of the curve of the first half of this side's samples.
    half: Dash,
}

impl Side<'_> {
    fn counts(&self) -> impl Iterator<Item = f64> {
        self.of.counts.iter().map(|count| f64::from(*count))
    }

    fn key(&self, sign: Sign) -> Key {
        (sign, self.name.to_owned())
    }
}

/// Returns the sides that have something to draw, the baseline first.
fn sides<'a>(
    scene: &'a Scene<'_>,
    plots: &'a Plots,
    has: impl Fn(&Distribution) -> bool,
) -> Vec<Side<'a>> {
    let baseline = (&plots.baseline, &scene.baseline, BASELINE, DASHED);
    let candidate = plots.candidate.as_ref();
    let candidate = candidate.map(|of| (of, &scene.candidate, CANDIDATE, SHORT));
    let sides = std::iter::once(baseline).chain(candidate);
    sides
        .filter(|(of, ..)| has(of))
        .zip([(Marker::Dot, SOLID), (Marker::Up, DASHED)])
        .map(|((of, name, ink, half), (marker, whole))| Side {
            of,
            name,
            ink,
            marker,
            whole,
            half,
        })
        .collect()
}

/// Returns the first and the last edge of the bins, if they differ.
fn span(edges: &[f64]) -> Option<(f64, f64)> {
    let (low, high) = (*edges.first()?, *edges.last()?);
    (low < high).then_some((low, high))
}

/// Returns the outline of bars between these edges.
fn steps(edges: &[f64], heights: impl Iterator<Item = f64>) -> Vec<(f64, f64)> {
    let bars = edges.windows(2).zip(heights);
    bars.flat_map(|(edge, height)| [(edge[0], height), (edge[1], height)])
        .collect()
}

/// Plots the histograms of both sides in one frame, each with a dashed line for the first half of
/// the side's samples.
pub(super) fn histogram(scene: &Scene<'_>, plots: &Plots) -> Option<String> {
    let edges = &plots.edges;
    let x = scene.quantities(span(edges)?);
    let sides = sides(scene, plots, |_| true);
    let half = |side: &Side<'_>| side.of.first_half.clone();
    let heights = sides
        .iter()
        .flat_map(|side| side.counts().chain(half(side)));
    let highest = heights.fold(0.0, f64::max);
    if highest <= 0.0 {
        return None;
    }
    let y = Axis::counts((0.0, highest * 1.06), "samples");
    let shows = if sides.iter().any(|side| !side.of.first_half.is_empty()) {
        "All samples; dashed: the first half of each side's samples, scaled up"
    } else {
        "All samples"
    };
    let outside = sides.iter().map(|side| side.of.below + side.of.above);
    let shows = shows.to_owned() + &beyond_the_edge(outside.sum::<u32>() as usize);
    let key = |side: &Side<'_>| side.key(Sign::Line(Stroke(side.ink, 3.0, SOLID)));
    let keys: Vec<Key> = sides.iter().map(key).collect();
    Some(scene.framed(&shows, &keys, HEIGHT, (x, y), |frame| {
        for side in &sides {
            let whole = steps(edges, side.counts());
            frame.filled(&whole, side.ink, 0.22);
            frame.line(whole, Stroke(side.ink, 1.2, SOLID));
        }
        for side in &sides {
            let half = steps(edges, half(side).into_iter());
            frame.line(half, Stroke(side.ink, 1.0, side.half));
        }
    }))
}

pub(super) fn densities(scene: &Scene<'_>, plots: &Plots) -> Option<String> {
    let edges = &plots.edges;
    let range = span(edges)?;
    let sides = sides(scene, plots, |_| true);
    let mut keys: Vec<Key> = Vec::new();
    let curves = sides.iter().flat_map(|side| &side.of.curves);
    for curve in curves.filter(|curve| curve.points.len() > 1) {
        let name = family(curve.family);
        if keys.iter().all(|(_, known)| known != name) {
            keys.push((Sign::Line(of_family(curve.family)), name.to_owned()));
        }
    }
    if keys.is_empty() {
        return None;
    }
    let height = 58.0 + PANEL * sides.len() as f64 + BELOW - 8.0;
    let shows = "Fitted densities over the histogram of each side";
    Some(scene.sheet(shows, &keys, height, |canvas, top| {
        let panel = (height - BELOW - top) / sides.len() as f64;
        for (index, side) in sides.iter().enumerate() {
            let upper = top + panel * index as f64;
            let mut lower = upper + panel;
            let mut x = scene.quantities(range);
            if index + 1 < sides.len() {
                x.title.clear();
                x.ticks.iter_mut().for_each(|(_, word)| word.clear());
                lower -= 10.0;
            }
            let curves = &side.of.curves;
            let points = curves.iter().flat_map(|curve| &curve.points);
            let bars = side.counts().fold(1.0, f64::max);
            // A fit that is far above the bars may leave the frame.
            let highest = points
                .fold(bars, |high, (_, y)| high.max(*y))
                .min(bars * 2.0);
            let y = Axis::counts((0.0, highest * 1.15), "samples");
            let frame = Frame::new(canvas, (SIDE, upper), (WIDTH - SIDE, lower), x, y);
            frame.filled(&steps(edges, side.counts()), side.ink, 0.25);
            for curve in curves {
                frame.line(curve.points.iter().copied(), of_family(curve.family));
            }
            frame.caption(side.name);
            frame.axes();
        }
    }))
}

pub(super) fn violins(scene: &Scene<'_>, plots: &Plots) -> Option<String> {
    let sides = sides(scene, plots, |_| true);
    let boxes: Vec<&BoxPlot> = sides
        .iter()
        .filter_map(|side| side.of.box_plot.as_ref())
        .collect();
    if boxes.is_empty() {
        return None;
    }
    let range = range_of(&boxes);
    let x = scene.quantities(range);
    let rows = sides.len() as f64;
    let height = 34.0 + ROW * rows + BELOW;
    let outliers = boxes.iter().flat_map(|one| &one.outliers);
    let outside = outliers.filter(|value| !x.holds(**value)).count();
    let shows = format!("Densities and box plots{}", beyond_the_edge(outside));
    Some(scene.sheet(&shows, &[], height, |canvas, top| {
        let corners = ((SIDE, top - 7.0), (WIDTH - SIDE, height - BELOW));
        let frame = Frame::new(canvas, corners.0, corners.1, x, Axis::hidden((0.0, rows)));
        for (index, side) in sides.iter().enumerate() {
            let middle = rows - index as f64 - 0.58;
            violin(&frame, side.of, middle, side.ink);
            if let Some(one) = &side.of.box_plot {
                box_plot(&frame, one, middle, side.ink);
            }
            let (_, y) = frame.at((range.0, middle + 0.48));
            let name = fitting(side.name, 9.5, WIDTH / 2.0);
            canvas.text(&name, (SIDE + 6.0, y), 9.5, side.ink, Anchor::Start);
        }
        frame.axes();
    }))
}

/// Returns a range around the whiskers, limited to the data.
fn range_of(boxes: &[&BoxPlot]) -> (f64, f64) {
    let whiskers = boxes.iter().map(|one| [one.whisker_low, one.whisker_high]);
    let (low, high) = extent(whiskers.flatten());
    let beside = (high - low) * 0.4;
    let outliers = boxes.iter().flat_map(|one| one.outliers.iter().copied());
    let (first, last) = extent(outliers.chain([low, high]));
    padded(first.max(low - beside), last.min(high + beside))
}

fn violin(frame: &Frame<'_>, side: &Distribution, middle: f64, ink: Colour) {
    let curve = |sign: f64| {
        let at = move |(value, density): &(f64, f64)| (*value, middle + sign * density * WIDE);
        side.violin.iter().map(at)
    };
    let outline: Vec<(f64, f64)> = curve(1.0).chain(curve(-1.0).rev()).collect();
    frame.shape(&outline, ink, 0.3);
    frame.line(curve(1.0), Stroke(ink, 0.9, SOLID));
    frame.line(curve(-1.0), Stroke(ink, 0.9, SOLID));
}

fn box_plot(frame: &Frame<'_>, one: &BoxPlot, middle: f64, ink: Colour) {
    let thin = Stroke(BLACK, 0.9, SOLID);
    let upright = |value: f64, half: f64| [(value, middle - half), (value, middle + half)];
    frame.line([(one.whisker_low, middle), (one.lower, middle)], thin);
    frame.line([(one.upper, middle), (one.whisker_high, middle)], thin);
    let corners = corners((one.lower, middle - BOX), (one.upper, middle + BOX));
    frame.shape(&corners, WHITE, 1.0);
    frame.line(corners.into_iter().chain([corners[0]]), thin);
    frame.line(upright(one.median, BOX), Stroke(BLACK, 2.0, SOLID));
    for whisker in [one.whisker_low, one.whisker_high] {
        frame.line(upright(whisker, BOX / 2.0), thin);
    }
    for value in &one.outliers {
        frame.point((*value, middle), Marker::Ring, 1.5, ink);
    }
}

pub(super) fn ecdf(scene: &Scene<'_>, plots: &Plots) -> Option<String> {
    let sides = sides(scene, plots, |side| !side.ecdf.is_empty());
    if sides.is_empty() {
        return None;
    }
    let values = sides.iter().flat_map(|side| &side.of.ecdf);
    let range = view(values.map(|(value, _)| *value), &[]);
    let axes = (scene.quantities(range), Axis::shares("samples at or below"));
    let line = |side: &Side<'_>| Stroke(side.ink, 1.5, side.whole);
    let keys: Vec<Key> = sides
        .iter()
        .map(|side| side.key(Sign::Line(line(side))))
        .collect();
    let shows = "Empirical distribution functions";
    Some(scene.framed(shows, &keys, HEIGHT, axes, |frame| {
        for side in &sides {
            let mut height = 0.0;
            let mut steps = vec![(range.0, height)];
            for &(value, share) in &side.of.ecdf {
                steps.extend([(value, height), (value, share)]);
                height = share;
            }
            steps.push((range.1, height));
            frame.line(steps, line(side));
        }
    }))
}

/// Plots the quantiles of ln t against those of a normal distribution.
pub(super) fn quantiles(scene: &Scene<'_>, plots: &Plots) -> Option<String> {
    let sides = sides(scene, plots, |side| !side.normal_quantiles.is_empty());
    if sides.is_empty() {
        return None;
    }
    let range = |pick: fn(&(f64, f64)) -> f64| {
        let points = sides.iter().flat_map(|side| &side.of.normal_quantiles);
        let (low, high) = extent(points.map(pick));
        padded(low, high)
    };
    let across = range(|(quantile, _)| *quantile);
    let up = range(|(_, logarithm)| *logarithm);
    let x = Axis::numbers(across, "quantile of the standard normal distribution");
    let y = Axis::logarithms(up, scene.comparison.terms.metric.unit(), &scene.metric());
    let key = |side: &Side<'_>| side.key(Sign::Point(side.marker, side.ink));
    let keys: Vec<Key> = sides.iter().map(key).collect();
    let shows = "Quantiles of the logarithms of the samples; the points of a log-normal side follow its line";
    Some(scene.framed(shows, &keys, HEIGHT, (x, y), |frame| {
        for side in &sides {
            if let Some((intercept, slope)) = side.of.normal_line {
                let at = |quantile: f64| (quantile, intercept + slope * quantile);
                frame.segment(at(across.0), at(across.1), Stroke(side.ink, 0.9, SOLID));
            }
        }
        for side in &sides {
            for point in &side.of.normal_quantiles {
                frame.point(*point, side.marker, 1.7, side.ink);
            }
        }
    }))
}
