//! What a machine showed of itself: what it is, what raced on it, and what came
//! of that.

mod found;
mod kind;
mod machine;
mod share;

pub use found::{
    CalibratedKind, Calibration, CalibrationEnd, CalibrationNote, CalibrationRace, Detectable,
    Found, KnownDifference, NoiseFloor, ReplicateCost,
};
pub use kind::RaceKind;
pub use machine::Machine;
pub use share::{Promise, Share, Tally};
