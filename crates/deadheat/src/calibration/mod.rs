//! The machine's own error rate: things raced against themselves and against
//! known differences, by the same races that users start.

#[cfg(feature = "commands")]
mod batches;
#[cfg(feature = "commands")]
mod calibrate;
#[cfg(feature = "commands")]
mod effort;
mod known;
#[cfg(feature = "commands")]
mod progress;
#[cfg(feature = "commands")]
mod spec;
#[cfg(feature = "commands")]
mod work;

#[cfg(feature = "commands")]
pub use calibrate::calibrate;
#[cfg(feature = "commands")]
pub use effort::{Effort, PerRound};
pub(crate) use known::known;
pub use known::{CALIBRATION_VARIABLE, calibration_file};
#[cfg(feature = "commands")]
pub use progress::{CalibrationProgress, CalibrationWatcher};
#[cfg(feature = "commands")]
pub use spec::CalibrationSpec;
#[cfg(feature = "commands")]
pub use work::{Work, do_work};
