//! The confirmatory test: without a difference, a replicate's score is as likely as its negative.

use rand_core::Rng;

use crate::blocks::Clusters;
use crate::huber::HUBER_CLAMP;
use crate::summary::median;

/// Up to this many replicates all 2^P sign patterns are counted.
pub const EXACT_REPLICATES: usize = 16;

/// Random sign patterns beyond that; with the observed one they make 10,000.
const DRAWS: u32 = 9_999;

/// Φ⁻¹(¾), the median of |Z|.
const MEDIAN_ABS_NORMAL: f64 = 0.6744897501960817;

/// Sums this close, relative to the largest possible, are equal: the patterns of equal scores
/// differ by rounding.
const TIE: f64 = 1e-9;

/// The two-sided sign-flip p-value over replicates (Fisher 1935).
///
/// Replicate scores are S_p = Σ_k ψ(d_pk/s₀), ψ clamped at ±1.5, s₀ = median|d|/0.67449; the
/// p-value is the share of sign patterns ε whose |Σ ε_p S_p| is no smaller than the observed |Σ
/// S_p|. Exact up to 16 replicates; beyond, (1 + hits)/(1 + draws) over 9,999 patterns from `rng`
/// (Phipson & Smyth 2010). Where s₀ is 0 a score is the number of positive less negative effects,
/// the limit of a shrinking s₀. `None` without blocks or with an effect not finite.
pub fn sign_flip_p(clusters: &Clusters, rng: &mut impl Rng) -> Option<f64> {
    let scores = scores(clusters)?;
    let largest: f64 = scores.iter().map(|s| s.abs()).sum();
    let threshold = scores.iter().sum::<f64>().abs() - TIE * largest;
    Some(if scores.len() <= EXACT_REPLICATES {
        share_of_all_patterns(scores, threshold)
    } else {
        share_of_drawn_patterns(&scores, threshold, rng)
    })
}

fn scores(clusters: &Clusters) -> Option<Vec<f64>> {
    let sizes: Vec<f64> = clusters.effects().iter().map(|d| d.abs()).collect();
    let s0 = median(&sizes)? / MEDIAN_ABS_NORMAL;
    let psi = |d: f64| match s0 {
        0.0 if d == 0.0 => 0.0,
        0.0 => HUBER_CLAMP.copysign(d),
        _ => (d / s0).clamp(-HUBER_CLAMP, HUBER_CLAMP),
    };
    Some(
        clusters
            .iter()
            .map(|replicate| replicate.iter().map(|&d| psi(d)).sum())
            .collect(),
    )
}

/// Walks all sign patterns in Gray-code order, where each differs from the one before in a single
/// sign.
fn share_of_all_patterns(mut scores: Vec<f64>, threshold: f64) -> f64 {
    let patterns = 1_u32 << scores.len();
    let mut sum: f64 = scores.iter().sum();
    let mut hits = 1_u32;
    for i in 1..patterns {
        let flipped = i.trailing_zeros() as usize;
        sum -= 2.0 * scores[flipped];
        scores[flipped] = -scores[flipped];
        hits += u32::from(sum.abs() >= threshold);
    }
    f64::from(hits) / f64::from(patterns)
}

fn share_of_drawn_patterns(scores: &[f64], threshold: f64, rng: &mut impl Rng) -> f64 {
    let mut hits = 1_u32;
    for _ in 0..DRAWS {
        let mut sum = 0.0;
        for part in scores.chunks(64) {
            let signs = rng.next_u64();
            for (bit, score) in part.iter().enumerate() {
                // The sign is set without a branch: no guess would do better than a coin.
                let negative = !signs >> bit & 1;
                sum += f64::from_bits(score.to_bits() ^ (negative << 63));
            }
        }
        hits += u32::from(f64::abs(sum) >= threshold);
    }
    f64::from(hits) / f64::from(DRAWS + 1)
}

#[cfg(test)]
mod tests {
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::SeedableRng;

    use super::*;

    const D: [f64; 12] = [
        -0.012, 0.004, -0.021, -0.008, 0.310, -0.015, -0.011, 0.002, -0.018, -0.009, -0.027, -0.013,
    ];

    fn p_value(clusters: &Clusters) -> Option<f64> {
        sign_flip_p(clusters, &mut Xoshiro256PlusPlus::seed_from_u64(3))
    }

    #[test]
    fn the_values_of_the_specification_come_out_as_printed() {
        let sizes = [3; 4];
        assert_eq!(p_value(&Clusters::new(&D, &sizes).unwrap()), Some(0.25));
        assert!((p_value(&Clusters::singletons(&D)).unwrap() - 0.06884766).abs() < 5e-9);
    }

    #[test]
    fn effects_that_all_agree_leave_only_the_two_extreme_patterns() {
        assert_eq!(p_value(&Clusters::singletons(&[0.01; 6])), Some(2.0 / 64.0));
        assert_eq!(
            p_value(&Clusters::singletons(&[-0.01; 16])),
            Some(2.0 / 65_536.0)
        );
    }

    #[test]
    fn many_replicates_are_sampled_and_never_reach_nought() {
        assert_eq!(p_value(&Clusters::singletons(&[0.01; 100])), Some(1e-4));
        let balanced: Vec<f64> = (0..40)
            .map(|i| if i % 2 == 0 { 0.01 } else { -0.01 })
            .collect();
        assert_eq!(p_value(&Clusters::singletons(&balanced)), Some(1.0));
    }

    #[test]
    fn sampling_agrees_with_counting() {
        let scores: Vec<f64> = (0..14).map(|i| f64::from(i % 5) - 1.3).collect();
        let threshold = scores.iter().sum::<f64>().abs() - 1e-9;
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(9);
        let drawn = share_of_drawn_patterns(&scores, threshold, &mut rng);
        let counted = share_of_all_patterns(scores, threshold);
        // Four binomial standard errors of 9,999 draws.
        assert!(
            (drawn - counted).abs() < 4.0 * (0.25 / 9_999.0_f64).sqrt(),
            "{drawn} {counted}"
        );
    }

    #[test]
    fn mostly_zero_effects_are_scored_by_their_signs() {
        let mostly = [0.0, 0.0, 0.0, 0.0, 0.02, 3.0];
        assert_eq!(p_value(&Clusters::singletons(&mostly)), Some(0.5));
        assert_eq!(p_value(&Clusters::singletons(&[0.0; 5])), Some(1.0));
    }

    #[test]
    fn no_blocks_and_bad_blocks_have_no_p_value() {
        assert_eq!(p_value(&Clusters::singletons(&[])), None);
        assert_eq!(p_value(&Clusters::singletons(&[0.1, f64::NAN])), None);
        assert!(p_value(&Clusters::singletons(&[f64::MAX, 5e-324])).is_some());
    }
}
