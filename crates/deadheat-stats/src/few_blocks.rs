//! The distribution of T = θ̂/SE if every replicate is a single block (K = 1, as in races of whole
//! commands).
//!
//! With few blocks σ̂ is itself an uncertain estimate, and T does not follow Student's t. The plain
//! formula's 95% intervals covered the truth in .922 of runs at P = 6, .936 at 11 and .948 at 22.
//! With the looks of a plan, false positives were .081 (Pmax 11), .074 (22) and .065 (40) instead
//! of .05. So T is compared with its simulated distribution for normal blocks without a difference:
//!
//! T at a level = c·t·(1 + (t/b)²)^(e/2), with t the plain t_{P−1} value at that level, and e = (P
//! − 1)/⌊P/2⌋ − 1.
//!
//! The exponent is derived, not fitted. T grows without bound as σ̂, a median of deviations, goes
//! to 0, which happens only if ⌊P/2⌋ + 1 blocks agree. Far out, P(|T| > x) therefore falls as
//! x^−⌊P/2⌋, whereas Student's falls as t^−(P−1). The factor c and the bend b are fitted for each P
//! from above, so that no critical value of the fitted simulation, from .1 down to .0001, exceeds
//! the curve. Compared with a second simulation, the curve is 0 to 2.6% too high for P ≥ 6 down to
//! .001, up to 3% at .0002, and within .1% from P = 22 on. For P of 4 and 5, where no verdict is
//! given, it is up to 4.5% too high, and below .0002 up to 9% too low. With the looks of a plan,
//! false positives for normal runs then stay within α. `cargo run --release -p deadheat-stats
//! --example few_blocks` prints the table, the fit and the false positives.
//!
//! With K > 1 blocks per replicate, σ̂ is estimated from all N = K·P blocks, and t_{P−1} is
//! stretched as for N single blocks. In 100,000 simulated runs each with looks at up to 11
//! replicates, without layout effects, the rate of false positives was .0635 at K = 2 and .0576 at
//! K = 3 without the stretch, and .0500 and .0495 with it. From K = 10 on the stretch is
//! negligible.

use crate::dist::{t_critical, t_two_sided_p};

/// The map from Student's t to T = θ̂/SE of single blocks. For every number of replicates it is
/// increasing, and it never makes a value smaller.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stretch {
    /// c ≥ 1: near t = 0, T is about c·t.
    pub factor: f64,
    /// b: the t beyond which the tail is heavier than Student's.
    pub bend: f64,
    exponent: f64,
}

impl Stretch {
    /// The stretch for `replicates` (P), with `factor` (c) and `bend` (b).
    pub fn new(replicates: usize, factor: f64, bend: f64) -> Self {
        let p = replicates.max(2);
        Self {
            factor,
            bend,
            exponent: (p - 1) as f64 / (p / 2) as f64 - 1.0,
        }
    }

    /// The stretch for `replicates` (P) single blocks.
    ///
    /// For P ≤ 2, T is Student's t (σ̂, θ̂ and SE are the mean and its standard error). Beyond the
    /// table, c − 1 = 0.28/P, b = 2.5·√P and e = 1, its limit; the last rows approach these values,
    /// so the curve continues smoothly towards the plain t.
    pub fn tabled(replicates: usize) -> Self {
        let Some(row) = replicates.checked_sub(FIRST_ROW) else {
            return Self::new(2, 1.0, 1.0);
        };
        let p = replicates as f64;
        TABLE.get(row).map_or(
            Self {
                factor: 1.0 + 0.28 / p,
                bend: 2.5 * p.sqrt(),
                exponent: 1.0,
            },
            |&(factor, bend)| Self::new(replicates, factor, bend),
        )
    }

    /// Returns the T = θ̂/SE of single blocks with the same p-value as Student's `t`.
    pub fn apply(self, t: f64) -> f64 {
        let stretched = self.factor * t.abs() * (t / self.bend).hypot(1.0).powf(self.exponent);
        stretched.min(f64::MAX).copysign(t)
    }

    /// The Student's t with the same p-value as T = `stretched`.
    ///
    /// Newton's method on ln T as a function of ln t, which is convex with a slope of at least 1,
    /// so that from the right it never overshoots.
    pub fn undo(self, stretched: f64) -> f64 {
        let size = stretched.abs();
        if size.is_nan() || size == 0.0 {
            return 0.0;
        }
        let target = size.min(f64::MAX).ln() - self.factor.ln();
        let mut ln_t = target;
        for _ in 0..60 {
            let r = ln_t.exp() / self.bend;
            let length = r.hypot(1.0);
            let slope = 1.0 + self.exponent * (r / length).powi(2);
            let step = (ln_t + self.exponent * length.ln() - target) / slope;
            ln_t -= step;
            if step.abs() <= 1e-15 * ln_t.abs().max(1.0) {
                break;
            }
        }
        ln_t.exp().min(size).copysign(stretched)
    }
}

