//! Reversals and anomalies, as bench_diff defines them.

use crate::comparison::Comparison;

/// The distance allowed between a measured difference and the known one, as a share of the latter.
const TOLERANCE: f64 = 0.4;

pub fn is_reversed(difference: f64) -> bool {
    difference < 0.0
}

/// Returns true if a measured difference is more than 40% away from the known one.
pub fn is_anomalous(difference: f64, known: f64) -> bool {
    (difference - known).abs() > TOLERANCE * known
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offences {
    pub medians: usize,
    pub means: usize,
    pub either: usize,
    /// By what the tool says itself, where it says more than those.
    pub said: usize,
}

impl Offences {
    fn count(comparisons: &[Comparison], offends: impl Fn(f64) -> bool) -> Self {
        let mut offences = Self::default();
        for one in comparisons {
            let (medians, means) = (offends(one.medians()), offends(one.means()));
            offences.medians += usize::from(medians);
            offences.means += usize::from(means);
            offences.either += usize::from(medians || means);
            offences.said += usize::from(one.estimate.is_some_and(&offends));
        }
        offences
    }

    pub fn reversals(comparisons: &[Comparison]) -> Self {
        Self::count(comparisons, is_reversed)
    }

    pub fn anomalies(comparisons: &[Comparison], known: f64) -> Self {
        Self::count(comparisons, |difference| is_anomalous(difference, known))
    }

    pub fn shown(&self) -> String {
        format!("{} ({}, {})", self.either, self.medians, self.means)
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::comparison::Times;

    pub fn comparison(median: f64, mean: f64, estimate: Option<f64>) -> Comparison {
        let hundred = Times { median: 100.0, mean: 100.0 };
        Comparison {
            slower: Times { median, mean },
            quicker: hundred,
            estimate,
            said: None,
            p: None,
            replicates: None,
        }
    }

    #[test]
    fn a_reversal_is_of_the_median_or_the_mean_and_counts_once() {
        let comparisons = [
            comparison(101.0, 101.0, Some(0.01)),
            comparison(99.9, 101.0, Some(0.01)),
            comparison(101.0, 99.9, Some(-0.001)),
            comparison(99.0, 99.0, None),
            comparison(100.0, 100.0, None),
        ];
        let offences = Offences::reversals(&comparisons);
        let expected = Offences { medians: 2, means: 2, either: 3, said: 1 };
        assert_eq!(offences, expected);
        assert_eq!(offences.shown(), "3 (2, 2)");
    }

    #[test]
    fn an_anomaly_is_more_than_two_fifths_off_on_either_side() {
        for (difference, anomalous) in [
            (0.010, false),
            (0.0139, false),
            (0.0061, false),
            (0.0141, true),
            (0.0059, true),
            (-0.01, true),
        ] {
            assert_eq!(is_anomalous(difference, 0.01), anomalous, "{difference}");
        }
        let comparisons = [
            comparison(110.0, 113.9, Some(0.10)),
            comparison(110.0, 114.1, Some(0.10)),
            comparison(105.9, 110.0, Some(0.15)),
        ];
        let expected = Offences { medians: 1, means: 1, either: 2, said: 1 };
        assert_eq!(Offences::anomalies(&comparisons, 0.10), expected);
    }

    #[test]
    fn every_reversal_is_an_anomaly() {
        let comparisons = [comparison(99.0, 101.0, Some(-0.01))];
        let (reversals, anomalies) =
            (Offences::reversals(&comparisons), Offences::anomalies(&comparisons, 0.01));
        assert_eq!(reversals.either, 1);
        assert_eq!(anomalies.either, 1);
    }
}
