//! Medians of neighbours: where a series drifts, single values aside.

use crate::summary::{all_finite, median_in_place};

/// At most `points` places of the series, evenly spaced from its first value to its last, and the median of the values
/// around each: `reach` to either side, fewer at the ends. Empty for an empty series or a value that is not finite.
pub fn running_median(values: &[f64], reach: usize, points: usize) -> Vec<(usize, f64)> {
    if values.is_empty() || !all_finite(values) {
        return Vec::new();
    }
    let points = points.min(values.len());
    let mut window = Vec::with_capacity(2 * reach.min(values.len()) + 1);
    let around = |point: usize| {
        let at = match points {
            1 => values.len() / 2,
            several => point * (values.len() - 1) / (several - 1),
        };
        let end = at.saturating_add(reach).min(values.len() - 1);
        window.clear();
        window.extend_from_slice(&values[at.saturating_sub(reach)..=end]);
        Some((at, median_in_place(&mut window)?))
    };
    (0..points).filter_map(around).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spike_leaves_no_trace_and_a_step_does() {
        let mut values = vec![1.0; 20];
        values[7] = 99.0;
        values[12..].fill(5.0);
        let found = running_median(&values, 2, 20);
        assert_eq!(found.len(), 20);
        for (at, median) in found {
            // As scipy.ndimage.median_filter(values, 5) inside the ends.
            assert_eq!(median, if at < 12 { 1.0 } else { 5.0 }, "{at}");
        }
    }

    #[test]
    fn places_are_evenly_spaced_and_reach_both_ends() {
        let values: Vec<f64> = (0..101).map(f64::from).collect();
        let found = running_median(&values, 3, 5);
        let places: Vec<usize> = found.iter().map(|(at, _)| *at).collect();
        assert_eq!(places, [0, 25, 50, 75, 100]);
        assert_eq!(found[0].1, 1.5);
        assert_eq!(found[2].1, 50.0);
        assert_eq!(running_median(&values, 3, 1), [(50, 50.0)]);
        assert!(running_median(&values, 3, 0).is_empty());
        assert!(running_median(&[], 3, 5).is_empty());
        assert!(running_median(&[1.0, f64::NAN], 3, 5).is_empty());
        assert_eq!(running_median(&[4.0], usize::MAX, 9), [(0, 4.0)]);
    }
}
