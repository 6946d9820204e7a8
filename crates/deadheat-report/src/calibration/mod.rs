//! What a calibration found, in words and tables; and the one sentence of it
//! that later answers quote.

#[cfg(feature = "commands")]
mod markdown;
mod note;
#[cfg(feature = "commands")]
mod progress;
#[cfg(feature = "commands")]
mod tables;
#[cfg(feature = "commands")]
mod text;
#[cfg(feature = "commands")]
mod words;

#[cfg(feature = "commands")]
pub use markdown::to_calibration_markdown;
pub use note::calibrated;
pub(crate) use note::sentence_case;
#[cfg(feature = "commands")]
pub use progress::{CalibrationStanding, calibration_line};
#[cfg(feature = "commands")]
pub use text::{CalibrationOptions, to_calibration_text};
