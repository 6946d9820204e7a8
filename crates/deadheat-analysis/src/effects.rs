//! Samples → one effect per block, or per replicate where a quantile is judged.

use deadheat_model::{Better, ContenderId, Metric, RunHeader, Sample, Samples};
use deadheat_stats::summary::{median_in_place, quantile_in_place};
use deadheat_stats::{BlockFlags, Clusters, Diagnostics, Floor, Order, block_effect, diagnostics};

use crate::machines::Machines;

/// More zeros than this among the values, and ratios are refused.
pub(crate) const MOST_ZEROS: f64 = 0.01;

/// The smallest step in which a metric is counted, in its own unit; `None` when that is not known.
pub(crate) fn tick(metric: &Metric, header: &RunHeader) -> Option<f64> {
    // What other tools saved are values per iteration: by what step they were counted is lost.
    // Files have many benchmarks, so one is asked for all.
    if header
        .plan
        .benchmarks
        .first()
        .is_some_and(|one| one.saved.is_some())
    {
        return None;
    }
    match metric {
        Metric::Wall => header.tick_ns,
        // A thread reads its own clock, which counts nanoseconds; so does Google Benchmark.
        Metric::Cpu
            if header
                .plan
                .benchmarks
                .iter()
                .any(|benchmark| benchmark.calls_functions() || benchmark.keeps_order()) =>
        {
            Some(1.0)
        }
        // The kernel reports CPU time of processes in microseconds.
        Metric::Cpu | Metric::User | Metric::System => Some(1000.0),
        Metric::PeakRss => Some(4096.0),
        Metric::Custom(_) | Metric::Foreign(_) => None,
        _ => Some(1.0),
    }
}

/// The value that a zero counts as: half a tick. Where the tick is unknown, the smallest value
/// above zero is the best evidence of it.
pub(crate) fn zero_as(column: &[f64], tick: Option<f64>) -> f64 {
    let half_tick = 0.5
        * tick.unwrap_or_else(|| {
            let above_zero = column.iter().copied().filter(|v| *v > 0.0);
            above_zero.fold(f64::INFINITY, f64::min)
        });
    // Half of the smallest number there is would be zero again.
    if half_tick.is_finite() {
        half_tick.max(f64::from_bits(1))
    } else {
        1.0
    }
}

/// The number of ticks a typical sample of the baseline and this candidate lasts; `None` without
/// samples, or when it lasts none.
pub(crate) fn ticks_per_sample(
    tick: f64,
    values: &[f64],
    slots: &[Sample],
    candidate: ContenderId,
) -> Option<f64> {
    let mut values = values.to_vec();
    if slots.iter().any(|s| s.contender.0 > 1) {
        let mut slots = slots.iter();
        values.retain(|_| {
            slots
                .next()
                .is_some_and(|s| s.contender == ContenderId::BASELINE || s.contender == candidate)
        });
    }
    let median = median_in_place(&mut values)?;
    let ticks = median / tick;
    (median > 0.0 && ticks.is_finite()).then_some(ticks)
}

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
            pool,
            effects: Vec::new(),
            sizes: Vec::new(),
            last_replicate: None,
            machines: Machines::of(header),
            numbers: Vec::new(),
            control: None,
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

    /// The direction in which the metric improves.
    pub(crate) fn better(&self) -> Better {
        self.metric.better()
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
            let flagged = |slot: usize| u32::from(slots[slot].flags.any());
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

    /// Flags of the blocks of the first `replicates` replicates; `None` when no block at all is
    /// flagged.
    pub(crate) fn flags(&self, replicates: usize) -> Option<&[BlockFlags]> {
        let blocks = self.sizes.iter().take(replicates).sum::<usize>();
        self.flagged.then(|| &self.flags[..blocks])
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
