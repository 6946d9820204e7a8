//! Plots of the judged metric: points and curves of a comparison, the distribution of one side, and
//! the choice of the points to draw.
//!
//! Like the secondary figures, plots are computed once, in the final analysis, and from the same
//! sorted samples.

use deadheat_model::{
    BoxPlot, ContenderId, DensityCurve, Difference, DifferenceSeries, Distribution, Family, Fit,
    Flags, LogRatio, PairCloud, PairPoint, Plots, ReplicateEstimate, Samples,
};
use deadheat_stats::dist::{normal_cdf, normal_quantile};
use deadheat_stats::drawing::{body, count, edges, freedman_diaconis_width};
use deadheat_stats::summary::quantile;
use deadheat_stats::{bandwidth, density, running_median, tukey};

use crate::effects::Effects;
use crate::hosts::dropped_blocks;

pub(crate) struct PlotInputs<'a> {
    pub(crate) samples: &'a Samples,
    /// The values of the samples per iteration, in the order taken.
    pub(crate) values: &'a [f64],
    /// ln of the values; a zero counts as half the smallest step of the metric.
    pub(crate) logs: &'a [f64],
    /// The sorted values of the baseline, and the indices of its samples.
    pub(crate) baseline: (Sorted<'a>, &'a [u32]),
    /// The candidate; `None` for a benchmark without candidates.
    pub(crate) candidate: Option<PlotCandidate<'a>>,
}

pub(crate) struct PlotCandidate<'a> {
    /// The sorted values of the candidate, and the indices of its samples.
    pub(crate) side: (Sorted<'a>, &'a [u32]),
    /// The paired data; `None` if samples are not paired.
    pub(crate) paired: Option<Paired<'a>>,
}

pub(crate) struct Paired<'a> {
    pub(crate) effects: &'a Effects,
    /// The number of replicates that were judged.
    pub(crate) judged: usize,
    /// Indices of neighbouring samples, the baseline's first.
    pub(crate) pairs: Vec<(usize, usize)>,
}

/// Returns all plots except the looks, with at most `points` points per series.
pub(crate) fn plots(material: &PlotInputs, points: usize) -> Plots {
    let rival = material.candidate.as_ref();
    let paired = rival.and_then(|rival| rival.paired.as_ref());
    let blocks = paired.map_or_else(Vec::new, |paired| {
        judged_blocks(paired.effects, material.samples, paired.judged)
    });
    let sides: Vec<Sorted> = [Some(material.baseline.0), rival.map(|rival| rival.side.0)]
        .into_iter()
        .flatten()
        .collect();
    let edges = common_edges(&sides, points);
    let of_side = |(sorted, members): (Sorted, &[u32])| {
        let value = |index: &u32| material.values[*index as usize];
        let first_half = members[..members.len() / 2].iter().map(value).collect();
        distribution(sorted, first_half, &edges, points)
    };
    Plots {
        differences: differences(&blocks, points),
        pairs: paired
            .and_then(|paired| pair_cloud(&paired.pairs, material.values, material.logs, points)),
        replicates: replicates(&blocks, points),
        looks: Vec::new(),
        baseline: of_side(material.baseline),
        candidate: rival.map(|rival| of_side(rival.side)),
        edges,
    }
}

/// Returns the blocks of the first `replicates` replicates, in the order run; empty if there are
/// too many zeros.
fn judged_blocks(effects: &Effects, samples: &Samples, replicates: usize) -> Vec<Difference> {
    if effects.too_many_zeros(replicates) {
        return Vec::new();
    }
    let mut dropped = dropped_blocks(effects, replicates).into_iter().peekable();
    let of_blocks = effects.clusters(replicates).effects();
    let mut blocks = Vec::with_capacity(of_blocks.len());
    let mut next = 0;
    // If a quantile is judged, the first block represents its replicate.
    let each = effects.blocks_each();
    for (position, span) in samples.blocks().iter().enumerate().step_by(each) {
        let Some(effect) = of_blocks.get(next) else {
            break;
        };
        let mut flags = [Flags::NONE; 2];
        let mut first = None;
        let mut seen = [false; 2];
        for sample in &samples.samples()[span.range()] {
            let side = match sample.contender {
                ContenderId::BASELINE => 0,
                id if id == effects.candidate() => 1,
                _ => continue,
            };
            first = first.or(Some(side));
            seen[side] = true;
            flags[side] = flags[side].and(sample.flags);
        }
        if seen != [true; 2] {
            // A block without one of the sides does not have an effect.
            continue;
        }
        let is_dropped = dropped.next_if_eq(&next).is_some();
        next += 1;
        // A value that underflows does not have a finite logarithm.
        if effect.is_finite() {
            blocks.push(Difference {
                position: position as u32,
                replicate: span.replicate,
                block: span.index,
                effect: LogRatio(*effect),
                baseline_first: first == Some(0),
                baseline_flags: flags[0],
                candidate_flags: flags[1],
                dropped: is_dropped,
            });
        }
    }
    blocks
}

