//! The distributions every other file leans on: normal, Student's t, binomial.
//!
//! Accuracy is checked against `scipy.special` to 1e-10 relative, tails included. Arguments outside a function's domain
//! are moved to its nearest edge, so that every finite input has a finite answer; no function here panics.

use std::f64::consts::{PI, SQRT_2};

use statrs::function::erf::erfc_inv;

use crate::summary::finite;

/// Above this many degrees of freedom the t tail is taken from Hill's expansion, which is there accurate to
/// 1e-13 and needs no iteration; below it, from a continued fraction.
const LARGE_DF: f64 = 5_000.0;

/// Outcomes this much likelier than the observed one still count as "no more likely": equal probabilities on the two
/// sides of a symmetric distribution differ by rounding.
const TIE: f64 = 1e-7;

/// Beyond this many trials [`binomial_two_sided_p`] uses the normal limit.
const MANY_TRIALS: u64 = 10_000_000_000;

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

/// The library's inverse is good to about eleven digits. One Newton step on ln Φ, nearly a parabola in the lower tail,
/// brings the rest.
fn lower_normal_quantile(p: f64) -> f64 {
    let z = -SQRT_2 * erfc_inv(2.0 * p);
    let below = normal_upper_tail(-z);
    let step = (below / p).ln() * below / normal_density(z);
    if step.is_finite() { z - step } else { z }
}

fn normal_density(z: f64) -> f64 {
    (-0.5 * z * z).exp() / (2.0 * PI).sqrt()
}

/// P(Z ≥ z) for z ≥ 0: the all-positive series z + z³/3 + z⁵/15 + … near the centre, the continued fraction
/// 1/(z + 1/(z + 2/(z + …))) beyond it (DLMF 7.6.2, 7.9.3). The library's `erfc` is off by 1e-10 around z = 1.
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

/// The probability that |T| ≥ |t| for Student's t with `df` degrees of freedom (`df` below 1 counts as 1).
pub fn t_two_sided_p(t: f64, df: f64) -> f64 {
    (2.0 * t_upper_tail(t.abs(), clamp_df(df))).min(1.0)
}

/// The lower-tail quantile: the `t` with P(T ≤ t) = `p`, for `p` in (0, 1) and `df` ≥ 1.
///
/// For upper tails smaller than about 1e-10 use [`t_critical`]: `1 − p` has no digits left there.
pub fn t_quantile(p: f64, df: f64) -> f64 {
    let p = clamp_probability(p);
    if p < 0.5 {
        -t_from_tail(p, clamp_df(df))
    } else {
        t_from_tail(1.0 - p, clamp_df(df))
    }
}

/// The half-width, in standard errors, of a two-sided interval that misses with probability `two_sided_level`.
///
/// Equals `t_quantile(1 − level/2, df)` but is computed from the upper tail, so that tiny levels keep all their digits.
pub fn t_critical(two_sided_level: f64, df: f64) -> f64 {
    t_from_tail(
        0.5 * two_sided_level.clamp(2.0 * f64::MIN_POSITIVE, 1.0),
        clamp_df(df),
    )
}

/// The two-sided exact binomial p-value: the total probability of all outcomes of Binomial(`n`, `p`) that are no more
/// likely than `k` (Clopper & Pearson's test as `scipy.stats.binomtest` defines its two-sided form).
///
/// Walks outwards from the mode, so it costs O(√n) steps. `k` above `n` counts as `n`. Beyond 10¹⁰ trials the normal
/// limit is used.
pub fn binomial_two_sided_p(k: u64, n: u64, p: f64) -> f64 {
    let p = if p.is_nan() { 0.5 } else { p.clamp(0.0, 1.0) };
    let k = k.min(n);
    if p > 0.5 {
        return binomial_two_sided_p(n - k, n, 1.0 - p);
    }
    if n > MANY_TRIALS {
        let (trials, hits) = (n as f64, k as f64);
        let sd = (trials * p * (1.0 - p)).sqrt();
        let z = (hits - trials * p).abs() / sd.max(f64::MIN_POSITIVE);
        return (2.0 * normal_cdf(-z)).min(1.0);
    }
    let mode = (((n + 1) as f64 * p).floor() as u64).min(n);
    let observed = if k >= mode {
        walk_up(mode, n, p).nth((k - mode) as usize)
    } else {
        walk_down(mode, n, p).nth((mode - k) as usize)
    };
    let threshold = observed.unwrap_or(0.0) * (1.0 + TIE);
    let weights = || walk_up(mode, n, p).chain(walk_down(mode, n, p).skip(1));
    let total: f64 = weights().sum();
    let extreme: f64 = weights().filter(|&w| w <= threshold).sum();
    (extreme / total).min(1.0)
}

