//! Races too close to call: is B faster than A, by how much, how sure?
//!
//! This crate puts the rooms of deadheat together. `command_race` is the
//! whole way of a race of commands, from what the user asked for to a
//! recorded run; the rooms themselves are re-exported for everything else.
//!
//! # Features
//!
//! None is on by default, and none changes a verdict.
//!
//! | feature | adds | costs |
//! | --- | --- | --- |
//! | `commands` | `command_race`, `race_commands` and `resume_commands`; hardware counters; reading and writing tidy CSV | some ten more crates |

#[cfg(feature = "commands")]
pub mod command_race;
#[cfg(feature = "commands")]
mod race;

pub use deadheat_analysis as analysis;
pub use deadheat_engine as engine;
pub use deadheat_format as format;
pub use deadheat_model as model;
pub use deadheat_report as report;

#[cfg(feature = "commands")]
pub use race::{RaceError, RaceOptions, RaceOutcome, race_commands, resume_commands};
