//! The Mann–Whitney test (1947), the same as Wilcoxon's rank-sum test (1945): does a value of one
//! sample exceed a value of the other as often as the reverse?
//!
//! The test assumes that all values are independent, within each sample and between the samples.
//! Iterations of one process are not. [`TwoSamples`] merges both samples in ascending order once,
//! for all functions that compare them.

use std::borrow::Cow;
use std::f64::consts::FRAC_1_SQRT_2;

use crate::dist::normal_cdf;
use crate::summary::{all_finite, ascending};

/// If the smaller sample has at most this many values, [`mann_whitney_p`] counts arrangements.
pub const FEW: usize = 8;

/// The Mann–Whitney counts of two samples: of all pairs with one value of each sample, in how many
/// the value of the first or of the second sample is larger.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankSum {
    /// The U of the first sample: pairs whose value of the first sample is larger; ties count half.
    pub u_first: f64,
    /// The U of the second sample: pairs whose value of the second sample is larger; ties count
    /// half. `u_first` and `u_second` add up to the number of all pairs.
    pub u_second: f64,
    /// Σ(t³ − t) over the groups of t equal values in both samples together.
    pub ties: f64,
    /// The number of values in the first sample.
    pub n_first: usize,
    /// The number of values in the second sample.
    pub n_second: usize,
}

/// Compares every value of the first sample with every value of the second, in O(n log n). `None`
/// if a sample is empty or a value is not finite.
pub fn rank_sum(first: &[f64], second: &[f64]) -> Option<RankSum> {
    Some(TwoSamples::new(first, second)?.rank_sum())
}

/// The exact two-sided p-value: the share of all assignments of the values to the samples whose U
/// is at least as far from nm/2 as the observed one.
///
/// Without ties this is the tabulated distribution of U, with ties the permutation distribution of
/// the mean ranks. `None` as for [`rank_sum`], and if the samples are too large to count: without
/// ties beyond 10⁶ pairs or 2¹²⁷ arrangements (65 against 65, 8 against 125,000), with ties beyond
/// 65² pairs.
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
        // Both tails are computed from the smaller sample, so that exchanging the samples changes
        // no bit.
        let (few, many, twice) = (n.min(m), n.max(m), (2.0 * least) as usize);
        count_tied(upwards, few, many, twice)? + count_tied(downwards, few, many, twice)?
    };
    Some((as_extreme / arrangements(n, m)).min(1.0))
}

/// The two-sided p-value by the rule of `scipy.stats.mannwhitneyu`, which Google Benchmark's
/// `compare.py` reports: exact if one sample has at most [`FEW`] values and there are no ties,
/// otherwise by normal approximation with continuity correction. `None` as for [`rank_sum`].
///
/// Beyond 10⁶ pairs it is always the approximation.
pub fn mann_whitney_p(first: &[f64], second: &[f64]) -> Option<f64> {
    Some(TwoSamples::new(first, second)?.mann_whitney_p())
}

/// The two-sided p-value of `scipy.stats.ranksums`: by normal approximation without tie or
/// continuity correction, so it is too large if there are ties. `None` as for [`rank_sum`].
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
    fn least(&self) -> f64 {
        self.u_first.min(self.u_second)
    }

    /// The two-sided p-value by normal approximation with the variance corrected for ties: z = (U −
    /// nm/2 + c)/√(nm/12·(N + 1 − Σ(t³ − t)/(N(N − 1)))) with N = n + m, U the smaller of both, and
    /// c = ½ with the continuity correction. If all values are equal, p = 1.
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

/// The maximum number of pairs for the exact p-value without ties.
const MOST_PAIRS: usize = 1_000_000;

/// The maximum number of arrangements for the exact p-value without ties; every sum of counts then
/// fits in 128 bits.
const MOST_ARRANGEMENTS: f64 = 1.7e38;

/// The maximum number of pairs for the exact p-value with ties; the work grows with the square of
/// the number of pairs.
const MOST_TIED_PAIRS: usize = 65 * 65;

/// The number of ways to choose which n of n + m values belong to the first sample: (n + m)!/(n!
/// m!). Exact below 2⁵³, infinite for the largest samples.
pub(super) fn arrangements(n: usize, m: usize) -> f64 {
    let (few, many) = (n.min(m), n.max(m));
    let mut ways = 1.0;
    for i in 1..=few {
        ways *= (many + i) as f64 / i as f64;
        if ways.is_infinite() {
            break;
        }
        // Every partial product is itself a binomial coefficient.
        if ways < 1e15 {
            ways = ways.round();
        }
    }
    ways
}

