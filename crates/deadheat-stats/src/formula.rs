//! The formula that turns an estimate into an interval and a p-value: Student's t, or the
//! distribution of [`few_blocks`] if replicates have few blocks; for a single look, or for any
//! number of looks (an interval that is valid at all times).
//!
//! If every replicate is a single block, the interval is also guarded by a test that is valid for
//! any noise. [`pooled_huber`](crate::pooled_huber) estimates its scale from the data, and few
//! blocks can mislead it. If slots switch between modes far apart, most blocks of an early look may
//! by chance be in the same cluster. The median of deviations then sees only the scatter of this
//! cluster and treats the other blocks as outliers. Such races of six to 22 single blocks without a
//! difference gave .12 to .14 false positives at α = .05. But the order of each block is
//! randomised, so without a difference an effect and its negative are equally likely, which is all
//! that the signed-rank test requires. The interval of single blocks is therefore widened to
//! include the signed-rank interval.
//!
//! The signed-rank interval is taken at twice the level. At the level itself, races of eleven
//! blocks with spikes would reach a decision in .78 instead of .95 of the runs, with false
//! positives of .03 where .05 are allowed. At twice the level, false positives are .036 to .041
//! with modes, and normal blocks are decided as early as without the guard. Races in which 8% of
//! the blocks have a spike are decided after 10.8 instead of 8.4 blocks for a change of three
//! spreads (4,000 runs each). P blocks cannot reach a level below 2^(1−P). The bounds are then the
//! smallest and the largest effect, and for much stricter levels they are a whole range further
//! out.

use crate::dist::{t_critical, t_two_sided_p};
use crate::estimate::PooledEstimate;
use crate::few_blocks;
use crate::looks::{DEFAULT_G, critical_t, e_value};
use crate::rank::{MOST_EXACT, signed_rank_interval, signed_rank_one_sided_p};
use crate::summary::{finite, max, min};

/// The error rate that an interval must keep.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Level {
    /// A two-sided level, at a planned look.
    Nominal(f64),
    /// An error rate α that the interval keeps at all times, after any number of replicates.
    Anytime(f64),
}

impl Level {
    /// Returns the stated error rate: the level of a planned look, or the α over all times.
    pub fn stated(self) -> f64 {
        let (Self::Nominal(stated) | Self::Anytime(stated)) = self;
        stated
    }

    /// Returns the level of each of `intervals` intervals that share this level equally.
    pub fn shared_by(self, intervals: usize) -> Self {
        let share = intervals.max(1) as f64;
        match self {
            Self::Nominal(level) => Self::Nominal(level / share),
            Self::Anytime(alpha) => Self::Anytime(alpha / share),
        }
    }
}

/// The distribution that gives the interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Formula {
    /// Student's t, for replicates of many blocks.
    Plain,
    /// The distribution for replicates of few blocks, as in races of commands, where each replicate
    /// is a single block. The plain formula has .065 false positives instead of .05 in A/A races
    /// with single blocks, and .060 with two blocks. With single blocks, the interval is also
    /// guarded by the signed-rank test.
    FewBlocks,
}

impl Formula {
    /// The interval and the p-value of an estimate that was computed from `effects`.
    pub fn read(
        self,
        pooled: &PooledEstimate,
        effects: &[f64],
        level: Level,
    ) -> (Option<(f64, f64)>, Option<f64>) {
        match level {
            Level::Nominal(level) => (
                self.interval(pooled, effects, level),
                self.p_value(pooled, effects),
            ),
            Level::Anytime(alpha) => self.anytime(pooled, effects, alpha),
        }
    }

    /// The interval, at a two-sided level, of an estimate that was computed from `effects`.
    pub fn interval(
        self,
        pooled: &PooledEstimate,
        effects: &[f64],
        level: f64,
    ) -> Option<(f64, f64)> {
        match self {
            Self::Plain => pooled.interval(level),
            Self::FewBlocks => {
                Some(self.guarded(pooled.few_blocks_interval(level)?, pooled, effects, level))
            }
        }
    }

    /// The p-value of an estimate that was computed from `effects`.
    pub fn p_value(self, pooled: &PooledEstimate, effects: &[f64]) -> Option<f64> {
        match self {
            Self::Plain => pooled.p_value(),
            Self::FewBlocks => {
                let p = pooled.few_blocks_p_value()?;
                Some(p.max(self.least_p(pooled, effects)))
            }
        }
    }

