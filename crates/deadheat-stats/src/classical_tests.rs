//! Tests that are reported next to the primary estimate and never decide a verdict. The sign-flip
//! test assumes that without a difference a replicate's score and its negative are equally likely.
//! Student's, Welch's and the normal test compare means, so they show the result that a mean-based
//! tool would report.
//!
//! With log times as input, a difference of means is a log ratio. Tests of means do not decide a
//! verdict, because a single spike moves a mean, and because blocks of one process are not
//! independent (see [`estimate`](crate::estimate)).

use rand_core::Rng;

use crate::clusters::Clusters;
use crate::dist::{normal_cdf, t_critical, t_two_sided_p};
use crate::estimate::HUBER_CLAMP;
use crate::summary::{Centred, finite, median};

/// Up to this many replicates, all 2^P sign patterns are counted.
pub const EXACT_REPLICATES: usize = 16;

/// The number of random sign patterns for more than [`EXACT_REPLICATES`] replicates. The observed
/// pattern is added, which makes 10,000.
const DRAWS: u32 = 9_999;

/// Φ⁻¹(¾), the median of |Z|.
const MEDIAN_ABS_NORMAL: f64 = 0.6744897501960817;

/// Two sums count as equal if they differ by less than this share of the largest possible sum,
/// because rounding makes sums of the same scores differ.
const TIE: f64 = 1e-9;

/// The two-sided sign-flip p-value over replicates (Fisher 1935).
///
/// Replicate scores are S_p = Σ_k ψ(d_pk/s₀), ψ clamped at ±1.5, s₀ = median|d|/0.67449. The
/// p-value is the share of sign patterns ε with |Σ ε_p S_p| ≥ |Σ S_p|. It is exact up to 16
/// replicates, and (1 + hits)/(1 + draws) over 9,999 patterns from `rng` beyond (Phipson & Smyth
/// 2010). If s₀ is 0, a score is the number of positive effects minus that of negative ones, the
/// limit for s₀ → 0. `None` without blocks or with an effect that is not finite.
pub fn sign_flip_p(clusters: &Clusters, rng: &mut impl Rng) -> Option<f64> {
    let scores = scores(clusters)?;
    let largest: f64 = scores.iter().map(|s| s.abs()).sum();
    let threshold = scores.iter().sum::<f64>().abs() - TIE * largest;
    Some(if scores.len() <= EXACT_REPLICATES {
        share_of_all_patterns(scores, threshold)
    } else {
        share_of_drawn_patterns(&scores, threshold, rng)
    })
}

fn scores(clusters: &Clusters) -> Option<Vec<f64>> {
    let sizes: Vec<f64> = clusters.effects().iter().map(|d| d.abs()).collect();
    let s0 = median(&sizes)? / MEDIAN_ABS_NORMAL;
    let psi = |d: f64| match s0 {
        0.0 if d == 0.0 => 0.0,
        0.0 => HUBER_CLAMP.copysign(d),
        _ => (d / s0).clamp(-HUBER_CLAMP, HUBER_CLAMP),
    };
    Some(
        clusters
            .iter()
            .map(|replicate| replicate.iter().map(|&d| psi(d)).sum())
            .collect(),
    )
}

/// Returns the share of sign patterns whose absolute sum reaches `threshold`. Gray-code order
/// changes one sign at a time.
fn share_of_all_patterns(mut scores: Vec<f64>, threshold: f64) -> f64 {
    let patterns = 1_u32 << scores.len();
    let mut sum: f64 = scores.iter().sum();
    let mut hits = 1_u32;
    for i in 1..patterns {
        let flipped = i.trailing_zeros() as usize;
        sum -= 2.0 * scores[flipped];
        scores[flipped] = -scores[flipped];
        hits += u32::from(sum.abs() >= threshold);
    }
    f64::from(hits) / f64::from(patterns)
}

fn share_of_drawn_patterns(scores: &[f64], threshold: f64, rng: &mut impl Rng) -> f64 {
    let mut hits = 1_u32;
    for _ in 0..DRAWS {
        let mut sum = 0.0;
        for part in scores.chunks(64) {
            let signs = rng.next_u64();
            for (bit, score) in part.iter().enumerate() {
                // The sign is set without a branch, because random signs cannot be predicted.
                let negative = !signs >> bit & 1;
                sum += f64::from_bits(score.to_bits() ^ (negative << 63));
            }
        }
        hits += u32::from(f64::abs(sum) >= threshold);
    }
    f64::from(hits) / f64::from(DRAWS + 1)
}

