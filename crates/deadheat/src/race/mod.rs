//! The whole way of a race: plan in, recorded run out.

#[cfg(feature = "commands")]
mod commands;
mod outcome;
mod own_links;
mod planning;
mod workers;

#[cfg(feature = "commands")]
pub use commands::{RaceOptions, race_commands, resume_commands};
pub use outcome::{RaceError, RaceOutcome};
pub(crate) use workers::smoke_test;
pub use workers::{Entries, WorkerRace, inspect_program, race_workers};
