//! A sample seen from its mean: what every moment, t statistic and normal fit starts from.

use crate::summary::{all_finite, finite, mean};

/// Deviations from the mean in units of the largest, so that their powers neither overflow nor vanish.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Centred {
    /// The mean, corrected by a second pass.
    pub mean: f64,
    /// Half the largest deviation (the whole may be too large to represent); 0 for a sample without spread.
    half_unit: f64,
    /// Each value less the mean, over the largest deviation: within ±1, and all 0 for a sample without spread.
    pub deviations: Vec<f64>,
}

impl Centred {
    /// `None` for an empty sample and for values that are not finite.
    pub fn new(values: &[f64]) -> Option<Self> {
        let first = *values.first()?;
        if !all_finite(values) {
            return None;
        }
        // The sum of equal numbers, divided by their count, need not be that number again.
        let constant = values.iter().all(|&x| x == first);
        let about = if constant { first } else { mean(values)? };
        let mut deviations: Vec<f64> = values.iter().map(|x| 0.5 * x - 0.5 * about).collect();
        let half_unit = deviations
            .iter()
            .fold(0.0, |most: f64, d| most.max(d.abs()));
        if half_unit == 0.0 {
            return Some(Self {
                mean: about,
                half_unit,
                deviations,
            });
        }
        for deviation in &mut deviations {
            *deviation /= half_unit;
        }
        // What rounding left of the mean of the deviations belongs to the mean.
        let left = deviations.iter().sum::<f64>() / deviations.len() as f64;
        for deviation in &mut deviations {
            *deviation -= left;
        }
        Some(Self {
            mean: finite(about + 2.0 * (left * half_unit))?,
            half_unit,
            deviations,
        })
    }

    /// Whether any two values differ.
    pub fn has_spread(&self) -> bool {
        self.half_unit > 0.0
    }

    /// Σ of a power of the deviations, in powers of the unit.
    pub fn sum_of_powers(&self, exponent: i32) -> f64 {
        self.deviations.iter().map(|d| d.powi(exponent)).sum()
    }

    /// √(Σ(x − x̄)²/`divisor`), in the unit of the values; `None` when too large to represent.
    pub fn root_mean_square(&self, divisor: f64) -> Option<f64> {
        finite(2.0 * (self.half_unit * (self.sum_of_powers(2) / divisor).sqrt()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deviations_are_counted_in_the_largest() {
        let centred = Centred::new(&[1.0, 2.0, 6.0]).unwrap();
        assert_eq!(centred.mean, 3.0);
        for (got, want) in centred.deviations.iter().zip([-2.0 / 3.0, -1.0 / 3.0, 1.0]) {
            assert!((got - want).abs() < 1e-15);
        }
        assert!((centred.sum_of_powers(2) - 14.0 / 9.0).abs() < 1e-15);
        assert!((centred.root_mean_square(2.0).unwrap() - 7.0_f64.sqrt()).abs() < 1e-15);
        assert!(centred.has_spread());
    }

    #[test]
    fn equal_values_have_no_spread_however_their_sum_rounds() {
        let centred = Centred::new(&[0.1; 10]).unwrap();
        assert_eq!((centred.mean, centred.has_spread()), (0.1, false));
        assert_eq!(centred.deviations, [0.0; 10]);
        assert_eq!(centred.root_mean_square(9.0), Some(0.0));
    }

    #[test]
    fn what_the_first_mean_lost_the_second_pass_finds() {
        // The sum rounds to a multiple of 16; the mean of these lies at 1e17 + 16/3.
        let values = [1e17, 1e17 + 16.0, 1e17];
        let centred = Centred::new(&values).unwrap();
        let total: f64 = centred.deviations.iter().sum();
        assert!(total.abs() < 1e-15, "{total}");
        let want = (2.0_f64 / 3.0).sqrt() * 16.0;
        assert!((centred.root_mean_square(1.0).unwrap() - want).abs() < 1e-13);
    }

    #[test]
    fn the_largest_numbers_have_deviations_and_the_strange_ones_none() {
        let huge = Centred::new(&[f64::MAX, -f64::MAX]).unwrap();
        assert_eq!((huge.mean, &huge.deviations[..]), (0.0, &[1.0, -1.0][..]));
        assert_eq!(huge.root_mean_square(1.0), None);
        assert_eq!(huge.root_mean_square(2.0), Some(f64::MAX));
        assert_eq!(Centred::new(&[]), None);
        assert_eq!(Centred::new(&[1.0, f64::NAN]), None);
        assert_eq!(Centred::new(&[1.0, f64::INFINITY]), None);
    }
}
