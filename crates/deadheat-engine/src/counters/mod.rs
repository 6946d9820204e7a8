//! What is counted beside the time: of a command, and of the calling thread.

#[cfg(not(all(feature = "counters", target_os = "linux")))]
#[path = "no_perf.rs"]
mod perf;
#[cfg(all(feature = "counters", target_os = "linux"))]
mod perf;
mod rusage;
mod thread;

pub(crate) use perf::{COUNTER_COUNT, Counters};
pub(crate) use rusage::{Usage, wait};
pub use thread::{ThreadUsage, UsageDifference};
