//! Numbers for plots of samples: bins and their counts, a smooth density, the box plot, and the
//! running median of a series.

use crate::summary::{IQR_PER_SD, all_finite, median_in_place, quantile, std_dev};

/// Values further from the box than this many interquartile ranges are excluded from the plot's
/// range, because a far tail would squeeze everything else into one bin.
const FAR: f64 = 3.0;

/// The range that holds nearly all of an ascending sample: the values within three interquartile
/// ranges of the box (Tukey's outer fences). If half of the values are equal, it is the range from
/// the 5th to the 95th percentile, and if those are equal too, that of the whole sample.
///
/// Both ends are within the range of the values. `None` for an empty sample or a value that is not
/// finite.
pub fn body(sorted: &[f64]) -> Option<(f64, f64)> {
    if !all_finite(sorted) {
        return None;
    }
    let (&least, &most) = (sorted.first()?, sorted.last()?);
    let (lower, upper) = (quantile(sorted, 0.25)?, quantile(sorted, 0.75)?);
    if lower < upper {
        // An infinite fence excludes nothing, which is right.
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

/// The bin width of Freedman & Diaconis (1981), twice the interquartile range over the cube root of
/// the count, in the unit of the values. `None` for an empty sample, a value that is not finite, or
/// a width that is 0 or not finite.
pub fn freedman_diaconis_width(sorted: &[f64]) -> Option<f64> {
    let (lower, upper) = (quantile(sorted, 0.25)?, quantile(sorted, 0.75)?);
    let width = 2.0 * (upper - lower) / (sorted.len() as f64).cbrt();
    (width > 0.0 && width.is_finite()).then_some(width)
}

/// Edges of equal bins from `low` to just above `high`, so that a value of `high` is in the last
/// bin. Each bin is about `width` wide, and there are at least one and at most `most` bins. The
/// edges are strictly ascending and finite.
///
/// If `low` equals `high`, there is one bin around it, a hundredth of the value wide. Empty if an
/// end is not finite, if `low` is above `high`, or if `most` is 0.
pub fn edges(low: f64, high: f64, width: Option<f64>, most: usize) -> Vec<f64> {
    let ends = low.is_finite() && high.is_finite() && low <= high;
    if !ends || most == 0 {
        return Vec::new();
    }
    if low == high {
        let half = 0.005 * low.abs();
        let (mut below, mut above) = (low - half, high + half);
        if !(below < low && high < above && above.is_finite()) {
            // Zero, and the smallest and largest representable numbers.
            (below, above) = (low.min(low.next_down()), high.next_up());
            if low == 0.0 {
                (below, above) = (0.0, 1.0);
            }
        }
        return vec![below.max(-f64::MAX), above.min(f64::MAX)];
    }
    let top = high.next_up().min(f64::MAX);
    // Halved, because the whole range may overflow.
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
    // Between adjacent floating-point numbers there are fewer edges than requested.
    edges.dedup_by(|next, edge| *next <= *edge);
    if edges.last().is_some_and(|last| *last < top) {
        edges.push(top);
    }
    edges
}

/// Counts how many values of an ascending sample fall into each bin, below the first edge, and at
/// or above the last edge. A bin includes its lower edge and excludes its upper one.
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

/// The number of values in each bin and outside all bins.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts {
    /// The count of each bin.
    pub bins: Vec<usize>,
    /// Values below the first edge.
    pub below: usize,
    /// Values at or above the last edge.
    pub above: usize,
}

/// The Gaussian kernel is cut off at this many bandwidths from its centre, where its height is 3e-4
/// of the peak.
const REACH: f64 = 4.0;

/// The number of cells per bandwidth in which [`density`] counts the values.
const CELLS: f64 = 4.0;

/// The least bandwidth, in steps between two points of the curve; narrower kernels would fall
/// between the points.
const NARROWEST: f64 = 0.5;

/// The bandwidth of an ascending sample by Silverman's (1986) rule of thumb, 0.9·min(sd,
/// IQR/1.349)·n^(−1/5), in the unit of the values. If half of the values are equal, only the
/// standard deviation is used. `None` for fewer than two values, for equal values, or for a value
/// that is not finite.
pub fn bandwidth(sorted: &[f64]) -> Option<f64> {
    let sd = std_dev(sorted)?;
    let iqr = (quantile(sorted, 0.75)? - quantile(sorted, 0.25)?) / IQR_PER_SD;
    let scale = if iqr > 0.0 { sd.min(iqr) } else { sd };
    let width = 0.9 * scale * (sorted.len() as f64).powf(-0.2);
    (width > 0.0 && width.is_finite()).then_some(width)
}

/// A Gaussian kernel density estimate at `points` places from `low` to `high`, scaled to a maximum
/// of 1.
///
/// The values are first binned into cells at most a quarter of a bandwidth wide, each value shared
/// by its two nearest cells in proportion, so that the cost grows with points + values and not with
/// points × values. The error is less than a hundredth of the peak. A bandwidth below half the
/// distance between two points is widened to that, because its kernels would fall between the
/// points.
///
/// `None` for fewer than two points, ends that are not finite or not in order, a bandwidth that is
/// not positive, or no value near the range.
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
    // From here on, all lengths are in steps between two points, so that no scale overflows or
    // underflows.
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

/// The whiskers' maximum length, in interquartile ranges.
const WHISKERS: f64 = 1.5;

/// A box plot as defined by Tukey (1977), in the unit of the values; all finite and in ascending
/// order.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tukey {
    /// The smallest value within 1.5 interquartile ranges of the box, and at most the lower
    /// quartile.
    pub whisker_low: f64,
    /// Lower quartile, type 7.
    pub lower: f64,
    /// Median.
    pub median: f64,
    /// Upper quartile, type 7.
    pub upper: f64,
    /// The largest value within 1.5 interquartile ranges of the box, and at least the upper
    /// quartile.
    pub whisker_high: f64,
    /// Number of values below the lower whisker.
    pub below: usize,
    /// Number of values above the upper whisker.
    pub above: usize,
}