/// The half-width, in standard errors, of a two-sided interval over `replicates` single blocks that
/// misses the true effect with probability `two_sided_level`. It replaces t_critical(level, P − 1),
/// is never below it, and is always finite.
pub fn critical(two_sided_level: f64, replicates: usize) -> f64 {
    stretched_t(t_critical(two_sided_level, df(replicates)), replicates)
}

/// P(|T| ≥ |t|) over `replicates` single blocks without a difference: the level whose [`critical`]
/// value is |t|.
pub fn two_sided_p(t: f64, replicates: usize) -> f64 {
    t_two_sided_p(equivalent_t(t, replicates), df(replicates))
}

/// The Student's t with P − 1 degrees of freedom that has the same p-value as T = `t` over
/// `replicates` single blocks; never larger in absolute value. Use it for functions that expect
/// Student's t, such as [`e_value`](crate::looks::e_value).
pub fn equivalent_t(t: f64, replicates: usize) -> f64 {
    Stretch::tabled(replicates).undo(t)
}

/// The inverse of [`equivalent_t`]: the T over `replicates` single blocks with the same p-value as
/// Student's `t`. It turns a critical value stated in t, such as
/// [`critical_t`](crate::looks::critical_t), into one for T.
pub fn stretched_t(t: f64, replicates: usize) -> f64 {
    Stretch::tabled(replicates).apply(t)
}

fn df(replicates: usize) -> f64 {
    replicates.saturating_sub(1).max(1) as f64
}

/// The number of replicates P of the first row of [`TABLE`].
const FIRST_ROW: usize = 3;

/// (c, b) for P = 3, 4, …, 64.
#[rustfmt::skip]
const TABLE: [(f64, f64); 62] = [
    (1.1143, 2.01), (1.0439, 2.08), (1.0380, 3.11), (1.0390, 3.44), (1.0362, 4.38), (1.0342, 4.60),
    (1.0265, 5.30), (1.0279, 5.61), (1.0234, 6.30), (1.0217, 6.38), (1.0197, 7.11), (1.0187, 7.22),
    (1.0182, 8.04), (1.0164, 7.93), (1.0164, 8.90), (1.0156, 8.98), (1.0143, 9.61), (1.0139, 9.52),
    (1.0127, 10.18), (1.0126, 10.41), (1.0117, 10.98), (1.0117, 11.04), (1.0111, 11.47), (1.0103, 11.43),
    (1.0103, 12.21), (1.0100, 12.06), (1.0090, 12.58), (1.0095, 12.95), (1.0088, 13.36), (1.0088, 13.28),
    (1.0088, 13.92), (1.0079, 13.68), (1.0083, 14.60), (1.0075, 14.38), (1.0073, 14.75), (1.0074, 14.66),
    (1.0070, 15.42), (1.0069, 15.24), (1.0068, 15.85), (1.0063, 15.60), (1.0066, 16.31), (1.0062, 16.07),
    (1.0063, 16.76), (1.0056, 16.56), (1.0056, 17.07), (1.0056, 17.20), (1.0053, 17.32), (1.0052, 17.38),
    (1.0053, 17.67), (1.0053, 17.81), (1.0053, 18.33), (1.0048, 18.11), (1.0053, 18.73), (1.0049, 18.45),
    (1.0048, 19.14), (1.0046, 18.74), (1.0045, 19.28), (1.0045, 19.18), (1.0043, 19.54), (1.0046, 19.65),
    (1.0041, 20.07), (1.0044, 19.79),
];

#[cfg(test)]
mod tests {
    use super::*;

    const LEVELS: [f64; 9] = [1e-300, 1e-12, 1e-4, 1e-3, 0.01, 0.05, 0.3, 0.9, 0.999];

    fn sizes() -> impl Iterator<Item = usize> {
        (0..=200).chain([1_000, 1_000_000, usize::MAX])
    }