/// A difference of means with its standard error. Every figure is finite.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TTest {
    /// Mean of the second sample minus that of the first, or the mean of the paired differences, in
    /// their unit.
    pub difference: f64,
    /// The standard error of the difference, above 0.
    pub se: f64,
    /// difference/se.
    pub t: f64,
    /// Degrees of freedom; rarely a whole number in [`welch`].
    pub df: f64,
}

impl TTest {
    fn new(difference: f64, se: f64, df: f64) -> Option<Self> {
        if se <= 0.0 {
            return None;
        }
        Some(Self {
            difference: finite(difference)?,
            se: finite(se)?,
            t: finite(difference / se)?,
            df,
        })
    }

    /// The two-sided p-value of equal means: P(|T| ≥ |t|) with `df` degrees of freedom.
    pub fn p_value(&self) -> f64 {
        t_two_sided_p(self.t, self.df)
    }

    /// difference ± t·se at the given two-sided level (0.05 for 95% confidence). `None` if the
    /// level is not in (0, 1) or an end is too large to represent.
    pub fn interval(&self, two_sided_level: f64) -> Option<(f64, f64)> {
        if !(two_sided_level > 0.0 && two_sided_level < 1.0) {
            return None;
        }
        let half = t_critical(two_sided_level, self.df) * self.se;
        finite(self.difference - half).zip(finite(self.difference + half))
    }
}

impl TTest {
    /// Returns the normal test of the same mean with the same standard error.
    pub fn by_normal(&self) -> ZTest {
        ZTest {
            mean: self.difference,
            se: self.se,
            z: self.t,
            p: 2.0 * normal_cdf(-self.t.abs()),
        }
    }
}

/// Welch's test of two independent samples whose variances may differ (Welch 1947).
///
/// With eᵢ² = sᵢ²/nᵢ (sᵢ² with nᵢ − 1): se = √(e₁² + e₂²) and df = se⁴/(e₁⁴/(n₁ − 1) + e₂⁴/(n₂ −
/// 1)), as `scipy.stats.ttest_ind(second, first, equal_var=False)`. `None` for fewer than two
/// values on a side, a value that is not finite, samples without spread, or a result too large to
/// represent.
pub fn welch(first: &[f64], second: &[f64]) -> Option<TTest> {
    welch_of(&Averaged::new(first)?, &Averaged::new(second)?)
}

/// [`welch`] for two samples whose summaries the caller has already computed.
pub fn welch_of(first: &Averaged, second: &Averaged) -> Option<TTest> {
    let (e1, e2) = (first.error_of_mean(), second.error_of_mean());
    // In units of the larger standard error, so that squares neither overflow nor underflow.
    let larger = e1.max(e2);
    if larger == 0.0 {
        return None;
    }
    let root = ((e1 / larger).powi(2) + (e2 / larger).powi(2)).sqrt();
    // Shares of the squared error: they add up to 1.
    let share = |e: f64| (e / larger / root).powi(2);
    let unsure = share(e1).powi(2) / first.df() + share(e2).powi(2) / second.df();
    TTest::new(second.mean - first.mean, larger * root, 1.0 / unsure)
}

/// Student's test of two independent samples of one variance (Student 1908, Fisher 1925).
///
/// s² = ((n₁ − 1)·s₁² + (n₂ − 1)·s₂²)/df, se = s·√(1/n₁ + 1/n₂), df = n₁ + n₂ − 2, as
/// `scipy.stats.ttest_ind(second, first)`. `None` as for [`welch`].
pub fn student(first: &[f64], second: &[f64]) -> Option<TTest> {
    student_of(&Averaged::new(first)?, &Averaged::new(second)?)
}

/// [`student`] for two samples whose summaries the caller has already computed.
pub fn student_of(first: &Averaged, second: &Averaged) -> Option<TTest> {
    let larger = first.sd.max(second.sd);
    if larger == 0.0 {
        return None;
    }
    let df = first.df() + second.df();
    let squares = |side: &Averaged| side.df() * (side.sd / larger).powi(2);
    let pooled = ((squares(first) + squares(second)) / df).sqrt();
    let se = larger * pooled * (1.0 / first.n + 1.0 / second.n).sqrt();
    TTest::new(second.mean - first.mean, se, df)
}

/// Student's test that the mean of paired differences (second − first) is 0 (Student 1908).
///
/// se = s/√n, df = n − 1, as `scipy.stats.ttest_1samp(differences, 0)`. `None` for fewer than two
/// differences, a difference that is not finite, differences without spread, or a result too large
/// to represent.
pub fn student_paired(differences: &[f64]) -> Option<TTest> {
    let side = Averaged::new(differences)?;
    TTest::new(side.mean, side.error_of_mean(), side.df())
}

