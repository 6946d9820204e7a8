//! The Mann–Whitney test (1947), which is Wilcoxon's rank-sum test (1945): does a value of one
//! sample exceed a value of the other as often as the reverse?
//!
//! The samples are independent of each other, and the values within each are too. Iterations of one
//! process are not.

use crate::dist::{cephes_normal_cdf, normal_cdf};
use crate::two_samples::TwoSamples;

/// Where the smaller sample has no more values than this, [`mann_whitney_p`] counts arrangements.
pub const FEW: usize = 8;

/// The pairs of two samples, by which of the two is larger.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankSum {
    /// Pairs whose value of the first sample is larger, ties counted half: the U of the first
    /// sample.
    pub u_first: f64,
    /// Pairs whose value of the second sample is larger, ties counted half. Both add up to all
    /// pairs.
    pub u_second: f64,
    /// Σ(t³ − t) over the groups of t equal values, both samples taken together.
    pub ties: f64,
    /// Values in the first sample.
    pub n_first: usize,
    /// Values in the second sample.
    pub n_second: usize,
}

/// Compares every value of the first sample with every value of the second, in O(n log n). `None`
/// when a sample is empty or a value is not finite.
pub fn rank_sum(first: &[f64], second: &[f64]) -> Option<RankSum> {
    Some(TwoSamples::new(first, second)?.rank_sum())
}

/// The exact two-sided p-value: the share of all ways to deal the values out again whose U lies at
/// least as far from nm/2 as the one observed.
///
/// Without ties this is the tabulated distribution of U. With ties it is the permutation
/// distribution of the mean ranks. `None` as for [`rank_sum`], and for samples too large to count:
/// without ties beyond 10⁶ pairs or 2¹²⁷ arrangements (65 against 65, 8 against 125,000), with ties
/// beyond 65² pairs.
pub fn mann_whitney_exact_p(first: &[f64], second: &[f64]) -> Option<f64> {
    TwoSamples::new(first, second)?.mann_whitney_exact_p()
}

fn exact_p(samples: &TwoSamples, found: &RankSum) -> Option<f64> {
    let (n, m) = (found.n_first, found.n_second);
    let least = found.least();
    let as_extreme = if found.ties == 0.0 {
        // U is symmetric about nm/2.
        let counts = count_untied(n, m, least as usize)?;
        2.0 * counts.into_iter().sum::<u128>() as f64
    } else {
        let upwards = samples.groups.iter();
        let upwards = upwards.map(|g| g.first as usize + g.second as usize);
        let downwards = upwards.clone().rev();
        // Both tails are those of the smaller sample, whichever came first: so exchanging them
        // changes no bit.
        let (few, many, twice) = (n.min(m), n.max(m), (2.0 * least) as usize);
        count_tied(upwards, few, many, twice)? + count_tied(downwards, few, many, twice)?
    };
    Some((as_extreme / arrangements(n, m)).min(1.0))
}

/// The two-sided p-value by the rule of `scipy.stats.mannwhitneyu`, which Google Benchmark's
/// `compare.py` reports: exact where one sample has at most [`FEW`] values and none are equal, else
/// by normal approximation with continuity correction. `None` as for [`rank_sum`].
///
/// Beyond 10⁶ pairs it is the approximation in any case.
pub fn mann_whitney_p(first: &[f64], second: &[f64]) -> Option<f64> {
    Some(TwoSamples::new(first, second)?.mann_whitney_p())
}

/// The two-sided p-value of `scipy.stats.ranksums`: by normal approximation with neither tie nor
/// continuity correction, so too large where values are equal. `None` as for [`rank_sum`].
pub fn rank_sum_p(first: &[f64], second: &[f64]) -> Option<f64> {
    Some(TwoSamples::new(first, second)?.rank_sum_p())
}

