//! Student's t distribution.

use std::f64::consts::PI;

use super::incomplete::{beta_fraction, gamma_half_step};
use super::{normal_cdf, normal_quantile};
use crate::summary::finite;

/// Above this many degrees of freedom the t tail comes from Hill's expansion, which is then
/// accurate to 1e-13 and needs no iteration; below, from a continued fraction.
const LARGE_DF: f64 = 5_000.0;

/// The probability that |T| ≥ |t| for Student's t with `df` degrees of freedom (`df` below 1 counts
/// as 1).
pub fn t_two_sided_p(t: f64, df: f64) -> f64 {
    (2.0 * t_upper_tail(t.abs(), clamp_df(df))).min(1.0)
}

/// The half-width, in standard errors, of a two-sided interval that misses the truth with
/// probability `two_sided_level`.
///
/// This is the quantile at 1 − level/2, computed from the upper tail, so that tiny levels keep all
/// their digits.
pub fn t_critical(two_sided_level: f64, df: f64) -> f64 {
    t_from_tail(
        0.5 * two_sided_level.clamp(2.0 * f64::MIN_POSITIVE, 1.0),
        clamp_df(df),
    )
}

/// The standard normal deviate with the sign and the tail probability of `t` with `df` degrees of
/// freedom. If `t` is NaN, returns 0.
pub fn normal_deviate(t: f64, df: f64) -> f64 {
    if t.is_nan() {
        return 0.0;
    }
    let tail = 0.5 * t_two_sided_p(t.clamp(-f64::MAX, f64::MAX), df);
    -normal_quantile(tail) * t.signum()
}

/// The log density at `t` of Student's t with `df` degrees of freedom (`df` below 1 counts as 1).
pub fn t_log_density(t: f64, df: f64) -> f64 {
    let df = clamp_df(df);
    let middle = gamma_half_step(0.5 * df) / (df * PI).sqrt();
    middle.ln() - 0.5 * (df + 1.0) * ln_1_plus_square(t.abs() / df.sqrt())
}

/// Clamps degrees of freedom to at least 1, and at most the largest value for which the expansion
/// does not overflow. Far below that value, t is already normal.
fn clamp_df(df: f64) -> f64 {
    if df.is_nan() {
        1.0
    } else {
        df.clamp(1.0, 1e30)
    }
}

/// P(T ≥ t) for t ≥ 0.
fn t_upper_tail(t: f64, df: f64) -> f64 {
    if df > LARGE_DF {
        normal_cdf(-normal_equivalent(t, df))
    } else if t * t < 3.0 {
        0.5 - t_central(t, df)
    } else {
        let r = t / df.sqrt();
        let x = (-ln_1_plus_square(r)).exp();
        let one_minus_x = 1.0 / (1.0 + 1.0 / (r * r));
        let front = (-0.5 * df * ln_1_plus_square(r)).exp() * one_minus_x.sqrt();
        0.5 * front * gamma_half_step(0.5 * df) / (0.5 * df * PI.sqrt())
            * beta_fraction(0.5 * df, 0.5, x)
    }
}

/// P(0 ≤ T ≤ t) for small t, without the cancellation of ½ − tail.
fn t_central(t: f64, df: f64) -> f64 {
    if df > LARGE_DF {
        return 0.5 - normal_cdf(-normal_equivalent(t, df));
    }
    let r = t / df.sqrt();
    let y = r * r / (1.0 + r * r);
    let front = (-0.5 * df * ln_1_plus_square(r)).exp() * y.sqrt();
    front * gamma_half_step(0.5 * df) / PI.sqrt() * beta_fraction(0.5, 0.5 * df, y)
}

/// t times the density at `t`: the derivative of the tail by ln t, negated. The product underflows
/// no earlier than the tail itself; the density alone would.
fn t_times_density(t: f64, df: f64) -> f64 {
    let r = t / df.sqrt();
    gamma_half_step(0.5 * df) / PI.sqrt() * (-0.5 * df * ln_1_plus_square(r)).exp()
        / (1.0 + 1.0 / (r * r)).sqrt()
}