/// The number of arrangements of n + m different values with U = 0, 1, …, `most`, which is at most
/// about nm/2. `None` if there are too many to count.
///
/// Their generating function is the Gaussian binomial coefficient ∏(1 − q^{m+i})/(1 − q^i), i = 1 …
/// n (Mann & Whitney 1947); each factor takes one pass. Intermediate values may exceed 128 bits,
/// but the arithmetic is modulo 2¹²⁸, in which 1 − q^i has an inverse, and the result is smaller.
/// Nothing is rounded, so small tails are exact.
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

/// The number of arrangements with 2U ≤ `twice_most`, for groups of equal values with the given
/// sizes, from the end at which U is small. `None` if there are too many to count.
///
/// Goes through the groups in order and keeps the number of ways for each 2U and each number of
/// values assigned to the first sample so far. Only positive numbers are added, so small tails keep
/// their digits.
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
        // From the top, so that a row passes on its value from before this group.
        for dealt in (seen.saturating_sub(m)..=seen.min(n)).rev() {
            let other = seen - dealt;
            // 2U is at most 2·dealt·other so far, and will grow by at least 2·(n − dealt)·other.
            let Some(most) = twice_most.checked_sub(2 * (n - dealt) * other) else {
                continue;
            };
            let reached = most.min(2 * dealt * other) + 1;
            let mut choices = 1.0;
            for more in 1..=size.min(n - dealt) {
                choices *= (size - more + 1) as f64 / more as f64;
                // `more` values of the first sample are above `other` ones of the second, and count
                // half against those of their own group.
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

/// The p-value of `scipy.stats.mannwhitneyu(first, second, alternative="two-sided")`: exact if one
/// sample has at most [`FEW`] values and there are no ties, otherwise by normal approximation with
/// continuity correction.
///
/// Formulas and order of operations are SciPy's, so that nearly every result is equal to the last
/// bit. If counts of arrangements exceed 2⁵³, the results differ by rounding. `None` as for
/// [`rank_sum`], and if SciPy returns NaN because it rounds the variance of very many equal values
/// to less than zero.
///
/// [`mann_whitney_p`] is the same test in this crate's own arithmetic.
pub fn scipy_mann_whitney_p(first: &[f64], second: &[f64]) -> Option<f64> {
    let found = rank_sum(first, second)?;
    let exact = found.ties == 0.0 && found.n_first.min(found.n_second) <= FEW;
    let p = exact
        .then(|| scipy_exact_p(&found))
        .flatten()
        .unwrap_or_else(|| scipy_asymptotic_p(&found));
    (!p.is_nan()).then(|| p.clamp(0.0, 1.0))
}

/// Twice the probability that U is at most the smaller of the two observed U. As in SciPy, each
/// term is divided before it is added. `None` if there is too much to count.
fn scipy_exact_p(found: &RankSum) -> Option<f64> {
    let (n, m) = (found.n_first, found.n_second);
    let least = found.u_first.min(found.u_second) as usize;
    let all = binomial(n.min(m), n + m);
    let counts = count_untied(n, m, least)?;
    let below: f64 = counts.iter().map(|&ways| ways as f64 / all).sum();
    Some(2.0 * below)
}

/// The binomial coefficient n over k for a small k; both products are computed before the division.
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
    // If all values are equal, this is −∞, and p is 1.
    let z = (most - n * m / 2.0 - 0.5) / spread;
    2.0 * cephes_normal_cdf(-z)
}

/// The largest number of values in a sample: the number of pairs of two such samples fits in 63
/// bits.
const MOST_VALUES: usize = 1 << 31;

/// Two independent samples, merged in ascending order.
#[derive(Debug, Clone)]
pub struct TwoSamples {
    /// Groups of equal values, in ascending order of the values.
    pub(crate) groups: Vec<Group>,
    /// Values in the first sample, at least 1.
    pub(crate) n: usize,
    /// Values in the second sample, at least 1.
    pub(crate) m: usize,
}

/// A group of equal values, with the number of them in each sample.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Group {
    pub(crate) value: f64,
    pub(crate) first: u32,
    pub(crate) second: u32,
}