    fn anytime(
        self,
        pooled: &PooledEstimate,
        effects: &[f64],
        alpha: f64,
    ) -> (Option<(f64, f64)>, Option<f64>) {
        let replicates = pooled.replicates;
        // A bet on the sign of the first replicate doubles with every replicate of the same sign,
        // so the p-value of their agreement is valid at all times.
        if let Some(p_value) = pooled.p_of_agreement() {
            return (pooled.interval(alpha), Some(p_value));
        }
        let Some(t) = pooled.t_statistic().filter(|_| replicates >= 2) else {
            return (None, None);
        };
        let t = self.student_as_rare_as(t, pooled, effects);
        let p_value = (1.0 / e_value(t, replicates, DEFAULT_G)).min(1.0);
        let interval = critical_t(replicates, alpha, DEFAULT_G).map(|critical| {
            let half = self.statistic_as_rare_as(critical, pooled) * pooled.se;
            let half = half.max(pooled.least_half_width.unwrap_or(0.0));
            let interval = (pooled.theta - half, pooled.theta + half);
            let level = t_two_sided_p(critical, pooled.df);
            self.guarded(interval, pooled, effects, level)
        });
        let finite = |(low, high): &(f64, f64)| low.is_finite() && high.is_finite() && low < high;
        (
            interval.filter(finite),
            p_value.is_finite().then_some(p_value),
        )
    }

    /// The two-sided level at which a plain t interval is as wide as the interval for `asked`.
    pub fn plain_level(self, pooled: &PooledEstimate, asked: Level) -> f64 {
        let stated = asked.stated();
        if pooled.replicates < 2 {
            return stated;
        }
        let student = match asked {
            Level::Nominal(level) => Some(t_critical(level, pooled.df)),
            Level::Anytime(alpha) => critical_t(pooled.replicates, alpha, DEFAULT_G),
        };
        student
            .map(|t| t_two_sided_p(self.statistic_as_rare_as(t, pooled), pooled.df))
            .filter(|level| *level > 0.0 && *level < 1.0)
            .unwrap_or(stated)
    }

    /// Returns the interval, widened to include the interval of the signed-rank guard.
    fn guarded(
        self,
        interval: (f64, f64),
        pooled: &PooledEstimate,
        effects: &[f64],
        level: f64,
    ) -> (f64, f64) {
        let guard = guard_interval(effects, level).filter(|_| self.has_guard(pooled));
        guard.map_or(interval, |(low, high)| {
            (interval.0.min(low), interval.1.max(high))
        })
    }

    /// Returns true if every replicate is a single block, in which case the order of each was
    /// randomised.
    fn has_guard(self, pooled: &PooledEstimate) -> bool {
        self == Self::FewBlocks && pooled.replicates == pooled.blocks
    }

    fn least_p(self, pooled: &PooledEstimate, effects: &[f64]) -> f64 {
        if self.has_guard(pooled) {
            guard_p(effects)
        } else {
            0.0
        }
    }

    /// Returns Student's t with the same p-value as the statistic `t` = θ̂/SE, or the smaller t
    /// that the signed-rank guard allows.
    fn student_as_rare_as(self, t: f64, pooled: &PooledEstimate, effects: &[f64]) -> f64 {
        match self {
            Self::Plain => t,
            Self::FewBlocks => {
                let student = few_blocks::equivalent_t(t, pooled.blocks);
                match self.least_p(pooled, effects) {
                    0.0 => student,
                    p => {
                        let most = t_critical(p, pooled.df);
                        student.clamp(-most, most)
                    }
                }
            }
        }
    }

    /// Returns the statistic θ̂/SE whose p-value by this formula equals the p-value of Student's
    /// `t` by the plain formula.
    pub fn statistic_as_rare_as(self, t: f64, pooled: &PooledEstimate) -> f64 {
        match self {
            Self::Plain => t,
            Self::FewBlocks => few_blocks::stretched_t(t, pooled.blocks),
        }
    }
}

/// If all effects have one sign, the guard decides at levels down to the strictest level of the
/// signed-rank test divided by this factor. Without the limit, α = .01 and modes far apart gave
/// .017 false positives.
const REACH: f64 = 16.0;

