//! The guarantee for single blocks whatever the noise: the coin in front of every block.
//!
//! The estimate of [`huber`](crate::huber) reads its scale off the data, and few blocks can lie.
//! Where slots switch between modes far apart, most blocks of an early look may lie within one of
//! several heaps: their scatter is all the median of deviations sees, the rest passes for outliers,
//! and races of six to 22 single blocks without a difference were called in .12 to .14 at α = .05.
//! But since the order of each block was tossed for, its effect without a difference is as likely
//! as its negative, and the signed-rank test needs no more than that: so the interval of single
//! blocks is widened to hold the signed-rank interval as well.
//!
//! That one is asked at twice the level. Asked at the level itself, eleven blocks with spikes would
//! decide .78 of the runs instead of .95, for false calls of .03 where .05 are allowed; so asked,
//! they are .036 to .041 under modes, normal blocks are called as soon as before, and blocks of
//! which 8 % hold a spike after 10.8 of them instead of 8.4 where the change is three spreads
//! (4,000 runs each). P blocks cannot meet a level below 2^(1−P): there the bounds are the smallest
//! and the largest effect, and where even that is far too loose, a whole range beyond them.

use crate::rank::one_sample::MOST_EXACT;
use crate::rank::{signed_rank_interval, signed_rank_one_sided_p};
use crate::summary::{finite, max, min};

/// All blocks of one sign pass for a level so many times stricter than they can meet, and no more:
/// else with α = .01 and modes far apart .017 of runs were called.
const REACH: f64 = 16.0;

/// The numbers of blocks that are guarded. Fewer get no verdict; of more, no majority lies in one
/// heap by chance, and an interval from all their averages would take longer than the estimate.
const GUARDED: std::ops::RangeInclusive<usize> = 3..=MOST_EXACT;

/// The bounds that the interval of single blocks at `two_sided_level` must hold as well.
///
/// `None` where they ask for nothing: for fewer than three or more than 200 blocks, when an effect
/// is not finite, and for levels outside (0, ½).
pub fn guard_interval(effects: &[f64], two_sided_level: f64) -> Option<(f64, f64)> {
    let possible = two_sided_level > 0.0 && two_sided_level < 0.5;
    if !(possible && GUARDED.contains(&effects.len())) {
        return None;
    }
    let strictest = strictest_level(effects.len());
    if 2.0 * two_sided_level >= strictest {
        return signed_rank_interval(effects, 2.0 * two_sided_level);
    }
    let (low, high) = (min(effects)?, max(effects)?);
    if strictest <= REACH * two_sided_level {
        return Some((low, high));
    }
    let range = high - low;
    finite(low - range).zip(finite(high + range))
}

/// The level from which on [`guard_interval`] leaves 0 out; 0 when it always does, and never above
/// 1.
pub fn guard_p(effects: &[f64]) -> f64 {
    if !GUARDED.contains(&effects.len()) {
        return 0.0;
    }
    let Some((low, high)) = min(effects).zip(max(effects)) else {
        return 0.0;
    };
    let range = high - low;
    if low > range || high < -range {
        0.0
    } else if low > 0.0 || high < 0.0 {
        strictest_level(effects.len()) / REACH
    } else {
        signed_rank_one_sided_p(effects).unwrap_or(0.0)
    }
}

/// The level at which `blocks` effects of one sign are called different by the signed-rank test.
fn strictest_level(blocks: usize) -> f64 {
    2.0_f64.powi(1 - blocks as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handful_of_blocks_must_all_agree() {
        let agree = [0.01, 0.02, 0.03, 0.02, 0.05, 0.04];
        assert_eq!(guard_p(&agree), 1.0 / 512.0);
        assert_eq!(guard_p(&agree.map(|d| -d)), 1.0 / 512.0);
        assert_eq!(guard_interval(&agree, 0.0029), Some((0.01, 0.05)));
        let one_differs = [0.01, 0.02, 0.03, 0.02, 0.05, -0.004];
        assert_eq!(guard_p(&one_differs), 2.0 / 64.0);
        assert_eq!(guard_interval(&one_differs, 0.0029), Some((-0.004, 0.05)));
    }

    #[test]
    fn a_heap_away_from_nought_proves_nothing() {
        // Four of six blocks within a thousandth, two at 0: the scatter of the four is no measure
        // of the six.
        let heaps = [0.5, 0.5001, 0.4999, 0.5002, 0.0003, -0.0002];
        let (low, high) = guard_interval(&heaps, 0.0029).unwrap();
        assert!(low < 0.0 && high > 0.0);
        assert!(guard_p(&heaps) > 0.0029);
    }

    #[test]
    fn for_a_level_far_out_of_reach_blocks_must_agree_by_more_than_they_scatter() {
        let agree = [0.25, 0.5, 0.75, 0.5, 0.5, 0.5];
        assert_eq!(guard_interval(&agree, 0.0029), Some((0.25, 0.75)));
        assert_eq!(guard_interval(&agree, 1.0 / 512.0), Some((0.25, 0.75)));
        assert_eq!(guard_interval(&agree, 0.0019), Some((-0.25, 1.25)));
        assert_eq!(guard_p(&agree), 1.0 / 512.0);
        let closely = agree.map(|d| d + 0.26);
        assert_eq!(guard_p(&closely), 0.0);
        assert_eq!(guard_p(&closely.map(|d| -d)), 0.0);
        assert!(guard_interval(&closely, 1e-9).unwrap().0 > 0.0);
    }

    #[test]
    fn more_blocks_are_asked_by_rank_at_twice_the_level() {
        let effects: Vec<f64> = (1..=11).map(|i| f64::from(i) / 8.0).collect();
        // 2·P(W ≤ 2) = 6/2048: the bounds are the third averages from either end.
        assert_eq!(guard_interval(&effects, 3.0 / 2048.0), Some((0.25, 1.25)));
        assert_eq!(guard_p(&[-0.5, 1.0, 2.0, 3.0]), 2.0 / 16.0);
    }

    #[test]
    fn interval_and_p_agree_about_nought() {
        let effects = [0.3, -0.1, 0.2, 0.4, 0.25, 0.15, 0.05, 0.35, 0.6, -0.02, 0.1];
        let p = guard_p(&effects);
        for (level, leaves_out) in [(0.99 * p, false), (1.01 * p, true)] {
            let (low, high) = guard_interval(&effects, level).unwrap();
            assert_eq!(low > 0.0 || high < 0.0, leaves_out, "{level}");
        }
    }

    #[test]
    fn where_no_verdict_is_given_or_none_is_in_doubt_nothing_is_asked() {
        let many: Vec<f64> = (0..=MOST_EXACT).map(|i| i as f64 - 99.0).collect();
        for effects in [&[0.1, -0.2][..], &many] {
            assert_eq!(guard_interval(effects, 0.05), None);
            assert_eq!(guard_p(effects), 0.0);
        }
        assert!(guard_p(&[0.1, -0.2, 0.1]) > 0.0 && guard_p(&many[1..]) > 0.0);
        assert!(guard_interval(&many[1..], 0.05).is_some());
        assert_eq!(guard_interval(&[0.1; 5], 0.5), None);
        assert_eq!(guard_interval(&[0.1, f64::NAN, 0.1], 0.05), None);
        assert_eq!(guard_p(&[0.1, f64::NAN, -0.1]), 0.0);
    }
}
