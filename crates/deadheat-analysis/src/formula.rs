//! Which distribution an estimate is held against, by how many blocks make up
//! a replicate.

use deadheat_model::{Origin, RunHeader};
use deadheat_stats::dist::t_critical;
use deadheat_stats::{PooledEstimate, few_blocks, guard_interval, guard_p};

/// From so many blocks in a replicate on the plain formula is right.
const MANY_BLOCKS: u32 = 10;

/// Which distribution the interval is read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Formula {
    /// Student's t, as specified for replicates of many blocks.
    Plain,
    /// The distribution where few blocks make up a replicate, as in a race
    /// of commands, where it is one: the plain formula would call .065 of A/A
    /// races with single blocks where .05 were promised, and .060 with two.
    /// Behind single blocks stands the signed-rank guard as well.
    FewBlocks,
}

impl Formula {
    /// Benchmarks whose replicates have few blocks use the distribution of those. A
    /// recording is judged by the plain formula, as specified for files of any
    /// origin, and told where that is too narrow.
    pub(crate) fn of(header: &RunHeader, benchmark: usize) -> Formula {
        let few = header.plan.blocks_per_replicate(benchmark) < MANY_BLOCKS;
        match header.origin {
            Origin::Race if few => Formula::FewBlocks,
            _ => Formula::Plain,
        }
    }

    /// The interval at a two-sided level of the estimate from `effects`.
    pub(crate) fn interval(
        self,
        pooled: &PooledEstimate,
        effects: &[f64],
        level: f64,
    ) -> Option<(f64, f64)> {
        match self {
            Formula::Plain => pooled.interval(level),
            Formula::FewBlocks => {
                Some(self.guarded(pooled.few_blocks_interval(level)?, pooled, effects, level))
            }
        }
    }

    /// The interval widened to hold what the guard asks for.
    pub(crate) fn guarded(
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

    /// Whether every replicate is a single block, whose order was tossed for.
    fn has_guard(self, pooled: &PooledEstimate) -> bool {
        self == Formula::FewBlocks && pooled.replicates == pooled.blocks
    }

    /// The least p-value the guard lets pass.
    fn least_p(self, pooled: &PooledEstimate, effects: &[f64]) -> f64 {
        if self.has_guard(pooled) {
            guard_p(effects)
        } else {
            0.0
        }
    }

    pub(crate) fn p_value(self, pooled: &PooledEstimate, effects: &[f64]) -> Option<f64> {
        match self {
            Formula::Plain => pooled.p_value(),
            Formula::FewBlocks => {
                let p = pooled.few_blocks_p_value()?;
                Some(p.max(self.least_p(pooled, effects)))
            }
        }
    }

    /// Student's t that is as improbable as the statistic, and no larger than
    /// the guard lets pass.
    pub(crate) fn student_as_rare_as(
        self,
        t: f64,
        pooled: &PooledEstimate,
        effects: &[f64],
    ) -> f64 {
        match self {
            Formula::Plain => t,
            Formula::FewBlocks => {
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

    /// The statistic that is as improbable as Student's t.
    pub(crate) fn statistic_as_rare_as(self, t: f64, pooled: &PooledEstimate) -> f64 {
        match self {
            Formula::Plain => t,
            Formula::FewBlocks => few_blocks::stretched_t(t, pooled.blocks),
        }
    }
}
