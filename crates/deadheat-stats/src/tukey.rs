//! The box plot: five numbers, and what lies beyond them.

use crate::summary::quantile;

/// Interquartile ranges from the box that whiskers reach at most.
const REACH: f64 = 1.5;

/// The box and whiskers of Tukey (1977), in the unit of the values; all finite and in ascending order.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tukey {
    /// The smallest value within 1.5 interquartile ranges of the box, and at most the lower quartile.
    pub whisker_low: f64,
    /// Lower quartile, type 7.
    pub lower: f64,
    /// Median.
    pub median: f64,
    /// Upper quartile, type 7.
    pub upper: f64,
    /// The largest value within 1.5 interquartile ranges of the box, and at least the upper quartile.
    pub whisker_high: f64,
    /// How many values lie below the lower whisker.
    pub below: usize,
    /// How many values lie above the upper whisker.
    pub above: usize,
}

/// The box plot of an ascending sample; `None` for an empty one or a value that is not finite.
///
/// A quartile may lie between two values of which only the one inside is near the box; the whisker then ends at the box.
pub fn tukey(sorted: &[f64]) -> Option<Tukey> {
    let (lower, upper) = (quantile(sorted, 0.25)?, quantile(sorted, 0.75)?);
    let reach = REACH * (upper - lower);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whiskers_end_at_values_and_what_is_beyond_is_counted() {
        // As matplotlib.cbook.boxplot_stats says.
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
}
