//! Races too close to call: is B faster than A, by how much, how sure?
//!
//! This crate puts the rooms of deadheat together. [`command_race`] is the
//! whole way of a race of commands, from what the user asked for to a
//! recorded run; the rooms themselves are re-exported for everything else.

pub mod command_race;
mod race;

pub use deadheat_analysis as analysis;
pub use deadheat_engine as engine;
pub use deadheat_format as format;
pub use deadheat_model as model;
pub use deadheat_report as report;

pub use race::{RaceError, RaceOptions, RaceOutcome, race_commands, resume_commands};
