//! What is known of an effect after some replicates, and how far it can be trusted.

use crate::dist::{normal_cdf, normal_quantile, t_critical, t_two_sided_p};
use crate::few_blocks;
use crate::summary::finite;

/// Fewer replicates than this get an interval but no verdict (the policy itself is the analysis' business).
pub const MIN_REPLICATES_FOR_VERDICT: usize = 6;

/// Fewer blocks than this in all get an estimate only.
pub const MIN_BLOCKS: usize = 6;

/// What memory layout may add to a single replicate, as a standard deviation in log-ratio units (τ).
pub const LAYOUT_ALLOWANCE: f64 = 0.005;

/// A pooled Huber estimate. Every figure is finite.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PooledEstimate {
    /// θ̂, the effect in log-ratio units: ln(candidate / baseline).
    pub theta: f64,
    /// σ̂, the scale of a single block's effect.
    pub scale: f64,
    /// The standard error of θ̂: between replicates for P ≥ 2, between blocks for P = 1, and 0 where the data show no
    /// spread or a single block shows nothing.
    pub se: f64,
    /// Degrees of freedom, P − 1.
    pub df: f64,
    /// P.
    pub replicates: usize,
    /// N.
    pub blocks: usize,
    /// D, the blocks within 1.5 scales of θ̂.
    pub inliers: usize,
    /// All effects are equal: the clock, not the code, sets what can be known.
    pub timer_limited: bool,
    /// The clock's own bound on the interval's half-width, where `se` is 0 and the tick is known.
    pub least_half_width: Option<f64>,
}

impl PooledEstimate {
    /// θ̂ ± half-width at the given two-sided level (0.05 for 95 % confidence).
    ///
    /// P ≥ 2: t with P − 1 degrees of freedom times SE. P = 1 with two blocks or more: the provisional
    /// z·√(SE² + τ²). Where SE is 0, at least the clock's bound. `None` when the level is not in (0, 1), a single block
    /// is all there is, or SE is 0 and the tick unknown.
    pub fn interval(&self, two_sided_level: f64) -> Option<(f64, f64)> {
        self.around(two_sided_level, |level| t_critical(level, self.df))
    }

    /// [`interval`](Self::interval) for replicates of few blocks each (K = 1 in races of whole commands): SE times the t
    /// value stretched as [`few_blocks`] stretches it for as many single blocks, and so never shorter. The interval to
    /// use where K is below ten: the plain one holds the truth too seldom.
    pub fn few_blocks_interval(&self, two_sided_level: f64) -> Option<(f64, f64)> {
        self.around(two_sided_level, |level| {
            few_blocks::stretched_t(t_critical(level, self.df), self.blocks)
        })
    }

    fn around(&self, level: f64, critical: impl Fn(f64) -> f64) -> Option<(f64, f64)> {
        if !(level > 0.0 && level < 1.0) {
            return None;
        }
        let multiplier = if self.replicates >= 2 {
            critical(level)
        } else {
            -normal_quantile(0.5 * level)
        };
        let half = match self.spread()? {
            Spread::Sampled(error) => multiplier * error,
            Spread::Clock(bound) => bound,
        };
        let half = half.max(self.least_half_width.unwrap_or(0.0));
        finite(self.theta - half).zip(finite(self.theta + half))
    }

    /// θ̂ over its error. For P = 1 the error includes the layout allowance; where SE is 0, it is the clock's bound.
    pub fn t_statistic(&self) -> Option<f64> {
        let (Spread::Sampled(error) | Spread::Clock(error)) = self.spread()?;
        finite(self.theta / error)
    }

    /// The two-sided p-value of [`t_statistic`](Self::t_statistic): t with P − 1 degrees of freedom, or normal (and
    /// provisional) for P = 1. `None` when SE is 0 and the tick unknown, or a single block is all there is.
    pub fn p_value(&self) -> Option<f64> {
        self.two_sided_p(|t| t_two_sided_p(t, self.df))
    }

    /// [`p_value`](Self::p_value) for replicates of few blocks each: the level at which
    /// [`few_blocks_interval`](Self::few_blocks_interval) just touches 0. Never below the plain p-value.
    pub fn few_blocks_p_value(&self) -> Option<f64> {
        self.two_sided_p(|t| t_two_sided_p(few_blocks::equivalent_t(t, self.blocks), self.df))
    }

