//! The effect of one candidate in one metric at one moment: its interval, and what that says.
//!
//! Which distribution the interval is read from depends on how many blocks make up a replicate
//! ([`Formula`]).

use deadheat_model::{Better, Estimate, LogRatio, Origin, RunHeader, Samples, Verdict};
use deadheat_stats::dist::{t_critical, t_two_sided_p};
use deadheat_stats::{
    Call, Clusters, DEFAULT_G, Dropping, KeepReason, MIN_BLOCKS, MIN_REPLICATES_FOR_VERDICT,
    PooledEstimate, call, critical_t, e_value, few_blocks, guard_interval, guard_p, keep_or_drop,
    pooled_huber,
};

use crate::effects::Effects;

/// The estimate in the words of the model.
pub(crate) fn estimate(effect_estimate: &EffectEstimate) -> Estimate {
    Estimate {
        effect: LogRatio(effect_estimate.pooled.theta),
        interval: effect_estimate
            .interval
            .map(|(low, high)| deadheat_model::Interval {
                low: LogRatio(low),
                high: LogRatio(high),
                confidence: effect_estimate.confidence,
            }),
        p_value: effect_estimate.p_value,
        replicates: effect_estimate.pooled.replicates,
        blocks: effect_estimate.pooled.blocks,
    }
}

/// Returns true if 0 lies outside the interval.
pub(crate) fn excludes_zero(interval: Option<(f64, f64)>) -> bool {
    interval.is_some_and(|(low, high)| low > 0.0 || high < 0.0)
}

/// The call in the words of the model.
pub(crate) fn verdict(call: Call) -> Verdict {
    match call {
        Call::Equivalent { .. } => Verdict::Equivalent,
        Call::Faster => Verdict::Faster,
        Call::Slower => Verdict::Slower,
        Call::Undecided => Verdict::Inconclusive,
    }
}

/// The call for an interval in a metric that improves this way: more of a throughput is faster.
pub(crate) fn call_of(better: Better, (low, high): (f64, f64), margin: f64) -> Call {
    match better {
        Better::More => call((-high, -low), margin),
        Better::Less | Better::Unknown => call((low, high), margin),
    }
}

/// The width that the interval must have to keep the promise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Level {
    /// This two-sided level, at a look that was planned.
    Nominal(f64),
    /// This α over all moments at once.
    Anytime(f64),
}

/// The estimate from the data at one moment.
#[derive(Clone, Debug)]
pub(crate) struct EffectEstimate {
    pub(crate) pooled: PooledEstimate,
    pub(crate) interval: Option<(f64, f64)>,
    pub(crate) confidence: f64,
    /// The level that was asked for.
    pub(crate) asked: Level,
    /// The two-sided level of the t interval that is as wide, for the figures that speak of the
    /// design.
    pub(crate) plain_level: f64,
    pub(crate) formula: Formula,
    pub(crate) p_value: Option<f64>,
    /// `None` where only an estimate is allowed.
    pub(crate) call: Option<Call>,
    /// Replicates looked at, before any block was dropped.
    pub(crate) replicates: usize,
    pub(crate) dropped: usize,
    /// The answer with the dropped blocks.
    pub(crate) with_dropped: Option<WithDropped>,
    pub(crate) kept_because: Option<KeepReason>,
}

/// The answer had the dropped blocks been kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct WithDropped {
    /// θ̂ of all blocks.
    pub(crate) theta: f64,
    /// `None` where only an estimate is allowed.
    pub(crate) call: Option<Call>,
}

impl EffectEstimate {
    /// Returns true if the race can be called.
    pub(crate) fn conclusive(&self) -> bool {
        matches!(
            self.call,
            Some(Call::Equivalent { .. } | Call::Faster | Call::Slower)
        )
    }
}

/// Judges the first `replicates` replicates. `None` when there is nothing to form an effect from.
pub(crate) fn estimate_effect(
    effects: &Effects,
    samples: &Samples,
    replicates: usize,
    level: Level,
    formula: Formula,
    margin: f64,
) -> Option<EffectEstimate> {
    if effects.too_many_zeros(replicates) {
        return None;
    }
    let floor = effects.floor(samples, replicates);
    let terms = (effects.better(), margin);
    let clusters = effects.clusters(replicates);
    let dropping = effects
        .flags(replicates)
        .map_or(Dropping::None, keep_or_drop);
    let (mut dropped, mut with_dropped, mut kept_because) = (0, None, None);
    let (kept, sizes);
    let judged = match dropping {
        Dropping::None => clusters,
        Dropping::KeepAll(reason) => {
            kept_because = Some(reason);
            clusters
        }
        Dropping::Drop(gone) => {
            dropped = gone.len();
            with_dropped = pooled_huber(&clusters, floor).ok().map(|pooled| {
                let read = Reading::of(&pooled, clusters.effects(), level, formula, terms);
                WithDropped {
                    theta: pooled.theta,
                    call: read.call,
                }
            });
            (kept, sizes) = without(clusters.effects(), effects.sizes(replicates), &gone);
            Clusters::new(&kept, &sizes).ok()?
        }
    };
    let pooled = pooled_huber(&judged, floor).ok()?;
    let judged = judged.effects();
    let read = Reading::of(&pooled, judged, level, formula, terms);
    Some(EffectEstimate {
        call: read.call,
        interval: read.interval,
        confidence: read.confidence,
        asked: level,
        plain_level: plain_level(&pooled, level, formula),
        formula,
        p_value: read.p_value,
        replicates,
        dropped,
        with_dropped,
        kept_because,
        pooled,
    })
}

