//! What every replicate says.

use deadheat_model::{Difference, LogRatio, ReplicateEstimate};
use deadheat_stats::summary::quantile;

use super::thinning::thinned;

/// Median and quartiles of the blocks of every replicate that counts, at most
/// so many replicates.
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