impl TwoSamples {
    /// Compares every value of the first sample with every value of the second.
    pub fn rank_sum(&self) -> RankSum {
        let mut found = RankSum {
            u_first: 0.0,
            u_second: 0.0,
            ties: 0.0,
            n_first: 0,
            n_second: 0,
        };
        for group in &self.groups {
            let (a, b) = (f64::from(group.first), f64::from(group.second));
            found.u_first += a * (found.n_second as f64 + 0.5 * b);
            found.u_second += b * (found.n_first as f64 + 0.5 * a);
            found.ties += (a + b).powi(3) - (a + b);
            found.n_first += group.first as usize;
            found.n_second += group.second as usize;
        }
        found
    }

    /// See [`mann_whitney_exact_p`].
    pub fn mann_whitney_exact_p(&self) -> Option<f64> {
        exact_p(self, &self.rank_sum())
    }

    /// See [`mann_whitney_p`].
    pub fn mann_whitney_p(&self) -> f64 {
        let found = self.rank_sum();
        let exact = found.ties == 0.0 && found.n_first.min(found.n_second) <= FEW;
        let exact_p = exact.then(|| exact_p(self, &found)).flatten();
        exact_p.unwrap_or_else(|| found.asymptotic_p(true))
    }

    /// See [`rank_sum_p`].
    pub fn rank_sum_p(&self) -> f64 {
        let ties = 0.0;
        RankSum {
            ties,
            ..self.rank_sum()
        }
        .asymptotic_p(false)
    }
}

impl RankSum {
    /// The smaller U.
    fn least(&self) -> f64 {
        self.u_first.min(self.u_second)
    }

    /// The two-sided p-value by normal approximation, the variance corrected for ties: z = (U −
    /// nm/2 + c)/√(nm/12·(N + 1 − Σ(t³ − t)/(N(N − 1)))) with N = n + m, U the smaller of both, and
    /// c = ½ with the continuity correction. Values that are all equal are no evidence: p = 1.
    pub fn asymptotic_p(&self, continuity: bool) -> f64 {
        let (n, m) = (self.n_first as f64, self.n_second as f64);
        let all = n + m;
        let variance = n * m / 12.0 * (all + 1.0 - self.ties / (all * (all - 1.0)));
        if variance <= 0.0 {
            return 1.0;
        }
        let correction = if continuity { 0.5 } else { 0.0 };
        let z = (self.least() - 0.5 * n * m + correction) / variance.sqrt();
        (2.0 * normal_cdf(z)).min(1.0)
    }
}

/// Without ties: no more pairs than this are counted.
const MOST_PAIRS: usize = 1_000_000;

/// Without ties: no more arrangements than this are counted, so that every sum of counts is a whole
/// number of 128 bits.
const MOST_ARRANGEMENTS: f64 = 1.7e38;

/// With ties: no more pairs than this are counted; the work grows with their square.
const MOST_TIED_PAIRS: usize = 65 * 65;

/// The ways to choose which n of n + m values are the first sample's: (n + m)!/(n! m!). Exact below
/// 2⁵³, an infinity for the largest samples.
pub(super) fn arrangements(n: usize, m: usize) -> f64 {
    let (few, many) = (n.min(m), n.max(m));
    let mut ways = 1.0;
    for i in 1..=few {
        ways *= (many + i) as f64 / i as f64;
        if ways.is_infinite() {
            break;
        }
        // Every partial product is a binomial coefficient itself.
        if ways < 1e15 {
            ways = ways.round();
        }
    }
    ways
}

/// The number of arrangements of n + m different values with U = 0, 1, …, `most`, which is at most
/// nm/2 or so. `None` where they are too many to count.
///
/// Their generating function is the Gaussian binomial coefficient ∏(1 − q^{m+i})/(1 − q^i), i = 1 …
/// n (Mann & Whitney 1947): one pass for each factor. Intermediate values may leave 128 bits, but
/// the arithmetic is modulo 2¹²⁸, in which 1 − q^i has an inverse, and the result is smaller than
/// that: nothing is rounded, so that small tails are exact.
pub(super) fn count_untied(n: usize, m: usize, most: usize) -> Option<Vec<u128>> {
    let (few, many) = (n.min(m), n.max(m));
    let pairs = few.checked_mul(many)?;
    if pairs > MOST_PAIRS || arrangements(n, m) > MOST_ARRANGEMENTS {
        return None;
    }
    let mut counts = vec![0_u128; most.min(pairs) + 1];
    counts[0] = 1;
    for i in 1..=few {
        for u in (many + i..counts.len()).rev() {
            counts[u] = counts[u].wrapping_sub(counts[u - many - i]);
        }
        for u in i..counts.len() {
            counts[u] = counts[u].wrapping_add(counts[u - i]);
        }
    }
    Some(counts)
}

