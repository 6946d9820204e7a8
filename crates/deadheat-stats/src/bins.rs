//! Bins to count values in: how wide, and over which range.

use crate::summary::{all_finite, quantile};

/// Interquartile ranges beyond the box from which on values are far tails that would squeeze everything else into one
/// bin.
const FAR: f64 = 3.0;

/// The range in which nearly all of an ascending sample lies: what is within three interquartile ranges of the box
/// (Tukey's outer fences). Where half the values are equal it is that between the 5th and the 95th percentile, and where
/// those are equal as well the whole sample.
///
/// Both ends are values' own or lie between them. `None` for an empty sample or a value that is not finite.
pub fn body(sorted: &[f64]) -> Option<(f64, f64)> {
    if !all_finite(sorted) {
        return None;
    }
    let (&least, &most) = (sorted.first()?, sorted.last()?);
    let (lower, upper) = (quantile(sorted, 0.25)?, quantile(sorted, 0.75)?);
    if lower < upper {
        // An infinite fence is beyond every value, too.
        let reach = FAR * (upper - lower);
        let (low, high) = (lower - reach, upper + reach);
        let first = sorted[sorted.partition_point(|x| *x < low)];
        let last = sorted[sorted.partition_point(|x| *x <= high) - 1];
        return Some((first, last));
    }
    let (low, high) = (quantile(sorted, 0.05)?, quantile(sorted, 0.95)?);
    Some(if low < high {
        (low, high)
    } else {
        (least, most)
    })
}

/// The width of bins after Freedman & Diaconis (1981), twice the interquartile range over the cube root of the count, in
/// the unit of the values. `None` for an empty sample, a value that is not finite, or a width of 0 or too large.
pub fn freedman_diaconis_width(sorted: &[f64]) -> Option<f64> {
    let (lower, upper) = (quantile(sorted, 0.25)?, quantile(sorted, 0.75)?);
    let width = 2.0 * (upper - lower) / (sorted.len() as f64).cbrt();
    (width > 0.0 && width.is_finite()).then_some(width)
}

/// Edges of bins of equal width from `low` to just above `high`, so that a value of `high` lies below the last edge:
/// of about `width` each, at least one and at most `most` bins. Strictly rising and finite.
///
/// Where `low` is `high` there is one bin of a hundredth of the value around it. Empty where the ends are not finite or
/// in the wrong order, and where `most` is 0.
pub fn edges(low: f64, high: f64, width: Option<f64>, most: usize) -> Vec<f64> {
    let ends = low.is_finite() && high.is_finite() && low <= high;
    if !ends || most == 0 {
        return Vec::new();
    }
    if low == high {
        let half = 0.005 * low.abs();
        let (mut below, mut above) = (low - half, high + half);
        if !(below < low && high < above && above.is_finite()) {
            // Zero, and numbers at the ends of all there are.
            (below, above) = (low.min(low.next_down()), high.next_up());
            if low == 0.0 {
                (below, above) = (0.0, 1.0);
            }
        }
        return vec![below.max(-f64::MAX), above.min(f64::MAX)];
    }
    let top = high.next_up().min(f64::MAX);
    // Halved, so that the range of the largest numbers is still one.
    let half_range = 0.5 * top - 0.5 * low;
    let at = |share: f64| {
        let part = half_range * share;
        low + part + part
    };
    let wanted = width.map_or(most as f64, |width| half_range / (0.5 * width));
    // The cast saturates.
    let bins = (wanted.ceil().max(1.0) as usize).min(most);
    let mut edges: Vec<f64> = (0..bins)
        .map(|bin| at(bin as f64 / bins as f64))
        .chain([top])
        .collect();
    // Of numbers next to one another there are fewer edges than asked for.
    edges.dedup_by(|next, edge| *next <= *edge);
    if edges.last().is_some_and(|last| *last < top) {
        edges.push(top);
    }
    edges
}

