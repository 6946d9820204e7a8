//! Beasley & Springer's normal quantile: not exact, but known to the last digit.
//!
//! Royston's algorithm for the Shapiro–Wilk test asks for this one; the exact quantile starts from it.

/// |p − ½| up to which the polynomials of the centre hold.
const CENTRE: f64 = 0.42;

// Beasley & Springer (1977, algorithm AS 111), lowest power first: in (p − ½)² near the centre, beyond it in √(−ln p).
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

/// Φ⁻¹(p) for p above 0 and up to ½, off by at most 4e-9, and by up to 8e-7 for p from 0.005 down to 1e-4. Further out
/// the error grows slowly, to 0.04 at the smallest p there is.
pub(crate) fn approximate_normal_quantile(p: f64) -> f64 {
    let q = p - 0.5;
    if q.abs() <= CENTRE {
        return q * polynomial(&CENTRE_OVER, q * q) / polynomial(&CENTRE_UNDER, q * q);
    }
    let root = (-p.ln()).sqrt();
    -polynomial(&TAIL_OVER, root) / polynomial(&TAIL_UNDER, root)
}

/// A polynomial, lowest power first, at `x`.
pub(crate) fn polynomial(coefficients: &[f64], x: f64) -> f64 {
    coefficients.iter().rev().fold(0.0, |sum, c| sum * x + c)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dist::normal_quantile;

    #[test]
    fn the_published_quantile_has_the_error_it_is_known_for() {
        for i in 5..500 {
            let p = f64::from(i) / 1_000.0;
            let error = approximate_normal_quantile(p) - normal_quantile(p);
            assert!(error.abs() < 4e-9, "{p} {error:e}");
        }
        let far = approximate_normal_quantile(1e-4) - normal_quantile(1e-4);
        assert!((far + 7.885815e-7).abs() < 1e-12, "{far:e}");
        // Far out it is only where to start from.
        let last = approximate_normal_quantile(1e-307) - normal_quantile(1e-307);
        assert!((-0.04..-0.03).contains(&last), "{last:e}");
    }
}