/// The box plot of an ascending sample; `None` for an empty one or a value that is not finite.
///
/// If a quartile is interpolated and the value outside the box is too far away, the whisker ends at
/// the box.
pub fn tukey(sorted: &[f64]) -> Option<Tukey> {
    let (lower, upper) = (quantile(sorted, 0.25)?, quantile(sorted, 0.75)?);
    let reach = WHISKERS * (upper - lower);
    let below = sorted.partition_point(|x| *x < lower - reach);
    let above = sorted.len() - sorted.partition_point(|x| *x <= upper + reach);
    let inside = sorted.get(below..sorted.len() - above).unwrap_or_default();
    Some(Tukey {
        whisker_low: inside.first().map_or(lower, |x| x.min(lower)),
        lower,
        median: quantile(sorted, 0.5)?,
        upper,
        whisker_high: inside.last().map_or(upper, |x| x.max(upper)),
        below,
        above,
    })
}

/// At most `points` indices of the series, evenly spaced from its first value to its last, with the
/// median of the values around each. The window has `reach` values on either side; near an end it
/// keeps its full length and is shifted inwards, because a shorter window would let the median
/// jump. Empty for an empty series or a value that is not finite.
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
        let whole = reach.saturating_mul(2).saturating_add(1).min(values.len());
        let start = at.saturating_sub(reach).min(values.len() - whole);
        window.clear();
        window.extend_from_slice(&values[start..start + whole]);
        Some((at, median_in_place(&mut window)?))
    };
    (0..points).filter_map(around).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_width_is_that_of_freedman_and_diaconis() {
        // numpy.histogram_bin_edges of 0, 1, …, 999 with bins='fd' has a width of 99.9 before it is
        // rounded to whole bins.
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
        // More than half are equal: percentiles decide the range, or nothing is excluded.
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

    #[test]
    fn the_bandwidth_is_the_rule_of_thumb() {
        let values: Vec<f64> = (0..100).map(|i| f64::from(i * i)).collect();
        // 0.9 * min(std(x, ddof=1), (percentile(x, 75) - percentile(x, 25)) / 1.349) * 100 ** -0.2
        // with NumPy.
        let found = bandwidth(&values).unwrap();
        assert!((found - 1_063.486_505_609_8).abs() < 1e-9, "{found}");
        assert_eq!(bandwidth(&[4.0; 10]), None);
        assert_eq!(bandwidth(&[4.0]), None);
        assert!(bandwidth(&[4.0, 4.0, 4.0, 4.0, 5.0]).is_some());
    }

    #[test]
    fn density_works_at_every_scale() {
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
    fn rejects_samples_that_cannot_be_drawn() {
        assert_eq!(density(&[], 1.0, 0.0, 1.0, 8), None);
        assert_eq!(density(&[0.5], 0.0, 0.0, 1.0, 8), None);
        assert_eq!(density(&[0.5], 1.0, 1.0, 1.0, 8), None);
        assert_eq!(density(&[0.5], 1.0, 0.0, 1.0, 1), None);
        assert_eq!(density(&[f64::NAN], 1.0, 0.0, 1.0, 8), None);
        assert_eq!(density(&[1e9], 1.0, 0.0, 1.0, 8), None);
    }

    #[test]
    fn whiskers_end_at_values_and_what_is_beyond_is_counted() {
        // As `matplotlib.cbook.boxplot_stats` computes it.
        let found = tukey(&[-9.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 30.0, 40.0]).unwrap();
        assert_eq!((found.lower, found.median, found.upper), (2.0, 4.0, 6.0));
        assert_eq!((found.whisker_low, found.whisker_high), (1.0, 6.0));
        assert_eq!((found.below, found.above), (1, 2));
    }

    #[test]
    fn equal_values_and_a_single_one_are_a_line() {
        for values in [&[7.0; 5][..], &[7.0], &[0.0, 0.0], &[f64::MAX; 3]] {
            let found = tukey(values).unwrap();
            assert_eq!(found.whisker_low, found.whisker_high);
            assert_eq!((found.below, found.above), (0, 0));
        }
        assert_eq!(tukey(&[]), None);
        assert_eq!(tukey(&[1.0, f64::INFINITY]), None);
    }

    #[test]
    fn the_five_numbers_are_in_order_and_finite_for_extreme_values() {
        for values in [
            &[0.0, 5e-324, 1e300, f64::MAX][..],
            &[-f64::MAX, -f64::MAX, 0.0, f64::MAX, f64::MAX],
            &[0.0, 0.0, 0.0, 1.0],
        ] {
            let t = tukey(values).unwrap();
            let five = [t.whisker_low, t.lower, t.median, t.upper, t.whisker_high];
            assert!(
                five.is_sorted() && five.iter().all(|x| x.is_finite()),
                "{five:?}"
            );
        }
    }

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
        assert_eq!((found[0].1, found[4].1), (3.0, 97.0));
        assert_eq!(found[2].1, 50.0);
        assert_eq!(running_median(&values, 3, 1), [(50, 50.0)]);
        assert!(running_median(&values, 3, 0).is_empty());
        assert!(running_median(&[], 3, 5).is_empty());
        assert!(running_median(&[1.0, f64::NAN], 3, 5).is_empty());
        assert_eq!(running_median(&[4.0], usize::MAX, 9), [(0, 4.0)]);
    }
}
