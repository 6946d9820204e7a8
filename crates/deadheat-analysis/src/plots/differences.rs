//! The effects of blocks in order of time.

use deadheat_model::{Difference, DifferenceSeries, LogRatio};
use deadheat_stats::running_median;

use super::thinning::{evenly, thinned};

/// The line of medians has at most so many points.
const DRIFT_POINTS: usize = 64;

/// Each is the median of a tenth of the blocks, but no more than so many…
const MOST_AROUND: usize = 201;

/// … and no fewer, or it would follow single blocks.
const FEWEST_AROUND: usize = 5;

/// The series of these blocks, with at most so many points; `None` without
/// blocks.
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
    let starts = match starts.len() == blocks.len() {
        true => Vec::new(),
        false => evenly(starts.len(), points).map(|i| starts[i]).collect(),
    };
    Some(DifferenceSeries {
        points: shown.into_iter().map(|index| blocks[index]).collect(),
        blocks: blocks.len() as u32,
        starts,
        drift: drift(blocks, points.min(DRIFT_POINTS)),
    })
}

/// Medians of neighbouring blocks that were not dropped; empty where there
/// are not two windows of them.
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
