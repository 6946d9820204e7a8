//! Tests and estimates that only use which of two numbers is larger. They assume no shape of a
//! distribution, and the distance of outliers does not affect them.
//!
//! | question | one sample, or pairs | two samples |
//! | --- | --- | --- |
//! | by how much? | [`hodges_lehmann`] and its [`signed_rank_interval`] | [`hodges_lehmann_shift`] and its [`shift_interval`] |
//! | more than chance? | [`signed_rank_exact_p`], [`signed_rank_asymptotic_p`] | [`mann_whitney_p`], [`rank_sum_p`] |
//! | how often? | [`count_signs`] | [`rank_sum`] |
//!
//! This file holds those for one sample: the Hodges–Lehmann estimate of its centre, which is nearly
//! as efficient as the mean and robust against a long tail; Wilcoxon's signed-rank test (1945) with
//! its confidence interval; the sign test.

#[cfg(feature = "secondary")]
pub mod mann_whitney;
#[cfg(feature = "secondary")]
pub mod shift;
mod staircase;

use staircase::{MOST_COLUMNS, Staircase};

use crate::dist::{binomial_two_sided_p, normal_cdf, normal_quantile};
use crate::summary::{all_finite, ascending, middle};

#[cfg(feature = "secondary")]
pub use mann_whitney::{
    RankSum, TwoSamples, mann_whitney_exact_p, mann_whitney_p, rank_sum, rank_sum_p,
    scipy_mann_whitney_p,
};
#[cfg(feature = "secondary")]
pub use shift::{hodges_lehmann_shift, shift_interval, shift_with_interval};

/// Up to this many values, the estimate computes all Walsh averages, at most 2,080 of them.
const FEW: usize = 64;

/// The one-sample Hodges–Lehmann estimate (1963): the median of the n(n + 1)/2 Walsh averages (x_i
/// + x_j)/2, i ≤ j.
///
/// Exact, in O(n log n): the averages of sorted values form a staircase matrix with sorted rows and
/// columns, in which a pivot can be ranked in one walk (after Johnson & Mizoguchi 1978 and Monahan
/// 1984). `None` for an empty slice or a value that is not finite.
pub fn hodges_lehmann(values: &[f64]) -> Option<f64> {
    hodges_lehmann_with(values, &mut Vec::new())
}

/// [`hodges_lehmann`] with a scratch vector that the caller can reuse.
pub(crate) fn hodges_lehmann_with(values: &[f64], scratch: &mut Vec<f64>) -> Option<f64> {
    if !(1..=MOST_COLUMNS).contains(&values.len()) || !all_finite(values) {
        return None;
    }
    scratch.clear();
    if values.len() <= FEW {
        let pairs = (0..values.len()).flat_map(|i| values[i..].iter().map(move |x| (values[i], x)));
        scratch.extend(pairs.map(|(a, &b)| a.midpoint(b)));
        return Some(middle(scratch));
    }
    Some(walsh(&ascending(values)).median(scratch))
}

/// Beyond this many values, the n³ steps of the exact distribution cost more than it is worth.
pub const MOST_EXACT: usize = 200;

/// The ranks of |d| summed by sign. Zeros are left out, and ties get their mean rank.
#[derive(Debug, Clone, PartialEq)]
pub struct SignedRanks {
    /// Sum of the ranks of positive values, W⁺.
    pub positive: f64,
    /// Sum of the ranks of negative values, W⁻.
    pub negative: f64,
    /// The ranks themselves, ascending, one for each value other than zero.
    pub ranks: Vec<f64>,
}

/// Ranks the absolute values of all values other than zero. `None` if all are zero or a value is
/// not finite.
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

/// The exact two-sided p-value: the share of all 2ⁿ sign patterns whose smaller rank sum is at most
/// the observed one.
///
/// With ties this is the permutation distribution of the mean ranks. `None` if all values are zero,
/// if more than [`MOST_EXACT`] are not, or if a value is not finite.
pub fn signed_rank_exact_p(values: &[f64]) -> Option<f64> {
    let found = signed_ranks(values)?;
    if found.ranks.len() > MOST_EXACT {
        return None;
    }
    // Mean ranks are multiples of one half, so with ties, twice the ranks are summed. Without ties,
    // the ranks themselves are summed, because sums of doubled ranks are always even.
    let whole = found.ranks.iter().all(|rank| rank.fract() == 0.0);
    let unit = if whole { 1.0 } else { 2.0 };
    let observed = (unit * found.positive.min(found.negative)) as usize;
    let steps = found.ranks.iter().map(|rank| (unit * rank) as usize);
    Some((2.0 * coin_sums(steps, observed).iter().sum::<f64>()).min(1.0))
}

