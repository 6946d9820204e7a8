//! The shape of samples: the distance between two distributions, and the skewness and tail weight
//! of one sample.

use std::f64::consts::PI;

use crate::rank::TwoSamples;
use crate::summary::{Centred, finite, max, mean, min};

/// The Kolmogorov–Smirnov p-value is exact if its computation takes at most this many steps: always
/// for 10,000 values against 10,000, and up to about 100,000 against 100,000 if the distance is
/// small.
const MOST_PLACES: u128 = 100_000_000;

/// The two-sided two-sample Kolmogorov–Smirnov test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KolmogorovSmirnov {
    /// The largest distance between the two empirical distribution functions, in [0, 1].
    pub statistic: f64,
    /// The probability of a distance at least as large if both samples come from the same
    /// distribution.
    pub p: f64,
}

/// max|F₁ − F₂| over the two empirical distribution functions, and its p-value (Kolmogorov 1933,
/// Smirnov 1939).
///
/// p is exact: the share of the C(n + m, n) orders of the two samples with a distance at least as
/// large, by Hodges' (1958) recursion, as `scipy.stats.ks_2samp`. That takes min(n·m,
/// 2·statistic·n·m + n + m) steps, at most 0.1 s for 5,000 against 5,000. If it would take more
/// than 10⁸ steps, p is Kolmogorov's limit 2Σ(−1)ᵏ⁻¹exp(−2k²λ²) at λ = statistic·√(nm/(n + m)),
/// whose relative error is then at most a hundredth unless p is tiny. With ties p is an upper
/// bound.
///
/// Values in any one unit; `None` for an empty side or a value that is not finite.
pub fn kolmogorov_smirnov(first: &[f64], second: &[f64]) -> Option<KolmogorovSmirnov> {
    Some(TwoSamples::new(first, second)?.kolmogorov_smirnov())
}

/// ∫|F₁ − F₂| over the two empirical distribution functions: the average distance that the values
/// of one sample must be moved to turn it into the other (Vaserstein 1969), as
/// `scipy.stats.wasserstein_distance`. In the unit of the values.
///
/// `None` for an empty side, a value that is not finite, or a distance too large to represent.
/// Costs O(n ln n).
pub fn wasserstein_1(first: &[f64], second: &[f64]) -> Option<f64> {
    TwoSamples::new(first, second)?.wasserstein_1()
}

impl TwoSamples {
    /// See [`kolmogorov_smirnov`].
    pub fn kolmogorov_smirnov(&self) -> KolmogorovSmirnov {
        let (n, m) = (self.n as i64, self.m as i64);
        let pairs = n * m;
        let distance = self.gaps().map(|(_, gap)| gap).max().unwrap_or(0);
        let statistic = distance as f64 / pairs as f64;
        let places = (pairs as u128).min(2 * distance as u128 + (n + m) as u128);
        let p = if places <= MOST_PLACES {
            share_of_orders_reaching(distance, n, m)
        } else {
            let (n, m) = (n as f64, m as f64);
            kolmogorov_tail(statistic * (n / (n + m) * m).sqrt())
        };
        KolmogorovSmirnov { statistic, p }
    }

    /// See [`wasserstein_1`]; `None` for a distance too large to represent.
    pub fn wasserstein_1(&self) -> Option<f64> {
        let pairs = self.n as f64 * self.m as f64;
        let parts = self.gaps().map(|(width, gap)| width * (gap as f64 / pairs));
        finite(parts.sum())
    }

    /// For each value and the next larger one: the distance between them, and n·m·|F₁ − F₂| there,
    /// which is a whole number.
    fn gaps(&self) -> impl Iterator<Item = (f64, i64)> {
        let (n, m) = (self.n as i64, self.m as i64);
        let mut ahead = 0;
        self.groups.windows(2).map(move |pair| {
            ahead += i64::from(pair[0].first) * m - i64::from(pair[0].second) * n;
            (pair[1].value - pair[0].value, ahead.abs())
        })
    }
}

