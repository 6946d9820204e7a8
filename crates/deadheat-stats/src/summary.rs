//! Plain summaries of a slice: location, spread, order statistics; and [`Centred`], a sample as
//! deviations from its mean.
//!
//! `None` means that the figure does not exist: the slice is empty, a value is not finite, or the
//! result overflows. The order of the slice has no effect beyond rounding. Negating every value
//! negates every location and leaves every spread unchanged, to the last bit.

/// 1/Φ⁻¹(¾): makes the median absolute deviation of normal data estimate their standard deviation.
pub const MAD_TO_SD: f64 = 1.482602218505602;

/// The interquartile range of a normal distribution, in standard deviations.
pub const IQR_PER_SD: f64 = 1.349;

/// √(π/2): makes the mean absolute deviation of normal data estimate their standard deviation.
pub const MEAN_ABS_DEV_TO_SD: f64 = 1.2533;

/// The middle value, or halfway between the two middle values. Copies the slice once; O(n).
pub fn median(values: &[f64]) -> Option<f64> {
    median_in_place(&mut values.to_vec())
}

/// [`median`] in O(n) without a copy; reorders the slice.
pub fn median_in_place(values: &mut [f64]) -> Option<f64> {
    (!values.is_empty() && all_finite(values)).then(|| middle(values))
}

/// From this many values on, a subsample first locates the median.
const MANY: usize = 10_000;

/// The median of a slice known to be non-empty and finite.
pub(crate) fn middle(values: &mut [f64]) -> f64 {
    let (half, odd) = (values.len() / 2, values.len() % 2 == 1);
    if values.len() >= MANY
        && let Some((below, mut around)) = around_the_middle(values)
    {
        return middle_at(&mut around, half - below, odd);
    }
    middle_at(values, half, odd)
}

/// The number of values below a bracket and the values inside it, if the bracket holds both middle
/// values.
///
/// The bracket is computed from about n^⅔ of the values (Floyd & Rivest 1975). Selecting from the
/// few values inside it takes a fraction of the time of selecting from all. An unlucky subsample
/// costs only time.
fn around_the_middle(values: &[f64]) -> Option<(usize, Vec<f64>)> {
    let step = (values.len() as f64).cbrt() as usize;
    let mut sample: Vec<f64> = values.iter().copied().step_by(step).collect();
    // Four standard errors of the rank of the median.
    let margin = 2 * (sample.len() as f64).sqrt() as usize;
    let half = sample.len() / 2;
    let (smaller, &mut high, _) = sample.select_nth_unstable_by(half + margin, f64::total_cmp);
    let (lower, &mut centre, _) = smaller.select_nth_unstable_by(half, f64::total_cmp);
    let low = *lower
        .select_nth_unstable_by(half - margin, f64::total_cmp)
        .1;
    // One comparison tells whether a value is inside. With two, the first would be true half of the
    // time, and the branch could not be predicted.
    let width = (high - centre).max(centre - low);
    let below = values.iter().filter(|&&x| x - centre < -width).count();
    let mut inside = Vec::with_capacity(8 * sample.len());
    inside.extend(values.iter().filter(|&&x| (x - centre).abs() <= width));
    let half = values.len() / 2;
    (below < half && half - below < inside.len()).then_some((below, inside))
}

/// Returns the value of rank `half` if `odd`, otherwise the midpoint between it and the value
/// before it.
fn middle_at(values: &mut [f64], half: usize, odd: bool) -> f64 {
    let (below, &mut upper, _) = values.select_nth_unstable_by(half, f64::total_cmp);
    if odd {
        return upper;
    }
    let lower = below.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    lower.midpoint(upper)
}

/// The middle of an ascending slice, or halfway between the two middle values.
pub fn median_of_sorted(sorted: &[f64]) -> Option<f64> {
    if sorted.is_empty() || !all_finite(sorted) {
        return None;
    }
    let upper = sorted[sorted.len() / 2];
    Some(if sorted.len() % 2 == 1 {
        upper
    } else {
        sorted[sorted.len() / 2 - 1].midpoint(upper)
    })
}

