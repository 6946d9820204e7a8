//! Samples → one effect per block, or per replicate where a quantile is judged; and what the effects
//! of one candidate in one metric say at one moment: their location, its interval, and the verdict.

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

/// The samples seen by the end of a block. A look is judged by this and not by what came after it:
/// judged again later, it must say the same.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    /// Samples of the benchmark, of all contenders.
    samples: usize,
    /// Values of the two contenders, and how many of them were zero.
    values: usize,
    zeros: usize,
}

/// The iterations of the replicate that has begun, where a quantile of them is judged.
#[derive(Clone, Debug)]
struct Pool {
    quantile: f64,
    /// Blocks of a complete replicate.
    blocks_per_replicate: u32,
    blocks: u32,
    /// The samples seen by the end of its last block.
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

    /// The log-ratio of the quantiles of the two sides, once the replicate is complete.
    fn effect(&mut self) -> Option<f64> {
        if self.blocks < self.blocks_per_replicate {
            return None;
        }
        let baseline = quantile_in_place(&mut self.baseline, self.quantile)?;
        let candidate = quantile_in_place(&mut self.candidate, self.quantile)?;
        Some(candidate.ln() - baseline.ln()).filter(|effect| effect.is_finite())
    }
}

/// Effects of one candidate in one metric, block by block in the order run; of a quantile replicate
/// by replicate. Grows with the samples it is fed from.
#[derive(Clone, Debug)]
pub(crate) struct Effects {
    metric: Metric,
    candidate: ContenderId,
    tick: Option<f64>,
    formula: Formula,
    margin: f64,
    /// `None` where blocks are judged by their centre.
    pool: Option<Pool>,
    effects: Vec<f64>,
    /// Effects of each replicate.
    sizes: Vec<usize>,
    last_replicate: Option<u32>,
    /// The machines of a run merged of several, and the number of each replicate there.
    machines: Option<Machines>,
    numbers: Vec<u32>,
    /// Those of the control in the judged metric, by which hosts of such a run are left out.
    control: Option<Box<Effects>>,
    /// Flags the slots of launches that were cut short; `None` for all other contenders.
    planned: Option<PlannedIterations>,
    flags: Vec<BlockFlags>,
    flagged: bool,
    keep_diagnostics: bool,
    diagnostics: Vec<Diagnostics>,
    /// Parallel to `effects`.
    seen: Vec<Seen>,
    blocks_seen: usize,
}

impl Effects {
    /// Without effects yet, to be fed the samples of a benchmark of this run.
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
            tick: tick(metric, header),
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

    /// The same, which notes what the order in a block does as well.
    pub(crate) fn with_diagnostics(self) -> Self {
        Self {
            keep_diagnostics: true,
            ..self
        }
    }

    #[cfg(feature = "figures")]
    /// Whose effects these are.
    pub(crate) fn candidate(&self) -> ContenderId {
        self.candidate
    }

    /// The formula of their estimate.
    pub(crate) fn formula(&self) -> Formula {
        self.formula
    }

    /// The margin that they are judged by.
    pub(crate) fn margin(&self) -> f64 {
        self.margin
    }

    /// The verdict of an interval: more of a throughput is faster.
    pub(crate) fn verdict_of(&self, ends: (f64, f64)) -> Verdict {
        verdict_of(self.metric.better(), ends, self.margin)
    }

    /// Makes room for the effects of so many blocks. Of 50,000 that are there from the start lists
    /// that double would hold up to twice as many.
    fn reserve(&mut self, blocks: usize) {
        self.effects.reserve_exact(blocks);
        self.flags.reserve_exact(blocks);
        self.seen.reserve_exact(blocks);
        if self.keep_diagnostics {
            self.diagnostics.reserve_exact(blocks);
        }
    }

    /// Takes in the blocks it has not seen yet.
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
        // Of counts most are like the one before, many are zero: a logarithm takes longer than a
        // look at the last one.
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
                // Disturbed iterations stay: what is rare and slow is what a tail is made of.
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

    /// Notes the number of a replicate where a machine is found by it.
    fn number(&mut self, replicate: u32) {
        if self.machines.is_some() {
            self.numbers.push(replicate);
        }
    }

