//! Where the time went: both sides of a pair run once under callgrind or perf, and what they execute
//! set side by side.

mod count;
mod sample;
mod sides;
mod spec;

pub use count::explain;
pub use spec::{ExplainSpec, Profiler, Wall};
