//! The effects of one candidate in one metric, computed from samples: one per block, or one per
//! replicate if a quantile is judged. Also the estimate from these effects after a number of
//! replicates: location, interval and verdict.

use deadheat_model::{
    Better, ContenderId, Estimate, Flags, LogRatio, Metric, Origin, RunHeader, Sample, Samples,
    Verdict,
};
use deadheat_stats::summary::{median_in_place, quantile_in_place};
use deadheat_stats::{
    BlockFlags, Call, Clusters, Diagnostics, Dropping, Floor, Formula, KeepReason, Level,
    MIN_BLOCKS, MIN_REPLICATES_FOR_VERDICT, Order, PooledEstimate, block_effect, call, diagnostics,
    keep_or_drop, keep_or_drop_launches, pooled_huber,
};

use crate::cut_short::PlannedIterations;
use crate::raced::{MOST_ZEROS, Machines, tick, ticks_per_sample, zero_as};

/// Counts of the samples up to the end of a block. A look uses these and ignores later samples, so
/// that it gives the same result if it is judged again later.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    /// The number of samples of all contenders.
    samples: usize,
    /// The number of values of the two contenders; `zeros` counts those that are zero.
    values: usize,
    zeros: usize,
}

/// The iterations of the current replicate, if a quantile of iterations is judged.
#[derive(Clone, Debug)]
struct Pool {
    quantile: f64,
    blocks_per_replicate: u32,
    blocks: u32,
    /// The counts at the end of the latest block of the replicate.
    seen: Seen,
    baseline: Vec<f64>,
    candidate: Vec<f64>,
}

impl Pool {
    fn clear(&mut self) {
        self.blocks = 0;
        self.baseline.clear();
        self.candidate.clear();
    }

    /// Returns the log-ratio of the quantiles of the two sides; `None` until the replicate is
    /// complete.
    fn effect(&mut self) -> Option<f64> {
        if self.blocks < self.blocks_per_replicate {
            return None;
        }
        let baseline = quantile_in_place(&mut self.baseline, self.quantile)?;
        let candidate = quantile_in_place(&mut self.candidate, self.quantile)?;
        Some(candidate.ln() - baseline.ln()).filter(|effect| effect.is_finite())
    }
}

/// The effects of one candidate in one metric, as log-ratios in the order run: one per block, or
/// one per replicate if a quantile is judged. [`extend`](Self::extend) adds the effects of new
/// samples.
#[derive(Clone, Debug)]
pub(crate) struct Effects {
    metric: Metric,
    candidate: ContenderId,
    tick: Option<f64>,
    formula: Formula,
    margin: f64,
    /// `None` unless a quantile is judged.
    pool: Option<Pool>,
    effects: Vec<f64>,
    /// The number of effects of each replicate.
    sizes: Vec<usize>,
    last_replicate: Option<u32>,
    /// The machines of a merged run. `numbers` then holds the number of each replicate.
    machines: Option<Machines>,
    numbers: Vec<u32>,
    /// The effects of the control of a merged run in the judged metric, which decide which hosts
    /// are left out.
    control: Option<Box<Effects>>,
    /// Finds repetitions that were cut short; `None` unless a harness records repetitions one by
    /// one.
    planned: Option<PlannedIterations>,
    flags: Vec<BlockFlags>,
    flagged: bool,
    keep_diagnostics: bool,
    diagnostics: Vec<Diagnostics>,
    /// The counts at the end of the last block of each effect; parallel to `effects`.
    seen: Vec<Seen>,
    blocks_seen: usize,
}

impl Effects {
    pub(crate) fn new(
        metric: &Metric,
        candidate: ContenderId,
        header: &RunHeader,
        benchmark: usize,
    ) -> Self {
        let mut effects = Self::without_control(metric, candidate, header, benchmark);
        let control = header.plan.benchmarks[benchmark].control();
        if let (Some(control), true) = (control, effects.machines.is_some()) {
            let judged = header.plan.judged(benchmark);
            let control = Self::without_control(judged, control, header, benchmark);
            effects.control = Some(Box::new(control));
        }
        effects
    }