/// A mean, its standard error and the normal p-value. Every figure is finite.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ZTest {
    /// The mean of the paired differences, in their unit.
    pub mean: f64,
    /// The standard error of the mean, above 0.
    pub se: f64,
    /// mean/se.
    pub z: f64,
    /// The two-sided p-value of a mean of 0: 2Φ(−|z|).
    pub p: f64,
}

/// The normal test that the mean of paired differences (second − first) is 0: z = mean/(s/√n), s
/// with n − 1.
///
/// Like [`student_paired`], but with the normal distribution instead of t, which has too many false
/// positives if n is small: 8% instead of 5% at n = 10. `None` if [`student_paired`] returns
/// `None`.
pub fn z_test(differences: &[f64]) -> Option<ZTest> {
    Some(student_paired(differences)?.by_normal())
}

/// The figures of a sample that a t test needs. The sample has two or more values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Averaged {
    n: f64,
    mean: f64,
    sd: f64,
}

impl Averaged {
    fn new(values: &[f64]) -> Option<Self> {
        Self::of(&Centred::new(values)?)
    }

    /// Returns the summary of a centred sample. `None` for fewer than two values, or if the spread
    /// is too large to represent.
    pub fn of(centred: &Centred) -> Option<Self> {
        let n = centred.count();
        if n < 2.0 {
            return None;
        }
        Some(Self {
            n,
            mean: centred.mean,
            sd: centred.root_mean_square(n - 1.0)?,
        })
    }

    fn df(&self) -> f64 {
        self.n - 1.0
    }

    fn error_of_mean(&self) -> f64 {
        self.sd / self.n.sqrt()
    }
}

#[cfg(test)]
mod tests {
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::SeedableRng;

    use super::*;

    const D: [f64; 12] = [
        -0.012, 0.004, -0.021, -0.008, 0.310, -0.015, -0.011, 0.002, -0.018, -0.009, -0.027, -0.013,
    ];

    fn p_value(clusters: &Clusters) -> Option<f64> {
        sign_flip_p(clusters, &mut Xoshiro256PlusPlus::seed_from_u64(3))
    }

    #[test]
    fn the_values_of_the_specification_come_out_as_printed() {
        let sizes = [3; 4];
        assert_eq!(p_value(&Clusters::new(&D, &sizes).unwrap()), Some(0.25));
        assert!((p_value(&Clusters::singletons(&D)).unwrap() - 0.06884766).abs() < 5e-9);
    }

    #[test]
    fn effects_that_all_agree_leave_only_the_two_extreme_patterns() {
        assert_eq!(p_value(&Clusters::singletons(&[0.01; 6])), Some(2.0 / 64.0));
        assert_eq!(
            p_value(&Clusters::singletons(&[-0.01; 16])),
            Some(2.0 / 65_536.0)
        );
    }

    #[test]
    fn many_replicates_are_sampled_and_never_reach_nought() {
        assert_eq!(p_value(&Clusters::singletons(&[0.01; 100])), Some(1e-4));
        let balanced: Vec<f64> = (0..40)
            .map(|i| if i % 2 == 0 { 0.01 } else { -0.01 })
            .collect();
        assert_eq!(p_value(&Clusters::singletons(&balanced)), Some(1.0));
    }

    #[test]
    fn sampling_agrees_with_counting() {
        let scores: Vec<f64> = (0..14).map(|i| f64::from(i % 5) - 1.3).collect();
        let threshold = scores.iter().sum::<f64>().abs() - 1e-9;
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(9);
        let drawn = share_of_drawn_patterns(&scores, threshold, &mut rng);
        let counted = share_of_all_patterns(scores, threshold);
        // Four binomial standard errors of 9,999 draws.
        assert!(
            (drawn - counted).abs() < 4.0 * (0.25 / 9_999.0_f64).sqrt(),
            "{drawn} {counted}"
        );
    }

    #[test]
    fn mostly_zero_effects_are_scored_by_their_signs() {
        let mostly = [0.0, 0.0, 0.0, 0.0, 0.02, 3.0];
        assert_eq!(p_value(&Clusters::singletons(&mostly)), Some(0.5));
        assert_eq!(p_value(&Clusters::singletons(&[0.0; 5])), Some(1.0));
    }

    #[test]
    fn no_blocks_and_bad_blocks_have_no_p_value() {
        assert_eq!(p_value(&Clusters::singletons(&[])), None);
        assert_eq!(p_value(&Clusters::singletons(&[0.1, f64::NAN])), None);
        assert!(p_value(&Clusters::singletons(&[f64::MAX, 5e-324])).is_some());
    }

    fn close(got: f64, want: f64) {
        assert!(
            (got - want).abs() <= 1e-14 * want.abs(),
            "{got} is not {want}"
        );
    }

