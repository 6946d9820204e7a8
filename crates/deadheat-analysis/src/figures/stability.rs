//! How steady the effect was over the run.

use deadheat_model::{LogRatio, Samples, Spread, StabilityFigures};
use deadheat_stats::{Clusters, Floor, clamped_components, pooled_huber};

use crate::effects::Effects;

/// The estimate of each half of the first `replicates` replicates, and where
/// the scatter of the blocks comes from. Disturbed blocks are not left out.
pub(super) fn stability(
    effects: &Effects,
    samples: &Samples,
    replicates: usize,
) -> StabilityFigures {
    if effects.too_many_zeros(replicates) {
        return StabilityFigures::default();
    }
    let floor = effects.floor(samples, replicates);
    let clusters = effects.clusters(replicates);
    let (first, second) = halves(clusters.effects(), effects.sizes(replicates));
    let spread = pooled_huber(&clusters, floor)
        .ok()
        .and_then(|pooled| clamped_components(&clusters, &pooled))
        .map(|components| Spread {
            within: components.within.sqrt(),
            between: components.between.sqrt(),
        });
    StabilityFigures {
        first_half: location(first, floor),
        second_half: location(second, floor),
        spread,
    }
}

/// The effects of the first half of the replicates and of the rest; of a
/// single replicate the halves of its blocks.
fn halves<'a>(effects: &'a [f64], sizes: &[usize]) -> (&'a [f64], &'a [f64]) {
    let at = match sizes.len() {
        0 | 1 => effects.len() / 2,
        several => sizes[..several / 2].iter().sum(),
    };
    effects.split_at(at)
}

/// θ̂, which does not depend on how the blocks are grouped.
fn location(effects: &[f64], floor: Floor) -> Option<LogRatio> {
    let pooled = pooled_huber(&Clusters::singletons(effects), floor).ok()?;
    Some(LogRatio(pooled.theta))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_halved_between_replicates_and_one_replicate_between_blocks() {
        let effects = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        assert_eq!(halves(&effects, &[1, 3, 2]).0, [1.0]);
        assert_eq!(halves(&effects, &[2, 2, 1, 1]).0, [1.0, 2.0, 3.0, 4.0]);
        assert_eq!(halves(&effects, &[6]).1, [4.0, 5.0, 6.0]);
        assert_eq!(halves(&[], &[]).0, []);
    }
}