    fn without_control(
        metric: &Metric,
        candidate: ContenderId,
        header: &RunHeader,
        benchmark: usize,
    ) -> Self {
        let plan = &header.plan;
        let pool = plan.quantile(benchmark).map(|quantile| Pool {
            quantile,
            blocks_per_replicate: plan.blocks_per_replicate(benchmark),
            blocks: 0,
            seen: Seen::default(),
            baseline: Vec::new(),
            candidate: Vec::new(),
        });
        Self {
            metric: metric.clone(),
            candidate,
            tick: tick(metric, header, &plan.benchmarks[benchmark]),
            formula: formula_of(header, benchmark),
            margin: plan.margin(benchmark),
            pool,
            effects: Vec::new(),
            sizes: Vec::new(),
            last_replicate: None,
            machines: Machines::of(header),
            numbers: Vec::new(),
            control: None,
            planned: plan.benchmarks[benchmark]
                .keeps_order()
                .then(|| PlannedIterations::of(&plan.benchmarks[benchmark])),
            flags: Vec::new(),
            flagged: false,
            keep_diagnostics: false,
            diagnostics: Vec::new(),
            seen: Vec::new(),
            blocks_seen: 0,
        }
    }

    /// Also records the contrasts that show order effects within a block.
    pub(crate) fn with_diagnostics(self) -> Self {
        Self {
            keep_diagnostics: true,
            ..self
        }
    }

    #[cfg(feature = "figures")]
    pub(crate) fn candidate(&self) -> ContenderId {
        self.candidate
    }

    pub(crate) fn formula(&self) -> Formula {
        self.formula
    }

    /// Returns the margin, a relative change.
    pub(crate) fn margin(&self) -> f64 {
        self.margin
    }

    pub(crate) fn verdict_of(&self, ends: (f64, f64)) -> Verdict {
        verdict_of(self.metric.better(), ends, self.margin)
    }

    /// Reserves memory for the effects of exactly this number of blocks. For 50,000 blocks, lists
    /// that grow by doubling would use up to twice as much.
    fn reserve(&mut self, blocks: usize) {
        self.effects.reserve_exact(blocks);
        self.flags.reserve_exact(blocks);
        self.seen.reserve_exact(blocks);
        if self.keep_diagnostics {
            self.diagnostics.reserve_exact(blocks);
        }
    }