    #[test]
    fn critical_values_agree_with_a_separate_simulation() {
        // Ratios to the plain t value at .05, .01 and .001 from a million samples (600,000 from P =
        // 11 on) with other seeds. Their errors are .1, .2 and .5%, and the fit may be up to 2.5%
        // above them.
        let found = [
            (6, [1.1958, 1.3595, 1.7319]),
            (8, [1.1253, 1.2162, 1.4188]),
            (11, [1.0818, 1.1342, 1.2502]),
            (16, [1.0465, 1.0712, 1.1186]),
            (22, [1.0304, 1.0451, 1.0709]),
            (64, [1.0091, 1.0129, 1.0188]),
            (128, [1.0042, 1.0060, 1.0086]),
        ];
        for (replicates, ratios) in found {
            for ((level, known), ratio) in [0.05, 0.01, 0.001]
                .into_iter()
                .zip([0.001, 0.002, 0.005])
                .zip(ratios)
            {
                let excess =
                    critical(level, replicates) / (ratio * t_critical(level, df(replicates)));
                assert!(
                    (1.0 - known..1.025 + known).contains(&excess),
                    "P = {replicates} at {level}: {excess}"
                );
            }
        }
    }

    #[test]
    fn a_critical_value_is_finite_and_never_below_the_plain_one() {
        for replicates in sizes() {
            let mut wider = f64::MAX;
            for level in LEVELS {
                let (plain, found) = (
                    t_critical(level, df(replicates)),
                    critical(level, replicates),
                );
                assert!(
                    found.is_finite() && found >= plain,
                    "{replicates} {level}: {found}"
                );
                assert!(found < wider, "{replicates} {level}");
                wider = found;
            }
        }
    }

    #[test]
    fn the_p_value_of_a_critical_value_is_its_level() {
        for replicates in sizes() {
            for level in LEVELS {
                let p = two_sided_p(critical(level, replicates), replicates);
                // At 1e-300 a rounding error of ln t is magnified several hundred times.
                assert!((p / level - 1.0).abs() < 1e-9, "{replicates} {level}: {p}");
            }
        }
    }

    #[test]
    fn the_equivalent_is_smaller_and_stretches_back_to_where_it_came_from() {
        for replicates in sizes() {
            for t in [1e-300, 1e-9, 0.5, 2.0, 9.0, 1e3, 1e20, 1e200] {
                let equivalent = equivalent_t(t, replicates);
                assert!(equivalent <= t, "{replicates} {t}: {equivalent}");
                let back = stretched_t(equivalent, replicates);
                assert!((back / t - 1.0).abs() < 1e-12, "{replicates} {t}: {back}");
                assert_eq!(equivalent_t(-t, replicates), -equivalent);
            }
        }
    }

    #[test]
    fn a_larger_t_is_never_more_probable() {
        for replicates in [2, 3, 6, 11, 64, 65, 1_000] {
            let p = |tenths: u32| two_sided_p(0.1 * f64::from(tenths), replicates);
            assert!((0..500).all(|t| p(t) > p(t + 1)), "{replicates}");
            assert_eq!(p(0), 1.0);
        }
    }

    #[test]
    fn extreme_t_values_stay_finite() {
        for replicates in sizes() {
            for t in [
                0.0,
                -0.0,
                f64::MAX,
                -f64::MAX,
                f64::MIN_POSITIVE,
                f64::NAN,
                f64::INFINITY,
            ] {
                assert!(equivalent_t(t, replicates).is_finite(), "{replicates} {t}");
                let p = two_sided_p(t, replicates);
                assert!((0.0..=1.0).contains(&p), "{replicates} {t}: {p}");
            }
        }
    }

    #[test]
    fn beyond_the_table_the_critical_value_runs_on_smoothly_to_the_plain_one() {
        let excess =
            |replicates| critical(0.01, replicates) / t_critical(0.01, df(replicates)) - 1.0;
        let last = FIRST_ROW + TABLE.len() - 1;
        let step = excess(last) - excess(last + 1);
        // The excess itself shrinks by 1/64 from one size to the next.
        assert!(step.abs() < 0.02 * excess(last), "{step}");
        assert!((last + 1..400).all(|p| excess(p) > excess(p + 1)));
        assert!(excess(1_000_000) < 1e-5);
    }

    #[test]
    fn up_to_two_replicates_the_plain_t_is_exact() {
        for replicates in 0..=2 {
            assert_eq!(critical(0.05, replicates), t_critical(0.05, 1.0));
            assert_eq!(two_sided_p(3.0, replicates), t_two_sided_p(3.0, 1.0));
        }
    }

    #[test]
    fn zero_and_nan_are_mapped_to_zero() {
        for replicates in [2, 6, 64, 100] {
            assert_eq!(equivalent_t(0.0, replicates), 0.0);
            assert_eq!(equivalent_t(f64::NAN, replicates), 0.0);
        }
    }
}
