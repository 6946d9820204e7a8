//! The data from which the aspects and the warnings of a comparison are computed.

use deadheat_model::{Benchmark, ContenderId, RunHeader, Samples};

use crate::decision::{BenchmarkState, ControlComparison, FinalDecision};
use crate::effects::{EffectEstimate, Effects};
use crate::measurement::Measurement;
use crate::placement::Placement;
use crate::raced::{Members, Raced};
use crate::side_by_side::SideBySide;

/// The data of one comparison. Its samples exclude scheduling delay if the analysis subtracts it.
#[derive(Clone, Copy)]
pub(crate) struct Inputs<'a> {
    pub(crate) raced: &'a Raced<'a>,
    /// The samples with scheduling delay included; `None` if the delay may not be subtracted.
    pub(crate) recorded: Option<&'a Recorded<'a>>,
    pub(crate) members: &'a Members,
    pub(crate) control: Option<&'a ControlComparison>,
    pub(crate) side_by_side: Option<&'a SideBySide<'a>>,
    pub(crate) measurement: &'a Measurement,
    /// The candidate and its baseline; `None` for a benchmark without candidates.
    pub(crate) pair: Option<Pair<'a>>,
}

/// The recorded samples of a benchmark, with scheduling delay included, and its verdict.
pub(crate) struct Recorded<'a> {
    pub(crate) samples: &'a Samples,
    /// The number of samples in the replicates that the verdict uses.
    pub(crate) seen: usize,
    pub(crate) state: &'a BenchmarkState,
    pub(crate) decision: &'a FinalDecision,
}

#[derive(Clone, Copy)]
pub(crate) struct Pair<'a> {
    /// The index of the candidate among all candidates, from 0.
    pub(crate) place: usize,
    pub(crate) id: ContenderId,
    /// The values of the baseline and of the candidate in the judged metric, per iteration.
    pub(crate) values: (&'a [f64], &'a [f64]),
    pub(crate) effects: &'a Effects,
    /// The estimate of the judged metric; `None` if no effect could be computed.
    pub(crate) estimate: Option<&'a EffectEstimate>,
    /// The number of replicates that the verdict uses.
    pub(crate) replicates: usize,
    pub(crate) decision: &'a FinalDecision,
    pub(crate) placement: &'a Placement<'a>,
}

impl Pair<'_> {
    /// Returns the number of candidates of the benchmark, at least 1.
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

    /// Returns the samples with scheduling delay included.
    pub(crate) fn recorded_samples(&self) -> &Samples {
        let recorded = self.recorded;
        recorded.map_or(self.raced.samples, |recorded| recorded.samples)
    }
}
