//! Percentiles from a high dynamic range histogram.

use deadheat_stats::Histogram;

/// Significant decimal digits the histogram keeps.
const DIGITS: u8 = 3;

/// Steps of the histogram in the smallest value above zero. From 1,024 steps
/// on a bucket is narrower than a thousandth of its values.
const STEPS: f64 = 2_048.0;

/// The largest number of steps; what lies beyond, 2⁵⁰ times the smallest
/// value, counts as this.
const MOST_STEPS: u64 = 1 << 61;

/// Percentiles 1 to 99 of values that are finite and not negative, within
/// .05 % of an order statistic; empty when there are none.
///
/// The smallest value above zero sets the unit, so that times far below a
/// nanosecond keep their digits.
pub(super) fn percentiles(values: &[f64]) -> Vec<f64> {
    let (mut least, mut most, mut unit) = (f64::INFINITY, 0.0f64, f64::INFINITY);
    for value in values {
        least = least.min(*value);
        most = most.max(*value);
        if *value > 0.0 {
            unit = unit.min(*value);
        }
    }
    if values.is_empty() || !most.is_finite() {
        return Vec::new();
    }
    if most == 0.0 {
        return vec![0.0; 99];
    }
    // Saturates where the quotient is too large.
    let steps = |value: f64| ((value / unit * STEPS).round() as u64).min(MOST_STEPS);
    let Ok(mut histogram) = Histogram::new(steps(most), DIGITS) else {
        return Vec::new();
    };
    for value in values {
        histogram.record(steps(*value));
    }
    // One walk for all of them: of values far apart there are 100,000 buckets.
    let mut found = Vec::with_capacity(99);
    let (mut seen, mut percent) = (0, 1);
    for bucket in histogram.iter_recorded() {
        seen += bucket.count;
        let middle = histogram.median_equivalent(bucket.lowest) as f64;
        // The smallest bucket with so many per cent of the values at or below it.
        while percent < 100 && 100 * seen >= percent * histogram.len() {
            found.push((middle / STEPS * unit).clamp(least, most));
            percent += 1;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exact(sorted: &[f64], percent: usize) -> f64 {
        sorted[(sorted.len() * percent).div_ceil(100) - 1]
    }

    #[test]
    fn percentiles_agree_with_order_statistics_to_a_thousandth() {
        for (n, base) in [(99, 0.003), (1_000, 1.0), (20_000, 1e9), (5_000, 1e-250)] {
            // A long tail over six orders of magnitude, and no two values alike.
            let sorted: Vec<f64> = (0..n)
                .map(|i| base * (f64::from(i) / f64::from(n) * 14.0).exp())
                .collect();
            let found = percentiles(&sorted);
            assert_eq!(found.len(), 99);
            for (index, found) in found.iter().enumerate() {
                let exact = exact(&sorted, index + 1);
                assert!(
                    (found / exact - 1.0).abs() < 1e-3,
                    "{n} {index}: {found} {exact}"
                );
            }
        }
    }

    #[test]
    fn equal_values_and_few_values_are_their_own_percentiles() {
        assert_eq!(percentiles(&[7.25; 12]), vec![7.25; 99]);
        assert_eq!(percentiles(&[0.0; 3]), vec![0.0; 99]);
        assert_eq!(percentiles(&[3.5]), vec![3.5; 99]);
        let two = percentiles(&[1.0, 2.0]);
        assert!((two[49] - 1.0).abs() < 1e-3 && (two[50] - 2.0).abs() < 1e-3);
        assert!(percentiles(&[]).is_empty());
    }

    #[test]
    fn extreme_values_saturate_and_stay_numbers() {
        for values in [
            &[5e-324, 1e300][..],
            &[0.0, 5e-324],
            &[0.0, 1e300, f64::MAX],
            &[f64::MIN_POSITIVE, 1.0],
        ] {
            let found = percentiles(values);
            assert_eq!(found.len(), 99);
            assert!(found.windows(2).all(|pair| pair[0] <= pair[1]), "{found:?}");
            assert!(found.iter().all(|p| *p >= values[0] && p.is_finite()));
        }
    }
}
