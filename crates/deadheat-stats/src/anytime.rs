//! Evidence that may be looked at after every replicate is an [`e_value`], and its confidence
//! sequence [`critical_t`]: a mixture over effect sizes, in units of the unknown standard
//! deviation, of invariant likelihood ratios (Lindon, Ham, Tingley & Bojinov 2022; Wang & Ramdas
//! 2024). With n = P replicate estimates and ν = n − 1.
//!
//! Where every replicate is a single block, T = θ̂/SE is not Student's. Looked at after each of 6
//! to 200 replicates it called .049 of normal runs without a difference at α = .05, all the slack
//! there is, and .011 at .01; through [`few_blocks`](crate::few_blocks) (`equivalent_t` for the
//! evidence, `stretched_t` for the interval) .032 and .006.

use crate::summary::finite;

/// The prior's weight, in replicates: small values look for large effects, large values for small
/// ones.
pub const DEFAULT_G: f64 = 2.0;

/// E = √r·[(1 + r·t²/ν)/(1 + t²/ν)]^(−(ν+1)/2) with r = g/(g + n), for the t-statistic of `n`
/// replicates.
///
/// Without a difference its expectation is at most 1 whenever one stops, so rejecting at E ≥ 1/α
/// errs with chance α at most. Fewer than two replicates, or a `g` that is not positive, are no
/// evidence: 1. Values too large to represent are given as `f64::MAX`.
pub fn e_value(t: f64, n: usize, g: f64) -> f64 {
    if n < 2 || !(g > 0.0 && g.is_finite()) || t.is_nan() {
        return 1.0;
    }
    let (r, nu) = (prior_share(n, g), (n - 1) as f64);
    // (1 + r·q)/(1 + q) = 1 − (1 − r)·q/(1 + q) with q = t²/ν: this form outlives an overflowing
    // t².
    let explained = 1.0 / (1.0 + nu / (t * t));
    let log_ratio = (-(1.0 - r) * explained).ln_1p();
    (0.5 * r.ln() - 0.5 * (nu + 1.0) * log_ratio)
        .exp()
        .min(f64::MAX)
}

/// The half-width, in standard errors, of a confidence sequence after `n` replicates: the |t| at
/// which E reaches 1/α, √(ν(1 − q)/(q − r)) with q = (α²r)^(1/n).
///
/// `None` where no t would do (q ≤ r, the first few replicates) and for arguments out of range.
pub fn critical_t(n: usize, alpha: f64, g: f64) -> Option<f64> {
    if n < 2 || !(alpha > 0.0 && alpha < 1.0) || !(g > 0.0 && g.is_finite()) {
        return None;
    }
    let (r, nu) = (prior_share(n, g), (n - 1) as f64);
    let log_q = (2.0 * alpha.ln() + r.ln()) / n as f64;
    let room = log_q.exp() - r;
    if room <= 0.0 {
        return None;
    }
    finite((nu * -log_q.exp_m1() / room).sqrt())
}

fn prior_share(n: usize, g: f64) -> f64 {
    g / (g + n as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(got: f64, want: f64, tolerance: f64) {
        assert!((got - want).abs() <= tolerance, "{got} is not {want}");
    }

    #[test]
    fn the_worked_examples_come_out_as_printed() {
        close(e_value(3.0, 10, DEFAULT_G), 6.04422, 5e-6);
        close(e_value(5.0, 6, DEFAULT_G), 9.48148, 5e-6);
        close(critical_t(10, 0.05, DEFAULT_G).unwrap(), 4.079245, 5e-7);
        close(critical_t(6, 0.05, DEFAULT_G).unwrap(), 9.134533, 5e-7);
    }

    #[test]
    fn at_the_critical_value_the_evidence_is_exactly_one_over_alpha() {
        for n in [6, 10, 40, 1_000] {
            for alpha in [0.05, 0.01] {
                let Some(t) = critical_t(n, alpha, DEFAULT_G) else {
                    continue;
                };
                close(e_value(t, n, DEFAULT_G) * alpha, 1.0, 1e-10);
                close(e_value(-t, n, DEFAULT_G) * alpha, 1.0, 1e-10);
            }
        }
    }

    #[test]
    fn the_first_replicates_can_prove_nothing() {
        assert_eq!(critical_t(1, 0.05, DEFAULT_G), None);
        assert_eq!(critical_t(2, 0.05, DEFAULT_G), None);
        assert_eq!(e_value(1e9, 1, DEFAULT_G), 1.0);
    }

    #[test]
    fn arguments_out_of_range_are_no_evidence_and_have_no_critical_value() {
        assert_eq!(e_value(f64::NAN, 10, DEFAULT_G), 1.0);
        for g in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(e_value(3.0, 10, g), 1.0, "{g}");
            assert_eq!(critical_t(10, 0.05, g), None, "{g}");
        }
        for alpha in [0.0, 1.0, -0.1, 1.5, f64::NAN] {
            assert_eq!(critical_t(10, alpha, DEFAULT_G), None, "{alpha}");
        }
    }

    #[test]
    fn two_replicates_are_evidence_already() {
        // r = ½, ν = 1, t = 1: E = √½·(1.5/2)^(−1).
        close(e_value(1.0, 2, 2.0), 0.5_f64.sqrt() / 0.75, 1e-12);
        assert!(critical_t(2, 0.9, 0.1).is_some());
    }

    #[test]
    fn no_t_however_large_overflows() {
        for t in [0.0, 1e-300, 1e200, f64::MAX, -f64::MAX] {
            for n in [2, 6, 1_000_000, usize::MAX] {
                assert!(e_value(t, n, DEFAULT_G).is_finite(), "{t} {n}");
            }
        }
        assert!(critical_t(usize::MAX, 1e-300, 1e300).is_none_or(f64::is_finite));
    }

    #[test]
    fn no_difference_at_all_is_evidence_against_one() {
        assert!(e_value(0.0, 40, DEFAULT_G) < 1.0);
    }
}