    /// Adds the effects of the blocks that are new in `samples`.
    pub(crate) fn extend(&mut self, samples: &Samples) {
        if let Some(control) = &mut self.control {
            control.extend(samples);
        }
        let Some(column) = samples.column(&self.metric) else {
            return;
        };
        if let Some(planned) = &mut self.planned {
            planned.learn(samples);
        }
        let zero_as = zero_as(column, self.tick);
        let adds_up = self.metric.adds_up();
        // Most counts equal the previous one, so the last logarithm is kept: a comparison is faster
        // than a logarithm.
        let mut last = (1.0, 0.0);
        if self.pool.is_none() && self.blocks_seen == 0 {
            self.reserve(samples.blocks().len());
        }
        for span in &samples.blocks()[self.blocks_seen..] {
            let values = &column[span.range()];
            let slots = &samples.samples()[span.range()];
            let before = self.pool.as_ref().map(|pool| pool.seen);
            let before = before.or_else(|| self.seen.last().copied());
            let mut seen = before.unwrap_or_default();
            seen.samples = span.range().end;
            let mut value_of = |slot: usize| {
                let mut value = values[slot];
                seen.values += 1;
                if value <= 0.0 {
                    seen.zeros += 1;
                    value = zero_as;
                }
                if adds_up && slots[slot].iterations != 1 {
                    value /= slots[slot].iterations as f64;
                }
                value
            };
            if let Some(pool) = &mut self.pool {
                if self.last_replicate != Some(span.replicate) {
                    self.last_replicate = Some(span.replicate);
                    pool.clear();
                }
                for (slot, sample) in slots.iter().enumerate() {
                    if sample.contender == ContenderId::BASELINE {
                        pool.baseline.push(value_of(slot));
                    } else if sample.contender == self.candidate {
                        pool.candidate.push(value_of(slot));
                    }
                }
                pool.blocks += 1;
                pool.seen = seen;
                // Disturbed iterations are kept, because a quantile of the tail measures rare slow
                // iterations.
                if let Some(effect) = pool.effect() {
                    self.effects.push(effect);
                    self.sizes.push(1);
                    self.number(span.replicate);
                    self.flags.push(BlockFlags::default());
                    self.seen.push(seen);
                }
                continue;
            }
            let mut log = |slot: usize| {
                let value = value_of(slot);
                if value != last.0 {
                    last = (value, value.ln());
                }
                last.1
            };
            let planned = self.planned.as_ref();
            let flagged = |slot: usize| {
                let cut_short = planned.is_some_and(|planned| planned.is_cut_short(&slots[slot]));
                u32::from(cut_short || slots[slot].flags.any())
            };
            let (effect, flags) = match order(slots, self.candidate) {
                Some(order) => {
                    let logs = [log(0), log(1), log(2), log(3)];
                    if self.keep_diagnostics {
                        self.diagnostics.push(diagnostics(logs, order));
                    }
                    let (outer, inner) = (flagged(0) + flagged(3), flagged(1) + flagged(2));
                    let (baseline_flagged, candidate_flagged) = match order {
                        Order::Abba => (outer, inner),
                        Order::Baab => (inner, outer),
                    };
                    let flags = BlockFlags {
                        baseline_flagged,
                        candidate_flagged,
                        baseline_slots: 2,
                        candidate_slots: 2,
                    };
                    (block_effect(logs, order), flags)
                }
                None => {
                    let (mut baseline, mut candidate) = (0.0, 0.0);
                    let mut flags = BlockFlags::default();
                    for (slot, sample) in slots.iter().enumerate() {
                        if sample.contender == ContenderId::BASELINE {
                            baseline += log(slot);
                            flags.baseline_slots += 1;
                            flags.baseline_flagged += flagged(slot);
                        } else if sample.contender == self.candidate {
                            candidate += log(slot);
                            flags.candidate_slots += 1;
                            flags.candidate_flagged += flagged(slot);
                        }
                    }
                    if flags.baseline_slots == 0 || flags.candidate_slots == 0 {
                        continue;
                    }
                    let effect = candidate / f64::from(flags.candidate_slots)
                        - baseline / f64::from(flags.baseline_slots);
                    (effect, flags)
                }
            };
            self.effects.push(effect);
            self.seen.push(seen);
            self.flagged |= flags.baseline_flagged + flags.candidate_flagged > 0;
            self.flags.push(flags);
            if self.last_replicate == Some(span.replicate)
                && let Some(size) = self.sizes.last_mut()
            {
                *size += 1;
            } else {
                self.sizes.push(1);
                self.number(span.replicate);
                self.last_replicate = Some(span.replicate);
            }
        }
        self.blocks_seen = samples.blocks().len();
    }

    /// Records the number of a replicate of a merged run, which identifies its machine.
    fn number(&mut self, replicate: u32) {
        if self.machines.is_some() {
            self.numbers.push(replicate);
        }
    }

    pub(crate) fn machines(&self) -> Option<&Machines> {
        self.machines.as_ref()
    }

    pub(crate) fn control(&self) -> Option<&Effects> {
        self.control.as_deref()
    }

    /// Returns the number and the effects of each replicate of a merged run.
    pub(crate) fn of_replicates(&self) -> impl Iterator<Item = (u32, &[f64])> {
        let mut first = 0;
        self.numbers
            .iter()
            .zip(&self.sizes)
            .map(move |(replicate, size)| {
                let from = first;
                first += size;
                (*replicate, &self.effects[from..first])
            })
    }

    /// Returns the number of blocks per effect: one, or all of a replicate if a quantile is judged.
    pub(crate) fn blocks_each(&self) -> usize {
        let pool = self.pool.as_ref();
        pool.map_or(1, |pool| pool.blocks_per_replicate as usize)
    }

    /// Returns the number of replicates so far, including an incomplete last one unless a quantile
    /// is judged.
    pub(crate) fn replicates(&self) -> usize {
        self.sizes.len()
    }

    fn seen(&self, replicates: usize) -> Seen {
        let blocks: usize = self.sizes.iter().take(replicates).sum();
        let last = blocks.checked_sub(1).and_then(|last| self.seen.get(last));
        last.copied().unwrap_or_default()
    }

    /// Returns the number of samples, of all contenders, in the first `replicates` replicates.
    pub(crate) fn samples_seen(&self, replicates: usize) -> usize {
        self.seen(replicates).samples
    }