/// The two-sided p-value by normal approximation, without continuity correction, with the variance
/// corrected for ties: z = (W − n(n + 1)/4)/√(n(n + 1)(2n + 1)/24 − Σ(t³ − t)/48). `None` as for
/// [`signed_ranks`].
pub fn signed_rank_asymptotic_p(values: &[f64]) -> Option<f64> {
    let found = signed_ranks(values)?;
    let n = found.ranks.len();
    let ties: f64 = found
        .ranks
        .chunk_by(|a, b| a == b)
        .map(|tied| (tied.len() as f64).powi(3) - tied.len() as f64)
        .sum();
    let spread = (variance(n) - ties / 48.0).sqrt();
    let z = (found.positive.min(found.negative) - mean(n)) / spread;
    Some((2.0 * normal_cdf(z)).min(1.0))
}

/// The confidence interval for the centre that inverts the signed-rank test (Tukey 1949; Hodges &
/// Lehmann 1963): from the c-th smallest to the c-th largest of the n(n + 1)/2 Walsh averages, with
/// the largest c for which 2·P(W ≤ c − 1) ≤ `two_sided_level`.
///
/// It covers the centre with a probability of at least 1 − `two_sided_level` if the values are
/// independent and each is symmetric about the centre; their distributions may differ. The
/// distribution of W is exact up to 200 values, normal beyond. `None` without values, if one is not
/// finite, if the level is not in (0, 1), or if it is below 2^(1−n), the smallest that n values can
/// reach.
pub fn signed_rank_interval(values: &[f64], two_sided_level: f64) -> Option<(f64, f64)> {
    if !(1..=MOST_COLUMNS).contains(&values.len()) || !all_finite(values) {
        return None;
    }
    let n = values.len();
    let cut = lower_order(n, two_sided_level)?;
    let sorted = ascending(values);
    let (averages, mut scratch) = (walsh(&sorted), Vec::new());
    let [low, high] = averages.nths([cut - 1, n * (n + 1) / 2 - cut], &mut scratch);
    Some((low, high))
}

/// The one-sided signed-rank p-value in which zeros count against a difference: P(W ≤ w), where w
/// is the number of Walsh averages on the rarer side of 0, including those at 0. The interval
/// excludes 0 at levels from twice this p-value on.
///
/// `None` if [`signed_rank_interval`] returns `None`.
pub fn signed_rank_one_sided_p(values: &[f64]) -> Option<f64> {
    if !(1..=MOST_COLUMNS).contains(&values.len()) || !all_finite(values) {
        return None;
    }
    let n = values.len();
    let sorted = ascending(values);
    let (averages, mut ends) = (walsh(&sorted), vec![0; n]);
    let not_above = averages.count(&mut ends, |average| average <= 0.0);
    let below = averages.count(&mut ends, |average| average < 0.0);
    let w = not_above.min(n * (n + 1) / 2 - below);
    Some(if n <= MOST_EXACT {
        let sums = coin_sums(1..=n, w);
        sums.iter().sum::<f64>().min(1.0)
    } else {
        normal_cdf((w as f64 - mean(n)) / variance(n).sqrt())
    })
}

/// The largest c ≥ 1 with 2·P(W ≤ c − 1) ≤ level, at most the middle of all averages.
fn lower_order(n: usize, level: f64) -> Option<usize> {
    if !(level > 0.0 && level < 1.0) {
        return None;
    }
    let middle = (n * (n + 1) / 2).div_ceil(2);
    let cut = if n <= MOST_EXACT {
        let tail = coin_sums(1..=n, middle).into_iter().scan(0.0, |sum, p| {
            *sum += p;
            Some(*sum)
        });
        tail.take_while(|&tail| 2.0 * tail <= level).count()
    } else {
        let most = mean(n) + normal_quantile(0.5 * level) * variance(n).sqrt();
        if most < 0.0 { 0 } else { most as usize + 1 }
    };
    let cut = cut.min(middle);
    (cut >= 1).then_some(cut)
}