/// The number of arrangements with 2U ≤ `twice_most`, for values that come in groups of equal ones
/// of the given sizes, from the end at which U is small. `None` where they are too many to count.
///
/// Goes through the groups in order and keeps, for each number of values dealt to the first sample
/// so far and each 2U, the number of ways to come there. Only positive numbers are added, so that
/// small tails keep their digits.
fn count_tied(
    groups: impl Iterator<Item = usize>,
    n: usize,
    m: usize,
    twice_most: usize,
) -> Option<f64> {
    if n.checked_mul(m)? > MOST_TIED_PAIRS {
        return None;
    }
    let width = twice_most + 1;
    let mut ways = vec![0.0; (n + 1) * width];
    ways[0] = 1.0;
    let mut seen = 0_usize;
    for size in groups {
        // From the top, so that what a row passes on is what it held before this group.
        for dealt in (seen.saturating_sub(m)..=seen.min(n)).rev() {
            let other = seen - dealt;
            // 2U is 2·dealt·other at most, and will grow by 2·(n − dealt)·other at least.
            let Some(most) = twice_most.checked_sub(2 * (n - dealt) * other) else {
                continue;
            };
            let reached = most.min(2 * dealt * other) + 1;
            let mut choices = 1.0;
            for more in 1..=size.min(n - dealt) {
                choices *= (size - more + 1) as f64 / more as f64;
                // `more` values above `other` ones of the second sample, and half above those of
                // their own group.
                let step = more * (2 * other + size - more);
                let (here, there) = ways.split_at_mut((dealt + more) * width);
                let row = &here[dealt * width..][..reached];
                let to = &mut there[step.min(width)..width];
                to.iter_mut().zip(row).for_each(|(t, w)| *t += choices * w);
            }
        }
        seen += size;
    }
    Some(ways[n * width..].iter().sum())
}

/// The p-value of `scipy.stats.mannwhitneyu(first, second, alternative="two-sided")`: exact where
/// one sample has at most [`FEW`] values and none are equal, else by normal approximation with
/// continuity correction.
///
/// Formulas and order of operations are SciPy's, so that nearly every result agrees to the last
/// bit; where counts of arrangements go beyond 2⁵³ the two differ by rounding. `None` as for
/// [`rank_sum`], and where SciPy's variance of very many equal values is rounded below zero and it
/// finds no number either.
///
/// [`mann_whitney_p`](super::mann_whitney_p) is the same test as everything else in this crate
/// computes it.
pub fn scipy_mann_whitney_p(first: &[f64], second: &[f64]) -> Option<f64> {
    let found = rank_sum(first, second)?;
    let exact = found.ties == 0.0 && found.n_first.min(found.n_second) <= FEW;
    let p = exact
        .then(|| scipy_exact_p(&found))
        .flatten()
        .unwrap_or_else(|| scipy_asymptotic_p(&found));
    (!p.is_nan()).then(|| p.clamp(0.0, 1.0))
}

/// Twice the probability of a U as small as the smaller one, each term divided before it is added.
/// `None` where there is too much to count.
fn scipy_exact_p(found: &RankSum) -> Option<f64> {
    let (n, m) = (found.n_first, found.n_second);
    let least = found.u_first.min(found.u_second) as usize;
    let all = binomial(n.min(m), n + m);
    let counts = count_untied(n, m, least)?;
    let below: f64 = counts.iter().map(|&ways| ways as f64 / all).sum();
    Some(2.0 * below)
}

/// n over k for a small k: both products are taken before they are divided.
fn binomial(k: usize, n: usize) -> f64 {
    let (mut above, mut below) = (1.0, 1.0);
    for i in 1..=k {
        above *= (i + n - k) as f64;
        below *= i as f64;
    }
    above / below
}

