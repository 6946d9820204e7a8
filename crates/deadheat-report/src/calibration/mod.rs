//! What a calibration found, in words and tables; and the one sentence of it
//! that later answers quote.

#[cfg(feature = "calibration")]
mod markdown;
mod note;
#[cfg(feature = "calibration")]
mod progress;
#[cfg(feature = "calibration")]
mod tables;
#[cfg(feature = "calibration")]
mod text;
#[cfg(feature = "calibration")]
mod words;

#[cfg(feature = "calibration")]
pub use markdown::to_calibration_markdown;
pub use note::calibrated;
pub(crate) use note::sentence_case;
#[cfg(feature = "calibration")]
pub use progress::{CalibrationStanding, calibration_line};
#[cfg(feature = "calibration")]
pub use text::{CalibrationOptions, to_calibration_text};
