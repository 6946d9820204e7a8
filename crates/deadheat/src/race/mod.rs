//! The whole way of a race: plan in, recorded run out.

#[cfg(feature = "commands")]
mod commands;
#[cfg(feature = "commands")]
mod families;
mod functions;
#[cfg(feature = "commands")]
mod google_benchmark;
mod outcome;
mod own_links;
mod planning;
mod recorded;
mod terms;

#[cfg(feature = "commands")]
pub use commands::{RaceOptions, race_commands, resume_commands};
#[cfg(feature = "commands")]
pub use families::{Families, FamilyProblem, families};
pub(crate) use functions::{FunctionRace, race_functions, smoke_test};
#[cfg(feature = "commands")]
pub use google_benchmark::{GoogleBenchmarkRace, GoogleEntry, GoogleSide, race_google_benchmark};
pub use outcome::{RaceError, RaceOutcome};
