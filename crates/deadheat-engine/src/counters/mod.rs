//! What is counted while a command runs, beside its time.

#[cfg(not(all(feature = "counters", target_os = "linux")))]
#[path = "no_perf.rs"]
mod perf;
#[cfg(all(feature = "counters", target_os = "linux"))]
mod perf;
mod rusage;

pub(crate) use perf::{COUNTER_COUNT, Counters};
pub(crate) use rusage::{Usage, wait};