/// ln(1 + r²), also if r² overflows.
fn ln_1_plus_square(r: f64) -> f64 {
    if r > 1e100 {
        2.0 * r.ln()
    } else {
        (r * r).ln_1p()
    }
}

/// The z with the same tail probability as `t` (Hill 1970, expansion in 1/(ν − ½)²).
fn normal_equivalent(t: f64, df: f64) -> f64 {
    let a = df - 0.5;
    let b = 48.0 * a * a;
    let w2 = a * ln_1_plus_square(t / df.sqrt());
    let w = w2.sqrt();
    let second = w * (((4.0 * w2 + 33.0) * w2 + 240.0) * w2 + 855.0)
        / (10.0 * b * (b + 0.8 * w2 * w2 + 100.0));
    w + w * (w2 + 3.0) / b - second
}

/// The t ≥ 0 with P(T ≥ t) = `tail`, for `tail` in (0, ½].
fn t_from_tail(tail: f64, df: f64) -> f64 {
    if tail >= 0.25 {
        t_from_central(0.5 - tail, df)
    } else {
        t_from_small_tail(tail, df)
    }
}

/// Newton's method on the central probability, which is concave in t, so that from the left it
/// never overshoots.
fn t_from_central(area: f64, df: f64) -> f64 {
    let density_at_zero = gamma_half_step(0.5 * df) / (df * PI).sqrt();
    let mut t = area / density_at_zero;
    for _ in 0..60 {
        if t == 0.0 {
            break;
        }
        let step = (area - t_central(t, df)) * t / t_times_density(t, df);
        t += step;
        if step.abs() <= 1e-16 * t {
            break;
        }
    }
    t
}

const MOST_STEPS: usize = 200;

