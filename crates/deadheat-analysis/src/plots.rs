//! The plots of the judged metric: points and curves, thinned.
//!
//! Like the secondary figures they are worked out once, when the answer is given, and from the same
//! sorted samples.

use deadheat_model::{
    ContenderId, Difference, DifferenceSeries, Flags, LogRatio, PairCloud, PairPoint, Plots,
    ReplicateEstimate, Samples,
};
use deadheat_stats::running_median;
use deadheat_stats::summary::quantile;

use crate::distribution::{Sorted, common_edges, distribution, evenly, thinned};
use crate::effects::Effects;
use crate::hosts::dropped_blocks;

/// The material that plots are made of.
pub(crate) struct Material<'a> {
    /// The samples of the benchmark.
    pub(crate) samples: &'a Samples,
    /// Their values per iteration, in the order taken.
    pub(crate) values: &'a [f64],
    /// ln of the values, zeros counted as half a tick.
    pub(crate) logs: &'a [f64],
    /// The baseline sorted, and which samples are its own.
    pub(crate) baseline: (Sorted<'a>, &'a [u32]),
    /// `None` for a contender alone.
    pub(crate) candidate: Option<Rival<'a>>,
}

/// The candidate of a comparison.
pub(crate) struct Rival<'a> {
    /// Sorted, and which samples are its own.
    pub(crate) side: (Sorted<'a>, &'a [u32]),
    /// `None` where nothing is paired.
    pub(crate) paired: Option<Paired<'a>>,
}

/// Data that a candidate and the baseline have together.
pub(crate) struct Paired<'a> {
    /// Effects per block.
    pub(crate) effects: &'a Effects,
    /// Number of replicates of them that were judged.
    pub(crate) judged: usize,
    /// Indices of neighbouring samples, the baseline's first.
    pub(crate) pairs: Vec<(usize, usize)>,
}

/// Everything there is to draw but the looks, at most so many points in each series.
pub(crate) fn plots(material: &Material, points: usize) -> Plots {
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

/// The blocks of the first `replicates` replicates, in the order run; empty where zeros forbid
/// ratios.
pub(super) fn judged_blocks(
    effects: &Effects,
    samples: &Samples,
    replicates: usize,
) -> Vec<Difference> {
    if effects.too_many_zeros(replicates) {
        return Vec::new();
    }
    let mut dropped = dropped_blocks(effects, replicates).into_iter().peekable();
    let of_blocks = effects.clusters(replicates).effects();
    let mut blocks = Vec::with_capacity(of_blocks.len());
    let mut next = 0;
    // Where a quantile is judged, the first block stands for its replicate.
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
            // It has no effect.
            continue;
        }
        let is_dropped = dropped.next_if_eq(&next).is_some();
        next += 1;
        // The logarithm of the smallest number over some calls is none.
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

/// The line of medians has at most so many points.
const DRIFT_POINTS: usize = 64;

/// Each is the median of a tenth of the blocks, but no more than so many…
const MOST_AROUND: usize = 201;

/// … and no fewer, or it would follow single blocks.
const FEWEST_AROUND: usize = 5;

/// The series of these blocks, with at most so many points; `None` without blocks.
pub(super) fn differences(blocks: &[Difference], points: usize) -> Option<DifferenceSeries> {
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

/// Medians of neighbouring blocks that were not dropped; empty where there are not two windows of
/// them.
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

/// The cloud of these pairs of indices, the baseline's first, with at most so many points; `None`
/// without pairs. Extreme is what lies far from the diagonal.
pub(super) fn pair_cloud(
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

/// Median and quartiles of the blocks of every replicate that counts, at most so many replicates.
pub(super) fn replicates(blocks: &[Difference], points: usize) -> Vec<ReplicateEstimate> {
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
