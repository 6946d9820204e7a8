//! The effects that a design can detect, how many more replicates a decision needs, and how many
//! blocks a process should run, which depends on the spread within and between replicates.
//!
//! Also a test for two modes: two estimates of the effect coincide if the replicates have one mode,
//! and differ if they have two.

use crate::clusters::Clusters;
use crate::dist::{f_upper_tail, t_critical};
use crate::estimate::{HUBER_CLAMP, PooledEstimate};
use crate::rank::hodges_lehmann_with;
use crate::summary::{Centred, all_finite, finite, mean};

/// Φ⁻¹(0.8): the power of 80% in a minimum detectable effect.
pub const POWER_QUANTILE: f64 = 0.84;

/// P(|Z| ≤ 1.5): the share of normal effects that the pooled estimate does not clamp.
const TAKEN_AS_THEY_ARE: f64 = 0.866_385_597_462_283_8;

/// An upper limit for plans: no user waits for more replicates.
pub const MOST_REPLICATES: usize = 100_000;

/// The allowed blocks per replicate: fewer leave the scale of a replicate unknown, and more only
/// repeat what one process can show.
pub const BLOCKS_RANGE: (u32, u32) = (5, 200);

/// The effect that is detected with 80% power, (t_crit + 0.84)·SE, in the units of `se` (log
/// ratio); see Cohen (1988).
///
/// A `df` below 1 counts as 1, a negative `se` as 0. Values too large to represent become
/// `f64::MAX`.
pub fn minimum_detectable_effect(se: f64, df: f64, two_sided_level: f64) -> f64 {
    ((t_critical(two_sided_level, df) + POWER_QUANTILE) * se.max(0.0)).min(f64::MAX)
}

/// The expected standard error of the pooled estimate after `replicates` replicates of `blocks`
/// blocks each, from the variances of [`clamped_components`]: √((between +
/// within/blocks)/replicates)/0.866.
///
/// Clamped effects vary less than the effects themselves. The standard error of the estimate is the
/// standard error of the mean of the clamped effects, divided by the share of effects that were not
/// clamped (Huber 1964). For normal effects, this share is 0.866. If each replicate is a single
/// block, pass 0 as `between` and [`clamped_variance`] as `within`. A count of 0 is taken as 1, and
/// a negative variance as 0.
pub fn planned_standard_error(within: f64, between: f64, blocks: u32, replicates: usize) -> f64 {
    let of_a_replicate = between.max(0.0) + within.max(0.0) / f64::from(blocks.max(1));
    let error = (of_a_replicate / replicates.max(1) as f64).sqrt() / TAKEN_AS_THEY_ARE;
    error.min(f64::MAX)
}

/// The number of replicates of `replicate_seconds` each that fit into `budget_seconds`; at most
/// 100,000, even if a replicate costs nothing.
pub fn replicates_within(budget_seconds: f64, replicate_seconds: f64) -> usize {
    let bought = (budget_seconds.max(0.0) / replicate_seconds.max(f64::MIN_POSITIVE)).floor();
    // `as` saturates, and turns NaN into 0.
    (bought as usize).min(MOST_REPLICATES)
}

/// The number of further replicates that would lead to a decision if the estimate stayed at `theta`
/// and its standard error fell as 1/√P. Either the interval excludes 0 (half-width below |θ|), or
/// it is inside the margin (half-width below margin − |θ|), whichever needs fewer.
///
/// `margin_log` is ln(1 + δ), `level` the two-sided level of the deciding interval. Returns 0 if
/// the decision is possible already; `None` beyond 100,000 more replicates, if `theta` is 0 and
/// there is no margin, and without replicates.
pub fn replicates_to_settle(
    theta: f64,
    se: f64,
    replicates: usize,
    margin_log: f64,
    level: f64,
) -> Option<usize> {
    let distance = theta.abs();
    let narrow_enough = distance.max(margin_log - distance);
    if replicates == 0 || !(narrow_enough > 0.0 && se >= 0.0) {
        return None;
    }
    let settled = |more: usize| {
        let p = (replicates + more) as f64;
        p >= 2.0 && t_critical(level, p - 1.0) * se * (replicates as f64 / p).sqrt() < narrow_enough
    };
    if !settled(MOST_REPLICATES) {
        return None;
    }
    // The half-width only ever shrinks, so a binary search finds the smallest number.
    let (mut unsettled, mut enough) = (0, MOST_REPLICATES);
    if settled(0) {
        return Some(0);
    }
    while enough - unsettled > 1 {
        let middle = unsettled + (enough - unsettled) / 2;
        if settled(middle) {
            enough = middle
        } else {
            unsettled = middle
        }
    }
    Some(enough)
}

