//! Formats an analysis as text, tables and JSON.
//!
//! Everything here is a pure function of an [`Analysis`](deadheat_model::Analysis) and a few
//! options. This crate computes no statistics and reads no file, clock or environment. The caller
//! finds out if the output is a terminal, how wide it is, and what characters it can show.
//!
//! - [`to_text`]: the answer for a terminal
//! - [`to_json`]: the answer for programs, schema `deadheat.analysis/1`
//! - [`to_markdown`]: the answer as a Markdown document
//! - [`to_comment`]: the answer as a comment on a pull request
//! - [`to_page`]: the complete answer as one HTML file with charts
//! - [`to_junit`]: the answer for services that collect test results
//! - [`to_paired`]: minima and means of both sides, one line per comparison
//! - `to_pictures`, with the feature `commands`: plots for papers, as SVG; with
//!   the feature `png` as PNG
//! - `to_comparison`, `to_comparison_markdown`, `to_comparison_csv`, with the
//!   feature `commands`: the answer about saved results, a row per benchmark
//! - `to_doctor_text`, `to_doctor_json`, with the feature `commands`: the checkup of the machine by
//!   `deadheat doctor`
//! - `to_calibration_text` and `to_calibration_markdown`, with the feature `commands`: the
//!   calibration of a machine by `deadheat calibrate`
//! - [`progress_line`]: the progress of a race in one line
//!
//! An answer is a tree of blocks (`document`). The modules `run`, `comparison` and `calibration`
//! build it, and `terminal`, `markdown` and `page` render it. Sentences about results are in
//! [`sentences`], and sentences about warnings in [`warnings`].

#![cfg_attr(
    not(feature = "commands"),
    allow(
        dead_code,
        unused_imports,
        reason = "only reports and the command line say it"
    )
)]

pub mod aspects;
mod calibration;
mod cells;
#[cfg(feature = "commands")]
mod comparison;
mod cost;
#[cfg(feature = "commands")]
mod doctor;
pub mod document;
#[cfg(feature = "reports")]
mod figures;
mod gates;
mod glyphs;
pub mod json;
mod json_parts;
#[cfg(feature = "reports")]
mod junit;
mod layout;
#[cfg(feature = "reports")]
mod markdown;
mod names;
#[cfg(feature = "reports")]
mod page;
#[cfg(feature = "commands")]
mod pictures;
mod plot;
mod processes;
mod progress;
mod run;
pub mod sentences;
mod suite;
mod surroundings;
mod terminal;
pub mod units;
pub mod verdict_sentence;
pub mod warnings;

pub use calibration::calibrated;
#[cfg(feature = "commands")]
pub use calibration::{CalibrationOptions, to_calibration_markdown, to_calibration_text};
#[cfg(feature = "commands")]
pub use comparison::{
    ComparisonOptions, Sort, to_comparison, to_comparison_csv, to_comparison_markdown,
};
#[cfg(feature = "commands")]
pub use doctor::{DoctorTextOptions, to_doctor_json, to_doctor_text};
pub use gates::judged_nothing;
pub use glyphs::Glyphs;
pub use json::to_json;
#[cfg(feature = "reports")]
pub use junit::to_junit;
#[cfg(feature = "reports")]
pub use markdown::document as markdown_of_blocks;
pub use names::{
    enumerated, escape, escape_line, escape_message, first_of, harmless, labels, sentence_case,
    shorten, shown, texts,
};
#[cfg(feature = "reports")]
pub use page::{html, page_of_blocks, to_page, write_page};
#[cfg(feature = "png")]
pub use pictures::PictureError;
#[cfg(feature = "commands")]
pub use pictures::{Axis, Picture, to_pictures};
#[cfg(feature = "commands")]
pub use progress::{CalibrationStanding, calibration_line};
pub use progress::{Progress, progress_line, whole_seconds};
#[cfg(feature = "reports")]
pub use run::{
    CommentOptions, MarkdownOptions, shell, to_comment, to_markdown, to_markdown_with, to_paired,
};
pub use run::{Detail, TextOptions, to_text};
pub use suite::resume;
pub use terminal::Terminal;
pub use units::TimeUnit;