    // Mean 2, s² = 1, and mean 7, s² = 20/3.
    const FIRST: [f64; 3] = [1.0, 2.0, 3.0];
    const SECOND: [f64; 4] = [4.0, 6.0, 8.0, 10.0];

    #[test]
    fn welch_takes_each_side_by_its_own_variance() {
        let found = welch(&FIRST, &SECOND).unwrap();
        // e₁² = 1/3, e₂² = 5/3.
        close(found.difference, 5.0);
        close(found.se, 2.0_f64.sqrt());
        close(found.t, 5.0 / 2.0_f64.sqrt());
        close(found.df, 4.0 / (1.0 / 18.0 + 25.0 / 27.0));
        close(found.p_value(), t_two_sided_p(found.t, found.df));
    }

    #[test]
    fn student_pools_the_variances() {
        let found = student(&FIRST, &SECOND).unwrap();
        // (2·1 + 3·20/3)/5 = 22/5, times 1/3 + 1/4.
        close(found.difference, 5.0);
        close(found.df, 5.0);
        close(found.se, (22.0_f64 / 5.0 * 7.0 / 12.0).sqrt());
        close(found.t, 5.0 / found.se);
    }

    #[test]
    fn pairs_are_tested_by_their_differences() {
        let found = student_paired(&SECOND).unwrap();
        close(found.difference, 7.0);
        close(found.se, (20.0_f64 / 12.0).sqrt());
        close(found.t, 7.0 / found.se);
        assert_eq!(found.df, 3.0);
    }

    #[test]
    fn the_interval_is_as_many_errors_wide_as_t_says() {
        // With one degree of freedom t at 95% is 12.706…, so the interval of 0 and 2 is 1 ± 12.706.
        let (low, high) = student_paired(&[0.0, 2.0]).unwrap().interval(0.05).unwrap();
        assert!((high - 13.706204736174698).abs() < 1e-12);
        assert!((low + 11.706204736174698).abs() < 1e-12);
        for level in [0.0, 1.0, -0.5, 1.5, f64::NAN] {
            assert_eq!(student_paired(&[0.0, 2.0]).unwrap().interval(level), None);
        }
    }

    #[test]
    fn the_normal_test_reads_the_same_error_off_another_table() {
        let found = z_test(&[0.0, 2.0, 4.0]).unwrap();
        assert_eq!((found.mean, found.se), (2.0, 2.0 / 3.0_f64.sqrt()));
        close(found.z, 3.0_f64.sqrt());
        // 2Φ(−√3).
        assert!((found.p - 0.08326451666355043).abs() < 1e-14);
        assert_eq!(z_test(&[-0.0, -2.0, -4.0]).unwrap().p, found.p);
    }

    #[test]
    fn one_side_without_spread_leaves_the_other_its_degrees_of_freedom() {
        let found = welch(&[0.1; 10], &SECOND).unwrap();
        close(found.df, 3.0);
        close(found.se, (20.0_f64 / 12.0).sqrt());
        close(welch(&SECOND, &[0.1; 10]).unwrap().df, 3.0);
    }

    #[test]
    fn without_spread_or_values_there_is_no_test() {
        assert_eq!(welch(&[0.1; 10], &[0.3; 7]), None);
        assert_eq!(student(&[0.1; 10], &[0.3; 7]), None);
        assert_eq!(student_paired(&[0.1; 10]), None);
        assert_eq!(z_test(&[0.1; 10]), None);
        for few in [&[][..], &[1.0][..], &[1.0, f64::NAN][..]] {
            assert_eq!(welch(few, &FIRST), None);
            assert_eq!(welch(&FIRST, few), None);
            assert_eq!(student(few, &FIRST), None);
            assert_eq!(student(&FIRST, few), None);
            assert_eq!(student_paired(few), None);
            assert_eq!(z_test(few), None);
        }
        assert!(welch(&[1.0, 2.0], &[1.0, 2.0]).is_some());
    }

    #[test]
    fn figures_too_large_for_a_number_are_left_out() {
        let (huge, low) = ([f64::MAX, 0.5 * f64::MAX], [-f64::MAX, -0.5 * f64::MAX]);
        assert_eq!(welch(&huge, &low), None);
        assert_eq!(student(&huge, &low), None);
        assert_eq!(student_paired(&[f64::MAX, -f64::MAX]), None);
        let found = student_paired(&huge).unwrap();
        assert_eq!(found.interval(1e-9), None);
        assert!(found.t > 2.9 && found.p_value() < 0.3);
        // Both sides equal, with numbers whose squares would overflow.
        assert_eq!(welch(&huge, &huge).unwrap().t, 0.0);
        close(student(&huge, &huge).unwrap().df, 2.0);
    }
}
