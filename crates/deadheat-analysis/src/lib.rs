//! From a recorded run to estimates, verdicts and warnings.
//!
//! Everything here is a pure function of the run: the same file gives the
//! same analysis, byte for byte, on any machine and at any time. The formulas
//! live in `deadheat-stats`; this crate decides which of them may be applied
//! to which data.

mod analyse;
#[cfg(feature = "recordings")]
mod calibration;
mod clocks;
mod control;
mod decision;
mod effect_estimate;
mod effects;
#[cfg(feature = "figures")]
mod figures;
#[cfg(not(feature = "figures"))]
#[path = "no_figures.rs"]
mod figures;
mod formula;
#[cfg(feature = "figures")]
mod histograms;
mod looks;
mod metrics;
mod overall;
mod per_benchmark;
mod placement;
#[cfg(feature = "figures")]
mod plots;
#[cfg(feature = "recordings")]
mod recordings;
mod side;
mod spreads;
#[cfg(feature = "recordings")]
mod stands_out;
mod stopping;
mod suite;
mod typical;
#[cfg(feature = "recordings")]
mod unpaired;
mod warnings;

pub use analyse::{Options, analyse};
#[cfg(feature = "recordings")]
pub use calibration::{CalibrationTerms, calibrated_kind, calibration_race};
pub use decision::{LookTaken, looks_taken};
#[cfg(feature = "figures")]
pub use histograms::histograms;
pub use looks::{LooksError, fixed_look, planned_blocks, planned_looks};
pub use per_benchmark::{Part, PerBenchmarkAnalysis};
pub use stopping::{AnytimeRule, PlannedRule};