/// The share of the orders of `n` values of the first sample and `m` of the second in which
/// |i·m − j·n| ≥ `distance` at some point, after i values of the first and j of the second
/// (Hodges 1958).
///
/// Let q(i, j) be this share among the orders of i values of the first sample and j of the second:
/// 1 if |i·m − j·n| ≥ distance, else (i·q(i − 1, j) + j·q(i, j − 1))/(i + j). Nothing is ever
/// subtracted, so the smallest shares keep their digits. The computation goes by diagonals i + j =
/// k, whose entries do not depend on each other. If n = m, then q(i, j) = q(j, i) to the last bit,
/// and half of each diagonal is enough. q(i, j) is 0, and is not computed, if no order that leads
/// to (i, j) can have reached the distance before; for samples far apart this holds for half of all
/// entries.
fn share_of_orders_reaching(distance: i64, n: i64, m: i64) -> f64 {
    if distance == 0 {
        return 1.0;
    }
    // Entry i + 1 is q(i, k − i). The entry before i = 0 is multiplied by 0 and only has to exist.
    // Entries next to the band of small distances are 1.
    let mut before = vec![1.0; n as usize + 3];
    let mut current = before.clone();
    // Converted to floats once, because few processors convert several 64-bit integers at a time,
    // and the conversion would dominate the cost.
    let numbers: Vec<f64> = (0..n + 3).map(|i| i as f64).collect();
    // At the start, the distance is 0.
    before[1] = 0.0;
    let symmetric = n == m;
    // |i·m − (k − i)·n| < distance is k·n − distance < i·(n + m) < k·n + distance.
    let mut outside = Multiples::new(-distance, n, n + m);
    let mut inside = Multiples::new(distance - 1, n, n + m);
    // The first entry known to be 0, and the first entry after those.
    let (mut zero, mut no_zero) = (0, 1);
    for k in 1..=n + m {
        if symmetric && k % 2 == 0 {
            // In the middle, both neighbours of an entry are the same entry.
            let middle = (k / 2) as usize;
            before[middle + 1] = before[middle];
        }
        let last = if symmetric { k / 2 } else { k.min(n) };
        outside.step();
        inside.step();
        let low = (outside.quotient + 1).max(0).max(k - m);
        let behind = (inside.quotient.min(last) + 1).max(low);
        // An entry is 0 if its neighbours are: at an end the only neighbour, in the middle its
        // mirror image.
        zero = if zero == 0 { low } else { low.max(zero + 1) };
        if symmetric {
            no_zero = last + 1;
        } else if no_zero == k {
            no_zero = k + 1;
        }
        no_zero = no_zero.min(behind);
        let mut fill = |from: i64, to: i64| {
            let (from, to) = (from as usize, to as usize);
            let diagonal = &mut current[from + 1..=to];
            next_shares(k as f64, diagonal, &before[from..=to], &numbers[from..to]);
        };
        if zero < no_zero {
            fill(low, zero);
            fill(no_zero, behind);
            current[zero as usize + 1..=no_zero as usize].fill(0.0);
        } else {
            fill(low, behind);
        }
        current[low as usize] = 1.0;
        current[behind as usize + 1] = 1.0;
        std::mem::swap(&mut before, &mut current);
    }
    before[n as usize + 1].min(1.0)
}

/// Computes entries of the `k`-th diagonal from the previous diagonal. `firsts` contains, for each
/// entry, its number of values of the first sample (i).
fn next_shares(k: f64, diagonal: &mut [f64], before: &[f64], firsts: &[f64]) {
    let len = diagonal.len();
    let (before, firsts) = (&before[..=len], &firsts[..len]);
    let per_k = 1.0 / k;
    for place in 0..len {
        let (fewer_firsts, fewer_seconds) = (before[place], before[place + 1]);
        let i = firsts[place];
        diagonal[place] = (i * fewer_firsts + (k - i) * fewer_seconds) * per_k;
    }
}

/// The numbers (start + k·step)/divisor, rounded down, for k = 0, 1, …, computed without divisions:
/// a division takes as long as a dozen shares.
struct Multiples {
    quotient: i64,
    rest: i64,
    step: i64,
    divisor: i64,
}

