//! Royston's algorithm for the Shapiro–Wilk test of normality.

use std::f64::consts::{FRAC_1_SQRT_2, PI};

use crate::dist::{approximate_normal_quantile, normal_cdf, polynomial};
use crate::summary::{all_finite, ascending};

/// The sample sizes for which Royston fitted his polynomials.
pub const SIZES: std::ops::RangeInclusive<usize> = 3..=5_000;

/// Up to this size the distribution of ln(1 − W) is bounded, and Royston transforms it a second
/// time.
const MOST_SMALL: usize = 11;

// Royston's (1995) polynomials, lowest power first. In 1/√n: the difference of the two outermost
// weights from the normal scores. In n, for small samples: the bound γ of ln(1 − W), and the mean
// and log standard deviation of −ln(γ − ln(1 − W)). In ln n, for larger samples: the mean and log
// standard deviation of ln(1 − W).
const OUTERMOST: [f64; 6] = [0.0, 0.221157, -0.147981, -2.07119, 4.434685, -2.706056];
const NEXT: [f64; 6] = [0.0, 0.042981, -0.293762, -1.752461, 5.682633, -3.582633];
const SMALL_BOUND: [f64; 2] = [-2.273, 0.459];
const SMALL_MEAN: [f64; 4] = [0.544, -0.39978, 0.025054, -6.714e-4];
const SMALL_LN_SD: [f64; 4] = [1.3822, -0.77857, 0.062767, -0.0020322];
const MEAN: [f64; 4] = [-1.5861, -0.31082, -0.083751, 0.0038915];
const LN_SD: [f64; 3] = [-0.4803, -0.082676, 0.0030302];

/// The Shapiro–Wilk statistic: how straight the normal plot of a sample is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ShapiroWilk {
    /// W in (0, 1]: 1 for a sample proportional to the normal scores.
    pub w: f64,
    /// The probability that W is at least as small for a normal sample.
    pub p: f64,
}

/// W = (Σaᵢx₍ᵢ₎)²/Σ(x − x̄)² and its p-value (Shapiro & Wilk 1965), with the weights and the
/// approximate distribution of Royston (1995, algorithm AS R94), as `scipy.stats.shapiro`. Any
/// unit: W and p do not depend on it.
///
/// `None` for fewer than 3 or more than 5,000 values, values that are not finite, or all equal.
/// Costs O(n ln n). Times of one process are neither independent nor usually normal, and with
/// hundreds of them a small p shows little more than that.
pub fn shapiro_wilk(values: &[f64]) -> Option<ShapiroWilk> {
    if !SIZES.contains(&values.len()) || !all_finite(values) {
        return None;
    }
    let mut sorted = ascending(values);
    let n = sorted.len();
    // Relative to a value in the middle, so that a large mean costs no digits; halved, so that no
    // difference overflows.
    let middle = 0.5 * sorted[n / 2];
    let half_range = 0.5 * sorted[n - 1] - 0.5 * sorted[0];
    if half_range == 0.0 {
        return None;
    }
    for x in &mut sorted {
        *x = (0.5 * *x - middle) / half_range;
    }
    let lack = lack_of_straightness(&sorted, &weights(n));
    let w = 1.0 - lack;
    let p = if n == 3 {
        exact_p_of_three(w)
    } else {
        approximate_p(lack, n)
    };
    Some(ShapiroWilk { w, p })
}

/// The weights of the upper half of the sample, largest first; those of the lower half are their
/// negatives.
fn weights(n: usize) -> Vec<f64> {
    if n == 3 {
        return vec![FRAC_1_SQRT_2];
    }
    let place = |i: usize| (i as f64 - 0.375) / (n as f64 + 0.25);
    // The error of this approximate quantile is part of W as published: with an exact quantile, p
    // changes in the sixth digit at n = 5,000.
    let mut weights: Vec<f64> = (1..=n / 2)
        .map(|i| -approximate_normal_quantile(place(i)))
        .collect();
    let squares = 2.0 * weights.iter().map(|score| score * score).sum::<f64>();
    let per_root_n = 1.0 / (n as f64).sqrt();
    // The outermost weight, or for n > 5 the outermost two, come from the polynomials; the rest are
    // proportional to the scores.
    let fitted = if n > 5 { 2 } else { 1 };
    let (mut scores_taken, mut weights_taken) = (0.0, 0.0);
    for (weight, fit) in weights.iter_mut().zip([OUTERMOST, NEXT]).take(fitted) {
        let score = *weight;
        *weight = polynomial(&fit, per_root_n) + score / squares.sqrt();
        scores_taken += 2.0 * score * score;
        weights_taken += 2.0 * *weight * *weight;
    }
    let shrink = ((squares - scores_taken) / (1.0 - weights_taken)).sqrt();
    for weight in &mut weights[fitted..] {
        *weight /= shrink;
    }
    weights
}

