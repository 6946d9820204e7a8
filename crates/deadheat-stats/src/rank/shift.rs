//! The shift between two samples and its confidence interval, from order statistics of all
//! differences.

use super::mann_whitney::{arrangements, count_untied};
use super::staircase::{MOST_COLUMNS, Staircase};
use crate::dist::normal_quantile;
use crate::summary::{all_finite, ascending, finite};

/// The normal approximation is used if the smaller sample has at least this many values. With
/// fewer, the interval covers the true shift too rarely at loose levels, however large the other
/// sample.
const LEAST_APPROXIMATED: usize = 9;

/// The two-sample Hodges–Lehmann estimate (1963): the median of all differences second_j − first_i.
///
/// Exact, in O((n + m) log(n + m)). `None` if a sample is empty, a value is not finite, or the
/// result overflows. Exchanging the samples negates the result to the last bit.
pub fn hodges_lehmann_shift(first: &[f64], second: &[f64]) -> Option<f64> {
    let sorted = Sorted::of(first, second)?;
    finite(sorted.differences().median(&mut Vec::new()))
}

/// The confidence interval for the shift that inverts the Mann–Whitney test (Moses; Hodges &
/// Lehmann 1963): from the c-th smallest to the c-th largest of the differences second_j − first_i,
/// with the largest c for which 2·P(U ≤ c − 1) ≤ `two_sided_level`.
///
/// It covers the true shift with a probability of at least 1 − `two_sided_level` if the two
/// distributions are equal except for the shift, whatever their shape. The distribution of U is
/// exact if arrangements can be counted (see
/// [`mann_whitney_exact_p`](super::mann_whitney_exact_p)), otherwise it is the normal
/// approximation, with the fourth cumulant where that makes the interval wider. It is always the
/// distribution without ties, which gives the wider interval: with values on a grid the coverage is
/// higher than promised, because ties at the bound count as inside.
///
/// `None` if a sample is empty, a value or a bound is not finite, the level is not in (0, 1), the
/// samples are too small for the level (3 against 3 reach at most 90%), or one sample has fewer
/// than nine values and the arrangements are too many to count.
pub fn shift_interval(first: &[f64], second: &[f64], two_sided_level: f64) -> Option<(f64, f64)> {
    let order = shift_order(first.len(), second.len(), two_sided_level)?;
    let sorted = Sorted::of(first, second)?;
    let [low, high] = sorted
        .differences()
        .nths(sorted.ranks(order), &mut Vec::new());
    finite_ends(low, high)
}

/// [`hodges_lehmann_shift`] and its [`shift_interval`], computed together because most of the work
/// is shared.
pub fn shift_with_interval(
    first: &[f64],
    second: &[f64],
    two_sided_level: f64,
) -> Option<(f64, Option<(f64, f64)>)> {
    let sorted = Sorted::of(first, second)?;
    let (differences, mut scratch) = (sorted.differences(), Vec::new());
    let Some(order) = shift_order(first.len(), second.len(), two_sided_level) else {
        return Some((finite(differences.median(&mut scratch))?, None));
    };
    let [low, high] = sorted.ranks(order);
    let ranks = [low, differences.middle(), high];
    let [low, lower, high] = differences.nths(ranks, &mut scratch);
    let shift = finite(differences.median_from(lower))?;
    Some((shift, finite_ends(low, high)))
}

fn finite_ends(low: f64, high: f64) -> Option<(f64, f64)> {
    finite(low).zip(finite(high))
}

/// The order c of [`shift_interval`]: the largest c ≥ 1 with 2·P(U ≤ c − 1) ≤ level, at most the
/// middle of all nm pairs.
fn shift_order(n: usize, m: usize, level: f64) -> Option<usize> {
    if !(level > 0.0 && level < 1.0) {
        return None;
    }
    let pairs = n.checked_mul(m)?;
    let cut = match count_untied(n, m, pairs / 2) {
        Some(counts) => {
            let allowed = 0.5 * level * arrangements(n, m);
            let sums = counts.iter().scan(0_u128, |sum, count| {
                *sum += count;
                Some(*sum)
            });
            sums.take_while(|&sum| sum as f64 <= allowed).count()
        }
        None if n.min(m) < LEAST_APPROXIMATED => return None,
        None => approximate_cut(n as f64, m as f64, level),
    };
    let cut = cut.min(pairs.div_ceil(2));
    (cut >= 1).then_some(cut)
}