    pub(crate) fn zero_share(&self, replicates: usize) -> f64 {
        let seen = self.seen(replicates);
        if seen.values == 0 {
            0.0
        } else {
            seen.zeros as f64 / seen.values as f64
        }
    }

    pub(crate) fn too_many_zeros(&self, replicates: usize) -> bool {
        self.zero_share(replicates) > MOST_ZEROS
    }

    /// Returns the share of effects that are exactly zero.
    pub(crate) fn tie_share(&self) -> f64 {
        let ties = self.effects.iter().filter(|effect| **effect == 0.0).count();
        if self.effects.is_empty() {
            0.0
        } else {
            ties as f64 / self.effects.len() as f64
        }
    }

    /// Returns the effects of the first `replicates` replicates, grouped by replicate.
    pub(crate) fn clusters(&self, replicates: usize) -> Clusters<'_> {
        let sizes = &self.sizes[..replicates.min(self.sizes.len())];
        if sizes.iter().all(|size| *size == 1) {
            Clusters::singletons(&self.effects[..sizes.len()])
        } else {
            let blocks = sizes.iter().sum();
            // `Clusters::new` cannot fail: sizes are at least 1, and their sum is the number of
            // effects.
            Clusters::new(&self.effects[..blocks], sizes)
                .unwrap_or_else(|_| Clusters::singletons(&self.effects[..blocks]))
        }
    }

    /// Returns the effects without the blocks that are dropped because a repetition was disturbed
    /// or cut short. One effect a hundred times as large as the others would determine every mean.
    /// `kept` is storage for the remaining effects and the sizes of their replicates.
    pub(crate) fn kept_clusters<'a>(
        &'a self,
        replicates: usize,
        kept: &'a mut (Vec<f64>, Vec<usize>),
    ) -> Clusters<'a> {
        let all = self.clusters(replicates);
        let sizes = self.sizes(replicates);
        if let (Some(_), Some(flags)) = (&self.planned, self.flags(replicates))
            && let Dropping::Drop(gone) = self.keep_or_drop(flags, sizes)
        {
            *kept = without(all.effects(), sizes, &gone);
            return Clusters::new(&kept.0, &kept.1).unwrap_or(all);
        }
        all
    }

    /// Returns the flags of the blocks of the first `replicates` replicates; `None` if no block of
    /// the benchmark is flagged.
    pub(crate) fn flags(&self, replicates: usize) -> Option<&[BlockFlags]> {
        let blocks = self.sizes.iter().take(replicates).sum::<usize>();
        self.flagged.then(|| &self.flags[..blocks])
    }

    /// Decides which blocks to drop by these flags. `sizes` are the numbers of blocks of the
    /// replicates.
    pub(crate) fn keep_or_drop(&self, flags: &[BlockFlags], sizes: &[usize]) -> Dropping {
        match self.planned {
            Some(_) => keep_or_drop_launches(flags, sizes),
            None => keep_or_drop(flags),
        }
    }

    /// Returns the number of repetitions of the baseline and this candidate that were cut short in
    /// the first `replicates` replicates, and the number of all their repetitions; `None` if none
    /// was cut short.
    pub(crate) fn cut_short(&self, samples: &Samples, replicates: usize) -> Option<(usize, usize)> {
        let planned = self.planned.as_ref().filter(|_| self.flagged)?;
        let seen = &samples.samples()[..self.samples_seen(replicates)];
        let pair = [ContenderId::BASELINE, self.candidate];
        let own = || seen.iter().filter(|one| pair.contains(&one.contender));
        let cut_short = own().filter(|one| planned.is_cut_short(one)).count();
        (cut_short > 0).then(|| (cut_short, own().count()))
    }

    /// Returns the number of samples of the baseline and this candidate in the first `replicates`
    /// replicates during which the GPU was throttled or its clock changed, and the number of all
    /// their samples; `None` if there were none.
    pub(crate) fn gpu_clock(&self, samples: &Samples, replicates: usize) -> Option<(usize, usize)> {
        let seen = &samples.samples()[..self.samples_seen(replicates)];
        let pair = [ContenderId::BASELINE, self.candidate];
        let own = || seen.iter().filter(|one| pair.contains(&one.contender));
        let unsteady = own()
            .filter(|one| one.flags.holds(Flags::GPU_CLOCK))
            .count();
        (unsteady > 0).then(|| (unsteady, own().count()))
    }

    pub(crate) fn sizes(&self, replicates: usize) -> &[usize] {
        &self.sizes[..replicates.min(self.sizes.len())]
    }

    /// Returns the lower bound for the scale of the estimate: the smallest step of the clock,
    /// relative to a typical sample.
    pub(crate) fn floor(&self, samples: &Samples, replicates: usize) -> Floor {
        let ticks = self.ticks_per_sample(samples, replicates);
        Floor {
            relative_tick: ticks.map(f64::recip),
        }
    }

    /// Returns the duration of a typical sample of the first `replicates` replicates, in steps of
    /// the clock; `None` if the step or the sample is unknown.
    pub(crate) fn ticks_per_sample(&self, samples: &Samples, replicates: usize) -> Option<f64> {
        let tick = self.tick?;
        let seen = ..self.seen(replicates).samples;
        let values = &samples.column(&self.metric)?[seen];
        ticks_per_sample(tick, values, &samples.samples()[seen], self.candidate)
    }

    /// Returns the medians of the contrasts that show order effects; `None` without ABBA blocks.
    pub(crate) fn order_effects(&self) -> Option<Diagnostics> {
        let median_of = |pick: fn(&Diagnostics) -> f64| {
            let mut values: Vec<f64> = self.diagnostics.iter().map(pick).collect();
            median_in_place(&mut values)
        };
        Some(Diagnostics {
            drift: median_of(|d| d.drift)?,
            carry_over: median_of(|d| d.carry_over)?,
            second_position: median_of(|d| d.second_position)?,
        })
    }
}

