//! The normal distribution.

use std::f64::consts::PI;

use super::beasley_springer::approximate_normal_quantile;

/// A step this short leaves an error below 1e-14.
const ENOUGH: f64 = 1e-7;

/// Never needed; a loop should have an end that one can see.
const MOST_STEPS: usize = 5;

/// Φ(z), the standard normal probability below `z`.
pub fn normal_cdf(z: f64) -> f64 {
    if z < 0.0 {
        normal_upper_tail(-z)
    } else {
        1.0 - normal_upper_tail(z)
    }
}

/// The `z` with Φ(z) = `p`, for `p` in (0, 1).
///
/// `p` is moved into [2.3e-308, 1 − 1.2e-16] first, so the answer is always finite.
pub fn normal_quantile(p: f64) -> f64 {
    let p = clamp_probability(p);
    // 1 − p is exact for p ≥ ½, so nothing is lost by working in the lower tail only.
    if p > 0.5 {
        -lower_normal_quantile(1.0 - p)
    } else {
        lower_normal_quantile(p)
    }
}

/// Newton steps on ln Φ, nearly a parabola in the lower tail: each squares the error. From the first value one is enough
/// in the centre, two or three further out.
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

/// P(Z ≥ z) for z ≥ 0: the all-positive series z + z³/3 + z⁵/15 + … near the centre, the continued fraction
/// 1/(z + 1/(z + 2/(z + …))) beyond it (DLMF 7.6.2, 7.9.3).
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
    // Evaluated from the far end; the number of levels needed falls as 1/z².
    let levels = (20.0 + 1000.0 / (z * z)) as u32;
    let fraction = (1..=levels)
        .rev()
        .fold(z, |inner, k| z + f64::from(k) / inner);
    normal_density(z) / fraction
}

/// Into the open unit interval; what is no number becomes one half.
pub(super) fn clamp_probability(p: f64) -> f64 {
    if p.is_nan() {
        return 0.5;
    }
    p.clamp(f64::MIN_POSITIVE, 1.0 - f64::EPSILON / 2.0)
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
                // What the last digit of z does to Φ; and Φ near z = −2.5 is what two numbers near ½ leave.
                let allowed = (4.0 * f64::EPSILON * z * z).max(5e-14);
                let error = normal_cdf(z) / p - 1.0;
                assert!(error.abs() < allowed, "{p:e}: {error:e}");
            }
        }
    }
}