    fn two_sided_p(&self, of: impl Fn(f64) -> f64) -> Option<f64> {
        let t = self.t_statistic()?;
        Some(if self.replicates >= 2 {
            of(t)
        } else {
            2.0 * normal_cdf(-t.abs())
        })
    }

    fn spread(&self) -> Option<Spread> {
        match (self.replicates, self.blocks) {
            (_, 0 | 1) => None,
            (1, _) => Some(Spread::Sampled(self.se.hypot(LAYOUT_ALLOWANCE))),
            _ if self.se > 0.0 => Some(Spread::Sampled(self.se)),
            _ => self.least_half_width.map(Spread::Clock),
        }
    }
}

/// Where an interval's width comes from.
enum Spread {
    /// A standard error, to be multiplied by a quantile.
    Sampled(f64),
    /// A bound that holds at every level.
    Clock(f64),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clusters::Clusters;
    use crate::huber::{Floor, pooled_huber};

    const D: [f64; 12] = [
        -0.012, 0.004, -0.021, -0.008, 0.310, -0.015, -0.011, 0.002, -0.018, -0.009, -0.027, -0.013,
    ];
    const UNKNOWN: Floor = Floor {
        relative_tick: None,
    };

    fn close(got: f64, want: f64, tolerance: f64) {
        assert!((got - want).abs() <= tolerance, "{got} is not {want}");
    }

    fn ticking(tick: f64) -> Floor {
        Floor {
            relative_tick: Some(tick),
        }
    }

    #[test]
    fn identical_effects_are_as_uncertain_as_one_tick() {
        let sizes = [2; 3];
        let clusters = Clusters::new(&[0.25; 6], &sizes).unwrap();
        let found = pooled_huber(&clusters, ticking(0.0625)).unwrap();
        assert!(found.timer_limited);
        assert_eq!(found.interval(0.05), Some((0.1875, 0.3125)));
        let found = pooled_huber(&clusters, UNKNOWN).unwrap();
        assert!(found.timer_limited);
        assert_eq!(
            (found.theta, found.interval(0.05), found.p_value()),
            (0.25, None, None)
        );
    }

    #[test]
    fn replicates_that_agree_exactly_are_as_uncertain_as_a_tick_over_root_n() {
        let sizes = [2; 2];
        let clusters = Clusters::new(&[0.0, 0.5, 0.5, 0.0], &sizes).unwrap();
        let found = pooled_huber(&clusters, ticking(0.125)).unwrap();
        assert_eq!((found.se, found.timer_limited), (0.0, false));
        assert_eq!(found.interval(0.05), Some((0.25 - 0.0625, 0.25 + 0.0625)));
        assert_eq!(found.t_statistic(), Some(4.0));
        assert_eq!(
            pooled_huber(&clusters, UNKNOWN).unwrap().interval(0.05),
            None
        );
    }

    #[test]
    fn one_replicate_is_provisional_and_allows_for_layout() {
        let sizes = [12];
        let found = pooled_huber(&Clusters::new(&D, &sizes).unwrap(), UNKNOWN).unwrap();
        let by_block = pooled_huber(&Clusters::singletons(&D), UNKNOWN).unwrap();
        assert_eq!((found.se, found.df), (by_block.se, 0.0));
        let (low, high) = found.interval(0.05).unwrap();
        close(
            0.5 * (high - low),
            1.959963984540054 * found.se.hypot(LAYOUT_ALLOWANCE),
            1e-15,
        );
    }

    #[test]
    fn one_block_gives_an_estimate_and_nothing_else() {
        for floor in [UNKNOWN, ticking(0.001)] {
            let found = pooled_huber(&Clusters::singletons(&[0.5]), floor).unwrap();
            assert_eq!((found.theta, found.timer_limited), (0.5, false));
            assert_eq!((found.interval(0.05), found.p_value()), (None, None));
        }
    }

    #[test]
    fn a_level_outside_nought_to_one_has_no_interval() {
        let found = pooled_huber(&Clusters::singletons(&D), UNKNOWN).unwrap();
        for level in [0.0, 1.0, -0.1, f64::NAN] {
            assert_eq!(found.interval(level), None);
        }
    }
}