/// The number of blocks per replicate with the smallest error for a given time, K* =
/// √(c_process/c_block · σ²_within/σ²_between), clamped to 5–200 (Cochran 1977; Kalibera & Jones
/// 2013).
///
/// Both costs are in the same unit of time. The variances are that of a block's effect within a
/// replicate, and that of the true means of replicates. If the variance between replicates is 0,
/// the result is the largest allowed number; if the variance within is 0, the smallest.
pub fn optimal_blocks(
    cost_process: f64,
    cost_block: f64,
    var_within: f64,
    var_between: f64,
) -> u32 {
    let (fewest, most) = BLOCKS_RANGE;
    // Roots are taken first, because the products of extreme values would overflow.
    let for_more = cost_process.max(0.0).sqrt() * var_within.max(0.0).sqrt();
    let for_fewer = cost_block.max(0.0).sqrt() * var_between.max(0.0).sqrt();
    if for_more <= f64::from(fewest) * for_fewer {
        fewest
    } else if for_more >= f64::from(most) * for_fewer {
        most
    } else {
        (for_more / for_fewer).round() as u32
    }
}

/// Variances of block effects, in squared log-ratio units. Every figure is finite and not negative.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Components {
    /// σ²_within: variance of blocks around their replicate's mean.
    pub within: f64,
    /// σ²_between: variance of the replicates' true means; 0 if the spread within replicates
    /// explains their differences.
    pub between: f64,
    /// Mean square between over mean square within; near 1 if replicates do not differ. `None`
    /// without spread within replicates.
    pub f: Option<f64>,
    /// Degrees of freedom between replicates, P − 1 for P replicates.
    pub df_between: f64,
    /// Degrees of freedom within replicates, N − P for N blocks in P replicates.
    pub df_within: f64,
}

impl Components {
    /// The p-value of equal replicate means: P(F ≥ `f`) with `df_between` and `df_within` degrees
    /// of freedom (Fisher 1925). `None` without spread within replicates.
    pub fn p_value(&self) -> Option<f64> {
        Some(f_upper_tail(self.f?, self.df_between, self.df_within))
    }
}

/// One-way random-effects analysis of variance for replicates of any sizes (Searle, Casella &
/// McCulloch 1992).
///
/// With n_p blocks in replicate p, N in all: MSB = Σn_p(d̄_p − d̄)²/(P − 1), MSW = ΣΣ(d_pk −
/// d̄_p)²/(N − P), n₀ = (N − Σn_p²/N)/(P − 1); σ²_within = MSW, σ²_between = max(0, (MSB −
/// MSW)/n₀), F = MSB/MSW as `scipy.stats.f_oneway`.
///
/// `None` for fewer than two replicates, if no replicate has a second block, and for effects that
/// are not finite, all equal, or too large to square. A single spike inflates σ²_within without
/// bound, so use [`clamped_components`] to plan blocks.
pub fn variance_components(clusters: &Clusters) -> Option<Components> {
    let effects = clusters.effects();
    let (n, p) = (effects.len() as f64, clusters.replicates() as f64);
    let (df_between, df_within) = (p - 1.0, n - p);
    if df_between < 1.0 || df_within < 1.0 {
        return None;
    }
    let centred = Centred::new(effects).filter(Centred::has_spread)?;
    let (mut between, mut within, mut squared_sizes) = (0.0, 0.0, 0.0);
    let mut rest = &centred.deviations[..];
    for replicate in clusters.iter() {
        let (deviations, later) = rest.split_at(replicate.len());
        rest = later;
        let size = deviations.len() as f64;
        let mean = deviations.iter().sum::<f64>() / size;
        between += size * mean * mean;
        // Equal effects have no spread, even if their mean is rounded.
        if deviations.iter().any(|d| *d != deviations[0]) {
            within += deviations.iter().map(|d| (d - mean).powi(2)).sum::<f64>();
        }
        squared_sizes += size * size;
    }
    let (mean_square_between, mean_square_within) = (between / df_between, within / df_within);
    let effective_size = (n - squared_sizes / n) / df_between;
    let excess = (mean_square_between - mean_square_within) / effective_size;
    // Converted back into the unit of the effects.
    let unit = centred.root_mean_square(centred.squares())?;
    let in_effects = |variance: f64| finite((variance.sqrt() * unit).powi(2));
    Some(Components {
        within: in_effects(mean_square_within)?,
        between: in_effects(excess.max(0.0))?,
        f: finite(mean_square_between / mean_square_within),
        df_between,
        df_within,
    })
}

