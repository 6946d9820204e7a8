//! What is counted beside the time: of a command, and of the calling thread.

#[cfg(all(feature = "commands", not(target_os = "linux")))]
#[path = "no_perf.rs"]
mod perf;
#[cfg(all(feature = "commands", target_os = "linux"))]
mod perf;
#[cfg(feature = "commands")]
mod rusage;
mod thread;

#[cfg(feature = "commands")]
pub(crate) use perf::COUNTER_COUNT;
#[cfg(feature = "commands")]
pub use perf::Counters;
#[cfg(feature = "commands")]
pub(crate) use rusage::{Usage, wait};
pub use thread::{ThreadUsage, UsageDifference};