/// An estimate read at a level.
struct Reading {
    interval: Option<(f64, f64)>,
    confidence: f64,
    p_value: Option<f64>,
    /// `None` where only an estimate is allowed.
    call: Option<Call>,
}

impl Reading {
    fn of(
        pooled: &PooledEstimate,
        effects: &[f64],
        level: Level,
        formula: Formula,
        (better, margin): (Better, f64),
    ) -> Self {
        let (interval, confidence, p_value) = match level {
            Level::Nominal(level) => (
                formula.interval(pooled, effects, level),
                1.0 - level,
                formula.p_value(pooled, effects),
            ),
            Level::Anytime(alpha) => {
                let (interval, p_value) = anytime(pooled, effects, alpha, formula);
                (interval, 1.0 - alpha, p_value)
            }
        };
        let enough = pooled.blocks >= MIN_BLOCKS
            && (pooled.replicates == 1 || pooled.replicates >= MIN_REPLICATES_FOR_VERDICT);
        Self {
            interval,
            confidence,
            p_value,
            call: interval
                .filter(|_| enough)
                .map(|interval| call_of(better, interval, margin)),
        }
    }
}

/// Interval and p-value that hold at every moment at once.
fn anytime(
    pooled: &PooledEstimate,
    effects: &[f64],
    alpha: f64,
    formula: Formula,
) -> (Option<(f64, f64)>, Option<f64>) {
    let replicates = pooled.replicates;
    let Some(t) = pooled.t_statistic().filter(|_| replicates >= 2) else {
        return (None, None);
    };
    let t = formula.student_as_rare_as(t, pooled, effects);
    let p_value = (1.0 / e_value(t, replicates, DEFAULT_G)).min(1.0);
    let interval = critical_t(replicates, alpha, DEFAULT_G).map(|critical| {
        let half = formula.statistic_as_rare_as(critical, pooled) * pooled.se;
        let half = half.max(pooled.least_half_width.unwrap_or(0.0));
        let interval = (pooled.theta - half, pooled.theta + half);
        let level = t_two_sided_p(critical, pooled.df);
        formula.guarded(interval, pooled, effects, level)
    });
    let finite = |(low, high): &(f64, f64)| low.is_finite() && high.is_finite() && low < high;
    (
        interval.filter(finite),
        p_value.is_finite().then_some(p_value),
    )
}

/// The level at which a plain t interval would be as wide as the one asked for.
fn plain_level(pooled: &PooledEstimate, asked: Level, formula: Formula) -> f64 {
    let (Level::Nominal(stated) | Level::Anytime(stated)) = asked;
    if pooled.replicates < 2 {
        return stated;
    }
    let student = match asked {
        Level::Nominal(level) => Some(t_critical(level, pooled.df)),
        Level::Anytime(alpha) => critical_t(pooled.replicates, alpha, DEFAULT_G),
    };
    student
        .map(|t| t_two_sided_p(formula.statistic_as_rare_as(t, pooled), pooled.df))
        .filter(|level| *level > 0.0 && *level < 1.0)
        .unwrap_or(stated)
}

/// Effects and sizes without some blocks (ascending indices); replicates that lose all of theirs go
/// too.
fn without(effects: &[f64], sizes: &[usize], gone: &[usize]) -> (Vec<f64>, Vec<usize>) {
    let mut kept = Vec::with_capacity(effects.len());
    let mut kept_sizes = Vec::with_capacity(sizes.len());
    let mut gone = gone.iter().copied().peekable();
    let mut block = 0;
    for size in sizes {
        let before = kept.len();
        for _ in 0..*size {
            if gone.next_if_eq(&block).is_none() {
                kept.push(effects[block]);
            }
            block += 1;
        }
        if kept.len() > before {
            kept_sizes.push(kept.len() - before);
        }
    }
    (kept, kept_sizes)
}

/// From so many blocks in a replicate on the plain formula is right.
const MANY_BLOCKS: u32 = 10;

/// Which distribution the interval is read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Formula {
    /// Student's t, as specified for replicates of many blocks.
    Plain,
    /// The distribution where few blocks make up a replicate, as in a race of commands, where it is
    /// one: the plain formula would call .065 of A/A races with single blocks where .05 were
    /// promised, and .060 with two. Behind single blocks stands the signed-rank guard as well.
    FewBlocks,
}

