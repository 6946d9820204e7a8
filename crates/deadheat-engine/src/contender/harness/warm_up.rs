//! Warm-up, looked at: which of the first repetitions of a launch are unlike those behind them.

/// Repetitions with which the pilot begins to look.
pub(super) const FIRST_LOOK: u32 = 20;
/// Nanoseconds of repetitions that it looks at most.
pub(super) const LONGEST_LOOK_NS: f64 = 8e9;

/// Relative differences that are too small to look longer for.
const LEAST: f64 = 0.02;
/// Standard deviations by which a repetition that has settled differs from the others at most.
const DEVIATIONS: f64 = 3.0;
/// The median distance of two normal values that follow each other, in standard deviations.
const DISTANCE: f64 = 0.954;

/// The number of repetitions after which times are like those at the end, of the first half at
/// most; `None` where all of that half is unlike.
///
/// The scatter is that of neighbours, which times that still fall do not widen. Two in a row must
/// be alike: what is called may become slower before it settles, as its memory is used up, and
/// crosses the end there.
pub(super) fn settled(times: &[f64]) -> Option<usize> {
    let count = times.len();
    let end = median(&times[count - count.div_ceil(4)..]);
    let late = &times[count / 2..];
    let distances: Vec<f64> = late.windows(2).map(|two| (two[1] - two[0]).abs()).collect();
    let scatter = median(&distances) / DISTANCE;
    let most = (LEAST * end).max(DEVIATIONS * scatter);
    let alike = |time: &f64| (time - end).abs() <= most;
    let mut pairs = times.windows(2).take(count / 2 + 1);
    pairs.position(|two| two.iter().all(alike))
}

/// The repetitions to leave away where a launch of each side settled after so many: half as many
/// again, as launches differ.
pub(super) fn with_reserve(settled: usize) -> u32 {
    (settled + settled.div_ceil(2)) as u32
}

/// The middle value, 0 of none.
fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Times at 100 that scatter by about 1, behind these.
    fn behind(first: &[f64], count: usize) -> Vec<f64> {
        let rest = (0..count - first.len()).map(|at| 100.0 + [0.7, -0.9, 0.2, -0.3, 1.0][at % 5]);
        first.iter().copied().chain(rest).collect()
    }

    #[test]
    fn repetitions_that_are_slower_or_faster_than_the_end_are_left_away() {
        for (first, expected) in [
            (&[][..], 0),
            (&[141.0, 243.0, 107.0][..], 3),
            // Memory that is still fresh.
            (&[13.0, 6.0, 13.0, 45.0, 130.0][..], 5),
            // One that crosses the end before it settles.
            (&[60.0, 100.0, 180.0, 150.0][..], 4),
            // Within the scatter.
            (&[103.0][..], 0),
        ] {
            assert_eq!(settled(&behind(first, 20)), Some(expected), "{first:?}");
        }
    }

    #[test]
    fn one_slow_repetition_in_the_middle_is_no_warm_up() {
        let mut times = behind(&[150.0], 20);
        times[7] = 400.0;
        assert_eq!(settled(&times), Some(1));
    }

    #[test]
    fn times_that_fall_to_the_end_have_not_settled() {
        let falling: Vec<f64> = (0..20).map(|at| 200.0 - 5.0 * f64::from(at)).collect();
        assert_eq!(settled(&falling), None);
        assert_eq!(settled(&behind(&[150.0; 11], 20)), None);
    }

    #[test]
    fn few_repetitions_and_equal_ones_have_settled() {
        assert_eq!(settled(&[5.0, 5.0]), Some(0));
        assert_eq!(settled(&[0.0; 20]), Some(0));
        assert_eq!(with_reserve(0), 0);
        assert_eq!((with_reserve(1), with_reserve(3)), (2, 5));
    }
}