/// 1 − W, without the cancellation when W is near 1.
fn lack_of_straightness(sorted: &[f64], weights: &[f64]) -> f64 {
    let n = sorted.len();
    let mean = sorted.iter().sum::<f64>() / n as f64;
    let pairs = weights.iter().zip(sorted.iter().zip(sorted.iter().rev()));
    let product: f64 = pairs
        .map(|(weight, (low, high))| weight * (high - low))
        .sum();
    let weights_squared = 2.0 * weights.iter().map(|weight| weight * weight).sum::<f64>();
    let values_squared: f64 = sorted.iter().map(|x| (x - mean).powi(2)).sum();
    let root = (weights_squared * values_squared).sqrt();
    ((root - product) * (root + product) / (weights_squared * values_squared)).clamp(0.0, 1.0)
}

/// The exact distribution of W for three values: P(W ≤ w) = 6/π·(asin √w − asin √¾).
fn exact_p_of_three(w: f64) -> f64 {
    (6.0 / PI * (w.sqrt().asin() - 0.75_f64.sqrt().asin())).clamp(0.0, 1.0)
}

fn approximate_p(lack: f64, n: usize) -> f64 {
    // A sample proportional to the scores has 1 − W = 0, whose logarithm is infinite.
    let ln_lack = lack.max(f64::MIN_POSITIVE).ln();
    let z = if n <= MOST_SMALL {
        // Always positive: at n = 4 the bound is −0.437 and 1 − W at most 0.371; from n = 5 on the
        // bound is positive.
        let below_bound = polynomial(&SMALL_BOUND, n as f64) - ln_lack;
        (-below_bound.ln() - polynomial(&SMALL_MEAN, n as f64))
            / polynomial(&SMALL_LN_SD, n as f64).exp()
    } else {
        let ln_n = (n as f64).ln();
        (ln_lack - polynomial(&MEAN, ln_n)) / polynomial(&LN_SD, ln_n).exp()
    };
    normal_cdf(-z)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(got: f64, want: f64, tolerance: f64) {
        assert!(
            (got - want).abs() <= tolerance * want.abs(),
            "{got:e} is not {want:e}"
        );
    }

    #[test]
    fn three_values_have_an_exact_distribution() {
        // Weights ±1/√2: W = ½(x₃ − x₁)²/Σ(x − x̄)².
        let found = shapiro_wilk(&[0.0, 1.0, 3.0]).unwrap();
        close(found.w, 4.5 / (42.0 / 9.0), 1e-15);
        close(
            found.p,
            6.0 / PI * (found.w.sqrt().asin() - PI / 3.0),
            1e-14,
        );
        let straight = shapiro_wilk(&[5.0, 6.0, 7.0]).unwrap();
        close(straight.w, 1.0, 1e-15);
        close(straight.p, 1.0, 1e-7);
        // The least W of all, ¾.
        let bent = shapiro_wilk(&[0.0, 0.0, 1.0]).unwrap();
        close(bent.w, 0.75, 1e-15);
        assert!(bent.p < 1e-15);
    }

    #[test]
    fn the_weights_square_to_one_and_fall_towards_the_middle() {
        for n in [4, 5, 6, 7, 11, 12, 51, 5_000] {
            let weights = weights(n);
            assert_eq!(weights.len(), n / 2);
            close(2.0 * weights.iter().map(|w| w * w).sum::<f64>(), 1.0, 1e-12);
            assert!(
                weights
                    .windows(2)
                    .all(|pair| pair[0] > pair[1] && pair[1] > 0.0),
                "{n}"
            );
        }
    }

    #[test]
    fn the_weights_are_those_shapiro_and_wilk_tabled() {
        // Their (1965) table for n = 10, exact to four digits; Royston's fit is accurate to three.
        for (got, want) in weights(10)
            .iter()
            .zip([0.5739, 0.3291, 0.2141, 0.1224, 0.0399])
        {
            assert!((got - want).abs() < 1.5e-3, "{got} {want}");
        }
    }

    #[test]
    fn a_known_sample_gives_the_published_answer() {
        // Weights of eleven men in pounds, from Shapiro & Wilk (1965): W = 0.79.
        let weights = [
            148.0, 154.0, 158.0, 160.0, 161.0, 162.0, 166.0, 170.0, 182.0, 195.0, 236.0,
        ];
        let found = shapiro_wilk(&weights).unwrap();
        close(found.w, 0.7888146948631716, 1e-12);
        close(found.p, 0.006703814061898823, 1e-9);
    }

    #[test]
    fn squares_are_as_far_from_normal_as_scipy_says() {
        for (n, w, p) in [
            (4, 0.9118579656108057, 0.49230134898473227),
            (5, 0.9073674990451115, 0.4519334455778469),
            (8, 0.9012840483447867, 0.2967325939947968),
            (12, 0.897655703043403, 0.1479425449091029),
            (25, 0.8942887792968962, 0.013807670360186194),
            (400, 0.8947433535550195, 5.714994915214022e-16),
        ] {
            let squares: Vec<f64> = (0..n).map(|i| f64::from(i * i)).collect();
            let found = shapiro_wilk(&squares).unwrap();
            close(found.w, w, 1e-13);
            close(found.p, p, 1e-9);
            // A mean of 10¹² times the spread of the smallest values costs no precision as long as
            // the values are exact.
            let far: Vec<f64> = squares.iter().map(|x| x + 2_f64.powi(40)).collect();
            assert_eq!(shapiro_wilk(&far), Some(found));
        }
    }

    #[test]
    fn unit_and_order_do_not_matter() {
        let values = [3.0, 1.0, 4.0, 1.5, 5.0, 9.0, 2.5, 6.0];
        let before = shapiro_wilk(&values).unwrap();
        assert_eq!(
            shapiro_wilk(&values.map(|x| x * 2_f64.powi(900))),
            Some(before)
        );
        let mut turned = values;
        turned.reverse();
        assert_eq!(shapiro_wilk(&turned), Some(before));
        let largest = [f64::MAX, -f64::MAX, 0.0, 0.5 * f64::MAX];
        close(
            shapiro_wilk(&largest).unwrap().w,
            shapiro_wilk(&[2.0, -2.0, 0.0, 1.0]).unwrap().w,
            1e-14,
        );
    }

    #[test]
    fn a_sample_on_the_scores_themselves_is_as_normal_as_can_be() {
        for n in [4, 5, 6, 11, 12, 100] {
            let half = weights(n);
            let middle = std::iter::repeat_n(0.0, n % 2);
            let scores: Vec<f64> = half
                .iter()
                .copied()
                .chain(middle)
                .chain(half.iter().map(|w| -w))
                .collect();
            let found = shapiro_wilk(&scores).unwrap();
            assert!(found.w > 1.0 - 1e-14 && found.p > 0.999, "{n} {found:?}");
        }
    }

    #[test]
    fn the_most_crooked_samples_of_every_size_have_a_p_value() {
        for n in [3, 4, 5, 6, 10, 11, 12, 13, 100, 5_000] {
            let mut values = vec![0.0; n];
            values[0] = 1.0;
            let found = shapiro_wilk(&values).unwrap();
            assert!(
                found.w > 0.0 && (0.0..0.05).contains(&found.p),
                "{n} {found:?}"
            );
        }
    }

    #[test]
    fn sizes_outside_the_fit_and_values_without_spread_have_no_answer() {
        let values: Vec<f64> = (0..5_001).map(f64::from).collect();
        assert_eq!(shapiro_wilk(&values), None);
        assert!(shapiro_wilk(&values[..5_000]).is_some());
        assert!(shapiro_wilk(&values[..3]).is_some());
        assert_eq!(shapiro_wilk(&values[..2]), None);
        assert_eq!(shapiro_wilk(&[]), None);
        assert_eq!(shapiro_wilk(&[0.1; 10]), None);
        assert_eq!(shapiro_wilk(&[1.0, 2.0, f64::NAN]), None);
        assert_eq!(shapiro_wilk(&[1.0, 2.0, f64::INFINITY]), None);
    }
}
