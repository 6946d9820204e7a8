//! Result files of other tools, each read into [`Results`](deadheat_model::Results).

mod format;
mod google_benchmark;
mod google_benchmark_row;
mod hyperfine;
mod json;
mod pyperf;
mod pytest_benchmark;
mod read;
mod rows;

pub use format::{SavedFormat, saved_format};
pub use read::{read_results, read_results_from};
