//! The whole way of a race: plan in, recorded run out.

#[cfg(feature = "commands")]
mod commands;
#[cfg(feature = "commands")]
mod google_benchmark;
#[cfg(feature = "commands")]
mod inspection;
#[cfg(feature = "reports")]
mod known_calibration;
mod outcome;
mod own_links;
mod planning;
mod recorded;
#[cfg(feature = "commands")]
mod resume;
mod terms;
mod workers;

#[cfg(feature = "commands")]
pub use commands::{RaceOptions, race_commands};
#[cfg(feature = "commands")]
pub use google_benchmark::{GoogleBenchmarkRace, GoogleEntry, GoogleSide, race_google_benchmark};
#[cfg(feature = "commands")]
pub use inspection::inspect_program;
#[cfg(feature = "reports")]
pub use known_calibration::{CALIBRATION_VARIABLE, calibration_file};
pub use outcome::{RaceError, RaceOutcome};
#[cfg(feature = "commands")]
pub use resume::{Resumable, ResumeOptions, resume_race};
pub(crate) use workers::smoke_test;
pub use workers::{Entries, WorkerRace, race_workers};
