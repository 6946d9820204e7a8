//! Google Benchmark: what a launch is told, the user's own arguments, and the report of a launch.

mod arguments;
mod launches;
mod report;

pub(super) use launches::GoogleBenchmark;
pub(crate) use launches::{VARIABLES, filter};
