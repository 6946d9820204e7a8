//! How often each side is very slow: what a robust estimate is right to overlook and a reader should still know.

use crate::evidence::rates_differ_p;
use crate::summary::{all_finite, median};

/// A run is in the tail when it takes longer than this many pooled medians.
pub const TAIL_FACTOR: f64 = 3.0;

/// Slow runs of the two sides.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tail {
    /// Slow runs of the baseline.
    pub baseline_count: usize,
    /// Slow runs of the candidate.
    pub candidate_count: usize,
    /// All runs of the baseline.
    pub baseline_n: usize,
    /// All runs of the candidate.
    pub candidate_n: usize,
    /// Exact two-sided binomial p-value that the rates are equal; `None` when there is no slow run at all, a side is
    /// empty or a time is not finite.
    pub p: Option<f64>,
}

/// Counts the times beyond three times the median of both sides pooled, and compares the two rates by the exact
/// binomial test given the total (Przyborowski & Wilenski 1940). Times in any one unit.
pub fn tail_rate(baseline: &[f64], candidate: &[f64]) -> Tail {
    let pooled: Vec<f64> = baseline.iter().chain(candidate).copied().collect();
    let limit = median(&pooled).map_or(f64::INFINITY, |middle| TAIL_FACTOR * middle);
    let slow = |times: &[f64]| times.iter().filter(|&&time| time > limit).count();
    let (baseline_count, candidate_count) = (slow(baseline), slow(candidate));
    let (baseline_n, candidate_n) = (baseline.len(), candidate.len());
    let p = rates_differ_p(
        baseline_count as u64,
        candidate_count as u64,
        baseline_n as u64,
        candidate_n as u64,
    );
    Tail {
        baseline_count,
        candidate_count,
        baseline_n,
        candidate_n,
        p: p.filter(|_| all_finite(&pooled)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_side_that_stalls_now_and_then_is_caught() {
        let baseline = [10.0; 100];
        let mut candidate = [10.0; 100];
        candidate[..10].fill(31.0);
        let tail = tail_rate(&baseline, &candidate);
        assert_eq!((tail.baseline_count, tail.candidate_count), (0, 10));
        assert!((tail.p.unwrap() - 2.0 / 1024.0).abs() < 1e-12);
    }

    #[test]
    fn exactly_three_medians_is_not_yet_slow() {
        let tail = tail_rate(&[10.0, 10.0, 30.0], &[10.0, 10.0]);
        assert_eq!((tail.baseline_count, tail.p), (0, None));
    }

    #[test]
    fn sides_with_the_same_tail_do_not_differ() {
        let tail = tail_rate(&[1.0, 1.0, 1.0, 9.0], &[1.0, 9.0, 1.0, 1.0]);
        assert_eq!(
            (tail.baseline_count, tail.candidate_count, tail.p),
            (1, 1, Some(1.0))
        );
    }

    #[test]
    fn missing_and_absurd_times_give_no_p_value() {
        assert_eq!(tail_rate(&[], &[]).p, None);
        assert_eq!(tail_rate(&[1.0], &[]).p, None);
        assert_eq!(tail_rate(&[1.0, 1.0], &[f64::NAN, 99.0]).p, None);
        assert_eq!(tail_rate(&[f64::MAX, f64::MAX], &[f64::MAX]).p, None);
    }
}
