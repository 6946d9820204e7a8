//! From an analysis to words, tables and JSON.
//!
//! Everything here is a pure function of an [`Analysis`](deadheat_model::Analysis)
//! and a few options: no statistic is computed, no file, clock or environment
//! is read. Whether there is a terminal, how wide it is and what it can show is
//! for the caller to find out.
//!
//! - [`to_text`]: the answer for people at a terminal
//! - [`to_json`]: the answer for programs, schema `deadheat.analysis/1`
//! - [`to_markdown`]: the answer as a Markdown document
//! - [`to_comment`]: the answer as a comment on a pull request
//! - [`to_page`]: everything there is to see, as one HTML file with charts
//! - [`to_junit`]: the answer for services that collect results of tests
//! - [`to_paired`]: minima and means side by side, a line per comparison
//! - `to_pictures`, with the feature `pictures`: plots for papers
//! - `to_comparison`, `to_comparison_markdown`, `to_comparison_csv`, with the
//!   feature `commands`: the answer about saved results, a row per benchmark
//! - `to_doctor_text`, `to_doctor_json`, with the feature `commands`: what
//!   `deadheat doctor` found out about a machine
//! - `to_calibration_text` and `to_calibration_markdown`, with the feature
//!   `commands`: what a machine showed of itself
//! - [`progress_line`]: the line to watch while a race goes on
//!
//! What is said about results stands in [`sentences`], what is said about
//! doubts in [`doubts`].

mod calibration;
mod called;
mod comment;
#[cfg(feature = "commands")]
mod comparison;
mod control;
#[cfg(feature = "commands")]
mod doctor;
pub mod doubts;
mod ending;
mod enumeration;
mod figures;
mod gates;
mod glyphs;
mod json;
mod junit;
mod layout;
mod left_out;
mod markdown;
mod names;
mod page;
mod paired;
#[cfg(feature = "pictures")]
mod pictures;
mod placement;
mod plot;
mod progress;
mod rate;
pub mod sentences;
mod shell;
mod suite;
mod tables;
mod text;
pub mod units;
mod xml;

pub use calibration::calibrated;
#[cfg(feature = "commands")]
pub use calibration::{
    CalibrationOptions, CalibrationStanding, calibration_line, to_calibration_markdown,
    to_calibration_text,
};
pub use comment::{CommentOptions, to_comment};
#[cfg(feature = "commands")]
pub use comparison::{
    ComparisonOptions, Sort, to_comparison, to_comparison_csv, to_comparison_markdown,
};
#[cfg(feature = "commands")]
pub use doctor::{DoctorTextOptions, to_doctor_json, to_doctor_text};
pub use glyphs::Glyphs;
pub use json::to_json;
pub use junit::to_junit;
pub use markdown::{MarkdownOptions, to_markdown, to_markdown_with};
pub use names::{escape, labels, shorten};
pub use page::{to_page, write_page};
pub use paired::to_paired;
#[cfg(feature = "pictures")]
pub use pictures::{Picture, PictureError, to_pictures};
pub use progress::{Progress, progress_line};
pub use text::{Detail, TextOptions, to_text};
