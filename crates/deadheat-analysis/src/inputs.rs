//! Everything that the aspects of a comparison and its warnings are found from.

use deadheat_model::{Benchmark, ContenderId, RunHeader, Samples};

use crate::decision::{BenchmarkState, ControlComparison, FinalDecision};
use crate::effects::{EffectEstimate, Effects};
use crate::measurement::Measurement;
use crate::placement::Placement;
use crate::raced::{Members, Raced};
use crate::side_by_side::SideBySide;

/// The inputs of one comparison, whose samples are without waiting if that is excluded.
#[derive(Clone, Copy)]
pub(crate) struct Inputs<'a> {
    pub(crate) raced: &'a Raced<'a>,
    /// `None` if waiting may not be excluded.
    pub(crate) recorded: Option<&'a Recorded<'a>>,
    pub(crate) members: &'a Members,
    pub(crate) control: Option<&'a ControlComparison>,
    pub(crate) side_by_side: Option<&'a SideBySide<'a>>,
    pub(crate) measurement: &'a Measurement,
    /// `None` for a contender alone.
    pub(crate) pair: Option<Pair<'a>>,
}

/// The recorded samples of a benchmark, with scheduling delay included, and its verdict.
pub(crate) struct Recorded<'a> {
    pub(crate) samples: &'a Samples,
    /// The number of samples that were looked at.
    pub(crate) seen: usize,
    pub(crate) state: &'a BenchmarkState,
    pub(crate) decision: &'a FinalDecision,
}

/// A candidate and its baseline, measured in the same blocks.
#[derive(Clone, Copy)]
pub(crate) struct Pair<'a> {
    /// The place of the candidate among all.
    pub(crate) place: usize,
    pub(crate) id: ContenderId,
    /// The values of the baseline and of the candidate in the judged metric, per iteration.
    pub(crate) values: (&'a [f64], &'a [f64]),
    pub(crate) effects: &'a Effects,
    /// `None` when no effect could be formed.
    pub(crate) estimate: Option<&'a EffectEstimate>,
    /// The replicates judged.
    pub(crate) replicates: usize,
    pub(crate) decision: &'a FinalDecision,
    pub(crate) placement: &'a Placement<'a>,
}

impl Pair<'_> {
    /// The number of candidates of the benchmark.
    pub(crate) fn candidates(&self) -> usize {
        self.decision.effect_estimates.len().max(1)
    }
}

impl Inputs<'_> {
    pub(crate) fn header(&self) -> &RunHeader {
        &self.raced.run.header
    }

    pub(crate) fn benchmark(&self) -> &Benchmark {
        &self.header().plan.benchmarks[self.raced.index]
    }

    /// The samples with the waiting that was recorded.
    pub(crate) fn recorded_samples(&self) -> &Samples {
        let recorded = self.recorded;
        recorded.map_or(self.raced.samples, |recorded| recorded.samples)
    }
}
