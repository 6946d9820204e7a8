//! The machine's own error rate: things raced against themselves and against
//! known differences, by the same races that users start.

#[cfg(feature = "commands")]
mod batches;
#[cfg(feature = "commands")]
mod calibrate;
#[cfg(feature = "commands")]
mod spec;
#[cfg(feature = "commands")]
mod work;

pub use crate::race::{CALIBRATION_VARIABLE, calibration_file};
#[cfg(feature = "commands")]
pub use calibrate::calibrate;
#[cfg(feature = "commands")]
pub use spec::{CalibrationSpec, Effort, PerRound};
#[cfg(feature = "commands")]
pub use work::{Work, do_work};
