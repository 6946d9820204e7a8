//! The blocks that were judged, with what is known of each.

use deadheat_model::{ContenderId, Difference, Flags, LogRatio, Samples};
use deadheat_stats::{Dropping, keep_or_drop};

use crate::effects::Effects;

/// The blocks of the first `replicates` replicates, in the order run; empty
/// where zeros forbid ratios.
pub(super) fn judged_blocks(
    effects: &Effects,
    samples: &Samples,
    replicates: usize,
) -> Vec<Difference> {
    if effects.too_many_zeros(replicates) {
        return Vec::new();
    }
    let dropped = match effects.flags(replicates).map(keep_or_drop) {
        Some(Dropping::Drop(dropped)) => dropped,
        _ => Vec::new(),
    };
    let mut dropped = dropped.into_iter().peekable();
    let of_blocks = effects.clusters(replicates).effects();
    let mut blocks = Vec::with_capacity(of_blocks.len());
    let mut next = 0;
    for (position, span) in samples.blocks().iter().enumerate() {
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