/// P(W = 0), …, P(W = `most`), where W is the sum of a random subset of `steps`, each included with
/// probability ½.
fn coin_sums(steps: impl Iterator<Item = usize>, most: usize) -> Vec<f64> {
    let mut before = vec![0.0; most + 1];
    // With a second vector, the entries do not depend on each other, so the loop can be vectorised.
    let mut after = before.clone();
    before[0] = 1.0;
    let mut largest = 0;
    for step in steps {
        // The entries beyond it are still 0.
        largest = most.min(largest + step);
        let (without, with) = after[..=largest].split_at_mut(step.min(largest + 1));
        let stay = without.iter_mut().zip(&before);
        stay.for_each(|(sum, stay)| *sum = 0.5 * stay);
        let tossed = with.iter_mut().zip(&before[without.len()..]).zip(&before);
        tossed.for_each(|((sum, stay), go)| *sum = 0.5 * (stay + go));
        std::mem::swap(&mut before, &mut after);
    }
    before
}

/// The mean of the signed-rank statistic W of `n` values without ties.
fn mean(n: usize) -> f64 {
    let n = n as f64;
    n * (n + 1.0) / 4.0
}

/// The variance of the signed-rank statistic W of `n` values without ties.
fn variance(n: usize) -> f64 {
    let n = n as f64;
    n * (n + 1.0) * (2.0 * n + 1.0) / 24.0
}

/// The averages of all pairs of ascending values, including each value with itself.
fn walsh(sorted: &[f64]) -> Staircase<'_, impl Fn(f64, f64) -> f64> {
    Staircase {
        rows: sorted,
        columns: sorted,
        triangular: true,
        entry: |a: f64, b| a.midpoint(b),
    }
}

/// Numbers of differences below, at and above zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Signs {
    /// Differences below zero.
    pub less: usize,
    /// Differences of exactly zero, whether +0 or −0.
    pub equal: usize,
    /// Differences above zero.
    pub greater: usize,
}

/// Counts the signs of `differences`. `None` if one of them is not finite; an empty slice gives
/// three zeros.
pub fn count_signs(differences: &[f64]) -> Option<Signs> {
    if !all_finite(differences) {
        return None;
    }
    let less = differences.iter().filter(|&&d| d < 0.0).count();
    let greater = differences.iter().filter(|&&d| d > 0.0).count();
    Some(Signs {
        less,
        equal: differences.len() - less - greater,
        greater,
    })
}

impl Signs {
    /// The exact two-sided p-value: the probability that tosses of a fair coin, one for each
    /// difference other than zero, are at least as uneven. 1 if all differences are zero.
    pub fn sign_test_p(&self) -> f64 {
        binomial_two_sided_p(self.less as u64, (self.less + self.greater) as u64, 0.5)
    }
}

#[cfg(test)]
mod tests {
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::SeedableRng;

    use super::*;
    use crate::rng::{coin, normal, uniform};

    const D: [f64; 12] = [
        -0.012, 0.004, -0.021, -0.008, 0.310, -0.015, -0.011, 0.002, -0.018, -0.009, -0.027, -0.013,
    ];

    fn by_brute_force(values: &[f64]) -> f64 {
        let mut averages = Vec::new();
        for i in 0..values.len() {
            for j in i..values.len() {
                averages.push(values[i].midpoint(values[j]));
            }
        }
        averages.sort_by(f64::total_cmp);
        let half = averages.len() / 2;
        if averages.len() % 2 == 1 {
            averages[half]
        } else {
            averages[half - 1].midpoint(averages[half])
        }
    }

    /// The distribution of [`coin_sums`], computed in a single vector from the largest sum down.
    fn tossed(steps: &[usize], most: usize) -> Vec<f64> {
        let mut probability = vec![0.0; most + 1];
        probability[0] = 1.0;
        for step in steps {
            for sum in (0..=most).rev() {
                let with = sum.checked_sub(*step).map_or(0.0, |sum| probability[sum]);
                probability[sum] = 0.5 * (probability[sum] + with);
            }
        }
        probability
    }

    #[test]
    fn coins_add_up_to_the_last_bit_as_if_tossed_one_by_one() {
        for n in [1_usize, 2, 3, 10, 41, 200] {
            for every in [1, 2, 3] {
                let steps: Vec<usize> = (1..=n).map(|step| step.div_ceil(every)).collect();
                for most in [0, 1, n, n * n / 4, n * (n + 1)] {
                    let found = coin_sums(steps.iter().copied(), most);
                    assert_eq!(found, tossed(&steps, most), "{n} {every} {most}");
                }
            }
        }
    }