/// The numbers of blocks to which the guard applies. Fewer get no verdict. With more, most blocks
/// do not end up in one cluster by chance, and the interval from all averages would take longer
/// than the estimate.
const GUARDED: std::ops::RangeInclusive<usize> = 3..=MOST_EXACT;

/// The bounds that the interval of single blocks at `two_sided_level` must include.
///
/// `None` if the guard does not apply: for fewer than three or more than 200 blocks, if an effect
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

/// The smallest level at which [`guard_interval`] excludes 0; 0 if it always does, and at most 1.
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

/// The level at which the signed-rank test rejects equality if `blocks` effects have the same sign.
fn strictest_level(blocks: usize) -> f64 {
    2.0_f64.powi(1 - blocks as i32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clusters::Clusters;
    use crate::estimate::{Floor, pooled_huber};

    /// Returns twenty positive effects without a tail. For these, the guard does not widen the
    /// interval.
    fn effects() -> Vec<f64> {
        (0..20).map(|i| 0.02 + f64::from(i % 5) * 0.01).collect()
    }

    fn pooled(effects: &[f64]) -> PooledEstimate {
        pooled_huber(&Clusters::singletons(effects), Floor::default()).unwrap()
    }

    #[test]
    fn an_anytime_interval_is_wider_than_the_plain_one() {
        let pooled = pooled(&effects());
        let plain = pooled.interval(0.05).unwrap();
        for formula in [Formula::Plain, Formula::FewBlocks] {
            let (interval, p_value) = formula.read(&pooled, &effects(), Level::Anytime(0.05));
            let (low, high) = interval.unwrap();
            assert!(low < plain.0 && high > plain.1);
            assert!(p_value.unwrap() > pooled.p_value().unwrap());
        }
    }

    #[test]
    fn the_plain_level_stands_for_an_interval_of_the_same_width() {
        let pooled = pooled(&effects());
        let width = |level| t_critical(level, pooled.df);
        for formula in [Formula::Plain, Formula::FewBlocks] {
            let level = formula.plain_level(&pooled, Level::Anytime(0.05));
            let critical = critical_t(20, 0.05, DEFAULT_G).unwrap();
            let anytime = formula.statistic_as_rare_as(critical, &pooled);
            assert!((width(level) - anytime).abs() < 1e-9);
        }
        let level = Formula::Plain.plain_level(&pooled, Level::Nominal(0.01));
        assert!((level - 0.01).abs() < 1e-12);
        let level = Formula::FewBlocks.plain_level(&pooled, Level::Nominal(0.01));
        assert!((width(level) - few_blocks::critical(0.01, 20)).abs() < 1e-9);
    }

    #[test]
    fn an_interval_of_single_blocks_holds_what_the_guard_asks_for() {
        // Four blocks agree closely and two are near 0: the scale is misleading.
        let heaps = [0.5, 0.5001, 0.4999, 0.5002, 0.0003, -0.0002];
        let pooled = pooled(&heaps);
        let (low, _) = Formula::Plain.interval(&pooled, &heaps, 0.0029).unwrap();
        assert!(low > 0.0);
        let guarded = Formula::FewBlocks;
        let (low, high) = guarded.interval(&pooled, &heaps, 0.0029).unwrap();
        assert!(low < 0.0 && high > 0.5);
        assert!(guarded.p_value(&pooled, &heaps).unwrap() > 0.0029);
        let anytime = |formula: Formula| formula.read(&pooled, &heaps, Level::Anytime(0.05)).1;
        assert!(anytime(Formula::Plain).unwrap() < 0.05 && anytime(guarded).unwrap() > 0.05);
    }

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
    fn a_cluster_away_from_zero_is_not_evidence() {
        // Four of six blocks are within a thousandth of each other, two are at 0: the scatter of
        // the four does not measure that of the six.
        let heaps = [0.5, 0.5001, 0.4999, 0.5002, 0.0003, -0.0002];
        let (low, high) = guard_interval(&heaps, 0.0029).unwrap();
        assert!(low < 0.0 && high > 0.0);
        assert!(guard_p(&heaps) > 0.0029);
    }

    #[test]
    fn for_a_level_out_of_reach_blocks_must_agree_by_more_than_their_range() {
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
    fn the_guard_applies_only_from_three_to_200_blocks() {
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
