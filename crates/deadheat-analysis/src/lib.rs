//! From a recorded run to estimates, verdicts and warnings.
//!
//! Everything here is a pure function of the run: the same file gives the
//! same analysis, byte for byte, on any machine and at any time. The formulas
//! live in `deadheat-stats`; this crate decides which of them may be applied
//! to which data.

mod analyse;
mod by_rank;
mod calibration;
mod clocks;
mod control;
mod doubts;
mod effects;
mod figures;
mod formula;
mod histograms;
mod judge;
mod looks;
mod metrics;
mod one_by_one;
mod overall;
mod placement;
mod plots;
mod recordings;
mod rule;
mod ruling;
mod scatter;
mod side;
mod spreads;
mod suite;
mod typical;
mod unpaired;

pub use analyse::{Options, analyse};
pub use calibration::{CalibrationTerms, calibrated_kind, calibration_race};
pub use histograms::histograms;
pub use looks::{LooksError, fixed_look, planned_blocks, planned_looks};
pub use one_by_one::{OneByOne, Part};
pub use rule::{AnytimeRule, PlannedRule};
pub use ruling::{LookTaken, looks_taken};
