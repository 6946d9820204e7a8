//! The chi-squared distribution, by the incomplete gamma function.

use std::f64::consts::PI;

use super::beta::{deviance, nonzero, stirling_error};

/// Degrees of freedom beyond this count as this many.
const MOST_DF: f64 = 2e7;

/// The probability that χ² ≥ `chi_squared` with `df` degrees of freedom (DLMF 8.4). Degrees below 1
/// count as 1, those beyond 2·10⁷ as that; a χ² that is negative or no number counts as 0.
pub fn chi_squared_upper_tail(chi_squared: f64, df: f64) -> f64 {
    let within = |x: f64, least, most| {
        if x.is_nan() {
            least
        } else {
            x.clamp(least, most)
        }
    };
    let df = within(df, 1.0, MOST_DF);
    gamma_upper(0.5 * df, 0.5 * within(chi_squared, 0.0, f64::MAX))
}

/// The regularized incomplete gamma function Q(a, x), for a ≥ ½ and x ≥ 0.
fn gamma_upper(a: f64, x: f64) -> f64 {
    if x <= 0.0 {
        1.0
    } else if x < a + 1.0 {
        (1.0 - gamma_term(a, x) * lower_series(a, x)).max(0.0)
    } else {
        (a * gamma_term(a, x) * upper_fraction(a, x)).min(1.0)
    }
}

/// x^a e^−x/Γ(a + 1) in the saddle-point form of Loader (2000), which loses no digits near the mode
/// of a large `a`.
fn gamma_term(a: f64, x: f64) -> f64 {
    (-stirling_error(a) - deviance(a, x, a - x)).exp() / (2.0 * PI * a).sqrt()
}

/// 1 + x/(a + 1) + x²/((a + 1)(a + 2)) + … (DLMF 8.11.4): P(a, x) over its first term.
fn lower_series(a: f64, x: f64) -> f64 {
    let (mut term, mut sum, mut over) = (1.0, 1.0, a);
    while term > f64::EPSILON * 1e-2 * sum {
        over += 1.0;
        term *= x / over;
        sum += term;
    }
    sum
}

/// The continued fraction of Γ(a, x)·e^x/x^a (DLMF 8.9.2, its even part), by the modified Lentz
/// method. Converges quickly for x > a + 1; next to the mode it takes some √a rounds.
fn upper_fraction(a: f64, x: f64) -> f64 {
    let mut under = x + 1.0 - a;
    let mut d = 1.0 / nonzero(under);
    let (mut fraction, mut c) = (d, f64::MAX);
    for round in 1..300_000 {
        let n = f64::from(round);
        let over = -n * (n - a);
        under += 2.0;
        d = 1.0 / nonzero(under + over * d);
        c = nonzero(under + over / c);
        fraction *= c * d;
        if (c * d - 1.0).abs() < f64::EPSILON {
            break;
        }
    }
    fraction
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dist::{close, normal_cdf};

    #[test]
    fn with_one_degree_chi_squared_is_the_square_of_a_normal_deviate() {
        for z in [1e-3, 0.5, 1.0, 1.7, 1.8, 4.0, 12.0, 30.0] {
            let want = 2.0 * normal_cdf(-z);
            close(chi_squared_upper_tail(z * z, 1.0), want, 1e-12);
        }
    }

    #[test]
    fn with_two_degrees_the_tail_is_exponential() {
        for x in [1e-6, 0.3, 1.9, 4.1, 60.0, 1_000.0] {
            close(chi_squared_upper_tail(x, 2.0), (-0.5 * x).exp(), 1e-12);
        }
    }

    #[test]
    fn arguments_outside_the_domain_still_give_finite_answers() {
        let strange = [-1.0, 0.0, 5e-324, 1.0, 1e300, f64::MAX, f64::NAN];
        for x in strange {
            for df in strange {
                let tail = chi_squared_upper_tail(x, df);
                assert!((0.0..=1.0).contains(&tail), "{x} {df}: {tail}");
            }
        }
        assert_eq!(chi_squared_upper_tail(0.0, 3.0), 1.0);
    }
}
