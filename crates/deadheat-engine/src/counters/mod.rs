//! What is counted while a command runs, beside its time.

mod perf;
mod rusage;

pub(crate) use perf::{COUNTER_COUNT, Counters};
pub(crate) use rusage::{Usage, wait};
