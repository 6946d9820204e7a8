//! From a recorded run to estimates, verdicts and warnings.
//!
//! Everything here is a pure function of the run: the same file gives the same analysis, byte for
//! byte, on any machine and at any time. The formulas live in `deadheat-stats`; this crate decides
//! which of them may be applied to which data.

mod analyse;
mod benchmark;
mod benchmark_state;
#[cfg(feature = "bisect")]
mod bisect;
#[cfg(feature = "recordings")]
mod calibration;
mod decision;
#[cfg(feature = "figures")]
mod distribution;
mod effect_estimate;
mod effects;
#[cfg(feature = "profiles")]
mod explanation;
#[cfg(feature = "figures")]
mod figures;
#[cfg(not(feature = "figures"))]
#[path = "no_figures.rs"]
mod figures;
mod hosts;
mod looks;
mod machines;
mod measured;
mod metrics;
mod placement;
#[cfg(feature = "figures")]
mod plots;
mod raced;
#[cfg(feature = "recordings")]
mod recordings;
mod stopping;
mod suite;
#[cfg(feature = "recordings")]
mod unpaired;
#[cfg(feature = "recordings")]
mod unpaired_estimate;
mod waiting;
mod warm_up;
mod warnings;

pub use analyse::{PerBenchmarkAnalysis, analyse, analyse_with};
pub use benchmark_state::LookTaken;
#[cfg(feature = "bisect")]
pub use bisect::{BisectSearch, NextStep};
#[cfg(feature = "recordings")]
pub use calibration::{CalibrationTerms, calibrated_kind, calibration_race};
pub use decision::looks_taken;
#[cfg(feature = "profiles")]
pub use explanation::{finding, paired_functions, paired_stacks};
#[cfg(feature = "figures")]
pub use figures::histograms;
pub use looks::{
    LooksError, blocks_for_quantile, fixed_look, looks_within, planned_blocks, planned_looks,
    planned_repetitions,
};
pub use measured::measured_effects;
pub use raced::{Options, Part};
pub use stopping::{AnytimeRule, PlannedRule, UntilRule};
pub use suite::{detectable_together, hold_together};