/// The largest number of points in a line of running medians.
const DRIFT_POINTS: usize = 64;

/// A running median uses a tenth of all blocks, but at most this many.
const MOST_AROUND: usize = 201;

/// A running median uses at least this many blocks, because it would otherwise follow single
/// blocks.
const FEWEST_AROUND: usize = 5;

/// Returns the series of the effects of these blocks, with at most `points` points; `None` without
/// blocks.
pub(crate) fn differences(blocks: &[Difference], points: usize) -> Option<DifferenceSeries> {
    if blocks.is_empty() {
        return None;
    }
    let key = |index: usize| blocks[index].effect.0;
    let shown = thinned(blocks.len(), points, key, |index| blocks[index].dropped);
    let starts: Vec<u32> = blocks
        .chunk_by(|a, b| a.replicate == b.replicate)
        .map(|replicate| replicate[0].position)
        .collect();
    let starts = if starts.len() == blocks.len() {
        Vec::new()
    } else {
        evenly(starts.len(), points).map(|i| starts[i]).collect()
    };
    Some(DifferenceSeries {
        points: shown.into_iter().map(|index| blocks[index]).collect(),
        blocks: blocks.len() as u32,
        starts,
        drift: drift(blocks, points.min(DRIFT_POINTS)),
    })
}

/// Returns running medians of the blocks that were not dropped; empty unless there are enough of
/// them for two medians.
fn drift(blocks: &[Difference], points: usize) -> Vec<(u32, LogRatio)> {
    let kept: Vec<&Difference> = blocks.iter().filter(|block| !block.dropped).collect();
    let effects: Vec<f64> = kept.iter().map(|block| block.effect.0).collect();
    let around = (effects.len() / 10).clamp(FEWEST_AROUND, MOST_AROUND);
    if effects.len() < 2 * around {
        return Vec::new();
    }
    running_median(&effects, around / 2, points)
        .into_iter()
        .map(|(at, median)| (kept[at].position, LogRatio(median)))
        .collect()
}

/// Returns the scatter plot of pairs of sample indices, the baseline's first, with at most `points`
/// points; `None` without pairs. The points farthest from the diagonal are kept.
fn pair_cloud(
    pairs: &[(usize, usize)],
    values: &[f64],
    logs: &[f64],
    points: usize,
) -> Option<PairCloud> {
    let point = |&(baseline, candidate): &(usize, usize)| PairPoint {
        baseline: values[baseline],
        candidate: values[candidate],
        baseline_first: baseline < candidate,
    };
    let key = |index: usize| {
        let (baseline, candidate) = pairs[index];
        logs[candidate] - logs[baseline]
    };
    let shown = thinned(pairs.len(), points, key, |_| false);
    (!pairs.is_empty()).then(|| PairCloud {
        points: shown
            .into_iter()
            .map(|index| point(&pairs[index]))
            .collect(),
        pairs: pairs.len() as u32,
    })
}

/// Returns the median and the quartiles of the blocks of each replicate, for at most `points`
/// replicates. Dropped blocks do not count.
pub(crate) fn replicates(blocks: &[Difference], points: usize) -> Vec<ReplicateEstimate> {
    let estimate = |blocks: &[Difference]| {
        let kept = blocks.iter().filter(|block| !block.dropped);
        let mut effects: Vec<f64> = kept.map(|block| block.effect.0).collect();
        effects.sort_unstable_by(f64::total_cmp);
        let at = |share: f64| quantile(&effects, share).map(LogRatio);
        Some(ReplicateEstimate {
            replicate: blocks.first()?.replicate,
            effect: at(0.5)?,
            low: at(0.25)?,
            high: at(0.75)?,
            blocks: effects.len() as u32,
        })
    };
    let all: Vec<ReplicateEstimate> = blocks
        .chunk_by(|a, b| a.replicate == b.replicate)
        .filter_map(estimate)
        .collect();
    let shown = thinned(all.len(), points, |i| all[i].effect.0, |_| false);
    shown.into_iter().map(|index| all[index]).collect()
}

/// The largest number of bins of a histogram. More would be narrower than a line of the drawing.
const MOST_BINS: usize = 80;

/// The number of points of a curve, enough to make it look smooth.
const CURVE_POINTS: usize = 129;

/// The largest number of quantiles. More cannot be told apart in a drawing, and each requires
/// numerical integration.
const QUANTILE_POINTS: usize = 200;

/// The distance by which a violin extends beyond the body of the values, in bandwidths.
const RUN_OUT: f64 = 2.5;

