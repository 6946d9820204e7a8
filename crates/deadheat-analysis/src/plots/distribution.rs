//! How the values of one side are distributed, in bins that both sides share.

use deadheat_model::{BoxPlot, DensityCurve, Distribution, Family, Fit};
use deadheat_stats::drawing::{body, count, edges, freedman_diaconis_width};
use deadheat_stats::{bandwidth, density, tukey};

use super::quantiles::{ecdf, normal_line, normal_quantiles};
use super::thinning::evenly;

/// More bins than this are narrower than a stroke of a pen.
const MOST_BINS: usize = 80;

/// Points of a curve that an eye takes for smooth.
const CURVE_POINTS: usize = 129;

/// Quantiles that an eye can tell apart; each costs an integral.
const QUANTILE_POINTS: usize = 200;

/// How far beyond the values that matter a violin runs out, in bandwidths.
const RUN_OUT: f64 = 2.5;

/// One side's samples, as they were sorted for the figures.
#[derive(Clone, Copy)]
pub(crate) struct Sorted<'a> {
    /// Per iteration, ascending.
    pub(crate) values: &'a [f64],
    /// Their logarithms; empty where zeros forbid them.
    pub(crate) logs: &'a [f64],
    /// Distributions fitted to the values.
    pub(crate) fits: &'a [Fit],
}

/// Edges of the bins that all these sides are counted in: over the body of
/// each, as narrow as the narrowest asks for.
pub(super) fn common_edges(sides: &[Sorted], points: usize) -> Vec<f64> {
    let bodies = || sides.iter().filter_map(|side| body(side.values));
    let low = bodies().map(|body| body.0).fold(f64::INFINITY, f64::min);
    let high = bodies().map(|body| body.1).fold(0.0, f64::max);
    let widths = sides
        .iter()
        .filter_map(|side| freedman_diaconis_width(side.values));
    edges(low, high, widths.reduce(f64::min), points.min(MOST_BINS))
}

/// The distribution of one side over these bins. `first_half` are the samples
/// of the first half of the run, in any order.
pub(super) fn distribution(
    side: Sorted,
    mut first_half: Vec<f64>,
    edges: &[f64],
    points: usize,
) -> Distribution {
    let counted = count(side.values, edges);
    first_half.sort_unstable_by(f64::total_cmp);
    let first = count(&first_half, edges);
    let scale = side.values.len() as f64 / first_half.len() as f64;
    let scaled = |count: usize| count as f64 * scale;
    Distribution {
        counts: counted.bins.iter().map(|count| *count as u32).collect(),
        first_half: match first_half.is_empty() {
            true => Vec::new(),
            false => first.bins.into_iter().map(scaled).collect(),
        },
        below: counted.below as u32,
        above: counted.above as u32,
        curves: curves(side, edges, points),
        box_plot: box_plot(side.values, points),
        violin: violin(side.values, edges, points),
        ecdf: ecdf(side.values, points),
        normal_quantiles: normal_quantiles(side.logs, points.min(QUANTILE_POINTS)),
        normal_line: normal_line(side.logs),
    }
}

/// Every fit as the samples it expects in a bin.
fn curves(side: Sorted, edges: &[f64], points: usize) -> Vec<DensityCurve> {
    let &[low, next, ..] = edges else {
        return Vec::new();
    };
    let range = edges[edges.len() - 1] - low;
    let places = points.min(CURVE_POINTS);
    let expected = (next - low) * side.values.len() as f64;
    let curve = |fit: &Fit| {
        let family = match fit.family {
            Family::Normal => deadheat_stats::Family::Normal,
            Family::LogNormal => deadheat_stats::Family::LogNormal,
            Family::Gumbel => deadheat_stats::Family::Gumbel,
        };
        let density = deadheat_stats::Fit {
            family,
            location: fit.location,
            scale: fit.scale,
            log_likelihood: fit.log_likelihood,
        };
        let at = |place: usize| {
            let x = low + range * (place as f64 / places.saturating_sub(1).max(1) as f64);
            (x, (density.density(x) * expected).min(f64::MAX))
        };
        DensityCurve {
            family: fit.family,
            points: (0..places).map(at).collect(),
        }
    };
    side.fits.iter().map(curve).collect()
}

/// The smooth density over the part of the bins where this side has values.
fn violin(values: &[f64], edges: &[f64], points: usize) -> Vec<(f64, f64)> {
    let (Some(first), Some(last)) = (edges.first(), edges.last()) else {
        return Vec::new();
    };
    let curve = || {
        let (low, high) = body(values)?;
        let bandwidth = bandwidth(values)?;
        let low = (low - RUN_OUT * bandwidth).max(*first);
        let high = (high + RUN_OUT * bandwidth).min(*last);
        density(values, bandwidth, low, high, points.min(CURVE_POINTS))
    };
    curve().unwrap_or_default()
}

fn box_plot(values: &[f64], points: usize) -> Option<BoxPlot> {
    let found = tukey(values)?;
    let above = values.len() - found.above;
    let outlier = |place: usize| match place < found.below {
        true => values[place],
        false => values[above + place - found.below],
    };
    let beyond = found.below + found.above;
    Some(BoxPlot {
        whisker_low: found.whisker_low,
        lower: found.lower,
        median: found.median,
        upper: found.upper,
        whisker_high: found.whisker_high,
        outliers: evenly(beyond, points).map(outlier).collect(),
        beyond: beyond as u32,
    })
}