    /// The machines of a run merged of several.
    pub(crate) fn machines(&self) -> Option<&Machines> {
        self.machines.as_ref()
    }

    /// The effects of the control by which hosts are left out; `None` for a run of one host, and
    /// without a control.
    pub(crate) fn control(&self) -> Option<&Effects> {
        self.control.as_deref()
    }

    /// The numbers of the replicates of a run merged of several, each with its effects.
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

    /// Blocks behind an effect: one, or all of a replicate where a quantile is judged.
    pub(crate) fn blocks_each(&self) -> usize {
        let pool = self.pool.as_ref();
        pool.map_or(1, |pool| pool.blocks_per_replicate as usize)
    }

    /// Replicates seen so far, a last incomplete one included unless a quantile is judged.
    pub(crate) fn replicates(&self) -> usize {
        self.sizes.len()
    }

    /// The samples seen after so many replicates.
    fn seen(&self, replicates: usize) -> Seen {
        let blocks: usize = self.sizes.iter().take(replicates).sum();
        let last = blocks.checked_sub(1).and_then(|last| self.seen.get(last));
        last.copied().unwrap_or_default()
    }

    /// The samples of the benchmark, of all contenders, that were seen after so many replicates.
    pub(crate) fn samples_seen(&self, replicates: usize) -> usize {
        self.seen(replicates).samples
    }

    /// Share of the values that were zero in so many replicates.
    pub(crate) fn zero_share(&self, replicates: usize) -> f64 {
        let seen = self.seen(replicates);
        if seen.values == 0 {
            0.0
        } else {
            seen.zeros as f64 / seen.values as f64
        }
    }

    /// Returns true if too many values are zero to form ratios.
    pub(crate) fn too_many_zeros(&self, replicates: usize) -> bool {
        self.zero_share(replicates) > MOST_ZEROS
    }

    /// Share of blocks whose effect is exactly zero.
    pub(crate) fn tie_share(&self) -> f64 {
        let ties = self.effects.iter().filter(|effect| **effect == 0.0).count();
        if self.effects.is_empty() {
            0.0
        } else {
            ties as f64 / self.effects.len() as f64
        }
    }

    /// The effects of the first `replicates` replicates, grouped.
    pub(crate) fn clusters(&self, replicates: usize) -> Clusters<'_> {
        let sizes = &self.sizes[..replicates.min(self.sizes.len())];
        if sizes.iter().all(|size| *size == 1) {
            Clusters::singletons(&self.effects[..sizes.len()])
        } else {
            let blocks = sizes.iter().sum();
            // Sizes are at least 1 and add up by construction.
            Clusters::new(&self.effects[..blocks], sizes)
                .unwrap_or_else(|_| Clusters::singletons(&self.effects[..blocks]))
        }
    }

    /// The same without blocks that were cut short, which `kept` then holds: an effect a hundred
    /// times as large as all others would decide over every mean.
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

    /// Flags of the blocks of the first `replicates` replicates; `None` when no block at all is
    /// flagged.
    pub(crate) fn flags(&self, replicates: usize) -> Option<&[BlockFlags]> {
        let blocks = self.sizes.iter().take(replicates).sum::<usize>();
        self.flagged.then(|| &self.flags[..blocks])
    }

    /// The blocks to leave out by these flags. `sizes` are the numbers of blocks of the replicates.
    pub(crate) fn keep_or_drop(&self, flags: &[BlockFlags], sizes: &[usize]) -> Dropping {
        match self.planned {
            Some(_) => keep_or_drop_launches(flags, sizes),
            None => keep_or_drop(flags),
        }
    }

    /// How many repetitions of the baseline and this candidate were cut short in the first
    /// `replicates` replicates, and how many there are; `None` if none was cut short.
    pub(crate) fn cut_short(&self, samples: &Samples, replicates: usize) -> Option<(usize, usize)> {
        let planned = self.planned.as_ref().filter(|_| self.flagged)?;
        let seen = &samples.samples()[..self.samples_seen(replicates)];
        let pair = [ContenderId::BASELINE, self.candidate];
        let own = || seen.iter().filter(|one| pair.contains(&one.contender));
        let cut_short = own().filter(|one| planned.is_cut_short(one)).count();
        (cut_short > 0).then(|| (cut_short, own().count()))
    }

    /// How many samples of the baseline and this candidate ran while the GPU was throttled or its
    /// clock stepped, in the first `replicates` replicates, and how many there are; `None` if none
    /// did.
    pub(crate) fn gpu_clock(&self, samples: &Samples, replicates: usize) -> Option<(usize, usize)> {
        let seen = &samples.samples()[..self.samples_seen(replicates)];
        let pair = [ContenderId::BASELINE, self.candidate];
        let own = || seen.iter().filter(|one| pair.contains(&one.contender));
        let unsteady = own()
            .filter(|one| one.flags.holds(Flags::GPU_CLOCK))
            .count();
        (unsteady > 0).then(|| (unsteady, own().count()))
    }

    /// The effects of each of the first `replicates` replicates.
    pub(crate) fn sizes(&self, replicates: usize) -> &[usize] {
        &self.sizes[..replicates.min(self.sizes.len())]
    }

    /// The floor under the scale: one tick relative to a typical sample.
    pub(crate) fn floor(&self, samples: &Samples, replicates: usize) -> Floor {
        let ticks = self.ticks_per_sample(samples, replicates);
        Floor {
            relative_tick: ticks.map(f64::recip),
        }
    }

    /// The number of ticks a typical sample of so many replicates lasts; `None` when the tick or
    /// the sample is unknown.
    pub(crate) fn ticks_per_sample(&self, samples: &Samples, replicates: usize) -> Option<f64> {
        let tick = self.tick?;
        let seen = ..self.seen(replicates).samples;
        let values = &samples.column(&self.metric)?[seen];
        ticks_per_sample(tick, values, &samples.samples()[seen], self.candidate)
    }

    /// Medians of the contrasts that show order effects; `None` without ABBA blocks.
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

