//! Reruns of a benchmark: on the user's own link, or in turns instead of side by side.

use deadheat_model::{Estimate, Origin, RerunKind, Samples};
use deadheat_stats::Level;

use crate::decision::BenchmarkState;
use crate::effects::{EffectEstimate, Effects, estimate};
use crate::raced::Raced;

/// The smallest number of replicates that gives an interval.
const FEWEST: usize = 2;

/// The effects of a rerun over all its complete replicates. Their number was fixed in advance, so
/// one analysis uses the whole level.
pub(crate) struct RerunEffects<'a> {
    pub(crate) samples: &'a Samples,
    benchmark_state: BenchmarkState,
    pub(crate) replicates: usize,
    /// One estimate per candidate.
    effect_estimates: Vec<Option<EffectEstimate>>,
}

impl<'a> RerunEffects<'a> {
    /// Returns the effects of the rerun of this kind. `None` if the benchmark lacks such a rerun,
    /// or if the rerun failed or has fewer than [`FEWEST`] replicates.
    pub(crate) fn of(raced: &Raced<'a>, kind: RerunKind) -> Option<Self> {
        let run = raced.run;
        let plan = &run.header.plan;
        let (index, samples) = raced.reruns.of(kind)?;
        if run.header.origin != Origin::Race {
            return None;
        }
        let mut benchmark_state = BenchmarkState::new(&run.header, index);
        benchmark_state.extend(samples);
        let replicates = benchmark_state.complete_replicates(samples);
        if replicates < FEWEST {
            return None;
        }
        let level = Level::Nominal(plan.alpha(index));
        let effect_estimates = benchmark_state.estimate_effects(samples, replicates, level);
        Some(Self {
            samples,
            benchmark_state,
            replicates,
            effect_estimates,
        })
    }

    pub(crate) fn estimate(&self, candidate: usize) -> Option<Estimate> {
        self.effect_estimates.get(candidate)?.as_ref().map(estimate)
    }

    pub(crate) fn estimate_at(&self, candidate: usize, level: f64) -> Option<Estimate> {
        let level = Level::Nominal(level);
        let all = (self.benchmark_state).estimate_effects(self.samples, self.replicates, level);
        all.get(candidate)?.as_ref().map(estimate)
    }

    pub(crate) fn judged(&self) -> (&[Effects], &Samples) {
        self.benchmark_state.judged(self.samples, self.replicates)
    }
}
