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
mod doubts;
mod effects;
#[cfg(feature = "figures")]
mod figures;
#[cfg(not(feature = "figures"))]
#[path = "no_figures.rs"]
mod figures;
mod formula;
#[cfg(feature = "figures")]
mod histograms;
mod judge;
mod looks;
mod metrics;
mod one_by_one;
mod overall;
mod placement;
#[cfg(feature = "figures")]
mod plots;
#[cfg(feature = "recordings")]
mod recordings;
mod rule;
mod ruling;
mod side;
mod spreads;
#[cfg(feature = "recordings")]
mod stands_out;
mod suite;
mod typical;
#[cfg(feature = "recordings")]
mod unpaired;

pub use analyse::{Options, analyse};
#[cfg(feature = "recordings")]
pub use calibration::{CalibrationTerms, calibrated_kind, calibration_race};
#[cfg(feature = "figures")]
pub use histograms::histograms;
pub use looks::{LooksError, fixed_look, planned_blocks, planned_looks};
pub use one_by_one::{OneByOne, Part};
pub use rule::{AnytimeRule, PlannedRule};
pub use ruling::{LookTaken, looks_taken};
