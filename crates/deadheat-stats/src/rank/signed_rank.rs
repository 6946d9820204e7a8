//! The one-sample Wilcoxon signed-rank test (Wilcoxon 1945): are effects as often and as far above zero as below?

use crate::dist::normal_cdf;
use crate::summary::all_finite;

/// Beyond this many values the exact distribution is no longer worth its n³ steps.
pub const MOST_EXACT: usize = 200;

/// The ranks of |d| summed by sign, zeros left out and ties given their mean rank.
#[derive(Debug, Clone, PartialEq)]
pub struct SignedRanks {
    /// Sum of the ranks of positive values, W⁺.
    pub positive: f64,
    /// Sum of the ranks of negative values, W⁻.
    pub negative: f64,
    /// The ranks themselves, ascending; as many as there are values other than zero.
    pub ranks: Vec<f64>,
}

/// Ranks the sizes of all values other than zero. `None` when there are none or a value is not finite.
pub fn signed_ranks(values: &[f64]) -> Option<SignedRanks> {
    if !all_finite(values) {
        return None;
    }
    let mut kept: Vec<f64> = values.iter().copied().filter(|&d| d != 0.0).collect();
    kept.sort_unstable_by(|a, b| a.abs().total_cmp(&b.abs()));
    let mut found = SignedRanks {
        positive: 0.0,
        negative: 0.0,
        ranks: Vec::with_capacity(kept.len()),
    };
    for tied in kept.chunk_by(|a, b| a.abs() == b.abs()) {
        let before = found.ranks.len();
        let rank = before as f64 + 0.5 * (tied.len() + 1) as f64;
        for d in tied {
            found.ranks.push(rank);
            if *d > 0.0 {
                found.positive += rank
            } else {
                found.negative += rank
            }
        }
    }
    (!kept.is_empty()).then_some(found)
}

/// The exact two-sided p-value: the share of all 2ⁿ sign patterns with a smaller rank sum as small as the one observed.
///
/// With ties this is the permutation distribution of the mean ranks. `None` without values other than zero, beyond
/// [`MOST_EXACT`] of them, or with a value that is not finite.
pub fn signed_rank_exact_p(values: &[f64]) -> Option<f64> {
    let found = signed_ranks(values)?;
    if found.ranks.len() > MOST_EXACT {
        return None;
    }
    // Mean ranks are multiples of one half, so twice the rank is a whole number to count in.
    let observed = (2.0 * found.positive.min(found.negative)) as usize;
    let mut probability = vec![0.0; observed + 1];
    probability[0] = 1.0;
    for rank in &found.ranks {
        let step = (2.0 * rank) as usize;
        for sum in (0..=observed).rev() {
            let with = if sum >= step {
                probability[sum - step]
            } else {
                0.0
            };
            probability[sum] = 0.5 * (probability[sum] + with);
        }
    }
    Some((2.0 * probability.iter().sum::<f64>()).min(1.0))
}

/// The two-sided p-value by normal approximation, without continuity correction, the variance corrected for ties:
/// z = (W − n(n + 1)/4)/√(n(n + 1)(2n + 1)/24 − Σ(t³ − t)/48). `None` as for [`signed_ranks`].
pub fn signed_rank_asymptotic_p(values: &[f64]) -> Option<f64> {
    let found = signed_ranks(values)?;
    let n = found.ranks.len() as f64;
    let ties: f64 = found
        .ranks
        .chunk_by(|a, b| a == b)
        .map(|tied| (tied.len() as f64).powi(3) - tied.len() as f64)
        .sum();
    let variance = n * (n + 1.0) * (2.0 * n + 1.0) / 24.0 - ties / 48.0;
    let z = (found.positive.min(found.negative) - n * (n + 1.0) / 4.0) / variance.sqrt();
    Some((2.0 * normal_cdf(z)).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    const D: [f64; 12] = [
        -0.012, 0.004, -0.021, -0.008, 0.310, -0.015, -0.011, 0.002, -0.018, -0.009, -0.027, -0.013,
    ];

    #[test]
    fn the_values_of_the_specification_come_out_as_printed() {
        assert!((signed_rank_exact_p(&D).unwrap() - 0.06396484).abs() < 5e-9);
        assert!((signed_rank_asymptotic_p(&D).unwrap() - 0.05973902).abs() < 5e-9);
    }

    #[test]
    fn values_of_one_sign_leave_only_two_extreme_patterns() {
        assert_eq!(signed_rank_exact_p(&[1.0, 2.0, 3.0, 4.0]), Some(2.0 / 16.0));
        assert_eq!(
            signed_rank_exact_p(&[-1.0, -1.0, -1.0, -1.0]),
            Some(2.0 / 16.0)
        );
    }

    #[test]
    fn zeros_are_left_out_and_ties_share_their_rank() {
        let found = signed_ranks(&[0.0, 2.0, -2.0, 1.0, 5.0]).unwrap();
        assert_eq!(found.ranks, [1.0, 2.5, 2.5, 4.0]);
        assert_eq!((found.positive, found.negative), (7.5, 2.5));
    }

    #[test]
    fn perfectly_balanced_values_are_no_evidence() {
        assert_eq!(signed_rank_exact_p(&[1.0, -1.0, 2.0, -2.0]), Some(1.0));
        assert_eq!(signed_rank_asymptotic_p(&[1.0, -1.0, 2.0, -2.0]), Some(1.0));
    }

    #[test]
    fn nothing_and_nonsense_have_no_p_value() {
        for values in [&[][..], &[0.0, 0.0], &[1.0, f64::NAN]] {
            assert_eq!(signed_rank_exact_p(values), None);
            assert_eq!(signed_rank_asymptotic_p(values), None);
        }
        assert_eq!(signed_rank_exact_p(&[1.0; MOST_EXACT + 1]), None);
        assert!(signed_rank_exact_p(&[1.0; MOST_EXACT]).is_some());
    }
}