/// Binomial probabilities of mode, mode + 1, … relative to the mode's, until they vanish.
fn walk_up(mode: u64, n: u64, p: f64) -> impl Iterator<Item = f64> {
    let odds = p / (1.0 - p);
    std::iter::successors(Some((mode, 1.0)), move |&(k, w)| {
        (k < n).then(|| (k + 1, w * odds * (n - k) as f64 / (k + 1) as f64))
    })
    .map(|(_, w)| w)
    .take_while(|&w| w > 0.0)
}

/// Binomial probabilities of mode, mode − 1, … relative to the mode's, until they vanish.
fn walk_down(mode: u64, n: u64, p: f64) -> impl Iterator<Item = f64> {
    let odds = p / (1.0 - p);
    std::iter::successors(Some((mode, 1.0)), move |&(k, w)| {
        (k > 0).then(|| (k - 1, w * k as f64 / ((n - k + 1) as f64 * odds)))
    })
    .map(|(_, w)| w)
    .take_while(|&w| w > 0.0)
}

fn clamp_probability(p: f64) -> f64 {
    if p.is_nan() {
        return 0.5;
    }
    p.clamp(f64::MIN_POSITIVE, 1.0 - f64::EPSILON / 2.0)
}

/// At least 1, and at most what the expansion's powers can bear; t is normal long before that.
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

/// P(0 ≤ T ≤ t) for small t, without the cancellation that ½ − tail would bring.
fn t_central(t: f64, df: f64) -> f64 {
    if df > LARGE_DF {
        return 0.5 - normal_cdf(-normal_equivalent(t, df));
    }
    let r = t / df.sqrt();
    let y = r * r / (1.0 + r * r);
    let front = (-0.5 * df * ln_1_plus_square(r)).exp() * y.sqrt();
    front * gamma_half_step(0.5 * df) / PI.sqrt() * beta_fraction(0.5, 0.5 * df, y)
}

/// t times the density at `t`: the rate at which the tail falls with ln t. The product underflows no earlier than the
/// tail itself, which the density alone would.
fn t_times_density(t: f64, df: f64) -> f64 {
    let r = t / df.sqrt();
    gamma_half_step(0.5 * df) / PI.sqrt() * (-0.5 * df * ln_1_plus_square(r)).exp()
        / (1.0 + 1.0 / (r * r)).sqrt()
}

/// ln(1 + r²) where r² may overflow.
fn ln_1_plus_square(r: f64) -> f64 {
    if r > 1e100 {
        2.0 * r.ln()
    } else {
        (r * r).ln_1p()
    }
}

/// Γ(a + ½)/Γ(a): the asymptotic series (Tricomi & Erdélyi 1951) after climbing to a ≥ 20, where its truncation is below
/// 1e-15. A difference of two log-gammas would lose as many digits as `a` has.
fn gamma_half_step(a: f64) -> f64 {
    let (mut a, mut climbed) = (a, 1.0);
    while a < 20.0 {
        climbed *= a / (a + 0.5);
        a += 1.0;
    }
    let u = 1.0 / a;
    let series = u
        * (-1.0 / 8.0 + u * u * (1.0 / 192.0 + u * u * (-1.0 / 640.0 + u * u * (17.0 / 14336.0))));
    climbed * a.sqrt() * series.exp()
}