/// How many of an ascending sample lie in each bin, and how many below the first and at or above the last edge.
/// Bins hold their lower edge and not their upper one.
pub fn count(sorted: &[f64], edges: &[f64]) -> Counts {
    let mut counts = Counts::default();
    let (Some(first), Some(_)) = (edges.first(), edges.last()) else {
        return counts;
    };
    let mut start = sorted.partition_point(|x| x < first);
    counts.below = start;
    for edge in &edges[1..] {
        let end = start + sorted[start..].partition_point(|x| x < edge);
        counts.bins.push(end - start);
        start = end;
    }
    counts.above = sorted.len() - start;
    counts
}

/// Values counted by bins.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts {
    /// Of each bin.
    pub bins: Vec<usize>,
    /// Below the first edge.
    pub below: usize,
    /// At or above the last edge.
    pub above: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_width_is_that_of_freedman_and_diaconis() {
        // numpy.histogram_bin_edges of 0, 1, …, 999 with bins='fd' has a width of 99.9 before it is rounded to whole bins.
        let values: Vec<f64> = (0..1_000).map(f64::from).collect();
        let width = freedman_diaconis_width(&values).unwrap();
        assert!((width - 99.9).abs() < 1e-12, "{width}");
        assert_eq!(freedman_diaconis_width(&[3.0; 9]), None);
        assert_eq!(freedman_diaconis_width(&[]), None);
    }

    #[test]
    fn far_tails_are_left_out_of_the_body_and_near_ones_are_not() {
        let mut values: Vec<f64> = (0..100).map(f64::from).collect();
        values.extend([200.0, 1e9]);
        assert_eq!(body(&values), Some((0.0, 200.0)));
        // More than half are equal: percentiles decide, or there is nothing to leave out.
        let mut tied = vec![5.0; 80];
        tied.extend((0..20).map(|i| 6.0 + f64::from(i)));
        let (low, high) = body(&tied).unwrap();
        assert!(low == 5.0 && (high - 20.05).abs() < 1e-9);
        assert_eq!(body(&[7.0, 7.0, 7.0, 7.0, 7.0, 9.0]), Some((7.0, 8.5)));
        assert_eq!(body(&[7.0; 4]), Some((7.0, 7.0)));
        assert_eq!(body(&[]), None);
        assert_eq!(body(&[1.0, f64::NAN]), None);
    }

    #[test]
    fn the_last_bin_holds_the_largest_value() {
        let edges = edges(0.0, 10.0, Some(2.5), 80);
        assert_eq!(edges.len(), 6, "the top lies just above 10: {edges:?}");
        let found = count(&[-1.0, 0.0, 4.0, 10.0, 11.0, 12.0], &edges);
        assert_eq!((found.below, found.above), (1, 2));
        assert_eq!(found.bins, [1, 1, 0, 0, 1]);
    }

    #[test]
    fn edges_rise_whatever_the_ends() {
        let tiny = f64::from_bits(1);
        for (low, high) in [
            (0.0, 0.0),
            (tiny, tiny),
            (tiny, 3.0 * tiny),
            (0.0, f64::MAX),
            (f64::MAX, f64::MAX),
            (-f64::MAX, f64::MAX),
            (1.0, 1.0f64.next_up()),
            (1e300, 1e300),
        ] {
            for width in [None, Some(1e-300), Some(1e300)] {
                for most in [1, 2, 80] {
                    let edges = edges(low, high, width, most);
                    assert!(edges.len() >= 2 && edges.len() <= most + 1, "{edges:?}");
                    assert!(edges.windows(2).all(|pair| pair[0] < pair[1]), "{edges:?}");
                    assert!(edges.iter().all(|edge| edge.is_finite()), "{edges:?}");
                }
            }
        }
        assert!(edges(1.0, 0.0, None, 5).is_empty());
        assert!(edges(0.0, f64::INFINITY, None, 5).is_empty());
        assert!(edges(0.0, 1.0, None, 0).is_empty());
    }
}