/// ABBA or BAAB; `None` for any other block.
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

/// The estimate from the data at one moment.
#[derive(Clone, Debug)]
pub(crate) struct EffectEstimate {
    pub(crate) pooled: PooledEstimate,
    pub(crate) interval: Option<(f64, f64)>,
    /// The level that was asked for.
    pub(crate) asked: Level,
    /// The two-sided level of the t interval that is as wide, for the figures that speak of the
    /// design.
    pub(crate) plain_level: f64,
    pub(crate) p_value: Option<f64>,
    /// `None` where only an estimate is allowed.
    pub(crate) verdict: Option<Verdict>,
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
    pub(crate) verdict: Option<Verdict>,
}

impl EffectEstimate {
    /// The confidence of the interval.
    pub(crate) fn confidence(&self) -> f64 {
        1.0 - self.asked.stated()
    }

    /// Returns true if the race can be called.
    pub(crate) fn conclusive(&self) -> bool {
        self.verdict
            .is_some_and(|verdict| verdict != Verdict::Inconclusive)
    }
}

/// The estimate in the words of the model.
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

/// Returns true if 0 lies outside the interval.
pub(crate) fn excludes_zero(interval: Option<(f64, f64)>) -> bool {
    interval.is_some_and(|(low, high)| low > 0.0 || high < 0.0)
}

/// The verdict of an interval in a metric that improves this way: more of a throughput is faster.
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

/// From so many blocks in a replicate on the plain formula is right.
const MANY_BLOCKS: u32 = 10;

/// The formula for a benchmark: where its replicates have few blocks the one for those. A recording
/// is judged by the plain formula, as specified for files of any origin, and told where that is too
/// narrow.
fn formula_of(header: &RunHeader, benchmark: usize) -> Formula {
    let plan = &header.plan;
    // A quantile has one effect in a replicate, of however many blocks.
    let one = plan.quantile(benchmark).is_some();
    let few = one || plan.blocks_per_replicate(benchmark) < MANY_BLOCKS;
    match header.origin {
        Origin::Race if few => Formula::FewBlocks,
        _ => Formula::Plain,
    }
}

/// Judges the first `replicates` replicates. `None` when there is nothing to form an effect from.
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