/// The continued fraction of the incomplete beta function (DLMF 8.17.22), evaluated by the modified Lentz method:
/// I_x(a, b) = x^a (1 − x)^b / (a B(a, b)) · `beta_fraction`. Converges quickly for x < (a + 1)/(a + b + 2).
fn beta_fraction(a: f64, b: f64, x: f64) -> f64 {
    const SMALLEST: f64 = 1e-300;
    let nonzero = |v: f64| if v.abs() < SMALLEST { SMALLEST } else { v };
    let (mut fraction, mut c, mut d) = (1.0, 1.0, 0.0);
    for j in 1..2_000 {
        let m = f64::from(j / 2);
        let coefficient = if j % 2 == 1 {
            -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0))
        } else {
            m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m))
        };
        d = 1.0 / nonzero(1.0 + coefficient * d);
        c = nonzero(1.0 + coefficient / c);
        fraction *= c * d;
        if (c * d - 1.0).abs() < f64::EPSILON {
            break;
        }
    }
    1.0 / fraction
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

/// Newton on the central probability, which is concave in t: from the left it never overshoots.
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

/// Newton on ln(tail) as a function of ln t. That function is concave and falling, so every step but the first lands
/// right of the root and the rest descend to it; power-law tails are straight lines there, so few are needed.
fn t_from_small_tail(tail: f64, df: f64) -> f64 {
    let target = tail.ln();
    // The normal quantile lies left of the root. A first step past the smallest tails (1e-300, 182 degrees) is halved.
    let (mut ln_t, mut step) = ((-normal_quantile(tail)).ln(), 0.0);
    for _ in 0..200 {
        let t = ln_t.exp();
        let above = t_upper_tail(t, df);
        if above == 0.0 {
            step *= 0.5;
            ln_t -= step;
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

    fn close(got: f64, want: f64, tolerance: f64) {
        assert!(
            (got - want).abs() <= tolerance * want.abs().max(f64::MIN_POSITIVE),
            "{got} is not {want}"
        );
    }

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
    fn quantile_and_tail_undo_each_other_for_every_size_of_sample() {
        for df in [1.0, 2.0, 3.5, 5.0, 39.0, 999.0, 1001.0, 1e6, 1e12] {
            for level in [0.9, 0.5, 0.05, 1e-4, 1e-9, 1e-30] {
                close(t_two_sided_p(t_critical(level, df), df), level, 1e-11);
                close(t_quantile(level / 2.0, df), -t_critical(level, df), 1e-12);
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
    fn the_median_of_every_symmetric_distribution_is_exactly_zero() {
        assert_eq!(t_quantile(0.5, 7.0), 0.0);
        assert_eq!(t_critical(1.0, 7.0), 0.0);
        assert_eq!(normal_quantile(0.5), 0.0);
        assert_eq!(t_two_sided_p(0.0, 7.0), 1.0);
    }

    #[test]
    fn a_binomial_outcome_at_the_mode_is_no_evidence_at_all() {
        assert_eq!(binomial_two_sided_p(5, 10, 0.5), 1.0);
        assert_eq!(binomial_two_sided_p(0, 0, 0.5), 1.0);
        assert_eq!(binomial_two_sided_p(0, 9, 0.0), 1.0);
        assert_eq!(binomial_two_sided_p(9, 9, 1.0), 1.0);
        assert_eq!(binomial_two_sided_p(1, 9, 0.0), 0.0);
    }

    #[test]
    fn a_fair_coin_counts_both_tails() {
        close(binomial_two_sided_p(1, 10, 0.5), 22.0 / 1024.0, 1e-13);
        close(binomial_two_sided_p(9, 10, 0.5), 22.0 / 1024.0, 1e-13);
        close(
            binomial_two_sided_p(0, 40, 0.5),
            2.0 / 2.0_f64.powi(40),
            1e-12,
        );
    }

    #[test]
    fn arguments_outside_the_domain_still_give_finite_answers() {
        for p in [-1.0, 0.0, 5e-324, 1.0, 2.0, f64::NAN] {
            for df in [-3.0, 0.0, 1.0, 1e300, f64::NAN] {
                assert!(t_quantile(p, df).is_finite(), "{p} {df}");
                assert!(
                    t_critical(if p.is_nan() { 0.5 } else { p }, df).is_finite(),
                    "{p} {df}"
                );
                assert!(
                    t_two_sided_p(if p.is_nan() { 0.0 } else { p * 1e300 }, df).is_finite(),
                    "{p} {df}"
                );
            }
            assert!(normal_quantile(p).is_finite(), "{p}");
            assert!(binomial_two_sided_p(7, 5, p).is_finite(), "{p}");
        }
        assert!(binomial_two_sided_p(3, u64::MAX, 0.5).is_finite());
    }
}