/// nm/2 − z·√(nm(n + m + 1)/12), rounded down. z is the normal quantile, or the quantile of Cornish
/// & Fisher from the fourth cumulant of U if that makes the interval wider.
fn approximate_cut(n: f64, m: f64, level: f64) -> usize {
    let z = -normal_quantile(0.5 * level);
    let sd = (n * m * (n + m + 1.0) / 12.0).sqrt();
    let widened = z.max(z + excess_kurtosis(n, m) / 24.0 * (z * z * z - 3.0 * z));
    // 0.999 allows for the omitted cumulants. Negative values become 0.
    (0.999 * (0.5 * n * m - widened * sd)) as usize
}

/// The excess kurtosis of U without ties (Fix & Hodges 1955).
fn excess_kurtosis(n: f64, m: f64) -> f64 {
    -1.2 * (n * n + m * m + n * m + n + m) / (n * m * (n + m + 1.0))
}

/// Both samples sorted, the first in descending order, so that the differences ascend along both.
struct Sorted {
    first: Vec<f64>,
    second: Vec<f64>,
}

impl Sorted {
    fn of(first: &[f64], second: &[f64]) -> Option<Self> {
        let countable = !first.is_empty() && (1..=MOST_COLUMNS).contains(&second.len());
        if !countable || !all_finite(first) || !all_finite(second) {
            return None;
        }
        let (mut first, second) = (ascending(first), ascending(second));
        first.reverse();
        Some(Self { first, second })
    }

    /// The ranks of the c-th smallest and the c-th largest difference, counted from 0.
    fn ranks(&self, order: usize) -> [usize; 2] {
        [order - 1, self.first.len() * self.second.len() - order]
    }

    fn differences(&self) -> Staircase<'_, impl Fn(f64, f64) -> f64> {
        Staircase {
            rows: &self.first,
            columns: &self.second,
            triangular: false,
            entry: |a, b| b - a,
        }
    }
}

#[cfg(test)]
mod tests {
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::SeedableRng;

    use super::*;
    use crate::rng::normal;

    fn draw(n: usize, rng: &mut Xoshiro256PlusPlus) -> Vec<f64> {
        (0..n).map(|_| normal(rng)).collect()
    }

    fn differences(first: &[f64], second: &[f64]) -> Vec<f64> {
        let pairs = first.iter().flat_map(|a| second.iter().map(move |b| b - a));
        let mut differences: Vec<f64> = pairs.collect();
        differences.sort_by(f64::total_cmp);
        differences
    }