/// Returns the order of an ABBA or BAAB block; `None` for any other block.
fn order(slots: &[Sample], candidate: ContenderId) -> Option<Order> {
    let [a, b, c, d] = slots else {
        return None;
    };
    let order = [a.contender, b.contender, c.contender, d.contender];
    let (base, other) = (ContenderId::BASELINE, candidate);
    if order == [base, other, other, base] {
        Some(Order::Abba)
    } else if order == [other, base, base, other] {
        Some(Order::Baab)
    } else {
        None
    }
}

/// The estimate from the first `replicates` replicates of a race, up to a look.
#[derive(Clone, Debug)]
pub(crate) struct EffectEstimate {
    pub(crate) pooled: PooledEstimate,
    pub(crate) interval: Option<(f64, f64)>,
    /// The level that the caller requested.
    pub(crate) asked: Level,
    /// The two-sided level at which a t interval has the same width as `interval`. It is for
    /// figures about the design, such as the detectable effect.
    pub(crate) plain_level: f64,
    pub(crate) p_value: Option<f64>,
    /// The verdict; `None` if there is too little data for one.
    pub(crate) verdict: Option<Verdict>,
    /// The number of replicates that were judged, before any block was dropped.
    pub(crate) replicates: usize,
    pub(crate) dropped: usize,
    /// The result with the dropped blocks included; `None` if no block was dropped.
    pub(crate) with_dropped: Option<WithDropped>,
    pub(crate) kept_because: Option<KeepReason>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct WithDropped {
    /// The estimated effect (θ̂) with the dropped blocks included, as a log-ratio.
    pub(crate) theta: f64,
    pub(crate) verdict: Option<Verdict>,
}

impl EffectEstimate {
    pub(crate) fn confidence(&self) -> f64 {
        1.0 - self.asked.stated()
    }

