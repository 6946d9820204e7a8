//! What is counted beside the time: of a command, and of the calling thread.

mod perf;
mod rusage;
mod thread;

pub(crate) use perf::{COUNTER_COUNT, Counters};
pub(crate) use rusage::{Usage, wait};
pub use thread::{ThreadUsage, UsageDifference};
