//! The whole way of a race: plan in, recorded run out.

mod benchmarks;
#[cfg(feature = "commands")]
mod commands;
mod confirm;
mod entries;
mod error;
#[cfg(feature = "commands")]
mod harness;
#[cfg(feature = "reports")]
mod known_calibration;
#[cfg(feature = "commands")]
mod planned;
mod planning;
#[cfg(feature = "commands")]
mod resume;
#[cfg(feature = "commands")]
mod shard;
mod sitting;

#[cfg(feature = "commands")]
pub use benchmarks::inspect_program;
pub use benchmarks::race_benchmarks;
pub(crate) use benchmarks::smoke_test;
#[cfg(feature = "commands")]
pub use commands::{RaceOptions, race_commands};
pub use confirm::{Raced, SecondRace, add_second_analysis, refuse_old_confirmation};
#[cfg(feature = "commands")]
pub(crate) use confirm::{add_second_race, belong_together, second_path};
pub use entries::{BenchmarkRace, Entries, Planned};
#[cfg(feature = "commands")]
pub(crate) use error::take_over_signals;
pub use error::{RaceError, RaceOutcome};
#[cfg(feature = "commands")]
pub use harness::harness_benchmark;
#[cfg(feature = "reports")]
pub use known_calibration::{CALIBRATION_VARIABLE, calibration_file};
#[cfg(feature = "commands")]
pub use planned::{PlannedPart, race_planned, read_plan};
#[cfg(feature = "commands")]
pub use resume::{Resumable, ResumeOptions, finish_part, resume_race};
#[cfg(feature = "commands")]
pub use shard::{begun_part, settle_shard};
pub use sitting::PlanUse;