    #[test]
    fn whole_ranks_and_twice_as_many_steps_give_the_same_p_value() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(9);
        for n in [1, 5, 30, 150, 200] {
            let values: Vec<f64> = (0..n).map(|_| normal(&mut rng) + 0.1).collect();
            let found = signed_ranks(&values).unwrap();
            let least = 2.0 * found.positive.min(found.negative);
            let steps: Vec<usize> = found
                .ranks
                .iter()
                .map(|rank| (2.0 * rank) as usize)
                .collect();
            let sum: f64 = tossed(&steps, least as usize).iter().sum();
            assert_eq!(
                signed_rank_exact_p(&values),
                Some((2.0 * sum).min(1.0)),
                "{n}"
            );
        }
    }

    #[test]
    fn the_value_of_the_specification_comes_out_as_printed() {
        assert!((hodges_lehmann(&D).unwrap() + 0.01075).abs() < 1e-15);
    }

    #[test]
    fn selection_and_brute_force_agree_to_the_last_bit() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(2);
        for n in (1..80).chain([127, 200, 333]) {
            let values: Vec<f64> = (0..n).map(|_| normal(&mut rng)).collect();
            assert_eq!(
                hodges_lehmann(&values),
                Some(by_brute_force(&values)),
                "{n}"
            );
        }
    }

    #[test]
    fn ties_do_not_confuse_the_selection() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(4);
        for n in [65, 100, 201] {
            let values: Vec<f64> = (0..n).map(|_| normal(&mut rng).round()).collect();
            assert_eq!(
                hodges_lehmann(&values),
                Some(by_brute_force(&values)),
                "{n}"
            );
            assert_eq!(hodges_lehmann(&vec![0.25; n]), Some(0.25));
        }
    }

    #[test]
    fn nothing_and_nonsense_have_no_estimate() {
        assert_eq!(hodges_lehmann(&[]), None);
        assert_eq!(hodges_lehmann(&[1.0, f64::NAN]), None);
        assert_eq!(hodges_lehmann(&[f64::MAX; 70]), Some(f64::MAX));
    }

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

    #[test]
    fn with_few_values_the_interval_reaches_from_the_smallest_to_the_largest() {
        let values = [3.0, -1.0, 2.0, 10.0, 4.0, 5.0];
        assert_eq!(signed_rank_interval(&values, 0.04), Some((-1.0, 10.0)));
        // The strictest level is 2·P(W ≤ 0) = 1/32.
        assert_eq!(
            signed_rank_interval(&values, 1.0 / 32.0),
            Some((-1.0, 10.0))
        );
        assert_eq!(signed_rank_interval(&values, 0.031), None);
    }

    #[test]
    fn a_looser_level_leaves_the_outermost_averages_out() {
        let values = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0];
        // 2·P(W ≤ 1) = 1/16: from the second smallest average (1 + 2)/2 to the second largest (16 +
        // 32)/2.
        assert_eq!(signed_rank_interval(&values, 1.0 / 16.0), Some((1.5, 24.0)));
        // 2·P(W ≤ 2) = 3/32: the third are 2 itself and (8 + 32)/2.
        assert_eq!(signed_rank_interval(&values, 3.0 / 32.0), Some((2.0, 20.0)));
    }

    #[test]
    fn the_interval_leaves_out_nought_exactly_when_twice_the_one_sided_p_allows_it() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(16);
        for n in [1, 2, 5, 6, 11, 40, 70, 260] {
            for _ in 0..20 {
                let shift = 3.0 * uniform(&mut rng) / (n as f64).sqrt();
                let values: Vec<f64> = (0..n).map(|_| normal(&mut rng) + shift).collect();
                let p = signed_rank_one_sided_p(&values).unwrap();
                for level in [2.0 * p * (1.0 - 1e-9), 2.0 * p * (1.0 + 1e-9)] {
                    let Some((low, high)) = signed_rank_interval(&values, level) else {
                        assert!(level < 2.0 * p || level >= 1.0);
                        continue;
                    };
                    let leaves_out = low > 0.0 || high < 0.0;
                    assert_eq!(leaves_out, level > 2.0 * p, "{n} {level} {p}");
                }
            }
        }
    }

    #[test]
    fn without_zeros_and_ties_the_one_sided_p_is_half_of_the_two_sided_one() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(17);
        for n in [1, 3, 8, 20, 120] {
            let values: Vec<f64> = (0..n).map(|_| normal(&mut rng) + 0.2).collect();
            let one = signed_rank_one_sided_p(&values).unwrap();
            let two = signed_rank_exact_p(&values).unwrap();
            assert!(
                ((2.0 * one).min(1.0) - two).abs() < 1e-12,
                "{n}: {one} {two}"
            );
        }
    }

    #[test]
    fn the_normal_limit_takes_over_without_a_step() {
        let exact = lower_order(MOST_EXACT, 0.01).unwrap();
        let n = MOST_EXACT;
        let normal = mean(n) + normal_quantile(0.005) * variance(n).sqrt();
        assert!(
            (exact as f64 / normal - 1.0).abs() < 0.003,
            "{exact} {normal}"
        );
        assert_eq!(lower_order(MOST_EXACT + 1, 1e-300), None);
    }

    #[test]
    fn zeros_speak_against_a_difference() {
        assert_eq!(signed_rank_one_sided_p(&[1.0, 2.0, 3.0]), Some(0.125));
        assert_eq!(signed_rank_one_sided_p(&[-1.0, -2.0, -3.0]), Some(0.125));
        // Only the average of the zero with itself is not above 0.
        assert_eq!(signed_rank_one_sided_p(&[0.0, 2.0, 3.0]), Some(0.25));
        assert_eq!(signed_rank_one_sided_p(&[0.0; 9]), Some(1.0));
    }

    #[test]
    fn values_each_symmetric_in_its_own_way_are_covered_as_promised() {
        // Every value has a scale of its own, from 1 to 10,000: only their symmetry is alike.
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(18);
        let runs = 4_000;
        for (n, level) in [(6, 0.05), (8, 0.01), (11, 0.05), (22, 0.05)] {
            let mut missed = 0;
            for _ in 0..runs {
                let values: Vec<f64> = (0..n)
                    .map(|_| {
                        let size = 10_f64.powf(4.0 * uniform(&mut rng));
                        if coin(&mut rng) { size } else { -size }
                    })
                    .collect();
                let (low, high) = signed_rank_interval(&values, level).unwrap();
                missed += usize::from(low > 0.0 || high < 0.0);
            }
            let most = level + 4.0 * (level * (1.0 - level) / f64::from(runs)).sqrt();
            assert!((missed as f64) < most * f64::from(runs), "{n}: {missed}");
        }
    }

    #[test]
    fn nothing_and_nonsense_have_no_bounds() {
        for values in [&[][..], &[1.0, f64::NAN]] {
            assert_eq!(signed_rank_interval(values, 0.5), None);
            assert_eq!(signed_rank_one_sided_p(values), None);
        }
        for level in [0.0, 1.0, -0.5, f64::NAN] {
            assert_eq!(signed_rank_interval(&[1.0; 9], level), None);
        }
        let huge = [f64::MAX, -f64::MAX, f64::MAX];
        let (low, high) = signed_rank_interval(&huge, 0.5).unwrap();
        assert!(low.is_finite() && high.is_finite());
    }

    #[test]
    fn zeros_of_either_sign_are_counted_apart_and_say_nothing() {
        let signs = count_signs(&[-1.0, 0.0, -0.0, 2.0, 5e-324, -3.0, -4.0]).unwrap();
        let expected = Signs {
            less: 3,
            equal: 2,
            greater: 2,
        };
        assert_eq!(signs, expected);
        assert_eq!(signs.sign_test_p(), 1.0);
    }

    #[test]
    fn differences_of_one_sign_are_two_patterns_among_all() {
        let signs = count_signs(&[1.0; 10]).unwrap();
        assert!((signs.sign_test_p() - 2.0 / 1024.0).abs() < 1e-15);
    }

    #[test]
    fn nothing_is_no_evidence_and_nonsense_is_not_counted() {
        assert_eq!(count_signs(&[]).unwrap().sign_test_p(), 1.0);
        assert_eq!(count_signs(&[0.0]).unwrap().sign_test_p(), 1.0);
        assert_eq!(count_signs(&[1.0, f64::NAN]), None);
        assert_eq!(count_signs(&[f64::INFINITY]), None);
    }
}