impl TwoSamples {
    /// Merges two samples in O(n log n), or in O(n) if both are in ascending order. `None` if one
    /// is empty, a value is not finite, or one has more than 2³¹ values.
    pub fn new(first: &[f64], second: &[f64]) -> Option<Self> {
        let (n, m) = (first.len(), second.len());
        let countable = n.min(m) > 0 && n.max(m) <= MOST_VALUES;
        if !countable || !all_finite(first) || !all_finite(second) {
            return None;
        }
        let (x, y): (Cow<[f64]>, Cow<[f64]>) = (in_order(first), in_order(second));
        let at = |sample: &[f64], place: usize| sample.get(place).copied().unwrap_or(f64::INFINITY);
        // Allocated for the worst case, because with a growing vector the loop would keep its
        // counters in memory.
        let mut groups = vec![Group::default(); n + m];
        let (mut i, mut j, mut group) = (0, 0, 0);
        groups[0].value = at(&x, 0).min(at(&y, 0));
        let mut value = groups[0].value;
        while i < n || j < m {
            let (a, b) = (at(&x, i), at(&y, j));
            let next = if a < b { a } else { b };
            if next != value {
                value = next;
                group += 1;
                groups[group].value = value;
            }
            // The comparison is computed without a branch, because the branch could not be
            // predicted.
            let (of_first, of_second) = (usize::from(a <= b), usize::from(b <= a));
            groups[group].first += of_first as u32;
            groups[group].second += of_second as u32;
            i += of_first;
            j += of_second;
        }
        groups.truncate(group + 1);
        Some(Self { groups, n, m })
    }

    /// The median of both samples together.
    pub fn median(&self) -> f64 {
        let half = (self.n + self.m) / 2;
        let mut seen = 0;
        let mut lower = f64::NAN;
        for group in &self.groups {
            seen += group.first as usize + group.second as usize;
            // An odd number of values has its middle one in this group; of an even number, one or
            // both are in it.
            if seen > half {
                let both = (self.n + self.m) % 2 == 1 || lower.is_nan();
                return if both {
                    group.value
                } else {
                    lower.midpoint(group.value)
                };
            }
            if seen == half {
                lower = group.value;
            }
        }
        lower
    }
}

/// The values in ascending order, borrowed if they already are.
fn in_order(values: &[f64]) -> Cow<'_, [f64]> {
    if values.is_sorted_by(|a, b| a.total_cmp(b).is_le()) {
        Cow::Borrowed(values)
    } else {
        Cow::Owned(ascending(values))
    }
}

// The normal distribution as in the Cephes library (Moshier 1989), which SciPy uses: the same
// rational approximations of the error function in the same order of operations, so that results
// are equal to the last bit.

/// For larger x, e^−x underflows.
const LARGEST_EXPONENT: f64 = 709.782712893384;

// Highest power first. The leading coefficient of a denominator is 1 and is omitted.
const TAIL_NUMERATOR: [f64; 9] = [
    2.461969814735305e-10,
    0.564_189_564_831_068_9,
    7.463_210_564_422_699,
    48.637_197_098_568_14,
    196.520_832_956_077_1,
    526.445_194_995_477_3,
    934.528_527_171_957_6,
    1_027.551_886_895_157_2,
    557.535_335_369_399_4,
];
const TAIL_DENOMINATOR: [f64; 8] = [
    13.228_195_115_474_499,
    86.707_214_088_598_97,
    354.937_778_887_819_9,
    975.708_501_743_205_5,
    1_823.909_166_879_097_3,
    2_246.337_608_187_109_7,
    1_656.663_091_941_613_4,
    557.535_340_817_727_7,
];
const FAR_NUMERATOR: [f64; 6] = [
    0.564_189_583_547_755_1,
    1.275_366_707_599_781,
    5.019_050_422_511_805,
    6.160_210_979_930_536,
    7.409_742_699_504_489_5,
    2.978_866_653_721_002_2,
];
const FAR_DENOMINATOR: [f64; 6] = [
    2.260_528_632_201_172_6,
    9.396_035_249_380_015,
    12.048_953_980_809_666,
    17.081_445_074_756_59,
    9.608_968_090_632_859,
    3.369_076_451_000_815,
];
const CENTRE_NUMERATOR: [f64; 5] = [
    9.604_973_739_870_516,
    90.026_019_720_384_27,
    2_232.005_345_946_843,
    7_003.325_141_128_051,
    55_592.301_301_039_49,
];
const CENTRE_DENOMINATOR: [f64; 5] = [
    33.561_714_164_750_31,
    521.357_949_780_152_7,
    4_594.323_829_709_801,
    22_629.000_061_389_095,
    49_267.394_260_863_59,
];

/// Φ(z), to the last bit as in `scipy.special.ndtr`.
fn cephes_normal_cdf(z: f64) -> f64 {
    let x = z * FRAC_1_SQRT_2;
    if x.abs() < 1.0 {
        return 0.5 + 0.5 * error_function(x);
    }
    let tail = 0.5 * upper_tail(x.abs());
    if x > 0.0 { 1.0 - tail } else { tail }
}

