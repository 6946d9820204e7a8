//! Bounds for the centre of symmetry of one sample: order statistics of all pairwise averages.

use super::signed_rank::MOST_EXACT;
use super::staircase::Staircase;
use crate::dist::{normal_cdf, normal_quantile};
use crate::summary::all_finite;

/// The interval for the centre that belongs to the signed-rank test (Tukey 1949; Hodges & Lehmann 1963): from the c-th
/// smallest to the c-th largest of the n(n + 1)/2 Walsh averages, with the largest c for which
/// 2·P(W ≤ c − 1) ≤ `two_sided_level`.
///
/// It holds the centre with a probability of at least 1 − `two_sided_level` if the values are independent and each is
/// symmetric about it, whatever their shapes and however unlike they are. W is exact up to 200 values, normal beyond.
/// `None` without values, when one is not finite, when the level is not in (0, 1), and when so few values cannot keep
/// so strict a promise: n of them reach levels down to 2^(1−n).
pub fn signed_rank_interval(values: &[f64], two_sided_level: f64) -> Option<(f64, f64)> {
    if values.is_empty() || !all_finite(values) {
        return None;
    }
    let n = values.len();
    let cut = lower_order(n, two_sided_level)?;
    let sorted = sorted(values);
    let (averages, mut scratch) = (walsh(&sorted), Vec::new());
    let low = averages.nth(cut - 1, &mut scratch);
    let high = averages.nth(n * (n + 1) / 2 - cut, &mut scratch);
    Some((low, high))
}

/// P(W ≤ w), w the number of Walsh averages on the rarer side of 0, those at 0 included: the one-sided signed-rank
/// p-value in which a zero speaks against a difference. The interval at twice any level from this on leaves 0 out.
///
/// `None` as for an interval that does not exist.
pub fn signed_rank_one_sided_p(values: &[f64]) -> Option<f64> {
    if values.is_empty() || !all_finite(values) {
        return None;
    }
    let n = values.len();
    let sorted = sorted(values);
    let (averages, mut ends) = (walsh(&sorted), vec![0; n]);
    let not_above = averages.count(&mut ends, |average| average <= 0.0);
    let below = averages.count(&mut ends, |average| average < 0.0);
    let w = not_above.min(n * (n + 1) / 2 - below);
    Some(if n <= MOST_EXACT {
        let sums = rank_sums(n, w);
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
        let tail = rank_sums(n, middle).into_iter().scan(0.0, |sum, p| {
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

/// P(W = 0), …, P(W = `most`) for n values without ties: every rank is added by the toss of a coin.
fn rank_sums(n: usize, most: usize) -> Vec<f64> {
    let mut probability = vec![0.0; most + 1];
    probability[0] = 1.0;
    for rank in 1..=n {
        for sum in (0..=most).rev() {
            let with = if sum >= rank {
                probability[sum - rank]
            } else {
                0.0
            };
            probability[sum] = 0.5 * (probability[sum] + with);
        }
    }
    probability
}

fn mean(n: usize) -> f64 {
    let n = n as f64;
    n * (n + 1.0) / 4.0
}

fn variance(n: usize) -> f64 {
    let n = n as f64;
    n * (n + 1.0) * (2.0 * n + 1.0) / 24.0
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted
}

fn walsh(sorted: &[f64]) -> Staircase<'_, fn(f64, f64) -> f64> {
    Staircase {
        rows: sorted,
        columns: sorted,
        triangular: true,
        entry: f64::midpoint,
    }
}

#[cfg(test)]
mod tests {
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::SeedableRng;

    use super::*;
    use crate::rank::signed_rank_exact_p;
    use crate::rng::{coin, normal, uniform};

    #[test]
    fn with_few_values_the_interval_reaches_from_the_smallest_to_the_largest() {
        let values = [3.0, -1.0, 2.0, 10.0, 4.0, 5.0];
        assert_eq!(signed_rank_interval(&values, 0.04), Some((-1.0, 10.0)));
        // 2·P(W ≤ 0) is 1/32 and no less.
        assert_eq!(
            signed_rank_interval(&values, 1.0 / 32.0),
            Some((-1.0, 10.0))
        );
        assert_eq!(signed_rank_interval(&values, 0.031), None);
    }

    #[test]
    fn a_looser_level_leaves_the_outermost_averages_out() {
        let values = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0];
        // 2·P(W ≤ 1) = 1/16: from the second smallest average (1 + 2)/2 to the second largest (16 + 32)/2.
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
}
