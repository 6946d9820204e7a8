//! Reruns of a benchmark: as the user linked it, or in turns.

use deadheat_model::{Estimate, Origin, RerunKind, Samples};
use deadheat_stats::Level;

use crate::decision::BenchmarkState;
use crate::effects::{EffectEstimate, Effects, estimate};
use crate::raced::Raced;

/// Fewer replicates have no interval.
const FEWEST: usize = 2;

/// The effects of a rerun: of all its complete replicates at one look, since their number was fixed.
pub(crate) struct RerunEffects<'a> {
    pub(crate) samples: &'a Samples,
    benchmark_state: BenchmarkState,
    /// Complete replicates.
    pub(crate) replicates: usize,
    /// One per candidate.
    effect_estimates: Vec<Option<EffectEstimate>>,
}

impl<'a> RerunEffects<'a> {
    /// `None` when there is none, when it failed, or has too few replicates.
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

    /// The estimate of the candidate at this place with its interval at this level.
    pub(crate) fn estimate_at(&self, candidate: usize, level: f64) -> Option<Estimate> {
        let level = Level::Nominal(level);
        let all = (self.benchmark_state).estimate_effects(self.samples, self.replicates, level);
        all.get(candidate)?.as_ref().map(estimate)
    }

    /// The effects of all candidates, and the samples that they were made of.
    pub(crate) fn judged(&self) -> (&[Effects], &Samples) {
        self.benchmark_state.judged(self.samples, self.replicates)
    }
}
