//! The Mann–Whitney test with the very bits of SciPy, for whoever must print what a program of Python prints.

use super::arrangements::count_untied;
use super::mann_whitney::{FEW, RankSum, rank_sum};
use crate::dist::cephes_normal_cdf;

/// The p-value of `scipy.stats.mannwhitneyu(first, second, alternative="two-sided")`: exact where one sample has at most
/// [`FEW`] values and none are equal, else by normal approximation with continuity correction.
///
/// Formulas and order of operations are SciPy's, so that nearly every result agrees to the last bit; where counts of
/// arrangements go beyond 2⁵³ the two differ by rounding. `None` as for [`rank_sum`], and where SciPy's variance of very
/// many equal values is rounded below zero and it finds no number either.
///
/// [`mann_whitney_p`](super::mann_whitney_p) is the same test as everything else in this crate computes it.
pub fn scipy_mann_whitney_p(first: &[f64], second: &[f64]) -> Option<f64> {
    let found = rank_sum(first, second)?;
    let exact = found.ties == 0.0 && found.n_first.min(found.n_second) <= FEW;
    let p = exact
        .then(|| exactly(&found))
        .flatten()
        .unwrap_or_else(|| approximately(&found));
    (!p.is_nan()).then(|| p.clamp(0.0, 1.0))
}

/// Twice the probability of a U as small as the smaller one, each term divided before it is added. `None` where there is
/// too much to count.
fn exactly(found: &RankSum) -> Option<f64> {
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

fn approximately(found: &RankSum) -> f64 {
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
    use super::*;

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
    fn samples_that_do_not_overlap_are_two_arrangements_among_all() {
        let p = scipy_mann_whitney_p(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]);
        assert_eq!(p, Some(0.1));
    }
}