fn scipy_asymptotic_p(found: &RankSum) -> f64 {
    let (n, m) = (found.n_first as f64, found.n_second as f64);
    let all = n + m;
    let spread = (n * m / 12.0 * ((all + 1.0) - found.ties / (all * (all - 1.0)))).sqrt();
    let most = found.u_first.max(found.u_second);
    // Without any spread this is −∞, and p is 1.
    let z = (most - n * m / 2.0 - 0.5) / spread;
    2.0 * cephes_normal_cdf(-z)
}

#[cfg(test)]
mod tests {
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::SeedableRng;

    use super::*;
    use crate::rng::normal;

    fn draw(n: usize, step: f64, rng: &mut Xoshiro256PlusPlus) -> Vec<f64> {
        let value = |_| normal(rng);
        (0..n)
            .map(value)
            .map(|z| if step > 0.0 { (z / step).round() } else { z })
            .collect()
    }

    /// Deals the values out in every possible way.
    fn by_brute_force(first: &[f64], second: &[f64]) -> f64 {
        let all = [first, second].concat();
        let centre = 0.5 * (first.len() * second.len()) as f64;
        let away = |u: f64| (u - centre).abs();
        let observed = away(rank_sum(first, second).unwrap().u_first);
        let (mut extreme, mut deals) = (0, 0);
        for hand in 0_u32..1 << all.len() {
            if hand.count_ones() as usize != first.len() {
                continue;
            }
            let (of, rest): (Vec<_>, Vec<_>) = (0..all.len()).partition(|i| hand >> i & 1 == 1);
            let pairs = of.iter().flat_map(|&i| rest.iter().map(move |&j| (i, j)));
            let u: f64 = pairs
                .map(|(i, j)| {
                    0.5 * f64::from(u8::from(all[i] > all[j]) + u8::from(all[i] >= all[j]))
                })
                .sum();
            deals += 1;
            extreme += u32::from(away(u) >= observed);
        }
        f64::from(extreme) / f64::from(deals)
    }