/// The arithmetic mean.
pub fn mean(values: &[f64]) -> Option<f64> {
    if values.is_empty() || !all_finite(values) {
        return None;
    }
    let sum: f64 = values.iter().sum();
    Some(if sum.is_finite() {
        sum / values.len() as f64
    } else {
        running_mean(values)
    })
}

/// The mean as a running average, which is slower and less exact than a sum, but does not overflow.
fn running_mean(values: &[f64]) -> f64 {
    let counted = values.iter().zip(1_u64..);
    counted.fold(0.0, |mean, (x, count)| {
        mean + (x / count as f64 - mean / count as f64)
    })
}

/// The smallest value.
pub fn min(values: &[f64]) -> Option<f64> {
    if !all_finite(values) {
        return None;
    }
    values.iter().copied().reduce(f64::min)
}

/// The largest value.
pub fn max(values: &[f64]) -> Option<f64> {
    if !all_finite(values) {
        return None;
    }
    values.iter().copied().reduce(f64::max)
}

/// The `q`-quantile of an ascending slice, `q` in [0, 1], by linear interpolation between order
/// statistics (type 7 of Hyndman & Fan 1996, the default of R and NumPy): position q·(n − 1),
/// counted from 0.
pub fn quantile(sorted: &[f64], q: f64) -> Option<f64> {
    if sorted.is_empty() || !(0.0..=1.0).contains(&q) || !all_finite(sorted) {
        return None;
    }
    let position = q * (sorted.len() - 1) as f64;
    let lower = sorted[position.floor() as usize];
    let upper = sorted[position.ceil() as usize];
    let weight = position.fract();
    // This form, unlike lower + weight·(upper − lower), gives the same result from both ends of the
    // slice.
    Some(if lower == upper {
        lower
    } else {
        (1.0 - weight) * lower + weight * upper
    })
}

/// The median-unbiased estimate of a quantile from a sample (type 8 of Hyndman & Fan 1996),
/// reordering the slice. O(n). `None` if `q` is not between 0 and 1.
///
/// The usual estimate, [`quantile`], is at position (n − 1)·q, which is too low above the median
/// and too high below it: for 500 log-normal values, its 99% quantile was 1.5% too small.
pub fn quantile_in_place(values: &mut [f64], q: f64) -> Option<f64> {
    if values.is_empty() || !(q > 0.0 && q < 1.0) || !all_finite(values) {
        return None;
    }
    let last = values.len() - 1;
    // Positions count from 0.
    let position = (values.len() as f64 + 1.0 / 3.0) * q - 2.0 / 3.0;
    let position = position.clamp(0.0, last as f64);
    let (_, lower, above) = values.select_nth_unstable_by(position as usize, f64::total_cmp);
    let upper = above.iter().copied().fold(f64::INFINITY, f64::min);
    let weight = position.fract();
    Some(if weight == 0.0 || *lower == upper {
        *lower
    } else {
        (1.0 - weight) * *lower + weight * upper
    })
}

/// The standard deviation with n − 1 in the denominator; needs two values.
pub fn std_dev(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    // Halved, because the difference of the two largest numbers overflows.
    let half_mean = 0.5 * mean(values)?;
    let half_deviations = || values.iter().map(|x| (0.5 * x - half_mean).abs());
    let largest = half_deviations().fold(0.0, f64::max);
    if largest == 0.0 {
        return Some(0.0);
    }
    // In units of the largest deviation, so that squares neither overflow nor underflow.
    let squares: f64 = half_deviations()
        .map(|deviation| (deviation / largest).powi(2))
        .sum();
    finite(2.0 * largest * (squares / (values.len() - 1) as f64).sqrt())
}

/// The normal-consistent median absolute deviation, 1.4826…·median|x − median(x)| (Hampel 1974).
pub fn scaled_mad(values: &[f64]) -> Option<f64> {
    let mut scratch = values.to_vec();
    let centre = median_in_place(&mut scratch)?;
    scratch.iter_mut().for_each(|x| *x = (*x - centre).abs());
    finite(MAD_TO_SD * median_in_place(&mut scratch)?)
}

pub(crate) fn ascending(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted
}

pub(crate) fn all_finite(values: &[f64]) -> bool {
    values.iter().all(|x| x.is_finite())
}

pub(crate) fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

