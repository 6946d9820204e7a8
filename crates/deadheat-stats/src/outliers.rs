//! Do the peaks come as often from one side as from the other?
//!
//! A disturbance from outside the code, an interrupt, say, hits either side of a pair with equal chance and throws the
//! difference as often up as down. Peaks that prefer one direction belong to the code. This informs and never deletes:
//! what may be left out is decided on evidence from outside, in [`evidence`](crate::evidence).

use crate::dist::binomial_two_sided_p;
use crate::summary::{median, scaled_mad};

/// A difference further than this many scaled MADs from the median is a peak: of normal differences, one in 1.7 million.
pub const PEAK_SCALES: f64 = 5.0;

/// Peaks of paired differences by direction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OppositePeaks {
    /// Differences far below the median: the first of the pair was hit.
    pub below: usize,
    /// Differences far above the median: the second of the pair was hit.
    pub above: usize,
    /// Exact two-sided binomial p-value that a peak is as likely to go either way; `None` without peaks.
    pub p: Option<f64>,
}

/// Counts the paired differences (second − first) further than five scaled MADs below and above their median, and
/// compares the counts by the exact binomial test with ½ (the sign test of Dixon & Mood 1946, on the peaks alone).
///
/// The limits lie at equal distances from the median, because under differences that are symmetric about it only such
/// limits are passed equally often; Tukey's fences follow the quartiles, lean with them, and would turn a lean of the
/// bulk into a preference of the peaks. Differences in any one unit; log ratios are best. Peaks are taken for independent: a
/// disturbance that lasts over several blocks makes p too small. Costs O(n).
///
/// `None` for an empty slice, a difference that is not finite, or a MAD of 0 (then half of the differences are equal, the
/// clock is too coarse, and everything else would count as far away).
pub fn opposite_peaks(differences: &[f64]) -> Option<OppositePeaks> {
    let centre = median(differences)?;
    let scale = scaled_mad(differences).filter(|&mad| mad > 0.0)?;
    // Halved: the difference of the largest numbers is no number.
    let limit = 0.5 * PEAK_SCALES * scale;
    let away = |d: &f64| 0.5 * d - 0.5 * centre;
    let below = differences.iter().filter(|d| away(d) < -limit).count();
    let above = differences.iter().filter(|d| away(d) > limit).count();
    let peaks = (below + above) as u64;
    let p = (peaks > 0).then(|| binomial_two_sided_p(above as u64, peaks, 0.5));
    Some(OppositePeaks { below, above, p })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::MAD_TO_SD;

    /// Median 0 and MAD 1 as long as peaks are few.
    fn quiet(peaks: &[f64]) -> Vec<f64> {
        let bulk = (-20..=20).map(|i| f64::from(i) / 10.0);
        bulk.chain(peaks.iter().copied()).collect()
    }

    #[test]
    fn peaks_in_both_directions_are_innocent() {
        let found = opposite_peaks(&quiet(&[90.0, -80.0, 70.0, -60.0])).unwrap();
        assert_eq!((found.below, found.above, found.p), (2, 2, Some(1.0)));
    }

    #[test]
    fn peaks_in_one_direction_are_the_codes_own() {
        let found = opposite_peaks(&quiet(&[90.0; 10])).unwrap();
        assert_eq!((found.below, found.above), (0, 10));
        assert!((found.p.unwrap() - 2.0 / 1024.0).abs() < 1e-15);
        let mirrored = opposite_peaks(&quiet(&[-90.0; 10])).unwrap();
        assert_eq!(
            (mirrored.below, mirrored.above, mirrored.p),
            (10, 0, found.p)
        );
    }

    #[test]
    fn three_of_one_kind_and_one_of_the_other_say_little() {
        let found = opposite_peaks(&quiet(&[9.0, 9.5, -9.0, 10.0])).unwrap();
        assert!((found.p.unwrap() - 0.625).abs() < 1e-14);
    }

    #[test]
    fn a_peak_lies_beyond_five_scaled_deviations() {
        // Median 0 and MAD 1 with any pair beyond them.
        let at = |away: f64| {
            opposite_peaks(&[
                -1.0,
                -1.0,
                0.0,
                1.0,
                1.0,
                100.0 + away,
                -100.0 - away,
                0.5,
                -0.5,
            ])
        };
        assert_eq!(at(0.0).unwrap().above, 1);
        let limit = 5.0 * MAD_TO_SD;
        let both = |size: f64| {
            let found =
                opposite_peaks(&[-1.0, -1.0, 0.0, 1.0, 1.0, size, -size, 0.5, -0.5]).unwrap();
            (found.below, found.above)
        };
        assert_eq!(both(limit), (0, 0));
        assert_eq!(both(limit * (1.0 + 1e-15)), (1, 1));
    }

    #[test]
    fn the_median_is_the_middle_of_the_count() {
        let shifted: Vec<f64> = quiet(&[90.0, 80.0, -70.0])
            .iter()
            .map(|d| d + 1000.0)
            .collect();
        let found = opposite_peaks(&shifted).unwrap();
        assert_eq!((found.below, found.above), (1, 2));
    }

    #[test]
    fn without_peaks_there_is_no_p_and_without_spread_no_peak() {
        let calm = opposite_peaks(&quiet(&[])).unwrap();
        assert_eq!((calm.below, calm.above, calm.p), (0, 0, None));
        for bad in [
            &[][..],
            &[0.1; 9][..],
            &[0.0, 0.0, 0.0, 7.0][..],
            &[1.0, f64::NAN][..],
            &[1.0, f64::INFINITY][..],
        ] {
            assert_eq!(opposite_peaks(bad), None);
        }
        let huge = [f64::MAX, -f64::MAX, 1.0, 2.0, 3.0, 4.0, 5.0];
        let found = opposite_peaks(&huge).unwrap();
        assert_eq!((found.below, found.above), (1, 1));
    }
}