impl Multiples {
    /// `step` must be between 0 and `divisor`.
    fn new(start: i64, step: i64, divisor: i64) -> Self {
        Self {
            quotient: start.div_euclid(divisor),
            rest: start.rem_euclid(divisor),
            step,
            divisor,
        }
    }

    fn step(&mut self) {
        self.rest += self.step;
        if self.rest >= self.divisor {
            self.rest -= self.divisor;
            self.quotient += 1;
        }
    }
}

/// P(K ≥ λ) of Kolmogorov's limiting distribution: the alternating series for large λ, and for
/// small λ, where it does not converge, the equivalent theta-function series.
fn kolmogorov_tail(lambda: f64) -> f64 {
    let square = lambda * lambda;
    if lambda < 1.0 {
        if square == 0.0 {
            return 1.0;
        }
        let terms = [1.0, 3.0, 5.0, 7.0].map(|odd| (-odd * odd * PI * PI / (8.0 * square)).exp());
        return 1.0 - (2.0 * PI).sqrt() / lambda * terms.iter().sum::<f64>();
    }
    let term = |k: f64| (-2.0 * k * k * square).exp();
    2.0 * (term(1.0) - term(2.0) + term(3.0) - term(4.0))
}

/// Skewness g₁ = m₃/m₂^1.5 with moments over n (the default of `scipy.stats.skew`): 0 for a
/// symmetric sample, positive if the long tail is on the right. Dimensionless.
///
/// `None` for an empty sample, one without spread, or a value that is not finite.
pub fn skewness(values: &[f64]) -> Option<f64> {
    Centred::new(values)?.skewness()
}

/// Excess kurtosis g₂ = m₄/m₂² − 3 with moments over n (the default of `scipy.stats.kurtosis`): 0
/// for a normal distribution, positive if the tails are heavier. Dimensionless.
///
/// `None` for an empty sample, one without spread, or a value that is not finite.
pub fn excess_kurtosis(values: &[f64]) -> Option<f64> {
    Centred::new(values)?.excess_kurtosis()
}

/// Distances of the smallest and the largest value from the mean, in standard deviations (over n −
/// 1): ((mean − min)/sd, (max − mean)/sd).
///
/// For a thousand normal values both are near 3.2. Times of a program end soon below the mean and
/// often reach five and more above it, like log-normal ones (Lemire 2023). `None` for fewer than
/// two values, a sample without spread, or a value that is not finite.
pub fn sigma_distances(values: &[f64]) -> Option<(f64, f64)> {
    Centred::new(values)?.sigma_distances()
}

/// Moments, computed from the powers of deviations in units of the largest deviation.
impl Centred {
    /// See [`skewness`].
    pub fn skewness(&self) -> Option<f64> {
        let [second, third, _] = self.powers.map(|sum| sum / self.count());
        self.has_spread()
            .then(|| finite(third / second.powf(1.5)))?
    }

    /// See [`excess_kurtosis`](fn@excess_kurtosis).
    pub fn excess_kurtosis(&self) -> Option<f64> {
        let [second, _, fourth] = self.powers.map(|sum| sum / self.count());
        self.has_spread()
            .then(|| finite(fourth / (second * second) - 3.0))?
    }

    /// See [`sigma_distances`].
    pub fn sigma_distances(&self) -> Option<(f64, f64)> {
        if !self.has_spread() {
            return None;
        }
        // The mean and the unit cancel, so the deviations are enough.
        let sd = (self.squares() / (self.count() - 1.0)).sqrt();
        let (low, high) = (min(&self.deviations)?, max(&self.deviations)?);
        finite(-low / sd).zip(finite(high / sd))
    }
}

