//! The whole way of a race: plan in, recorded run out.

#[cfg(feature = "commands")]
mod commands;
mod functions;
mod outcome;
mod own_links;
mod planning;

#[cfg(feature = "commands")]
pub use commands::{RaceOptions, race_commands, resume_commands};
pub(crate) use functions::{FunctionRace, race_functions, smoke_test};
pub use outcome::{RaceError, RaceOutcome};
