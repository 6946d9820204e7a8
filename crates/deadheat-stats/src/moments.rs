//! How a sample leans and how heavy its ends are: figures that say whether a mean tells the story.

use crate::centred::Centred;
use crate::summary::{finite, max, mean, min};

/// Skewness g₁ = m₃/m₂^1.5 with moments over n (the default of `scipy.stats.skew`): 0 for a symmetric sample, above 0
/// when the long end is on the right. A pure number.
///
/// `None` for an empty sample, one without spread, or a value that is not finite.
pub fn skewness(values: &[f64]) -> Option<f64> {
    let (third, second) = standard_moments(values, 3)?;
    finite(third / second.powf(1.5))
}

/// Excess kurtosis g₂ = m₄/m₂² − 3 with moments over n (the default of `scipy.stats.kurtosis`): 0 for a normal
/// distribution, above 0 when the ends are heavier. A pure number.
///
/// `None` for an empty sample, one without spread, or a value that is not finite.
pub fn excess_kurtosis(values: &[f64]) -> Option<f64> {
    let (fourth, second) = standard_moments(values, 4)?;
    finite(fourth / (second * second) - 3.0)
}

/// A central moment and the second, in powers of the largest deviation.
fn standard_moments(values: &[f64], exponent: i32) -> Option<(f64, f64)> {
    let centred = Centred::new(values).filter(Centred::has_spread)?;
    let n = values.len() as f64;
    Some((
        centred.sum_of_powers(exponent) / n,
        centred.sum_of_powers(2) / n,
    ))
}

/// How many standard deviations (over n − 1) the smallest and the largest value lie from the mean:
/// ((mean − min)/sd, (max − mean)/sd).
///
/// Of a thousand normal values both are near 3.2; times of a program stop soon below the mean and often reach five and
/// more above it, as log-normal ones do (Lemire 2023).
/// `None` for fewer than two values, without spread, or for a value that is not finite.
pub fn sigma_distances(values: &[f64]) -> Option<(f64, f64)> {
    let centred = Centred::new(values).filter(Centred::has_spread)?;
    // Mean and unit cancel: the deviations know both distances already.
    let sd = (centred.sum_of_powers(2) / (values.len() as f64 - 1.0)).sqrt();
    let (low, high) = (min(&centred.deviations)?, max(&centred.deviations)?);
    finite(-low / sd).zip(finite(high / sd))
}

/// (mean − min)/mean: the share of the mean time that the quickest run did without, an error metric that needs no
/// distribution (Lemire 2023). A pure number, 0 when all times are equal.
///
/// `None` for an empty sample, a value that is not finite, or a mean that is not above 0.
pub fn mean_over_min(values: &[f64]) -> Option<f64> {
    let (mean, min) = (mean(values)?, min(values)?);
    if mean <= 0.0 {
        return None;
    }
    // Rounding may put the mean of equal values a little below them.
    finite((1.0 - min / mean).max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

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