/// [`variance_components`] of the effects clamped to θ̂ ± 1.5σ̂: the variances that matter for the
/// pooled estimate.
///
/// θ̂ and its standard error depend on an effect only through its score ψ((d − θ̂)/σ̂), and θ̂ +
/// σ̂ψ is the clamped effect. With the ratio of these variances, [`optimal_blocks`] therefore
/// minimises the error of θ̂. With raw effects, pre-emptions in 2% of the blocks lead to the
/// largest allowed number of blocks, although the estimate all but ignores such blocks.
///
/// `None` if [`variance_components`] returns `None`, and for an estimate with a scale of 0.
///
/// ```
/// use deadheat_stats::{Clusters, Floor, clamped_components, optimal_blocks, pooled_huber};
///
/// // Three processes, four blocks each, one of them hit by an interrupt.
/// let effects = [
///     -0.012, -0.010, -0.011, -0.013, -0.021, -0.019, 0.310, -0.020, -0.015, -0.016, -0.014, -0.017,
/// ];
/// let clusters = Clusters::new(&effects, &[4, 4, 4]).unwrap();
/// let estimate = pooled_huber(&clusters, Floor::default()).unwrap();
/// let variance = clamped_components(&clusters, &estimate).unwrap();
/// // A new process costs as much as eighty blocks.
/// let blocks = optimal_blocks(80.0, 1.0, variance.within, variance.between);
/// assert!((5..=20).contains(&blocks));
/// ```
pub fn clamped_components(clusters: &Clusters, estimate: &PooledEstimate) -> Option<Components> {
    let clamped = clamped(clusters, estimate)?;
    let sizes: Vec<usize> = clusters.iter().map(<[f64]>::len).collect();
    variance_components(&Clusters::new(&clamped, &sizes).ok()?)
}

/// Variance around their mean of the effects clamped to θ̂ ± 1.5σ̂, regardless of replicates: the
/// only variance there is if every replicate is a single block. It corresponds to the sum of both
/// [`clamped_components`].
///
/// `None` for fewer than two effects, for effects that are not finite, all equal, or too large to
/// square, and for an estimate with a scale of 0.
pub fn clamped_variance(clusters: &Clusters, estimate: &PooledEstimate) -> Option<f64> {
    let clamped = clamped(clusters, estimate)?;
    let centred = Centred::new(&clamped).filter(Centred::has_spread)?;
    finite(
        centred
            .root_mean_square(clamped.len() as f64 - 1.0)?
            .powi(2),
    )
}

/// The effects, clamped to θ̂ ± 1.5σ̂.
fn clamped(clusters: &Clusters, estimate: &PooledEstimate) -> Option<Vec<f64>> {
    let reach = HUBER_CLAMP * estimate.scale;
    let (low, high) = (estimate.theta - reach, estimate.theta + reach);
    if low >= high || !all_finite(clusters.effects()) {
        return None;
    }
    let effects = clusters.effects().iter();
    Some(effects.map(|d| d.max(low).min(high)).collect())
}

/// The mean over replicates of the Hodges–Lehmann estimate of each: every replicate has the same
/// weight, and none is treated as an outlier.
///
/// Returns 0 without replicates, or with an effect that is not finite.
pub fn mean_of_replicate_locations(clusters: &Clusters) -> f64 {
    let mut scratch = Vec::new();
    let locate = |replicate| hodges_lehmann_with(replicate, &mut scratch);
    let locations: Option<Vec<f64>> = clusters.iter().map(locate).collect();
    locations
        .and_then(|locations| mean(&locations))
        .unwrap_or(0.0)
}