    pub(crate) fn conclusive(&self) -> bool {
        self.verdict
            .is_some_and(|verdict| verdict != Verdict::Inconclusive)
    }
}

pub(crate) fn estimate(effect_estimate: &EffectEstimate) -> Estimate {
    Estimate {
        effect: LogRatio(effect_estimate.pooled.theta),
        interval: effect_estimate
            .interval
            .map(|(low, high)| deadheat_model::Interval {
                low: LogRatio(low),
                high: LogRatio(high),
                confidence: effect_estimate.confidence(),
            }),
        p_value: effect_estimate.p_value,
        replicates: effect_estimate.pooled.replicates,
        blocks: effect_estimate.pooled.blocks,
    }
}

pub(crate) fn excludes_zero(interval: Option<(f64, f64)>) -> bool {
    interval.is_some_and(|(low, high)| low > 0.0 || high < 0.0)
}

/// Returns the verdict for an interval of log-ratios in a metric with this direction of
/// improvement. A higher throughput counts as faster.
pub(crate) fn verdict_of(better: Better, (low, high): (f64, f64), margin: f64) -> Verdict {
    let call = match better {
        Better::More => call((-high, -low), margin),
        Better::Less | Better::Unknown => call((low, high), margin),
    };
    match call {
        Call::Equivalent => Verdict::Equivalent,
        Call::Faster => Verdict::Faster,
        Call::Slower => Verdict::Slower,
        Call::Undecided => Verdict::Inconclusive,
    }
}

/// The smallest number of blocks per replicate for which the plain formula is accurate.
const MANY_BLOCKS: u32 = 10;

/// Returns the formula for a benchmark. Only races with few blocks per replicate use the formula
/// for few blocks. Recordings always use the plain formula, with a warning if its interval is too
/// narrow.
fn formula_of(header: &RunHeader, benchmark: usize) -> Formula {
    let plan = &header.plan;
    // A quantile gives one effect per replicate, regardless of its number of blocks.
    let one = plan.quantile(benchmark).is_some();
    let few = one || plan.blocks_per_replicate(benchmark) < MANY_BLOCKS;
    match header.origin {
        Origin::Race if few => Formula::FewBlocks,
        _ => Formula::Plain,
    }
}

/// Judges the first `replicates` replicates. `None` if no effect could be computed.
pub(crate) fn estimate_effect(
    effects: &Effects,
    samples: &Samples,
    replicates: usize,
    level: Level,
) -> Option<EffectEstimate> {
    if effects.too_many_zeros(replicates) {
        return None;
    }
    let (formula, floor) = (effects.formula, effects.floor(samples, replicates));
    let read = |clusters: &Clusters| {
        let pooled = pooled_huber(clusters, floor).ok()?;
        let (interval, p_value) = formula.read(&pooled, clusters.effects(), level);
        let enough = pooled.blocks >= MIN_BLOCKS
            && (pooled.replicates == 1 || pooled.replicates >= MIN_REPLICATES_FOR_VERDICT);
        let verdict = interval
            .filter(|_| enough)
            .map(|ends| effects.verdict_of(ends));
        Some((pooled, interval, p_value, verdict))
    };
    let all = effects.clusters(replicates);
    let dropping = match effects.flags(replicates) {
        Some(flags) => effects.keep_or_drop(flags, effects.sizes(replicates)),
        None => Dropping::None,
    };
    let (mut dropped, mut with_dropped, mut kept_because) = (0, None, None);
    let (kept, sizes);
    let judged = match dropping {
        Dropping::None => all,
        Dropping::KeepAll(reason) => {
            kept_because = Some(reason);
            all
        }
        Dropping::Drop(gone) => {
            dropped = gone.len();
            with_dropped = read(&all).map(|(pooled, _, _, verdict)| WithDropped {
                theta: pooled.theta,
                verdict,
            });
            (kept, sizes) = without(all.effects(), effects.sizes(replicates), &gone);
            Clusters::new(&kept, &sizes).ok()?
        }
    };
    let (pooled, interval, p_value, verdict) = read(&judged)?;
    Some(EffectEstimate {
        verdict,
        interval,
        asked: level,
        plain_level: formula.plain_level(&pooled, level),
        p_value,
        replicates,
        dropped,
        with_dropped,
        kept_because,
        pooled,
    })
}

/// Returns the effects and the sizes of the replicates without the blocks in `gone`, which are
/// ascending indices. A replicate that loses all its blocks is removed.
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

#[cfg(test)]
mod tests {
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
        let verdict = |better, ends| verdict_of(better, ends, 0.01);
        assert_eq!(verdict(Better::Less, above), Verdict::Slower);
        assert_eq!(verdict(Better::Unknown, above), Verdict::Slower);
        assert_eq!(verdict(Better::More, above), Verdict::Faster);
        assert_eq!(verdict(Better::More, (-0.07, -0.05)), Verdict::Slower);
        assert_eq!(verdict(Better::More, inside), Verdict::Equivalent);
        assert_eq!(verdict(Better::Less, inside), Verdict::Equivalent);
    }
}
