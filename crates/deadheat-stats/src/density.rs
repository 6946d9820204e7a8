//! A smooth density drawn through a sample.

use crate::summary::{IQR_PER_SD, quantile, std_dev};

/// Bandwidths from its centre at which a Gaussian kernel is cut: 3e-4 of its height.
const REACH: f64 = 4.0;

/// Cells in a bandwidth.
const CELLS: f64 = 4.0;

/// The least bandwidth, in steps between two points of the curve: narrower kernels would fall between them.
const NARROWEST: f64 = 0.5;

/// Silverman's (1986) rule of thumb, 0.9·min(sd, IQR/1.349)·n^(−1/5), in the unit of the values, of an ascending sample.
/// Where half the values are equal the standard deviation alone counts. `None` for fewer than two values, equal ones,
/// or ones that are not finite.
pub fn bandwidth(sorted: &[f64]) -> Option<f64> {
    let sd = std_dev(sorted)?;
    let iqr = (quantile(sorted, 0.75)? - quantile(sorted, 0.25)?) / IQR_PER_SD;
    let scale = if iqr > 0.0 { sd.min(iqr) } else { sd };
    let width = 0.9 * scale * (sorted.len() as f64).powf(-0.2);
    (width > 0.0 && width.is_finite()).then_some(width)
}

/// A Gaussian kernel density estimate at `points` places from `low` to `high`, scaled so that its largest value is 1.
///
/// The values are spread over cells a quarter of a bandwidth wide or narrower, each over the two nearest in proportion,
/// so that the cost is that of the points and not of points × values; it is off by less than a hundredth of the peak.
/// A bandwidth below half the way between two points is widened to that, as its kernels would fall between them.
///
/// `None` for fewer than two points, ends that are not finite or not in order, a bandwidth that is not above 0, or
/// no value near the range.
pub fn density(
    sorted: &[f64],
    bandwidth: f64,
    low: f64,
    high: f64,
    points: usize,
) -> Option<Vec<(f64, f64)>> {
    let range = high - low;
    let ends = low.is_finite() && range.is_finite() && range > 0.0;
    if points < 2 || !ends || !(bandwidth > 0.0 && bandwidth.is_finite()) {
        return None;
    }
    // Everything from here on in steps between two points, so that no scale is too small or too large.
    let steps = (points - 1) as f64;
    let place = |x: f64| (x - low) / range * steps;
    let bandwidth = (bandwidth / range * steps).clamp(NARROWEST.min(steps), steps);
    let per_step = (CELLS / bandwidth).ceil() as usize;
    let cell = 1.0 / per_step as f64;
    let reach = (REACH * bandwidth / cell).ceil() as usize;
    let mut cells = vec![0.0; (points - 1) * per_step + 2 * reach + 2];
    for x in sorted {
        let at = place(*x) / cell + reach as f64;
        if at >= 0.0 && at < (cells.len() - 1) as f64 {
            let (left, share) = (at.floor() as usize, at.fract());
            cells[left] += 1.0 - share;
            cells[left + 1] += share;
        }
    }
    let weight = |distance: usize| {
        let z = distance as f64 * cell / bandwidth;
        (-0.5 * z * z).exp()
    };
    let kernel: Vec<f64> = (0..=reach).map(weight).collect();
    let at = |point: usize| {
        let centre = point * per_step + reach;
        let pairs = (1..=reach).map(|i| kernel[i] * (cells[centre - i] + cells[centre + i]));
        kernel[0] * cells[centre] + pairs.sum::<f64>()
    };
    let heights: Vec<f64> = (0..points).map(at).collect();
    let peak = heights.iter().copied().fold(0.0, f64::max);
    let curve = heights.iter().enumerate().map(|(point, height)| {
        let x = low + range * (point as f64 / steps);
        (x.clamp(low, high), height / peak)
    });
    (peak > 0.0).then(|| curve.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bandwidth_is_the_rule_of_thumb() {
        let values: Vec<f64> = (0..100).map(|i| f64::from(i * i)).collect();
        // 0.9 * min(std(x, ddof=1), (percentile(x, 75) - percentile(x, 25)) / 1.349) * 100 ** -0.2 with NumPy.
        let found = bandwidth(&values).unwrap();
        assert!((found - 1_063.486_505_609_8).abs() < 1e-9, "{found}");
        assert_eq!(bandwidth(&[4.0; 10]), None);
        assert_eq!(bandwidth(&[4.0]), None);
        assert!(bandwidth(&[4.0, 4.0, 4.0, 4.0, 5.0]).is_some());
    }

    #[test]
    fn no_scale_is_too_small_or_too_large() {
        let tiny = f64::from_bits(1);
        for (values, low, high, width) in [
            (vec![0.0, tiny, 3.0 * tiny], 0.0, 3.0 * tiny, tiny),
            (vec![0.0, 1e300, f64::MAX], 0.0, f64::MAX, 1e300),
            (vec![1.0, 1.0, 1e300], 1.0, 1e300, 1e-300),
            (vec![1.0, 2.0], 1.0, 2.0, 1e300),
        ] {
            let curve = density(&values, width, low, high, 128).unwrap();
            assert_eq!(curve.len(), 128);
            assert!(curve.iter().all(|(x, _)| *x >= low && *x <= high));
            assert!(curve.iter().all(|(_, y)| (0.0..=1.0).contains(y)));
            assert!(curve.iter().any(|(_, y)| *y == 1.0));
        }
    }

    #[test]
    fn what_cannot_be_drawn_is_none() {
        assert_eq!(density(&[], 1.0, 0.0, 1.0, 8), None);
        assert_eq!(density(&[0.5], 0.0, 0.0, 1.0, 8), None);
        assert_eq!(density(&[0.5], 1.0, 1.0, 1.0, 8), None);
        assert_eq!(density(&[0.5], 1.0, 0.0, 1.0, 1), None);
        assert_eq!(density(&[f64::NAN], 1.0, 0.0, 1.0, 8), None);
        assert_eq!(density(&[1e9], 1.0, 0.0, 1.0, 8), None);
    }
}
