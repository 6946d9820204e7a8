//! The effects that a design can find, and how much more of it a decision would take.

use crate::dist::t_critical;

/// Φ⁻¹(0.8): the power of 80 % in a minimum detectable effect.
pub const POWER_QUANTILE: f64 = 0.84;

/// P(|Z| ≤ 1.5): the share of normal effects that the pooled estimate takes as they are.
const TAKEN_AS_THEY_ARE: f64 = 0.866_385_597_462_283_8;

/// Nobody waits for more replicates than this.
pub const MOST_REPLICATES: usize = 100_000;

/// Fewer blocks would leave a replicate's own scale unknown; more would only repeat what one
/// process can tell.
pub const BLOCKS_RANGE: (u32, u32) = (5, 200);

/// The effect found with 80 % power, (t_crit + 0.84)·SE, in the units of `se` (log ratio); see
/// Cohen (1988).
///
/// `df` below 1 counts as 1, a negative `se` as 0. Values too large to represent are given as
/// `f64::MAX`.
pub fn minimum_detectable_effect(se: f64, df: f64, two_sided_level: f64) -> f64 {
    ((t_critical(two_sided_level, df) + POWER_QUANTILE) * se.max(0.0)).min(f64::MAX)
}

/// The standard error that the pooled estimate will have after so many replicates of `blocks` blocks each, from the
/// variances of [`clamped_components`](crate::clamped_components): √((between + within/blocks)/replicates)/0.866.
///
/// Clamped effects vary less than the effects themselves, and the estimate pays for it: its error
/// is that of their mean over the share of effects that were not clamped (Huber 1964), which is
/// 0.866 of normal ones. Where each replicate is a single block, `between` is 0 and
/// [`clamped_variance`](crate::clamped_variance) the rest. No replicates or blocks count as one,
/// and negative variances as 0.
pub fn planned_standard_error(within: f64, between: f64, blocks: u32, replicates: usize) -> f64 {
    let of_a_replicate = between.max(0.0) + within.max(0.0) / f64::from(blocks.max(1));
    let error = (of_a_replicate / replicates.max(1) as f64).sqrt() / TAKEN_AS_THEY_ARE;
    error.min(f64::MAX)
}

/// The number of replicates a budget buys that cost so many seconds each; at most 100,000, also of
/// those that cost nothing.
pub fn replicates_within(budget_seconds: f64, replicate_seconds: f64) -> usize {
    let bought = (budget_seconds.max(0.0) / replicate_seconds.max(f64::MIN_POSITIVE)).floor();
    // `as` saturates, and makes 0 of what is not a number.
    (bought as usize).min(MOST_REPLICATES)
}

/// The number of further replicates that would settle the matter if the estimate stayed at `theta`
/// and its standard error fell as 1/√P: the interval must fall wholly on one side of 0 (half-width
/// below |θ|) or inside the margin (below margin − |θ|), whichever asks for less.
///
/// `margin_log` is ln(1 + δ), `level` the two-sided level of the interval that decides. 0 when it
/// is settled already; `None` beyond 100,000 more, when `theta` is 0 and there is no margin, and
/// without replicates.
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
    // The half-width only ever shrinks, so the smallest number is found by halving.
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

/// The number of blocks per replicate that buys the smallest error for a given time, K* =
/// √(c_process/c_block · σ²_within/σ²_between), clamped to 5–200 (Cochran 1977; Kalibera & Jones
/// 2013).
///
/// Costs in any one unit of time, variances of a block's effect within a replicate and of replicate
/// means beyond that. A variance between replicates of 0 asks for as many blocks as allowed, one
/// within of 0 for as few.
pub fn optimal_blocks(
    cost_process: f64,
    cost_block: f64,
    var_within: f64,
    var_between: f64,
) -> u32 {
    let (fewest, most) = BLOCKS_RANGE;
    // Roots first: the products of extreme values would overflow.
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

#[cfg(test)]
mod tests {
    use super::*;

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
        // Processes that differ set a floor that no number of blocks gets below.
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
}
