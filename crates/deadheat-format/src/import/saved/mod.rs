//! Result files of other tools, each read into [`Results`](deadheat_model::Results).

mod benchmark_dotnet;
mod criterion;
mod format;
mod go;
mod google_benchmark;
mod hyperfine;
mod jmh;
mod json;
mod own;
mod pyperf;
mod pytest_benchmark;
mod read;
mod recording;
mod rows;

pub use criterion::{criterion_baselines, files_in, read_criterion, read_criterion_set};
pub use format::{SavedFormat, saved_format};
pub use read::{read_results, read_results_from};
pub use recording::{Recording, read_recording};
