//! The distributions that the other files use: normal, Student's t, F, chi-squared, binomial. This
//! file contains the normal distribution, and the approximate normal quantile of Beasley &
//! Springer, reproduced to the last digit. Royston's algorithm for the Shapiro–Wilk test requires
//! this approximation, and the exact quantile starts from it.
//!
//! Tests check the accuracy against `scipy.special` to 1e-10 relative, including the tails.
//! Arguments outside a function's domain are clamped to its nearest edge, so that every finite
//! input has a finite result. No function here panics.

mod binomial;
mod incomplete;
mod student;

use std::f64::consts::PI;

pub use binomial::{binomial_cdf, binomial_two_sided_p, share_bounds};
pub use incomplete::{chi_squared_upper_tail, f_upper_tail};
pub use student::{normal_deviate, t_critical, t_log_density, t_two_sided_p};

/// Newton's iteration for a normal quantile ends at a step of at most this length: the error is
/// then below 1e-14.
const ENOUGH: f64 = 1e-7;

/// Upper limit of the number of Newton steps, which is never reached.
const MOST_STEPS: usize = 5;

/// Φ(z), the probability that a standard normal variable is below `z`.
pub fn normal_cdf(z: f64) -> f64 {
    if z < 0.0 {
        normal_upper_tail(-z)
    } else {
        1.0 - normal_upper_tail(z)
    }
}

/// The `z` with Φ(z) = `p`, for `p` in (0, 1).
///
/// `p` is clamped to [2.3e-308, 1 − 1.2e-16], so the result is always finite.
pub fn normal_quantile(p: f64) -> f64 {
    let p = clamp_probability(p);
    // 1 − p is exact for p ≥ ½, so nothing is lost by working in the lower tail only.
    if p > 0.5 {
        -lower_normal_quantile(1.0 - p)
    } else {
        lower_normal_quantile(p)
    }
}

/// Returns the quantile for `p` up to ½, by Newton steps on ln Φ, which is nearly a parabola in the
/// lower tail. Each step squares the error. From the starting value, one step is enough in the
/// centre, two or three in the tail.
fn lower_normal_quantile(p: f64) -> f64 {
    let mut z = approximate_normal_quantile(p);
    for _ in 0..MOST_STEPS {
        let below = normal_upper_tail(-z);
        let step = (below / p).ln() * below / normal_density(z);
        z -= step;
        if step.abs() < ENOUGH {
            break;
        }
    }
    z
}

fn normal_density(z: f64) -> f64 {
    (-0.5 * z * z).exp() / (2.0 * PI).sqrt()
}

/// P(Z ≥ z) for z ≥ 0: near the centre the series z + z³/3 + z⁵/15 + …, whose terms are all
/// positive, further out the continued fraction 1/(z + 1/(z + 2/(z + …))) (DLMF 7.6.2, 7.9.3).
fn normal_upper_tail(z: f64) -> f64 {
    if z < 2.5 {
        let (mut term, mut sum, mut odd) = (z, z, 1.0);
        while term > f64::EPSILON * 1e-2 * sum {
            odd += 2.0;
            term *= z * z / odd;
            sum += term;
        }
        return 0.5 - normal_density(z) * sum;
    }
    // Evaluated from the innermost level; the number of levels needed falls as 1/z².
    let levels = (20.0 + 1000.0 / (z * z)) as u32;
    let fraction = (1..=levels)
        .rev()
        .fold(z, |inner, k| z + f64::from(k) / inner);
    normal_density(z) / fraction
}

/// Clamps to the open unit interval; NaN becomes one half.
fn clamp_probability(p: f64) -> f64 {
    if p.is_nan() {
        return 0.5;
    }
    p.clamp(f64::MIN_POSITIVE, 1.0 - f64::EPSILON / 2.0)
}

/// |p − ½| up to which the central polynomials are valid.
const CENTRE: f64 = 0.42;

// Coefficients of Beasley & Springer (1977, algorithm AS 111), lowest power first: in (p − ½)² near
// the centre, in √(−ln p) further out.
const CENTRE_OVER: [f64; 4] = [
    2.50662823884,
    -18.61500062529,
    41.39119773534,
    -25.44106049637,
];
const CENTRE_UNDER: [f64; 5] = [
    1.0,
    -8.47351093090,
    23.08336743743,
    -21.06224101826,
    3.13082909833,
];
const TAIL_OVER: [f64; 4] = [-2.78718931138, -2.29796479134, 4.85014127135, 2.32121276858];
const TAIL_UNDER: [f64; 3] = [1.0, 3.54388924762, 1.63706781897];

/// Φ⁻¹(p) for p in (0, ½], with an error of at most 4e-9, and of up to 8e-7 for p from 0.005 down
/// to 1e-4. Further out the error grows slowly, to 0.04 at the smallest representable p.
pub(crate) fn approximate_normal_quantile(p: f64) -> f64 {
    let q = p - 0.5;
    if q.abs() <= CENTRE {
        return q * polynomial(&CENTRE_OVER, q * q) / polynomial(&CENTRE_UNDER, q * q);
    }
    let root = (-p.ln()).sqrt();
    -polynomial(&TAIL_OVER, root) / polynomial(&TAIL_UNDER, root)
}

/// The value of a polynomial at `x`; coefficients with the lowest power first.
pub(crate) fn polynomial(coefficients: &[f64], x: f64) -> f64 {
    coefficients.iter().rev().fold(0.0, |sum, c| sum * x + c)
}

/// Asserts that two numbers are equal within a relative tolerance.
#[cfg(test)]
#[track_caller]
fn close(got: f64, want: f64, tolerance: f64) {
    assert!(
        (got - want).abs() <= tolerance * want.abs().max(f64::MIN_POSITIVE),
        "{got} is not {want}"
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_exactly_zero() {
        assert_eq!(normal_quantile(0.5), 0.0);
    }

    #[test]
    fn arguments_outside_the_domain_still_give_finite_answers() {
        for p in [-1.0, 0.0, 5e-324, 1.0, 2.0, f64::NAN] {
            assert!(normal_quantile(p).is_finite(), "{p}");
        }
    }

    #[test]
    fn the_quantile_is_as_exact_as_its_argument_down_to_the_last_tail() {
        for exponent in 0..307 {
            for p in [0.5, 0.31, 0.08, 0.079].map(|p| p * 10f64.powi(-exponent)) {
                let z = normal_quantile(p);
                // The effect of the last digit of z on Φ; near z = −2.5, the rounding error of a
                // difference of two numbers near ½.
                let allowed = (4.0 * f64::EPSILON * z * z).max(5e-14);
                let error = normal_cdf(z) / p - 1.0;
                assert!(error.abs() < allowed, "{p:e}: {error:e}");
            }
        }
    }

    #[test]
    fn the_published_quantile_has_the_error_it_is_known_for() {
        for i in 5..500 {
            let p = f64::from(i) / 1_000.0;
            let error = approximate_normal_quantile(p) - normal_quantile(p);
            assert!(error.abs() < 4e-9, "{p} {error:e}");
        }
        let far = approximate_normal_quantile(1e-4) - normal_quantile(1e-4);
        assert!((far + 7.885815e-7).abs() < 1e-12, "{far:e}");
        // Far out, the approximation only serves as a starting value.
        let last = approximate_normal_quantile(1e-307) - normal_quantile(1e-307);
        assert!((-0.04..-0.03).contains(&last), "{last:e}");
    }
}
