//! Analysis of a recorded run: estimates, verdicts and warnings.
//!
//! Everything here is a pure function of the run: the same file gives the same analysis, byte for
//! byte, on any machine and at any time. The formulas are in `deadheat-stats`; this crate decides
//! which of them apply to which data.

mod all_zero;
mod analyse;
mod aspects;
mod benchmark;
#[cfg(feature = "recordings")]
mod calibration;
mod cut_short;
mod decision;
mod effects;
/// Replaces `figures.rs` in a build without the feature `figures`.
#[cfg(not(feature = "figures"))]
mod figures {
    use std::convert::Infallible;
    use std::marker::PhantomData;

    use deadheat_model::{ContenderId, Figures, Plots, RunHeader, Samples};

    use crate::effects::Effects;
    use crate::raced::Members;

    /// Uninhabited, because this build computes no figures.
    pub(crate) struct Figured<'a>(Infallible, PhantomData<&'a ()>);

    impl Figured<'_> {
        pub(crate) fn of(_: &RunHeader, _: usize, _: &Samples, _: &Members) -> Option<Self> {
            None
        }

        pub(crate) fn alone(&self, _: Option<usize>) -> (Figures, Option<Box<Plots>>) {
            match self.0 {}
        }

        pub(crate) fn against(
            &self,
            _: ContenderId,
            _: Option<(&Effects, usize)>,
            _: Option<usize>,
        ) -> (Figures, Option<Box<Plots>>) {
            match self.0 {}
        }
    }
}
#[cfg(feature = "figures")]
mod figures;
mod hosts;
mod inputs;
mod looks;
mod measurement;
mod observed;
#[cfg(feature = "recordings")]
mod outlying;
mod placement;
#[cfg(feature = "figures")]
mod plots;
mod raced;
#[cfg(feature = "recordings")]
mod recordings;
mod rerun;
mod side_by_side;
mod stopping;
mod suite;
#[cfg(feature = "recordings")]
mod unpaired;
mod waiting;
mod warm_up;
mod warnings;

pub use analyse::{PerBenchmarkAnalysis, analyse, analyse_with};
#[cfg(feature = "recordings")]
pub use calibration::{CalibrationTerms, calibrated_kind, calibration_race};
pub use deadheat_stats::MIN_REPLICATES_FOR_VERDICT;
pub use decision::{LookTaken, looks_taken, measured_effects};
#[cfg(feature = "figures")]
pub use figures::histograms;
pub use looks::{
    BETWEEN_COMPILED, BETWEEN_PYTHON, LooksError, blocks_for_quantile, fixed_look, looks_within,
    planned_blocks, planned_looks, planned_repetitions,
};
#[cfg(feature = "recordings")]
pub use outlying::{OutlyingFile, outlying_file, verdicts_of_intervals};
pub use raced::{Options, Part, RerunSamples};
pub use stopping::{AnytimeRule, PlannedRule, UntilRule};
pub use suite::{detectable_together, hold_together};