/// Newton's method on ln(tail) as a function of ln t, which is concave and decreasing, so that
/// every step except the first lands to the right of the root, and the rest descend to it.
/// Power-law tails are straight lines there, so few steps are needed.
fn t_from_small_tail(tail: f64, df: f64) -> f64 {
    let target = tail.ln();
    // The normal quantile is left of the root. A first step beyond the smallest tails (1e-300, 182
    // degrees of freedom) is halved.
    let (mut ln_t, mut step) = ((-normal_quantile(tail)).ln(), 0.0);
    // The values visited so far.
    let mut trace = Vec::new();
    for taken in 0..MOST_STEPS {
        if let Some(before) = trace.iter().position(|past| *past == ln_t) {
            // Because of rounding, the steps repeat in a cycle.
            let circle = &trace[before..];
            ln_t = circle[(MOST_STEPS - taken) % circle.len()];
            break;
        }
        trace.push(ln_t);
        let t = ln_t.exp();
        let above = t_upper_tail(t, df);
        if above == 0.0 {
            step *= 0.5;
            ln_t -= step;
            // Steps from a value visited before may now differ.
            trace.clear();
            continue;
        }
        let slope = -t_times_density(t, df) / above;
        step = finite((target - above.ln()) / slope).unwrap_or(0.0);
        ln_t += step;
        if step.abs() <= 1e-15 {
            break;
        }
    }
    ln_t.min(f64::MAX.ln()).exp().min(f64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dist::close;

    #[test]
    fn one_degree_of_freedom_is_the_cauchy_distribution() {
        for t in [1e-8, 0.3, 1.0, 1.7, 2.0, 50.0, 1e9, 1e200] {
            close(t_two_sided_p(t, 1.0), 2.0 * (1.0 / t).atan() / PI, 1e-13);
        }
        for tail in [0.4, 0.1, 1e-3, 1e-12, 1e-200] {
            close(t_critical(2.0 * tail, 1.0), 1.0 / (PI * tail).tan(), 1e-12);
        }
    }

    #[test]
    fn a_circle_ends_where_all_steps_around_it_would() {
        let step_by_step = |tail: f64, df: f64| {
            let (mut ln_t, mut step) = ((-normal_quantile(tail)).ln(), 0.0);
            for _ in 0..MOST_STEPS {
                let t = ln_t.exp();
                let above = t_upper_tail(t, df);
                if above == 0.0 {
                    step *= 0.5;
                    ln_t -= step;
                    continue;
                }
                let slope = -t_times_density(t, df) / above;
                step = finite((tail.ln() - above.ln()) / slope).unwrap_or(0.0);
                ln_t += step;
                if step.abs() <= 1e-15 {
                    break;
                }
            }
            ln_t.min(f64::MAX.ln()).exp().min(f64::MAX)
        };
        for place in 0..400 {
            let df = 1.0 + f64::from(place).powf(1.6);
            for tail in [0.2, 0.025, 1e-4, 1e-9, 1e-30, 1e-200, 1e-300] {
                let found = t_from_small_tail(tail, df);
                assert_eq!(found, step_by_step(tail, df), "{tail} {df}");
            }
        }
    }

    #[test]
    fn quantile_and_tail_undo_each_other_for_every_size_of_sample() {
        for df in [1.0, 2.0, 3.5, 5.0, 39.0, 999.0, 1001.0, 1e6, 1e12] {
            for level in [0.9, 0.5, 0.05, 1e-4, 1e-9, 1e-30] {
                close(t_two_sided_p(t_critical(level, df), df), level, 1e-11);
            }
        }
    }

    #[test]
    fn the_two_ways_to_the_t_tail_meet_where_they_change_over() {
        for t in [0.1_f64, 1.0, 3.0, 8.0, 20.0] {
            let by_fraction = 2.0 * t_upper_tail(t, LARGE_DF);
            let by_expansion = 2.0 * normal_cdf(-normal_equivalent(t, LARGE_DF));
            close(by_expansion, by_fraction, 3e-12);
        }
    }

    #[test]
    fn the_normal_deviate_of_t_has_the_same_tail_and_nears_it_with_the_degrees_of_freedom() {
        for t in [-9.0, -1.0, 0.2, 3.0, 30.0] {
            for df in [1.0, 5.0, 39.0, 1e6] {
                let z = normal_deviate(t, df);
                close(2.0 * normal_cdf(-z.abs()), t_two_sided_p(t, df), 1e-10);
                assert!(z * t > 0.0 && z.abs() <= t.abs(), "{t} {df}: {z}");
            }
        }
        close(normal_deviate(2.0, 1e12), 2.0, 1e-9);
        assert_eq!(normal_deviate(0.0, 5.0), 0.0);
        assert!(normal_deviate(f64::INFINITY, 1e9).is_finite());
        assert_eq!(normal_deviate(f64::NAN, 3.0), 0.0);
    }

    #[test]
    fn the_density_of_one_two_and_many_degrees_of_freedom_is_that_of_the_textbook() {
        for t in [-3.0, 0.0, 0.4, 1.7, 30.0, 1e9_f64] {
            let cauchy = -(PI * (1.0 + t * t)).ln();
            close(t_log_density(t, 1.0), cauchy, 1e-13);
            let two = -1.5 * (2.0 + t * t).ln();
            close(t_log_density(t, 2.0), two, 1e-13);
        }
        for t in [0.0, 0.4, 3.0_f64] {
            let normal = -0.5 * (t * t + (2.0 * PI).ln());
            close(t_log_density(t, 1e12), normal, 1e-11);
        }
    }

    #[test]
    fn the_median_is_exactly_zero() {
        assert_eq!(t_critical(1.0, 7.0), 0.0);
        assert_eq!(t_two_sided_p(0.0, 7.0), 1.0);
    }

    #[test]
    fn arguments_outside_the_domain_still_give_finite_answers() {
        for p in [-1.0, 0.0, 5e-324, 1.0, 2.0, f64::NAN] {
            let p_or = |other| if p.is_nan() { other } else { p };
            for df in [-3.0, 0.0, 1.0, 1e300, f64::NAN] {
                assert!(t_critical(p_or(0.5), df).is_finite(), "{p} {df}");
                assert!(t_two_sided_p(p_or(0.0) * 1e300, df).is_finite(), "{p} {df}");
                assert!(t_log_density(p_or(0.0) * 1e300, df).is_finite(), "{p} {df}");
            }
        }
    }
}
