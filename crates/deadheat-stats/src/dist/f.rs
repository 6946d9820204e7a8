//! Fisher's F distribution: the ratio of two independent mean squares.

use super::beta::{beta_lower, beta_term};
use super::normal::clamp_probability;

/// Degrees of freedom beyond this count as this many: the variance of the mean square is then below 1e-7.
const MOST_DF: f64 = 2e7;

/// The probability that F ≥ `f` with `df1` and `df2` degrees of freedom: I_x(df2/2, df1/2) at x = df2/(df2 + df1·f)
/// (DLMF 8.17). Degrees below 1 count as 1, those beyond 2·10⁷ as that; a negative `f` counts as 0.
pub fn f_upper_tail(f: f64, df1: f64, df2: f64) -> f64 {
    let (df1, df2) = (clamp_df(df1), clamp_df(df2));
    let (x, y) = shares(f.max(0.0), df1, df2);
    beta_lower(0.5 * df2, 0.5 * df1, x, y)
}

/// The `f` that F exceeds with probability `upper_level`, in (0, 1). `df1` and `df2` as for [`f_upper_tail`]; an `f`
/// beyond the largest number is that number.
pub fn f_critical(upper_level: f64, df1: f64, df2: f64) -> f64 {
    let level = clamp_probability(upper_level);
    let (df1, df2) = (clamp_df(df1), clamp_df(df2));
    let ln_f = if level > 0.5 {
        -ln_critical(1.0 - level, df2, df1)
    } else {
        ln_critical(level, df1, df2)
    };
    ln_f.exp().clamp(f64::MIN_POSITIVE, f64::MAX)
}

/// ln f for a level of at most one half: Newton on ln(tail) as a function of ln f, which falls and is concave, within a
/// bracket that halving narrows where a step would leave it.
fn ln_critical(level: f64, df1: f64, df2: f64) -> f64 {
    let (mut low, mut high) = (-745.0_f64, 709.782);
    let mut ln_f = 0.0;
    for _ in 0..200 {
        let (x, y) = shares(f64::exp(ln_f), df1, df2);
        let tail = beta_lower(0.5 * df2, 0.5 * df1, x, y);
        if tail > level {
            low = ln_f
        } else {
            high = ln_f
        }
        let newton = ln_f + (tail / level).ln() * tail / beta_term(0.5 * df2, 0.5 * df1, x, y);
        let next = if newton > low && newton < high {
            newton
        } else {
            low.midpoint(high)
        };
        let moved = (next - ln_f).abs();
        ln_f = next;
        if moved <= 1e-15 * ln_f.abs().max(0.1) {
            break;
        }
    }
    ln_f
}

/// df2/(df2 + df1·f) and what it lacks to 1, each with all its digits.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dist::{close, t_critical, t_two_sided_p};

    #[test]
    fn with_one_degree_above_f_is_the_square_of_t() {
        for df in [1.0, 2.0, 7.5, 39.0, 4_000.0] {
            for t in [1e-3, 0.5, 1.0, 2.0, 4.734239, 30.0] {
                close(f_upper_tail(t * t, 1.0, df), t_two_sided_p(t, df), 1e-12);
            }
            for level in [0.9, 0.3, 0.05, 1e-6, 1e-20] {
                close(
                    f_critical(level, 1.0, df),
                    t_critical(level, df).powi(2),
                    1e-11,
                );
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
    fn quantile_and_tail_undo_each_other() {
        for (df1, df2) in [
            (1.0, 1.0),
            (3.0, 12.0),
            (39.0, 960.0),
            (2.5, 1e6),
            (1e6, 1e6),
        ] {
            for level in [0.999, 0.8, 0.5, 0.05, 1e-4, 1e-12, 1e-100] {
                let f = f_critical(level, df1, df2);
                close(f_upper_tail(f, df1, df2), level, 1e-10);
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
                for df2 in strange {
                    let tail = f_upper_tail(a, df1, df2);
                    assert!((0.0..=1.0).contains(&tail), "{a} {df1} {df2}: {tail}");
                    let f = f_critical(a, df1, df2);
                    assert!(f.is_finite() && f > 0.0, "{a} {df1} {df2}: {f}");
                }
            }
        }
        assert_eq!(f_upper_tail(0.0, 3.0, 4.0), 1.0);
    }
}
