//! Do the replicates speak with one voice? Two estimates that agree for one mode and part for two.

use crate::clusters::Clusters;
use crate::estimate::PooledEstimate;
use crate::rank::hodges_lehmann::hodges_lehmann_with;
use crate::summary::mean;

/// The mean over replicates of each one's Hodges–Lehmann estimate: every replicate counts once and none is an outlier.
///
/// Without replicates, or with an effect that is not finite, there is nothing to average and the mean is 0.
pub fn mean_of_replicate_locations(clusters: &Clusters) -> f64 {
    let mut scratch = Vec::new();
    let locate = |replicate| hodges_lehmann_with(replicate, &mut scratch);
    let locations: Option<Vec<f64>> = clusters.iter().map(locate).collect();
    locations
        .and_then(|locations| mean(&locations))
        .unwrap_or(0.0)
}

/// Whether the mean of replicate locations leaves θ̂ by more than max(margin/2, 2·SE), `margin_log` = ln(1 + δ).
///
/// The pooled estimate sides with the majority of replicates, the mean with none; layouts that are fast or slow and
/// nothing between set them apart, and t intervals then cover too rarely. One replicate has no company to differ from.
pub fn is_bimodal(mean_hl: f64, estimate: &PooledEstimate, margin_log: f64) -> bool {
    estimate.replicates >= 2
        && (mean_hl - estimate.theta).abs() > (0.5 * margin_log).max(2.0 * estimate.se)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::huber::{Floor, pooled_huber};

    fn verdict(effects: &[f64], sizes: &[usize]) -> bool {
        let clusters = Clusters::new(effects, sizes).unwrap();
        let estimate = pooled_huber(&clusters, Floor::default()).unwrap();
        is_bimodal(
            mean_of_replicate_locations(&clusters),
            &estimate,
            0.01_f64.ln_1p(),
        )
    }

    #[test]
    fn the_two_estimates_may_part_by_half_the_margin_or_two_errors() {
        let sizes = [1; 6];
        let clusters = Clusters::new(&[0.5, 0.5, 0.5, 0.5, 0.5, 0.51], &sizes).unwrap();
        let mut found = pooled_huber(&clusters, Floor::default()).unwrap();
        found.theta = 0.5;
        for (se, margin, apart) in [(0.001, 0.25, 0.125), (0.0625, 0.01, 0.125)] {
            found.se = se;
            assert!(!is_bimodal(0.5 + apart, &found, margin));
            assert!(!is_bimodal(0.5 - apart, &found, margin));
            assert!(is_bimodal(0.5 + 1.01 * apart, &found, margin));
            assert!(is_bimodal(0.5 - 1.01 * apart, &found, margin));
        }
        found.replicates = 1;
        assert!(!is_bimodal(9.0, &found, 0.01));
    }

    /// Nine replicates of four blocks, `fast` of them faster by ten per cent.
    fn replicates(fast: usize) -> Vec<f64> {
        let wobble = |i: usize| ((i * 7) % 11) as f64 * 2e-4 - 1e-3;
        (0..36)
            .map(|i| wobble(i) - if i / 4 < fast { 0.1 } else { 0.0 })
            .collect()
    }

    #[test]
    fn replicates_of_one_mind_are_not_bimodal() {
        assert!(!verdict(&replicates(0), &[4; 9]));
    }

    #[test]
    fn a_minority_of_fast_layouts_is_noticed() {
        assert!(verdict(&replicates(2), &[4; 9]));
    }

    #[test]
    fn every_replicate_counts_once_however_many_blocks_it_has() {
        let clusters = Clusters::new(&[1.0, 4.0, 4.0, 4.0], &[1, 3]).unwrap();
        assert_eq!(mean_of_replicate_locations(&clusters), 2.5);
        assert_eq!(mean_of_replicate_locations(&clusters.prefix(0)), 0.0);
        assert!(mean_of_replicate_locations(&Clusters::singletons(&[f64::MAX; 9])).is_finite());
    }

    #[test]
    fn one_replicate_cannot_be_of_two_minds() {
        assert!(!verdict(&[0.0, 0.0, 0.5, 0.9], &[4]));
    }
}
