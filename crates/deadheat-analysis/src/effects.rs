//! Samples → one effect per block.

use deadheat_model::{ContenderId, Metric, RunHeader, Samples};
use deadheat_stats::{
    BlockFlags, Clusters, Diagnostics, Floor, Order, block_effect, diagnostics,
    summary::median_in_place,
};

/// More zeros than this among the values, and ratios are refused.
const MOST_ZEROS: f64 = 0.01;

/// The smallest step in which a metric is counted, in its own unit; `None`
/// when that is not known.
fn tick(metric: &Metric, header: &RunHeader) -> Option<f64> {
    match metric {
        Metric::Wall => header.tick_ns,
        // The kernel reports CPU time in microseconds.
        Metric::Cpu | Metric::User | Metric::System => Some(1000.0),
        Metric::PeakRss => Some(4096.0),
        Metric::Custom(_) => None,
        _ => Some(1.0),
    }
}

/// Effects of one candidate in one metric, block by block in the order run.
/// Grows with the samples it is fed from.
#[derive(Clone, Debug)]
pub(crate) struct Effects {
    metric: Metric,
    candidate: ContenderId,
    tick: Option<f64>,
    effects: Vec<f64>,
    /// Blocks of each replicate.
    sizes: Vec<usize>,
    last_replicate: Option<u32>,
    flags: Vec<BlockFlags>,
    flagged: bool,
    diagnostics: Vec<Diagnostics>,
    values: usize,
    zeros: usize,
    blocks_seen: usize,
}

impl Effects {
    pub(crate) fn new(metric: &Metric, candidate: ContenderId, header: &RunHeader) -> Self {
        Self {
            metric: metric.clone(),
            candidate,
            tick: tick(metric, header),
            effects: Vec::new(),
            sizes: Vec::new(),
            last_replicate: None,
            flags: Vec::new(),
            flagged: false,
            diagnostics: Vec::new(),
            values: 0,
            zeros: 0,
            blocks_seen: 0,
        }
    }

    /// Takes in the blocks it has not seen yet.
    pub(crate) fn extend(&mut self, samples: &Samples) {
        let Some(column) = samples.column(&self.metric) else {
            return;
        };
        // Zero counts as half a tick. Where the tick is unknown, the smallest
        // value above zero is the best evidence of it.
        let half_tick = 0.5
            * self.tick.unwrap_or_else(|| {
                column
                    .iter()
                    .copied()
                    .filter(|v| *v > 0.0)
                    .fold(f64::INFINITY, f64::min)
            });
        let all = samples.samples();
        for span in &samples.blocks()[self.blocks_seen..] {
            let mut logs = [0.0; 4];
            // Sums of logs and counts of slots, baseline and candidate.
            let mut sums = [0.0; 2];
            let mut counts = [0u32; 2];
            let mut flagged = [0u32; 2];
            for (slot, index) in span.range().enumerate() {
                let sample = &all[index];
                let side = match sample.contender {
                    ContenderId::BASELINE => 0,
                    id if id == self.candidate => 1,
                    _ => continue,
                };
                let mut value = column[index];
                self.values += 1;
                if value <= 0.0 {
                    self.zeros += 1;
                    value = if half_tick.is_finite() {
                        half_tick
                    } else {
                        1.0
                    };
                }
                if self.metric.adds_up() && sample.iterations != 1 {
                    value /= sample.iterations as f64;
                }
                let log = value.ln();
                if slot < 4 {
                    logs[slot] = log;
                }
                sums[side] += log;
                counts[side] += 1;
                flagged[side] += u32::from(sample.flags.any());
            }
            if counts.contains(&0) {
                continue;
            }
            let effect = match order(samples, span) {
                Some(order) => {
                    self.diagnostics.push(diagnostics(logs, order));
                    block_effect(logs, order)
                }
                None => sums[1] / f64::from(counts[1]) - sums[0] / f64::from(counts[0]),
            };
            self.effects.push(effect);
            self.flagged |= flagged != [0, 0];
            self.flags.push(BlockFlags {
                baseline_flagged: flagged[0],
                candidate_flagged: flagged[1],
                baseline_slots: counts[0],
                candidate_slots: counts[1],
            });
            if self.last_replicate == Some(span.replicate)
                && let Some(size) = self.sizes.last_mut()
            {
                *size += 1;
            } else {
                self.sizes.push(1);
                self.last_replicate = Some(span.replicate);
            }
        }
        self.blocks_seen = samples.blocks().len();
    }

    /// Replicates seen so far, a last incomplete one included.
    pub(crate) fn replicates(&self) -> usize {
        self.sizes.len()
    }

    /// Share of the values that were zero.
    pub(crate) fn zero_share(&self) -> f64 {
        if self.values == 0 {
            0.0
        } else {
            self.zeros as f64 / self.values as f64
        }
    }

    /// Whether too many values are zero to form ratios.
    pub(crate) fn too_many_zeros(&self) -> bool {
        self.zero_share() > MOST_ZEROS
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

    /// Flags of the blocks of the first `replicates` replicates; `None` when
    /// no block at all is flagged.
    pub(crate) fn flags(&self, replicates: usize) -> Option<&[BlockFlags]> {
        let blocks = self.sizes.iter().take(replicates).sum::<usize>();
        self.flagged.then(|| &self.flags[..blocks])
    }

    /// The blocks of each of the first `replicates` replicates.
    pub(crate) fn sizes(&self, replicates: usize) -> &[usize] {
        &self.sizes[..replicates.min(self.sizes.len())]
    }

    /// The floor under the scale: one tick relative to a typical sample.
    pub(crate) fn floor(&self, samples: &Samples) -> Floor {
        Floor {
            relative_tick: self.ticks_per_sample(samples).map(f64::recip),
        }
    }

    /// How many ticks a typical sample lasts; `None` when the tick or the
    /// sample is unknown.
    pub(crate) fn ticks_per_sample(&self, samples: &Samples) -> Option<f64> {
        let tick = self.tick?;
        let mut values: Vec<f64> = samples
            .column(&self.metric)?
            .iter()
            .zip(samples.samples())
            .filter(|(_, s)| s.contender == ContenderId::BASELINE || s.contender == self.candidate)
            .map(|(value, _)| *value)
            .collect();
        let median = median_in_place(&mut values)?;
        (median > 0.0).then(|| median / tick)
    }

    /// Medians of the contrasts that show order effects; `None` without
    /// ABBA blocks.
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
fn order(samples: &Samples, span: &deadheat_model::BlockSpan) -> Option<Order> {
    let [a, b, c, d] = samples.samples().get(span.range())? else {
        return None;
    };
    let (a, b, c, d) = (a.contender, b.contender, c.contender, d.contender);
    if a != d || b != c || a == b {
        None
    } else if a == ContenderId::BASELINE {
        Some(Order::Abba)
    } else if b == ContenderId::BASELINE {
        Some(Order::Baab)
    } else {
        None
    }
}