#[derive(Clone, Copy)]
pub(crate) struct Sorted<'a> {
    /// The values per iteration, ascending.
    pub(crate) values: &'a [f64],
    /// Logarithms of the values, ascending; empty if there are too many zeros.
    pub(crate) logs: &'a [f64],
    pub(crate) fits: &'a [Fit],
}

/// Returns the edges of the histogram bins that all sides share. They cover the bodies of all
/// sides, and are as narrow as the Freedman–Diaconis rule demands for any side.
fn common_edges(sides: &[Sorted], points: usize) -> Vec<f64> {
    let bodies = || sides.iter().filter_map(|side| body(side.values));
    let low = bodies().map(|body| body.0).fold(f64::INFINITY, f64::min);
    let high = bodies().map(|body| body.1).fold(0.0, f64::max);
    let widths = sides
        .iter()
        .filter_map(|side| freedman_diaconis_width(side.values));
    edges(low, high, widths.reduce(f64::min), points.min(MOST_BINS))
}

/// Returns the distribution of one side over these bins. `first_half` are the samples of the first
/// half of the run, in any order.
pub(crate) fn distribution(
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
        first_half: if first_half.is_empty() {
            Vec::new()
        } else {
            first.bins.into_iter().map(scaled).collect()
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

/// Returns the curve of each fitted distribution, in expected samples per bin.
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

/// Returns the smooth density of one side, over the part of the bins with values.
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
    let outlier = |place: usize| {
        if place < found.below {
            values[place]
        } else {
            values[above + place - found.below]
        }
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

/// Φ⁻¹(¾), the upper quartile of the standard normal distribution.
const UPPER_QUARTILE: f64 = 0.674_489_750_196_081_7;

/// Returns at most `points` steps of the empirical distribution function of an ascending sample:
/// distinct values, each with the share of values at or below it. The first and the last value are
/// among them.
fn ecdf(sorted: &[f64], points: usize) -> Vec<(f64, f64)> {
    let mut steps: Vec<(f64, f64)> = Vec::new();
    for at in evenly(sorted.len(), points) {
        let value = sorted[at];
        if steps.last().is_some_and(|last| last.0 == value) {
            continue;
        }
        let ties = sorted[at..].partition_point(|x| *x <= value);
        steps.push((value, (at + ties) as f64 / sorted.len() as f64));
    }
    steps
}

/// Returns at most `points` points of the normal quantile plot of an ascending sample: the i-th
/// value with the standard normal quantile of (i − ½)/n (Hazen). The points are evenly spaced on
/// the axis of the normal quantiles, so that the tails stay complete.
fn normal_quantiles(sorted: &[f64], points: usize) -> Vec<(f64, f64)> {
    let n = sorted.len() as f64;
    let at = |rank: usize| {
        let z = normal_quantile((rank as f64 + 0.5) / n);
        (z, sorted[rank])
    };
    if sorted.len() <= points {
        return (0..sorted.len()).map(at).collect();
    }
    let most = normal_quantile(1.0 - 0.5 / n);
    let rank = |point: usize| match points {
        1 => sorted.len() / 2,
        several => {
            let z = most * (2.0 * point as f64 / (several - 1) as f64 - 1.0);
            ((normal_cdf(z) * n - 0.5).round().max(0.0) as usize).min(sorted.len() - 1)
        }
    };
    let mut ranks: Vec<usize> = (0..points).map(rank).collect();
    ranks.dedup();
    ranks.into_iter().map(at).collect()
}

/// Returns intercept and slope of the line through the quartiles of a normal quantile plot.
fn normal_line(sorted: &[f64]) -> Option<(f64, f64)> {
    let (lower, upper) = (quantile(sorted, 0.25)?, quantile(sorted, 0.75)?);
    Some((
        lower.midpoint(upper),
        (upper - lower) / (2.0 * UPPER_QUARTILE),
    ))
}

/// The number of points that are kept of each section of a series: its two extremes, and two in
/// between.
const OF_A_STRETCH: usize = 4;

/// Returns the ascending indices of at most `room` of `len` points. Up to half of the returned
/// points, or more if there are few others, are points that `must` be drawn. The other points are
/// divided into sections; of each section, the extremes by `key` and two further points are kept.
/// The same series always gives the same points.
fn thinned(
    len: usize,
    room: usize,
    key: impl Fn(usize) -> f64,
    must: impl Fn(usize) -> bool,
) -> Vec<usize> {
    if len <= room {
        return (0..len).collect();
    }
    let (musts, others): (Vec<usize>, Vec<usize>) = (0..len).partition(|index| must(*index));
    let most_musts = (room / 2).max(room.saturating_sub(others.len()));
    let mut kept: Vec<usize> = evenly(musts.len(), most_musts).map(|i| musts[i]).collect();
    let room = room - kept.len();
    let stretches = room / OF_A_STRETCH;
    if others.len() <= room || stretches == 0 {
        kept.extend(evenly(others.len(), room).map(|i| others[i]));
    } else {
        for stretch in 0..stretches {
            let at = |stretch: usize| stretch * others.len() / stretches;
            let part = &others[at(stretch)..at(stretch + 1)];
            let by_key = |a: &&usize, b: &&usize| key(**a).total_cmp(&key(**b));
            kept.extend(part.iter().min_by(by_key));
            kept.extend(part.iter().max_by(by_key));
            kept.extend([part.len() / 4, part.len() * 3 / 4].map(|i| part[i]));
        }
    }
    kept.sort_unstable();
    kept.dedup();
    kept
}

/// Returns at most `room` of `len` indices, evenly spaced, with the first and the last among them.
pub(crate) fn evenly(len: usize, room: usize) -> impl Iterator<Item = usize> {
    let room = room.min(len);
    (0..room).map(move |i| match room {
        1 => 0,
        // An overflow would require 2³² points.
        several => i * (len - 1) / (several - 1),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_are_one_step_and_the_last_share_is_one() {
        let values = [1.0, 2.0, 2.0, 2.0, 5.0];
        assert_eq!(ecdf(&values, 100), [(1.0, 0.2), (2.0, 0.8), (5.0, 1.0)]);
        let many: Vec<f64> = (0..1_000).map(f64::from).collect();
        let few = ecdf(&many, 11);
        assert_eq!(few.len(), 11);
        assert_eq!((few[0], few[10]), ((0.0, 0.001), (999.0, 1.0)));
        assert!(ecdf(&[], 9).is_empty());
    }

    #[test]
    fn a_normal_sample_lies_on_its_line() {
        let n = 2_001;
        let values: Vec<f64> = (0..n)
            .map(|i| 3.0 + 0.5 * normal_quantile((f64::from(i) + 0.5) / f64::from(n)))
            .collect();
        let (intercept, slope) = normal_line(&values).unwrap();
        assert!((intercept - 3.0).abs() < 1e-12 && (slope - 0.5).abs() < 1e-3);
        for points in [1, 2, 50, 500, 5_000] {
            let found = normal_quantiles(&values, points);
            assert!(found.len() <= points && !found.is_empty());
            assert!(found.is_sorted_by(|a, b| a.0 < b.0));
            for (z, value) in &found {
                assert!((3.0 + 0.5 * z - value).abs() < 1e-12);
            }
            if points > 1 {
                assert_eq!(found[0].1, values[0]);
                assert_eq!(found[found.len() - 1].1, values[2_000]);
            }
        }
        // The three lowest values are among the fifty points, so the tails are complete.
        assert!(normal_quantiles(&values, 50)[2].1 <= values[4]);
        assert!(normal_quantiles(&[], 5).is_empty());
        assert_eq!(normal_line(&[]), None);
    }

    #[test]
    fn few_points_are_all_drawn() {
        assert_eq!(thinned(5, 5, |_| 0.0, |_| false), [0, 1, 2, 3, 4]);
        assert!(thinned(0, 5, |_| 0.0, |_| false).is_empty());
        assert!(thinned(9, 0, |_| 0.0, |_| true).is_empty());
    }

    #[test]
    fn what_must_be_drawn_and_the_extremes_survive() {
        let key = |i: usize| match i {
            333 => 50.0,
            777 => -50.0,
            _ => (i % 7) as f64,
        };
        let must = |i: usize| i % 100 == 42;
        let kept = thinned(1_000, 40, key, must);
        assert!(kept.len() <= 40 && kept.len() > 30);
        assert!(kept.is_sorted_by(|a, b| a < b));
        for i in (42..1_000).step_by(100).chain([333, 777]) {
            assert!(kept.contains(&i), "{i}");
        }
    }

    #[test]
    fn there_are_never_more_than_there_is_room_for() {
        for len in [0, 1, 2, 3, 10, 99, 1_000] {
            for room in 0..60 {
                for every in [1, 2, 50, 2_000] {
                    let kept = thinned(len, room, |i| (i * 31 % 17) as f64, |i| i % every == 0);
                    assert!(kept.len() <= room && kept.iter().all(|i| *i < len));
                    assert!(kept.len() >= room.min(len) / 2, "{len} {room} {every}");
                }
            }
        }
    }

    #[test]
    fn even_spacing_has_both_ends() {
        assert_eq!(evenly(101, 5).collect::<Vec<_>>(), [0, 25, 50, 75, 100]);
        assert_eq!(evenly(3, 9).collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!(evenly(7, 1).collect::<Vec<_>>(), [0]);
        assert_eq!(evenly(0, 4).count() + evenly(4, 0).count(), 0);
    }
}
