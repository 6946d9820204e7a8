//! Shares and quantiles of a sorted sample, thinned.

use deadheat_stats::dist::{normal_cdf, normal_quantile};
use deadheat_stats::summary::quantile;

use super::thinning::evenly;

/// Φ⁻¹(¾), where the upper quartile of a standard normal distribution lies.
const UPPER_QUARTILE: f64 = 0.674_489_750_196_081_7;

/// At most so many values of an ascending sample, no two alike, each with the
/// share at or below it; the first and the last are among them.
pub(super) fn ecdf(sorted: &[f64], points: usize) -> Vec<(f64, f64)> {
    let mut steps: Vec<(f64, f64)> = Vec::new();
    for at in evenly(sorted.len(), points) {
        let value = sorted[at];
        if steps.last().is_some_and(|last| last.0 == value) {
            continue;
        }
        let ties = sorted[at..].partition_point(|x| *x <= value);
        steps.push((value, (at + ties) as f64 / sorted.len() as f64));
    }
    steps
}

/// At most so many of an ascending sample's values against the quantiles a
/// standard normal sample would have there, (i − ½)/n for the i-th (Hazen).
/// Even on the axis of the quantiles, so that the ends stay whole.
pub(super) fn normal_quantiles(sorted: &[f64], points: usize) -> Vec<(f64, f64)> {
    let n = sorted.len() as f64;
    let at = |rank: usize| {
        let z = normal_quantile((rank as f64 + 0.5) / n);
        (z, sorted[rank])
    };
    if sorted.len() <= points {
        return (0..sorted.len()).map(at).collect();
    }
    let most = normal_quantile(1.0 - 0.5 / n);
    let rank = |point: usize| match points {
        1 => sorted.len() / 2,
        several => {
            let z = most * (2.0 * point as f64 / (several - 1) as f64 - 1.0);
            ((normal_cdf(z) * n - 0.5).round().max(0.0) as usize).min(sorted.len() - 1)
        }
    };
    let mut ranks: Vec<usize> = (0..points).map(rank).collect();
    ranks.dedup();
    ranks.into_iter().map(at).collect()
}

/// Intercept and slope of the line through the quartiles.
pub(super) fn normal_line(sorted: &[f64]) -> Option<(f64, f64)> {
    let (lower, upper) = (quantile(sorted, 0.25)?, quantile(sorted, 0.75)?);
    Some((
        lower.midpoint(upper),
        (upper - lower) / (2.0 * UPPER_QUARTILE),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_are_one_step_and_the_last_share_is_one() {
        let values = [1.0, 2.0, 2.0, 2.0, 5.0];
        assert_eq!(ecdf(&values, 100), [(1.0, 0.2), (2.0, 0.8), (5.0, 1.0)]);
        let many: Vec<f64> = (0..1_000).map(f64::from).collect();
        let few = ecdf(&many, 11);
        assert_eq!(few.len(), 11);
        assert_eq!((few[0], few[10]), ((0.0, 0.001), (999.0, 1.0)));
        assert!(ecdf(&[], 9).is_empty());
    }

    #[test]
    fn a_normal_sample_lies_on_its_line() {
        let n = 2_001;
        let values: Vec<f64> = (0..n)
            .map(|i| 3.0 + 0.5 * normal_quantile((f64::from(i) + 0.5) / f64::from(n)))
            .collect();
        let (intercept, slope) = normal_line(&values).unwrap();
        assert!((intercept - 3.0).abs() < 1e-12 && (slope - 0.5).abs() < 1e-3);
        for points in [1, 2, 50, 500, 5_000] {
            let found = normal_quantiles(&values, points);
            assert!(found.len() <= points && !found.is_empty());
            assert!(found.is_sorted_by(|a, b| a.0 < b.0));
            for (z, value) in &found {
                assert!((3.0 + 0.5 * z - value).abs() < 1e-12);
            }
            if points > 1 {
                assert_eq!(found[0].1, values[0]);
                assert_eq!(found[found.len() - 1].1, values[2_000]);
            }
        }
        // The three lowest values are among fifty points: the ends stay whole.
        assert!(normal_quantiles(&values, 50)[2].1 <= values[4]);
        assert!(normal_quantiles(&[], 5).is_empty());
        assert_eq!(normal_line(&[]), None);
    }
}