/// Deviations from the mean in units of the largest deviation, so that their powers neither
/// overflow nor underflow.
#[derive(Debug, Clone, PartialEq)]
pub struct Centred {
    /// The mean, corrected by a second pass over the data.
    pub(crate) mean: f64,
    /// Half the largest deviation (the whole may overflow); 0 for a sample without spread.
    half_unit: f64,
    /// (x − mean)/(largest deviation) for each value x: within ±1, and all 0 for a sample without
    /// spread.
    pub(crate) deviations: Vec<f64>,
    /// Σ of the second, third and fourth powers of the deviations, computed in one pass: three
    /// independent sums hide the latency of each addition.
    pub(crate) powers: [f64; 3],
}

impl Centred {
    /// `None` for an empty sample and for values that are not finite.
    pub fn new(values: &[f64]) -> Option<Self> {
        let first = *values.first()?;
        if !all_finite(values) {
            return None;
        }
        // The sum of equal numbers divided by their count may differ from the number by rounding.
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
                powers: [0.0; 3],
            });
        }
        for deviation in &mut deviations {
            *deviation /= half_unit;
        }
        // The mean of the deviations, nonzero because of rounding, is moved into the mean.
        let left = deviations.iter().sum::<f64>() / deviations.len() as f64;
        let mut powers = [0.0; 3];
        for deviation in &mut deviations {
            *deviation -= left;
            let square = *deviation * *deviation;
            powers[0] += square;
            powers[1] += square * *deviation;
            powers[2] += square * square;
        }
        Some(Self {
            mean: finite(about + 2.0 * (left * half_unit))?,
            half_unit,
            deviations,
            powers,
        })
    }

    /// Returns true if any two values differ.
    pub fn has_spread(&self) -> bool {
        self.half_unit > 0.0
    }

    /// The number of values, at least 1.
    pub(crate) fn count(&self) -> f64 {
        self.deviations.len() as f64
    }

    /// Σ of the squares of the deviations, in squares of the unit.
    pub(crate) fn squares(&self) -> f64 {
        self.powers[0]
    }

    /// √(Σ(x − x̄)²/`divisor`), in the unit of the values; `None` if too large to represent.
    pub(crate) fn root_mean_square(&self, divisor: f64) -> Option<f64> {
        finite(2.0 * (self.half_unit * (self.squares() / divisor).sqrt()))
    }
}

#[cfg(test)]
mod tests {
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::SeedableRng;

    use super::*;
    use crate::rng::uniform;

    #[test]
    fn the_median_of_an_even_count_lies_halfway_between_the_middle_two() {
        assert_eq!(median(&[4.0, 1.0, 3.0, 2.0]), Some(2.5));
        assert_eq!(median(&[9.0, 1.0, 3.0]), Some(3.0));
        assert_eq!(median(&[7.0]), Some(7.0));
        assert_eq!(median(&[5.0, 5.0]), Some(5.0));
        for sorted in [
            &[1.0, 2.0, 3.0, 4.0][..],
            &[1.0, 3.0, 9.0],
            &[7.0],
            &[],
            &[1.0, f64::NAN],
        ] {
            assert_eq!(median_of_sorted(sorted), median(sorted));
        }
    }

    #[test]
    fn many_values_have_the_median_that_sorting_finds() {
        let mut scrambled = 1_u64;
        let mut next = || {
            scrambled = scrambled
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (scrambled >> 40) as f64
        };
        for n in [MANY, MANY + 1, 50_003] {
            let random: Vec<f64> = (0..n).map(|_| next()).collect();
            let tied = random.iter().map(|x| (x / 4e6).floor()).collect();
            let ascending: Vec<f64> = (0..n).map(|i| i as f64).collect();
            // Every value that the subsample reads is far from the median.
            let deceiving = (0..n).map(|i| {
                if i % (n as f64).cbrt() as usize == 0 {
                    9.0
                } else {
                    next() - 1e9
                }
            });
            for values in [random.clone(), tied, ascending, deceiving.collect()] {
                let mut sorted = values.clone();
                sorted.sort_by(f64::total_cmp);
                assert_eq!(median(&values), quantile(&sorted, 0.5), "{n}");
            }
        }
    }

    type Figure = fn(&[f64]) -> Option<f64>;

    const FIGURES: [Figure; 6] = [median, mean, min, max, std_dev, scaled_mad];

