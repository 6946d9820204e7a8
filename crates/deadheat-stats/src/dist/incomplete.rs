//! The incomplete beta and gamma functions, from which the tails of t, F, binomial and χ² are
//! computed. Also the tails of χ² and of Fisher's F, the ratio of two independent mean squares.

use std::f64::consts::PI;

/// The regularized incomplete beta function I_x(a, b) for positive `a` and `b` and `x` + `y` = 1.
/// Callers pass both `x` and `y`, because computing one as 1 − the other would lose digits.
pub(super) fn beta_lower(a: f64, b: f64, x: f64, y: f64) -> f64 {
    if x <= 0.0 {
        0.0
    } else if y <= 0.0 {
        1.0
    } else if x < (a + 1.0) / (a + b + 2.0) {
        (beta_term(a, b, x, y) * contracted_fraction(a, b, x, y)).min(1.0)
    } else {
        (1.0 - beta_term(a, b, x, y) * contracted_fraction(b, a, y, x)).max(0.0)
    }
}

/// The value of `beta_fraction`/a, computed from the even part of its continued fraction, which
/// skips every second step (DiDonato & Morris 1992). Near the mode, the terms of the even part are
/// all positive, whereas the terms of the full fraction cancel and lose as many digits as a/b has.
fn contracted_fraction(a: f64, b: f64, x: f64, y: f64) -> f64 {
    // a − (a + b)·x, computed without cancellation.
    let away = a * y - b * x;
    let denominator = |m: f64| {
        m + m * (b - m) * x / (a + 2.0 * m - 1.0)
            + (a + m) / (a + 2.0 * m + 1.0) * (away + 1.0 + m * (1.0 + y))
    };
    let numerator = |m: f64| {
        let below = a + 2.0 * m - 1.0;
        (a + m - 1.0) / below * ((a + b + m - 1.0) / below) * m * (b - m) * x * x
    };
    let first = nonzero(a / (a + 1.0) * (away + 1.0));
    let (mut fraction, mut c, mut d) = (first, first, 0.0);
    // Near the mode about √max(a, b) rounds are needed.
    for m in 1..300_000 {
        let (over, under) = (numerator(f64::from(m)), denominator(f64::from(m)));
        d = 1.0 / nonzero(under + over * d);
        c = nonzero(under + over / c);
        fraction *= c * d;
        if (c * d - 1.0).abs() < f64::EPSILON {
            break;
        }
    }
    1.0 / fraction
}

/// x^a y^b / B(a, b) for `x` + `y` = 1, in the saddle-point form of Loader (2000): three log-gammas
/// would lose as many digits as `a` and `b` have, the deviances lose none.
fn beta_term(a: f64, b: f64, x: f64, y: f64) -> f64 {
    let n = a + b;
    // a − n·x and b − n·y differ only in sign.
    let away = a * y - b * x;
    let exponent = stirling_error(n)
        - stirling_error(a)
        - stirling_error(b)
        - deviance(a, n * x, away)
        - deviance(b, n * y, -away);
    (a / n * b / (2.0 * PI)).sqrt() * exponent.exp()
}

/// x·ln(x/m) + m − x, where `away` = x − m.
fn deviance(x: f64, m: f64, away: f64) -> f64 {
    if away.abs() >= 0.1 * (x + m) {
        return x * (x / m).ln() + m - x;
    }
    // With v = (x − m)/(x + m): (x − m)·v + 2x·(v³/3 + v⁵/5 + …).
    let v = away / (x + m);
    let (mut sum, mut power, mut odd) = (away * v, 2.0 * x * v, 1.0);
    loop {
        power *= v * v;
        odd += 2.0;
        let next = sum + power / odd;
        if next == sum {
            return sum;
        }
        sum = next;
    }
}

/// ln Γ(n + 1) − ln(√(2πn)·(n/e)ⁿ), the error of Stirling's formula (DLMF 5.11.1). Small n are
/// first raised to n ≥ 16, where the series is accurate to 1e-17.
fn stirling_error(n: f64) -> f64 {
    let (mut n, mut climbed) = (n, 0.0);
    while n < 16.0 {
        climbed += (n + 0.5) * (1.0 / n).ln_1p() - 1.0;
        n += 1.0;
    }
    let u = 1.0 / (n * n);
    let series = 1.0 / 1188.0 - u * (691.0 / 360_360.0 - u / 156.0);
    let series =
        1.0 / 12.0 - u * (1.0 / 360.0 - u * (1.0 / 1260.0 - u * (1.0 / 1680.0 - u * series)));
    climbed + series / n
}