/// erf x for |x| ≤ 1.
fn error_function(x: f64) -> f64 {
    let square = x * x;
    x * polynomial(square, 0.0, &CENTRE_NUMERATOR) / polynomial(square, 1.0, &CENTRE_DENOMINATOR)
}

/// erfc x = 1 − erf x for x ≥ 1.
fn upper_tail(x: f64) -> f64 {
    let exponent = -x * x;
    if exponent < -LARGEST_EXPONENT {
        return 0.0;
    }
    let (above, below) = if x < 8.0 {
        (
            polynomial(x, 0.0, &TAIL_NUMERATOR),
            polynomial(x, 1.0, &TAIL_DENOMINATOR),
        )
    } else {
        (
            polynomial(x, 0.0, &FAR_NUMERATOR),
            polynomial(x, 1.0, &FAR_DENOMINATOR),
        )
    };
    exponent.exp() * above / below
}

/// Evaluates a polynomial by Horner's rule. The coefficient `leading` has the highest power.
fn polynomial(x: f64, leading: f64, coefficients: &[f64]) -> f64 {
    coefficients.iter().fold(leading, |sum, c| sum * x + c)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::SeedableRng;

    use super::*;
    use crate::dist::normal_cdf;
    use crate::rng::normal;
    use crate::summary::median;

    fn draw(n: usize, step: f64, rng: &mut Xoshiro256PlusPlus) -> Vec<f64> {
        let value = |_| normal(rng);
        (0..n)
            .map(value)
            .map(|z| if step > 0.0 { (z / step).round() } else { z })
            .collect()
    }

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
    fn refuses_too_many_arrangements_before_counting() {
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
    fn the_scipy_test_rejects_nan_and_empty_samples() {
        assert_eq!(scipy_mann_whitney_p(&[1.0, f64::NAN], &[1.0]), None);
        assert_eq!(scipy_mann_whitney_p(&[], &[1.0]), None);
    }

    #[test]
    fn by_scipy_as_well_samples_that_do_not_overlap_are_two_arrangements_among_all() {
        let p = scipy_mann_whitney_p(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]);
        assert_eq!(p, Some(0.1));
    }

    proptest! {
        #[test]
        fn every_value_is_in_one_group_and_groups_ascend(
            first in prop::collection::vec(-9i8..9, 1..40),
            second in prop::collection::vec(-9i8..9, 1..40),
        ) {
            let [first, second] = [first, second]
                .map(|values| values.into_iter().map(f64::from).collect::<Vec<f64>>());
            let both = TwoSamples::new(&first, &second).unwrap();
            prop_assert!(both.groups.is_sorted_by(|a, b| a.value < b.value));
            for group in &both.groups {
                let count = |of: &[f64]| of.iter().filter(|value| **value == group.value).count();
                let counted = [group.first, group.second].map(|count| count as usize);
                prop_assert_eq!([count(&first), count(&second)], counted);
            }
            let all: u32 = both.groups.iter().map(|g| g.first + g.second).sum();
            prop_assert_eq!(all as usize, first.len() + second.len());
        }

        #[test]
        fn the_median_is_that_of_all_values(
            first in prop::collection::vec(-9e9..9e9, 1..40),
            second in prop::collection::vec(-9e9..9e9, 1..40),
            grid in prop::bool::ANY,
        ) {
            let step = if grid { 3e9 } else { 1.0 };
            let [first, second]: [Vec<f64>; 2] = [first, second]
                .map(|values: Vec<f64>| values.iter().map(|x| (x / step).round() * step).collect());
            let all = [first.as_slice(), &second].concat();
            let both = TwoSamples::new(&first, &second).unwrap();
            prop_assert_eq!(Some(both.median()), median(&all));
        }
    }

    #[test]
    fn cephes_and_own_normal_cdf_agree() {
        for step in -3_700..=3_700 {
            let z = f64::from(step) / 100.0;
            let (got, want) = (cephes_normal_cdf(z), normal_cdf(z));
            assert!((got - want).abs() <= 1e-12 * want, "{z}: {got} {want}");
        }
    }

    #[test]
    fn the_cephes_normal_cdf_is_exact_at_0_and_infinity() {
        assert_eq!(cephes_normal_cdf(0.0), 0.5);
        assert_eq!(cephes_normal_cdf(f64::INFINITY), 1.0);
        assert_eq!(cephes_normal_cdf(f64::NEG_INFINITY), 0.0);
        assert_eq!(cephes_normal_cdf(-40.0), 0.0);
    }
}