    #[test]
    fn nothing_can_be_said_of_an_empty_slice() {
        for figure in FIGURES {
            assert_eq!(figure(&[]), None);
        }
        assert_eq!(quantile(&[], 0.5), None);
        assert_eq!(std_dev(&[1.0]), None);
    }

    #[test]
    fn a_value_that_is_not_a_number_poisons_the_figure_not_the_program() {
        for figure in FIGURES {
            assert_eq!(figure(&[1.0, f64::NAN, 2.0]), None);
            assert_eq!(figure(&[1.0, f64::INFINITY, 2.0]), None);
        }
    }

    #[test]
    fn quantiles_interpolate_between_order_statistics() {
        let sorted = [1.0, 2.0, 4.0, 8.0];
        assert_eq!(quantile(&sorted, 0.0), Some(1.0));
        assert_eq!(quantile(&sorted, 0.5), Some(3.0));
        assert_eq!(quantile(&sorted, 0.75), Some(5.0));
        assert_eq!(quantile(&sorted, 1.0), Some(8.0));
        assert_eq!(quantile(&sorted, 1.1), None);
    }

    #[test]
    fn half_of_all_samples_estimate_a_quantile_too_high_and_half_too_low() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
        for (q, n) in [(0.5, 10), (0.9, 50), (0.99, 500), (0.01, 500)] {
            // Of uniform values, the q-quantile is q.
            let above = (0..4_000).filter(|_| {
                let mut values: Vec<f64> = (0..n).map(|_| uniform(&mut rng)).collect();
                quantile_in_place(&mut values, q).unwrap() > q
            });
            let above = above.count();
            // Four binomial standard errors.
            assert!((1_874..=2_126).contains(&above), "{q}: {above}");
        }
    }

    #[test]
    fn a_quantile_is_between_the_values_around_it() {
        let mut values = [9.0, 1.0, 5.0, 3.0, 7.0];
        assert_eq!(quantile_in_place(&mut values, 0.5), Some(5.0));
        assert_eq!(quantile_in_place(&mut values, 0.999), Some(9.0));
        assert_eq!(quantile_in_place(&mut values, 0.001), Some(1.0));
        let between = quantile_in_place(&mut values, 0.6).unwrap();
        assert!((5.0..7.0).contains(&between), "{between}");
        for (values, q) in [
            (&mut [][..], 0.5),
            (&mut [1.0, f64::NAN], 0.5),
            (&mut [1.0], 1.0),
        ] {
            assert_eq!(quantile_in_place(values, q), None);
        }
    }

    #[test]
    fn the_spreads_of_a_small_known_sample_are_right() {
        let values = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0];
        assert_eq!(mean(&values), Some(5.0));
        assert!((std_dev(&values).unwrap() - (32.0_f64 / 7.0).sqrt()).abs() < 1e-15);
        assert_eq!(scaled_mad(&values), Some(0.5 * MAD_TO_SD));
        assert_eq!((min(&values), max(&values)), (Some(2.0), Some(9.0)));
    }

    #[test]
    fn the_largest_numbers_neither_overflow_nor_become_infinite() {
        let huge = [f64::MAX, f64::MAX, -f64::MAX];
        assert_eq!(median(&huge), Some(f64::MAX));
        assert_eq!(median(&[f64::MAX, f64::MAX]), Some(f64::MAX));
        assert!((mean(&huge).unwrap() / f64::MAX - 1.0 / 3.0).abs() < 1e-15);
        assert_eq!(std_dev(&[f64::MAX, f64::MAX]), Some(0.0));
        assert!(std_dev(&[5e-324, 0.0]).unwrap() >= 0.0);
    }

    #[test]
    fn deviations_are_counted_in_the_largest() {
        let centred = Centred::new(&[1.0, 2.0, 6.0]).unwrap();
        assert_eq!(centred.mean, 3.0);
        for (got, want) in centred.deviations.iter().zip([-2.0 / 3.0, -1.0 / 3.0, 1.0]) {
            assert!((got - want).abs() < 1e-15);
        }
        assert!((centred.squares() - 14.0 / 9.0).abs() < 1e-15);
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
    fn the_second_pass_corrects_the_rounding_of_the_mean() {
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