    #[test]
    fn the_shift_is_the_median_of_all_differences_to_the_last_bit() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(21);
        for (n, m) in [(1, 1), (1, 2), (5, 4), (50, 60), (300, 17), (200, 201)] {
            for step in [1e-9, 0.5] {
                let round = |x: f64| (x / step).round() * step;
                let first: Vec<f64> = draw(n, &mut rng).into_iter().map(round).collect();
                let second: Vec<f64> = draw(m, &mut rng).into_iter().map(round).collect();
                let want = crate::summary::median(&differences(&first, &second));
                assert_eq!(hodges_lehmann_shift(&first, &second), want, "{n} {m}");
                let back = hodges_lehmann_shift(&second, &first);
                assert_eq!(back, want.map(|shift| -shift), "{n} {m}");
            }
        }
    }

    /// The two-sided critical values of U in printed tables. At 5%: 0 for 4 against 4 values, 13
    /// for 8 against 8, 23 for 10 against 10. At 1%: 16 for 10 against 10.
    #[test]
    fn the_bounds_are_the_order_statistics_of_the_printed_tables() {
        for (n, m, level, critical) in [
            (4, 4, 0.05, 0),
            (8, 8, 0.05, 13),
            (10, 10, 0.05, 23),
            (10, 10, 0.01, 16),
            (20, 20, 0.05, 127),
        ] {
            assert_eq!(shift_order(n, m, level), Some(critical + 1), "{n} {m}");
        }
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(22);
        let (first, second) = (draw(10, &mut rng), draw(10, &mut rng));
        let all = differences(&first, &second);
        let expected = Some((all[23], all[76]));
        assert_eq!(shift_interval(&first, &second, 0.05), expected);
    }

    #[test]
    fn three_against_three_cannot_promise_95_percent() {
        let (first, second) = ([1.0, 2.0, 3.0], [4.0, 6.0, 8.0]);
        assert_eq!(shift_interval(&first, &second, 0.05), None);
        assert_eq!(shift_interval(&first, &second, 0.099), None);
        assert_eq!(shift_interval(&first, &second, 0.1), Some((1.0, 7.0)));
    }

    #[test]
    fn the_approximation_begins_where_counting_ends_and_never_promises_more() {
        for (n, m) in [(65, 65), (20, 400), (9, 5_000)] {
            for level in [0.5, 0.2, 0.1, 0.05, 0.01, 1e-4] {
                let exact = shift_order(n, m, level).unwrap();
                let approximate = approximate_cut(n as f64, m as f64, level);
                let what = format!("{n} {m} {level}: {approximate} {exact}");
                assert!(approximate <= exact, "{what}");
                // In the far tails, U is much less likely than the normal approximation says.
                let share = if level < 0.01 { 0.8 } else { 0.95 };
                assert!(approximate as f64 >= share * exact as f64, "{what}");
            }
        }
    }

    #[test]
    fn nothing_nonsense_and_too_much_have_neither_estimate_nor_interval() {
        for (first, second) in [(&[][..], &[1.0][..]), (&[1.0], &[]), (&[1.0], &[f64::NAN])] {
            assert_eq!(hodges_lehmann_shift(first, second), None);
            assert_eq!(shift_interval(first, second, 0.5), None);
        }
        let ten = [1.0; 10];
        for level in [0.0, -1.0, 1.0, 2.0, f64::NAN] {
            assert_eq!(shift_interval(&ten, &ten, level), None);
        }
        assert_eq!(hodges_lehmann_shift(&[-f64::MAX], &[f64::MAX]), None);
        assert_eq!(shift_interval(&ten, &ten, 0.05), Some((0.0, 0.0)));
    }

    #[test]
    fn the_approximation_lies_close_below_what_counting_gives() {
        for (n, m) in [(9, 50_000), (12, 4_000), (60, 60)] {
            for level in [0.6, 0.4, 0.2, 0.1, 0.05, 0.01, 0.001] {
                let counted = shift_order(n, m, level).unwrap();
                let approximate = approximate_cut(n as f64, m as f64, level);
                // At loose levels the fourth cumulant makes the approximation exact; at strict
                // levels it is omitted, which widens the interval.
                let closest = if level > 0.09 { 0.9985 } else { 0.92 };
                let share = approximate as f64 / counted as f64;
                assert!((closest..=1.0).contains(&share), "{n} {m} {level}: {share}");
            }
        }
    }

    #[test]
    fn the_kurtosis_of_u_is_that_of_its_counts() {
        for (n, m) in [(2, 3), (5, 5), (4, 9)] {
            let counts = count_untied(n, m, n * m).unwrap();
            let all: f64 = counts.iter().map(|&count| count as f64).sum();
            let centre = 0.5 * (n * m) as f64;
            let moment = |power| {
                let parts = counts.iter().enumerate();
                let sum: f64 = parts
                    .map(|(u, &count)| count as f64 * (u as f64 - centre).powi(power))
                    .sum();
                sum / all
            };
            let counted = moment(4) / moment(2).powi(2) - 3.0;
            let stated = excess_kurtosis(n as f64, m as f64);
            assert!(
                (counted - stated).abs() < 1e-12,
                "{n} {m}: {counted} {stated}"
            );
        }
    }
}