/// (mean − min)/mean: by which share of the mean time the fastest run was faster, an error metric
/// that assumes no distribution (Lemire 2023). Dimensionless; 0 if all times are equal.
///
/// `None` for an empty sample, a value that is not finite, or a mean that is not positive.
pub fn mean_over_min(values: &[f64]) -> Option<f64> {
    let (mean, min) = (mean(values)?, min(values)?);
    if mean <= 0.0 {
        return None;
    }
    // The rounded mean of equal values may be slightly below them.
    finite((1.0 - min / mean).max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The recursion as defined, over the whole square.
    fn by_definition(distance: i64, n: i64, m: i64) -> f64 {
        let mut shares = vec![vec![0.0; m as usize + 1]; n as usize + 1];
        for i in 0..=n {
            for j in 0..=m {
                let share = |i: i64, j: i64| {
                    if i < 0 || j < 0 {
                        1.0
                    } else {
                        shares[i as usize][j as usize]
                    }
                };
                let found = if (i * m - j * n).abs() >= distance {
                    1.0
                } else if i + j == 0 {
                    0.0
                } else {
                    let sum = i as f64 * share(i - 1, j) + j as f64 * share(i, j - 1);
                    sum * (1.0 / (i + j) as f64)
                };
                shares[i as usize][j as usize] = found;
            }
        }
        shares[n as usize][m as usize].min(1.0)
    }

    #[test]
    fn half_a_diagonal_of_equal_samples_says_what_the_whole_one_does() {
        for n in 1..=14_i64 {
            for m in [n, n + 1, 2 * n + 1, 1] {
                for distance in 1..=n * m {
                    assert_eq!(
                        share_of_orders_reaching(distance, n, m).to_bits(),
                        by_definition(distance, n, m).to_bits(),
                        "{distance} of {n} and {m}"
                    );
                }
            }
        }
    }

    #[test]
    fn samples_that_do_not_overlap_are_as_far_apart_as_can_be() {
        let found = kolmogorov_smirnov(&[1.0, 2.0, 3.0], &[4.0, 5.0]).unwrap();
        assert_eq!(found.statistic, 1.0);
        // Two of the ten orders.
        assert!((found.p - 0.2).abs() < 1e-15);
    }

    #[test]
    fn the_share_of_orders_is_counted_right() {
        let count = |distance: i64, n: u32, m: u32| {
            let reaches = |order: u32| {
                let (mut i, mut j) = (0_i64, 0_i64);
                (0..n + m).any(|place| {
                    if order >> place & 1 == 1 {
                        i += 1
                    } else {
                        j += 1
                    }
                    (i * i64::from(m) - j * i64::from(n)).abs() >= distance
                })
            };
            let orders = (0_u32..1 << (n + m)).filter(|order| order.count_ones() == n);
            let (all, reaching) = orders.fold((0, 0), |(all, reaching), order| {
                (all + 1, reaching + u32::from(reaches(order)))
            });
            f64::from(reaching) / f64::from(all)
        };
        for (n, m) in [
            (1, 1),
            (1, 5),
            (5, 1),
            (2, 3),
            (4, 4),
            (6, 4),
            (5, 7),
            (8, 3),
        ] {
            for distance in 0..=n * m {
                let want = count(i64::from(distance), n, m);
                let got = share_of_orders_reaching(distance.into(), n.into(), m.into());
                assert!(
                    (got - want).abs() <= 1e-14 * want,
                    "{n} {m} {distance}: {got} {want}"
                );
            }
        }
    }

    #[test]
    fn equal_sizes_agree_with_the_reflection_principle() {
        // p = 2·Σ(−1)ᵏ⁻¹·C(2n, n − k·h)/C(2n, n) for a distance of h/n (Gnedenko & Korolyuk 1951).
        let n = 5_000_i64;
        for h in [60, 137, 400, 1_500, 5_000] {
            let ratio = |away: i64| {
                (0..away)
                    .map(|j| (n - j) as f64 / (n + 1 + j) as f64)
                    .product::<f64>()
            };
            let terms = (1..=n / h).map(|k| ratio(k * h) * if k % 2 == 1 { 2.0 } else { -2.0 });
            let want: f64 = terms.sum();
            let got = share_of_orders_reaching(h * n, n, n);
            assert!((got - want).abs() <= 1e-11 * want, "{h}: {got:e} {want:e}");
        }
    }

    #[test]
    fn the_limit_is_kolmogorovs_and_its_two_series_meet() {
        // Smirnov's (1948) table, to its six digits.
        for (lambda, below) in [
            (0.5, 0.036055),
            (0.8, 0.455857),
            (1.0, 0.730000),
            (1.36, 0.950514),
            (2.0, 0.999329),
        ] {
            assert!(
                (kolmogorov_tail(lambda) - (1.0 - below)).abs() < 6e-7,
                "{lambda}"
            );
        }
        assert!((kolmogorov_tail(1.0 - 1e-13) - kolmogorov_tail(1.0)).abs() < 1e-12);
        // SciPy's values on both sides of the switch between the series.
        assert!((kolmogorov_tail(1.0) - 0.26999967167735456).abs() < 2e-15);
        assert!((kolmogorov_tail(0.9) - 0.3927307079406543).abs() < 2e-15);
        assert_eq!(kolmogorov_tail(0.0), 1.0);
        assert_eq!(kolmogorov_tail(1e-200), 1.0);
        assert_eq!(kolmogorov_tail(1e200), 0.0);
    }

    /// Compares evenly spaced samples of `n` and `m` values. The second sample is shifted to the
    /// right, so that λ of Kolmogorov's limit is about `lambda`. Returns the test, and the p-value
    /// by the exact recursion.
    fn apart(n: u32, m: u32, lambda: f64) -> (KolmogorovSmirnov, f64) {
        let (size, other_size) = (f64::from(n), f64::from(m));
        let offset = lambda * ((size + other_size) / size / other_size).sqrt();
        let ramp = |n: u32, offset: f64| -> Vec<f64> {
            (0..n)
                .map(|i| (f64::from(i) + 0.5) / f64::from(n) + offset)
                .collect()
        };
        let found = kolmogorov_smirnov(&ramp(n, 0.0), &ramp(m, offset)).unwrap();
        let distance = (found.statistic * size * other_size).round() as i64;
        (
            found,
            share_of_orders_reaching(distance, n.into(), m.into()),
        )
    }

    #[test]
    fn samples_too_large_to_count_are_given_the_limit() {
        for (n, m, tolerance) in [(150_000, 150_000, 1e-4), (150_001, 140_000, 0.01)] {
            for lambda in [0.72, 1.36] {
                let (found, counted) = apart(n, m, lambda);
                assert!(
                    (found.p / counted - 1.0).abs() < tolerance,
                    "{n} {m} {lambda}: {} {counted}",
                    found.p
                );
                assert_ne!(found.p, counted);
            }
        }
    }

    #[test]
    fn samples_are_counted_as_long_as_the_places_are_few() {
        for (n, m, lambda) in [
            (10_000, 10_000, 1.4),
            (10_000, 9_999, 60.0),
            (30_000, 20_000, 2.0),
            (50, 1_000_000, 1.0),
        ] {
            let (found, counted) = apart(n, m, lambda);
            assert_eq!(found.p, counted, "{n} {m} {lambda}");
        }
    }

    #[test]
    fn ties_are_passed_together() {
        let found = kolmogorov_smirnov(&[1.0, 1.0, 2.0], &[1.0, 2.0, 2.0]).unwrap();
        assert!((found.statistic - 1.0 / 3.0).abs() < 1e-16);
        let same = kolmogorov_smirnov(&[1.0, 2.0], &[2.0, 1.0]).unwrap();
        assert_eq!((same.statistic, same.p), (0.0, 1.0));
        let zeros = kolmogorov_smirnov(&[-0.0, 0.0], &[0.0, -0.0]).unwrap();
        assert_eq!(zeros.statistic, 0.0);
    }

    #[test]
    fn moving_a_sample_is_its_wasserstein_distance() {
        let moved = wasserstein_1(&[1.0, 2.0, 4.0], &[4.0, 7.0, 5.0]).unwrap();
        assert!((moved - 3.0).abs() < 1e-15);
        // Half of the second sample moves from 2 to 0.
        assert_eq!(wasserstein_1(&[0.0], &[0.0, 2.0]), Some(1.0));
        assert_eq!(wasserstein_1(&[3.0, 1.0], &[1.0, 3.0]), Some(0.0));
        assert_eq!(wasserstein_1(&[0.0, 0.0, 6.0], &[0.0, 6.0]), Some(1.0));
    }

    #[test]
    fn rejects_empty_samples_and_infinite_values() {
        for bad in [&[][..], &[f64::NAN][..], &[1.0, f64::INFINITY][..]] {
            assert_eq!(kolmogorov_smirnov(bad, &[1.0]), None);
            assert_eq!(kolmogorov_smirnov(&[1.0], bad), None);
            assert_eq!(wasserstein_1(bad, &[1.0]), None);
            assert_eq!(wasserstein_1(&[1.0], bad), None);
        }
        assert_eq!(wasserstein_1(&[f64::MAX], &[-f64::MAX]), None);
        let far = kolmogorov_smirnov(&[f64::MAX], &[-f64::MAX]).unwrap();
        assert_eq!((far.statistic, far.p), (1.0, 1.0));
    }

    fn close(got: Option<f64>, want: f64) {
        let got = got.unwrap();
        assert!(
            (got - want).abs() <= 1e-14 * want.abs(),
            "{got} is not {want}"
        );
    }

    #[test]
    fn the_moments_of_a_small_known_sample_are_right() {
        // Mean 2, deviations −2 −1 −1 0 4: m₂ = 22/5, m₃ = 54/5, m₄ = 274/5.
        let values = [0.0, 1.0, 1.0, 2.0, 6.0];
        close(skewness(&values), 54.0 / 5.0 / (22.0_f64 / 5.0).powf(1.5));
        close(excess_kurtosis(&values), 274.0 * 5.0 / (22.0 * 22.0) - 3.0);
        close(
            skewness(&values.map(|x| -x)),
            -54.0 / 5.0 / (22.0_f64 / 5.0).powf(1.5),
        );
    }

    #[test]
    fn two_values_are_symmetric_and_have_no_ends() {
        assert_eq!(skewness(&[1.0, 3.0]), Some(0.0));
        assert_eq!(excess_kurtosis(&[1.0, 3.0]), Some(-2.0));
    }

    #[test]
    fn distances_of_the_extremes_are_counted_in_standard_deviations() {
        let (low, high) = sigma_distances(&[0.0, 1.0, 1.0, 2.0, 6.0]).unwrap();
        let sd = (22.0_f64 / 4.0).sqrt();
        assert!((low - 2.0 / sd).abs() < 1e-15 && (high - 4.0 / sd).abs() < 1e-15);
    }

    #[test]
    fn the_error_metric_is_the_share_of_the_mean_above_the_minimum() {
        close(mean_over_min(&[3.0, 4.0, 5.0]), 0.25);
        assert_eq!(mean_over_min(&[0.1; 10]), Some(0.0));
        assert_eq!(mean_over_min(&[0.0, 8.0]), Some(1.0));
        assert_eq!(mean_over_min(&[-1.0, 1.0]), None);
        assert_eq!(mean_over_min(&[-3.0, -1.0]), None);
        assert_eq!(mean_over_min(&[0.0]), None);
    }

    #[test]
    fn without_spread_there_is_no_shape() {
        for values in [
            &[][..],
            &[1.0][..],
            &[0.1; 10][..],
            &[1.0, f64::NAN][..],
            &[1.0, f64::INFINITY][..],
        ] {
            assert_eq!(skewness(values), None);
            assert_eq!(excess_kurtosis(values), None);
            assert_eq!(sigma_distances(values), None);
        }
        for values in [&[][..], &[1.0, f64::NAN][..], &[1.0, f64::INFINITY][..]] {
            assert_eq!(mean_over_min(values), None);
        }
    }

    #[test]
    fn the_largest_numbers_have_a_shape_too() {
        close(
            skewness(&[f64::MAX, -f64::MAX, -f64::MAX, -f64::MAX]),
            2.0 / 3.0_f64.sqrt(),
        );
        close(
            excess_kurtosis(&[f64::MAX, -f64::MAX, -f64::MAX, -f64::MAX]),
            7.0 / 3.0 - 3.0,
        );
    }
}