/// Returns true if the mean of replicate locations differs from θ̂ by more than max(margin/2,
/// 2·SE), `margin_log` = ln(1 + δ).
///
/// The pooled estimate follows the majority of replicates, the mean follows all. They differ if
/// layouts are either fast or slow with nothing between, and t intervals then cover too rarely.
/// Always false for a single replicate.
pub fn is_bimodal(mean_hl: f64, estimate: &PooledEstimate, margin_log: f64) -> bool {
    estimate.replicates >= 2
        && (mean_hl - estimate.theta).abs() > (0.5 * margin_log).max(2.0 * estimate.se)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::{Floor, pooled_huber};

    #[test]
    fn the_minimum_detectable_effect_is_a_quantile_and_the_power_in_standard_errors() {
        let found = minimum_detectable_effect(0.002, 9.0, 0.05);
        assert!((found - 0.002 * (2.2621571627982053 + 0.84)).abs() < 1e-15);
        assert!(minimum_detectable_effect(f64::MAX, 0.0, 1e-9).is_finite());
    }

    #[test]
    fn a_budget_buys_whole_replicates_and_no_more_than_anybody_waits_for() {
        assert_eq!(replicates_within(1.0, 0.3), 3);
        assert_eq!(replicates_within(1.0, 2.0), 0);
        assert_eq!(replicates_within(-1.0, 0.3), 0);
        assert_eq!(replicates_within(60.0, 0.0), MOST_REPLICATES);
        assert_eq!(replicates_within(f64::NAN, 1.0), 0);
    }

    #[test]
    fn the_planned_error_falls_with_replicates_and_with_blocks_as_far_as_those_matter() {
        let error = |blocks, replicates| planned_standard_error(4e-4, 1e-6, blocks, replicates);
        assert!((error(25, 4) - error(25, 1) / 2.0).abs() < 1e-15);
        assert!(error(100, 10) < error(25, 10));
        // Differences between processes set a lower bound, whatever the number of blocks.
        assert!(error(u32::MAX, 1) > 1e-3);
        assert_eq!(error(0, 0), error(1, 1));
    }

    #[test]
    fn a_settled_estimate_needs_nothing_more() {
        assert_eq!(replicates_to_settle(0.05, 0.001, 10, 0.01, 0.05), Some(0));
        assert_eq!(replicates_to_settle(0.0, 0.001, 10, 0.01, 0.05), Some(0));
        assert_eq!(replicates_to_settle(0.05, 0.0, 10, 0.01, 0.05), Some(0));
    }

    #[test]
    fn the_answer_is_the_first_number_that_settles() {
        for (theta, margin) in [(0.003, 0.01), (0.006, 0.01), (0.02, 0.01), (0.0, 0.004)] {
            let (se, replicates, level) = (0.01_f64, 8_usize, 0.02);
            let more = replicates_to_settle(theta, se, replicates, margin, level).unwrap();
            let half = |p: usize| t_critical(level, (p - 1) as f64) * se * (8.0 / p as f64).sqrt();
            let settled = |p: usize| half(p) < theta || half(p) + theta < margin;
            assert!(
                settled(8 + more) && !settled(8 + more - 1),
                "{theta} {margin}: {more}"
            );
        }
    }

    #[test]
    fn a_hopeless_case_is_not_given_a_number() {
        assert_eq!(replicates_to_settle(1e-6, 0.1, 10, 2e-6, 0.05), None);
        assert_eq!(replicates_to_settle(0.0, 0.1, 10, 0.0, 0.05), None);
        assert_eq!(replicates_to_settle(0.1, 0.1, 0, 0.01, 0.05), None);
    }

    #[test]
    fn expensive_processes_and_noisy_blocks_ask_for_more_blocks() {
        assert_eq!(optimal_blocks(100.0, 1.0, 1.0, 1.0), 10);
        assert_eq!(optimal_blocks(100.0, 1.0, 16.0, 1.0), 40);
        assert_eq!(optimal_blocks(1.0, 1.0, 1.0, 1.0), 5);
        assert_eq!(optimal_blocks(1e9, 1.0, 1.0, 1.0), 200);
    }

    #[test]
    fn extreme_costs_and_variances_stay_within_the_range() {
        assert_eq!(optimal_blocks(1.0, 1.0, 1.0, 0.0), 200);
        assert_eq!(optimal_blocks(1.0, 1.0, 0.0, 1.0), 5);
        assert_eq!(optimal_blocks(0.0, 0.0, 0.0, 0.0), 5);
        assert_eq!(optimal_blocks(f64::MAX, f64::MAX, f64::MAX, f64::MAX), 5);
        assert_eq!(optimal_blocks(-1.0, 1.0, 1.0, 1.0), 5);
    }

    fn close(got: f64, want: f64) {
        assert!(
            (got - want).abs() <= 1e-14 * want.abs(),
            "{got} is not {want}"
        );
    }

    fn components(effects: &[f64], sizes: &[usize]) -> Option<Components> {
        variance_components(&Clusters::new(effects, sizes).unwrap())
    }

    #[test]
    fn a_balanced_design_gives_the_textbook_table() {
        // Means 2 and 6, MSB = 16/1, MSW = 4/2, n₀ = 2.
        let found = components(&[1.0, 3.0, 5.0, 7.0], &[2, 2]).unwrap();
        close(found.within, 2.0);
        close(found.between, 7.0);
        close(found.f.unwrap(), 8.0);
        assert_eq!((found.df_between, found.df_within), (1.0, 2.0));
        // With df2 = 2 and df1 = 1, F = 8 is t = √8: p = 1 − t/√(2 + t²).
        assert!((found.p_value().unwrap() - (1.0 - 0.8_f64.sqrt())).abs() < 1e-14);
    }

    #[test]
    fn uneven_replicates_weigh_by_their_blocks() {
        // Means 1 and 5 about 4: MSB = 9 + 3, MSW = 2/2, n₀ = 4 − 10/4.
        let found = components(&[1.0, 4.0, 5.0, 6.0], &[1, 3]).unwrap();
        close(found.within, 1.0);
        close(found.between, 11.0 / 1.5);
        close(found.f.unwrap(), 12.0);
        // Three replicates: means 0, 3 and 6 about 4, MSB = (16 + 2·1 + 3·4)/2, MSW = (2 + 2)/3, n₀
        // = (6 − 14/6)/2.
        let found = components(&[0.0, 2.0, 4.0, 5.0, 6.0, 7.0], &[1, 2, 3]).unwrap();
        close(found.within, 4.0 / 3.0);
        close(found.between, (15.0 - 4.0 / 3.0) / (11.0 / 6.0));
        close(found.f.unwrap(), 11.25);
        assert_eq!((found.df_between, found.df_within), (2.0, 3.0));
        // P(F ≥ f) with df1 = 2 and df2 = 3: (1 + ⅔f)^−1.5.
        close(found.p_value().unwrap(), 8.5_f64.powf(-1.5));
    }

    #[test]
    fn replicates_closer_than_their_blocks_explain_have_no_variance_of_their_own() {
        let found = components(&[1.0, -1.0, 1.0, -1.5], &[2, 2]).unwrap();
        assert_eq!(found.between, 0.0);
        assert!(found.f.unwrap() < 1.0);
    }

    #[test]
    fn without_spread_within_there_is_no_ratio_but_there_are_variances() {
        let found = components(&[0.1, 0.1, 0.1, 0.4, 0.4, 0.4], &[3, 3]).unwrap();
        assert_eq!((found.within, found.f, found.p_value()), (0.0, None, None));
        close(found.between, 0.045);
        // Also if the mean of equal effects is rounded.
        for count in 2..12 {
            let effects =
                [[0.1; 12], [0.3; 12], [0.7; 12]].map(|replicate| replicate[..count].to_vec());
            let found = components(&effects.concat(), &[count; 3]).unwrap();
            assert_eq!((found.within, found.f), (0.0, None), "{count}");
        }
    }

    #[test]
    fn designs_that_cannot_tell_within_from_between_have_no_components() {
        assert_eq!(components(&[], &[]), None);
        assert_eq!(components(&[1.0, 2.0, 3.0], &[3]), None);
        assert_eq!(components(&[1.0, 2.0, 3.0], &[1, 1, 1]), None);
        assert_eq!(components(&[0.1; 4], &[2, 2]), None);
        assert_eq!(components(&[1.0, f64::NAN, 3.0], &[1, 2]), None);
        assert_eq!(components(&[1.0, f64::MAX, 3.0], &[1, 2]), None);
        assert!(components(&[1.0, 2.0, 3.0], &[1, 2]).is_some());
    }

    #[test]
    fn a_spike_does_not_reach_the_clamped_components() {
        // Ten replicates of ten blocks: 1% within, 1% between.
        let mut effects: Vec<f64> = (0..100)
            .map(|i| {
                0.01 * f64::from((i * 37) % 10 - 4) / 3.0
                    + 0.01 * f64::from((i / 10 * 7) % 10 - 4) / 3.0
            })
            .collect();
        let both = |effects: &[f64]| {
            let clusters = Clusters::new(effects, &[10; 10]).unwrap();
            let estimate = pooled_huber(&clusters, Floor::default()).unwrap();
            let raw = variance_components(&clusters).unwrap();
            (raw, clamped_components(&clusters, &estimate).unwrap())
        };
        let blocks = |found: Components| optimal_blocks(100.0, 1.0, found.within, found.between);
        let (raw, clamped) = both(&effects);
        assert!((8..=14).contains(&blocks(raw)) && (8..=14).contains(&blocks(clamped)));
        effects[17] = 3.0;
        effects[71] = 5.0;
        let (raw, clamped) = both(&effects);
        assert_eq!(blocks(raw), 200);
        assert!((8..=14).contains(&blocks(clamped)), "{clamped:?}");
    }

    #[test]
    fn clamped_effects_are_those_within_a_clamp_of_the_estimate() {
        let effects = [1.0, 3.0, 5.0, 90.0];
        let clusters = Clusters::new(&effects, &[2, 2]).unwrap();
        let estimate = PooledEstimate {
            theta: 4.0,
            scale: 2.0,
            ..pooled_huber(&clusters, Floor::default()).unwrap()
        };
        assert_eq!(
            clamped_components(&clusters, &estimate),
            components(&[1.0, 3.0, 5.0, 7.0], &[2, 2])
        );
        // About their mean of 4: 9, 1, 1 and 9, over three.
        close(clamped_variance(&clusters, &estimate).unwrap(), 20.0 / 3.0);
        let alone = Clusters::singletons(&effects[..1]);
        assert_eq!(clamped_variance(&alone, &estimate), None);
        let flat = PooledEstimate {
            scale: 0.0,
            ..estimate
        };
        assert_eq!(clamped_components(&clusters, &flat), None);
        assert_eq!(clamped_variance(&clusters, &flat), None);
        let bad = [1.0, 3.0, 5.0, f64::INFINITY];
        assert_eq!(
            clamped_components(&Clusters::new(&bad, &[2, 2]).unwrap(), &estimate),
            None
        );
    }

    fn verdict(effects: &[f64], sizes: &[usize]) -> bool {
        let clusters = Clusters::new(effects, sizes).unwrap();
        let estimate = pooled_huber(&clusters, Floor::default()).unwrap();
        is_bimodal(
            mean_of_replicate_locations(&clusters),
            &estimate,
            0.01_f64.ln_1p(),
        )
    }

    #[test]
    fn the_two_estimates_may_part_by_half_the_margin_or_two_errors() {
        let sizes = [1; 6];
        let clusters = Clusters::new(&[0.5, 0.5, 0.5, 0.5, 0.5, 0.51], &sizes).unwrap();
        let mut found = pooled_huber(&clusters, Floor::default()).unwrap();
        found.theta = 0.5;
        for (se, margin, apart) in [(0.001, 0.25, 0.125), (0.0625, 0.01, 0.125)] {
            found.se = se;
            assert!(!is_bimodal(0.5 + apart, &found, margin));
            assert!(!is_bimodal(0.5 - apart, &found, margin));
            assert!(is_bimodal(0.5 + 1.01 * apart, &found, margin));
            assert!(is_bimodal(0.5 - 1.01 * apart, &found, margin));
        }
        found.replicates = 1;
        assert!(!is_bimodal(9.0, &found, 0.01));
    }

    /// Returns nine replicates of four blocks each. The first `fast` replicates are about 10%
    /// faster.
    fn replicates(fast: usize) -> Vec<f64> {
        let wobble = |i: usize| ((i * 7) % 11) as f64 * 2e-4 - 1e-3;
        (0..36)
            .map(|i| wobble(i) - if i / 4 < fast { 0.1 } else { 0.0 })
            .collect()
    }

    #[test]
    fn replicates_that_agree_are_not_bimodal() {
        assert!(!verdict(&replicates(0), &[4; 9]));
    }

    #[test]
    fn a_minority_of_fast_layouts_is_noticed() {
        assert!(verdict(&replicates(2), &[4; 9]));
    }

    #[test]
    fn every_replicate_counts_once_however_many_blocks_it_has() {
        let clusters = Clusters::new(&[1.0, 4.0, 4.0, 4.0], &[1, 3]).unwrap();
        assert_eq!(mean_of_replicate_locations(&clusters), 2.5);
        assert_eq!(mean_of_replicate_locations(&clusters.prefix(0)), 0.0);
        assert!(mean_of_replicate_locations(&Clusters::singletons(&[f64::MAX; 9])).is_finite());
    }

    #[test]
    fn one_replicate_is_never_bimodal() {
        assert!(!verdict(&[0.0, 0.0, 0.5, 0.9], &[4]));
    }
}
