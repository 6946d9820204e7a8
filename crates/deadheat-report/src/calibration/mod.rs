//! A calibration in words and tables; and the one sentence of it that later answers quote.

#[cfg(feature = "commands")]
mod answer;
mod note;
#[cfg(feature = "commands")]
mod tables;
#[cfg(feature = "commands")]
mod words;

#[cfg(feature = "commands")]
pub use answer::{CalibrationOptions, to_calibration_markdown, to_calibration_text};
pub use note::calibrated;
#[cfg(feature = "commands")]
pub(crate) use note::kind;
pub(crate) use note::sentence_case;