/// Γ(a + ½)/Γ(a), by the asymptotic series (Tricomi & Erdélyi 1951) after raising a to at least 20,
/// where the truncation error is below 1e-15. A difference of two log-gammas would lose as many
/// digits as `a` has.
pub(super) fn gamma_half_step(a: f64) -> f64 {
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

/// The continued fraction of the incomplete beta function (DLMF 8.17.22), evaluated by the modified
/// Lentz method: I_x(a, b) = x^a (1 − x)^b / (a B(a, b)) · `beta_fraction`. Converges quickly for x
/// < (a + 1)/(a + b + 2).
pub(super) fn beta_fraction(a: f64, b: f64, x: f64) -> f64 {
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

/// Returns `v`; if `v` is too close to 0, returns a small number by which Lentz's method can
/// divide.
fn nonzero(v: f64) -> f64 {
    const SMALLEST: f64 = 1e-300;
    if v.abs() < SMALLEST { SMALLEST } else { v }
}

/// The largest number of degrees of freedom; larger numbers count as this one. They would make
/// little difference, because the variance of the mean square is only 1e-7 at this number.
const MOST_DF: f64 = 2e7;

/// The probability that F ≥ `f` with `df1` and `df2` degrees of freedom: I_x(df2/2, df1/2) at x =
/// df2/(df2 + df1·f) (DLMF 8.17). Degrees are clamped to [1, 2·10⁷]; a negative `f` counts as 0.
pub fn f_upper_tail(f: f64, df1: f64, df2: f64) -> f64 {
    let (df1, df2) = (clamp_df(df1), clamp_df(df2));
    let (x, y) = shares(f.max(0.0), df1, df2);
    beta_lower(0.5 * df2, 0.5 * df1, x, y)
}

/// Returns x = df2/(df2 + df1·f) and 1 − x, each to full precision.
fn shares(f: f64, df1: f64, df2: f64) -> (f64, f64) {
    let ratio = (f * (df1 / df2)).min(f64::MAX);
    (1.0 / (1.0 + ratio), 1.0 / (1.0 + 1.0 / ratio))
}

fn clamp_df(df: f64) -> f64 {
    if df.is_nan() {
        1.0
    } else {
        df.clamp(1.0, MOST_DF)
    }
}

/// The probability that χ² ≥ `chi_squared` with `df` degrees of freedom (DLMF 8.4). Degrees are
/// clamped to [1, 2·10⁷]; a χ² that is negative or NaN counts as 0.
pub fn chi_squared_upper_tail(chi_squared: f64, df: f64) -> f64 {
    // The `max` of NaN and 0 is 0.
    let half = 0.5 * chi_squared.max(0.0);
    gamma_upper(0.5 * clamp_df(df), half.min(0.5 * f64::MAX))
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

/// 1 + x/(a + 1) + x²/((a + 1)(a + 2)) + … (DLMF 8.11.4): P(a, x) divided by its first term.
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
/// method. Converges quickly for x > a + 1; near the mode it takes about √a rounds.
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
    use crate::dist::{close, normal_cdf, t_two_sided_p};

    #[test]
    fn whole_numbers_give_the_polynomials_of_the_textbook() {
        for x in [1e-9, 0.1, 0.3, 0.5, 0.77, 0.999] {
            let y = 1.0 - x;
            close(beta_lower(1.0, 1.0, x, y), x, 1e-14);
            close(beta_lower(2.0, 1.0, x, y), x * x, 1e-14);
            close(beta_lower(2.0, 2.0, x, y), x * x * (3.0 - 2.0 * x), 1e-14);
            close(beta_lower(1.0, 5.0, x, y), 1.0 - y.powi(5), 1e-7);
        }
    }

    #[test]
    fn both_sides_of_the_same_point_add_up_to_one() {
        for (a, b) in [(0.5, 0.5), (0.5, 3.0), (7.0, 2.5), (1e3, 2e3), (3e5, 5e5)] {
            for x in [0.01, 0.25, 0.374, 0.376, 0.5, 0.9] {
                let both = beta_lower(a, b, x, 1.0 - x) + beta_lower(b, a, 1.0 - x, x);
                close(both, 1.0, 1e-12);
            }
        }
    }

    #[test]
    fn the_error_of_stirling_for_whole_numbers_is_that_of_factorials() {
        for (n, factorial) in [
            (1.0, 1.0_f64),
            (2.0, 2.0),
            (5.0, 120.0),
            (10.0, 3_628_800.0),
        ] {
            let stirling = 0.5 * (2.0 * PI * n).ln() + n * n.ln() - n;
            assert!((stirling_error(n) - (factorial.ln() - stirling)).abs() < 1e-14);
        }
    }

    #[test]
    fn with_one_degree_above_f_is_the_square_of_t() {
        for df in [1.0, 2.0, 7.5, 39.0, 4_000.0] {
            for t in [1e-3, 0.5, 1.0, 2.0, 4.734239, 30.0] {
                close(f_upper_tail(t * t, 1.0, df), t_two_sided_p(t, df), 1e-12);
            }
        }
    }

    #[test]
    fn with_two_degrees_above_the_tail_is_a_power() {
        for df in [1.0, 3.0, 20.0, 1e5] {
            for f in [0.01, 0.7, 1.0, 3.0, 40.0] {
                let want = (-0.5 * df * f64::ln_1p(2.0 * f / df)).exp();
                close(f_upper_tail(f, 2.0, df), want, 1e-12);
            }
        }
    }

    #[test]
    fn arguments_outside_the_domain_still_give_finite_answers() {
        let strange = [
            -1.0,
            0.0,
            5e-324,
            1e-300,
            1.0,
            2.0,
            1e300,
            f64::MAX,
            -f64::MAX,
            f64::NAN,
        ];
        for a in strange {
            for df1 in strange {
                let tail = chi_squared_upper_tail(a, df1);
                assert!((0.0..=1.0).contains(&tail), "{a} {df1}: {tail}");
                for df2 in strange {
                    let tail = f_upper_tail(a, df1, df2);
                    assert!((0.0..=1.0).contains(&tail), "{a} {df1} {df2}: {tail}");
                }
            }
        }
        assert_eq!(f_upper_tail(0.0, 3.0, 4.0), 1.0);
        assert_eq!(chi_squared_upper_tail(0.0, 3.0), 1.0);
    }

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
}
