//! Every sample of one metric, per iteration, in the order taken.

use deadheat_model::{ContenderId, Metric, RunHeader, Samples};

use crate::effects::{tick, zero_as};

/// Values and their logarithms, parallel to the samples.
pub(super) struct Measured {
    pub(super) values: Vec<f64>,
    /// ln of the values; a zero counts as half a tick. Always finite.
    pub(super) logs: Vec<f64>,
}

impl Measured {
    /// `None` when the metric was not recorded.
    pub(super) fn of(header: &RunHeader, samples: &Samples, metric: &Metric) -> Option<Measured> {
        let column = samples.column(metric)?;
        let zero_as = zero_as(column, tick(metric, header));
        let mut measured = Measured {
            values: Vec::with_capacity(column.len()),
            logs: Vec::with_capacity(column.len()),
        };
        for (whole, sample) in column.iter().zip(samples.samples()) {
            let calls = match metric.adds_up() {
                true => sample.iterations as f64,
                false => 1.0,
            };
            measured.values.push(whole / calls);
            let ticking = if *whole > 0.0 { *whole } else { zero_as };
            // The quotient of the smallest numbers would be zero again.
            measured.logs.push(match ticking / calls {
                quotient if quotient > 0.0 => quotient.ln(),
                _ => ticking.ln() - calls.ln(),
            });
        }
        Some(measured)
    }

    /// Indices of the pairs of a block, baseline first: the i-th sample of the
    /// baseline with the i-th of the candidate. Of ABBA these are (x₁, x₂) and
    /// (x₄, x₃), of BAAB (x₂, x₁) and (x₃, x₄): neighbours in time.
    pub(super) fn pairs(samples: &Samples, candidate: ContenderId) -> Vec<(usize, usize)> {
        let mut pairs = Vec::new();
        for block in samples.blocks() {
            let of = |id: ContenderId| {
                let slots = &samples.samples()[block.range()];
                let mine = slots.iter().enumerate();
                mine.filter(move |(_, sample)| sample.contender == id)
                    .map(|(slot, _)| block.first + slot)
            };
            pairs.extend(of(ContenderId::BASELINE).zip(of(candidate)));
        }
        pairs
    }
}