    #[test]
    fn the_exact_p_counts_every_way_to_deal_the_values_out() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(8);
        for step in [0.0, 0.4, 1.0, 3.0] {
            for (n, m) in [(1, 1), (1, 7), (2, 2), (3, 6), (5, 5), (6, 4), (7, 5)] {
                for _ in 0..5 {
                    let first = draw(n, step, &mut rng);
                    let second = draw(m, step, &mut rng);
                    let got = mann_whitney_exact_p(&first, &second).unwrap();
                    let want = by_brute_force(&first, &second);
                    assert!((got - want).abs() < 1e-14, "{first:?} {second:?}");
                }
            }
        }
    }

    #[test]
    fn samples_that_do_not_overlap_are_two_arrangements_among_all() {
        let (low, high) = ([1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]);
        assert_eq!(mann_whitney_exact_p(&low, &high), Some(2.0 / 70.0));
        assert_eq!(mann_whitney_p(&high, &low), Some(2.0 / 70.0));
    }

    #[test]
    fn pairs_are_counted_by_the_larger_side_and_ties_half() {
        let found = rank_sum(&[1.0, 2.0, 2.0, -0.0], &[2.0, 0.0, 5.0]).unwrap();
        let expected = RankSum {
            u_first: 4.5,
            u_second: 7.5,
            ties: 24.0 + 6.0,
            n_first: 4,
            n_second: 3,
        };
        assert_eq!(found, expected);
    }

    #[test]
    fn equal_values_are_no_evidence() {
        for p in [
            mann_whitney_exact_p(&[1.0; 5], &[1.0; 3]),
            mann_whitney_p(&[1.0; 5], &[1.0; 3]),
            rank_sum(&[1.0; 5], &[1.0; 3]).map(|found| found.asymptotic_p(false)),
            rank_sum_p(&[1.0; 5], &[1.0; 3]),
        ] {
            assert_eq!(p, Some(1.0));
        }
    }

    #[test]
    fn the_approximation_meets_the_exact_value_where_both_are_to_be_had() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(9);
        for step in [0.0, 0.5] {
            for _ in 0..20 {
                let (first, second) = (draw(60, step, &mut rng), draw(55, step, &mut rng));
                let exact = mann_whitney_exact_p(&first, &second).unwrap();
                let rough = rank_sum(&first, &second)
                    .map(|found| found.asymptotic_p(true))
                    .unwrap();
                assert!((exact - rough).abs() < 0.01, "{exact} {rough}");
            }
        }
    }

    #[test]
    fn nothing_nonsense_and_too_much_have_no_exact_p() {
        let ascending: Vec<f64> = (0..132).map(f64::from).collect();
        let (low, high) = ascending.split_at(66);
        assert_eq!(mann_whitney_exact_p(low, high), None);
        assert!(mann_whitney_exact_p(&low[1..], &high[1..]).is_some());
        assert_eq!(mann_whitney_exact_p(&[1.0; 66], &[1.0; 66]), None);
        assert!(mann_whitney_exact_p(&[1.0; 65], &[1.0; 65]).is_some());
        for (first, second) in [(&[][..], &[1.0][..]), (&[1.0], &[]), (&[1.0], &[f64::NAN])] {
            assert_eq!(rank_sum(first, second), None);
            assert_eq!(mann_whitney_exact_p(first, second), None);
            assert_eq!(mann_whitney_p(first, second), None);
            assert_eq!(
                rank_sum(first, second).map(|found| found.asymptotic_p(true)),
                None
            );
            assert_eq!(rank_sum_p(first, second), None);
        }
    }

    #[test]
    fn both_ways_of_counting_agree_where_nothing_is_tied() {
        for (n, m) in [(1, 1), (1, 9), (4, 4), (7, 12), (12, 7), (30, 30), (65, 65)] {
            for most in [0, 1, n * m / 3, n * m / 2] {
                let counts = count_untied(n, m, most).unwrap();
                let by_group = count_tied((0..n + m).map(|_| 1), n, m, 2 * most).unwrap();
                let sum = counts.into_iter().sum::<u128>() as f64;
                assert!((sum / by_group - 1.0).abs() < 1e-13, "{n} {m} {most}");
            }
        }
    }

    #[test]
    fn all_counts_together_are_all_arrangements() {
        for (n, m) in [
            (1, 1),
            (3, 5),
            (20, 20),
            (65, 65),
            (8, 5_000),
            (1, 1_000_000),
        ] {
            let all: u128 = count_untied(n, m, n * m).unwrap().into_iter().sum();
            assert!(
                (all as f64 / arrangements(n, m) - 1.0).abs() < 1e-13,
                "{n} {m}"
            );
        }
    }

    #[test]
    fn what_is_too_much_is_refused_before_it_is_begun() {
        assert_eq!(count_untied(66, 66, 10), None);
        assert_eq!(count_untied(2, 500_001, 10), None);
        assert_eq!(count_untied(usize::MAX, 2, 10), None);
        assert_eq!(count_tied([132].into_iter(), 66, 66, 10), None);
        assert!(arrangements(100_000, 100_000).is_infinite());
    }

    #[test]
    fn the_ways_to_choose_are_counted() {
        assert_eq!(binomial(2, 4), 6.0);
        assert_eq!(binomial(8, 16), 12_870.0);
        assert_eq!(binomial(1, 5_001), 5_001.0);
    }

    #[test]
    fn values_that_are_all_equal_are_no_evidence() {
        assert_eq!(scipy_mann_whitney_p(&[1.0; 5], &[1.0; 3]), Some(1.0));
        assert_eq!(scipy_mann_whitney_p(&[2.0; 50], &[2.0; 50]), Some(1.0));
    }

    #[test]
    fn what_is_no_number_has_no_rank() {
        assert_eq!(scipy_mann_whitney_p(&[1.0, f64::NAN], &[1.0]), None);
        assert_eq!(scipy_mann_whitney_p(&[], &[1.0]), None);
    }

    #[test]
    fn by_scipy_as_well_samples_that_do_not_overlap_are_two_arrangements_among_all() {
        let p = scipy_mann_whitney_p(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]);
        assert_eq!(p, Some(0.1));
    }
}