impl Formula {
    /// Benchmarks whose replicates have few blocks use the distribution of those. A recording is
    /// judged by the plain formula, as specified for files of any origin, and told where that is
    /// too narrow.
    pub(crate) fn of(header: &RunHeader, benchmark: usize) -> Formula {
        let plan = &header.plan;
        // A quantile has one effect in a replicate, of however many blocks.
        let one = plan.quantile(benchmark).is_some();
        let few = one || plan.blocks_per_replicate(benchmark) < MANY_BLOCKS;
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

    /// Returns true if every replicate is a single block, whose order was tossed for.
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

    /// Student's t that is as improbable as the statistic, and no larger than the guard lets pass.
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

#[cfg(test)]
mod tests {
    use deadheat_stats::few_blocks;

    use super::*;

    #[test]
    fn dropped_blocks_leave_their_replicate_or_take_it_along() {
        let (kept, sizes) = without(&[1.0, 2.0, 3.0, 4.0, 5.0], &[2, 1, 2], &[1, 2]);
        assert_eq!(kept, [1.0, 4.0, 5.0]);
        assert_eq!(sizes, [1, 2]);
    }

    #[test]
    fn more_of_what_is_better_the_more_there_is_is_faster() {
        let (above, inside) = ((0.05, 0.07), (-0.001, 0.002));
        assert_eq!(call_of(Better::Less, above, 0.01), Call::Slower);
        assert_eq!(call_of(Better::Unknown, above, 0.01), Call::Slower);
        assert_eq!(call_of(Better::More, above, 0.01), Call::Faster);
        assert_eq!(call_of(Better::More, (-0.07, -0.05), 0.01), Call::Slower);
        let dead_heat = call_of(Better::More, inside, 0.01);
        assert_eq!(dead_heat, call_of(Better::Less, inside, 0.01));
    }

    /// Twenty effects of one shape without a tail, above 0: the guard asks for nothing there.
    fn effects() -> Vec<f64> {
        (0..20).map(|i| 0.02 + f64::from(i % 5) * 0.01).collect()
    }

    fn pooled() -> PooledEstimate {
        let floor = deadheat_stats::Floor {
            relative_tick: None,
        };
        pooled_huber(&Clusters::singletons(&effects()), floor).unwrap()
    }

    #[test]
    fn an_anytime_interval_is_wider_than_the_plain_one() {
        let pooled = pooled();
        let plain = pooled.interval(0.05).unwrap();
        for formula in [Formula::Plain, Formula::FewBlocks] {
            let (interval, p_value) = anytime(&pooled, &effects(), 0.05, formula);
            let (low, high) = interval.unwrap();
            assert!(low < plain.0 && high > plain.1);
            assert!(p_value.unwrap() > pooled.p_value().unwrap());
        }
    }

    #[test]
    fn the_plain_level_stands_for_an_interval_of_the_same_width() {
        let pooled = pooled();
        let width = |level| t_critical(level, pooled.df);
        for formula in [Formula::Plain, Formula::FewBlocks] {
            let level = plain_level(&pooled, Level::Anytime(0.05), formula);
            let critical = critical_t(20, 0.05, DEFAULT_G).unwrap();
            let anytime = formula.statistic_as_rare_as(critical, &pooled);
            assert!((width(level) - anytime).abs() < 1e-9);
        }
        let level = plain_level(&pooled, Level::Nominal(0.01), Formula::Plain);
        assert!((level - 0.01).abs() < 1e-12);
        let level = plain_level(&pooled, Level::Nominal(0.01), Formula::FewBlocks);
        assert!((width(level) - few_blocks::critical(0.01, 20)).abs() < 1e-9);
    }

    #[test]
    fn an_interval_of_single_blocks_holds_what_the_guard_asks_for() {
        // Four blocks agree closely and two say nothing: no scale to trust.
        let heaps = [0.5, 0.5001, 0.4999, 0.5002, 0.0003, -0.0002];
        let floor = deadheat_stats::Floor {
            relative_tick: None,
        };
        let pooled = pooled_huber(&Clusters::singletons(&heaps), floor).unwrap();
        let (low, _) = Formula::Plain.interval(&pooled, &heaps, 0.0029).unwrap();
        assert!(low > 0.0);
        let guarded = Formula::FewBlocks;
        let (low, high) = guarded.interval(&pooled, &heaps, 0.0029).unwrap();
        assert!(low < 0.0 && high > 0.5);
        assert!(guarded.p_value(&pooled, &heaps).unwrap() > 0.0029);
        let (_, plain) = anytime(&pooled, &heaps, 0.05, Formula::Plain);
        let (_, p_value) = anytime(&pooled, &heaps, 0.05, guarded);
        assert!(plain.unwrap() < 0.05 && p_value.unwrap() > 0.05);
    }
}
