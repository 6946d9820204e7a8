//! Result files of other tools, each read into [`Results`](deadheat_model::Results).

mod benchmark_dotnet;
mod criterion;
mod go;
mod google_benchmark;
mod hyperfine;
mod jmh;
mod json;
mod own;
mod pieces;
mod pyperf;
mod pytest_benchmark;
mod read;
mod rows;

pub(super) use read::begins_a_table;

pub use criterion::{files_in, read_criterion, read_criterion_set};
pub use read::{
    Recording, SavedFormat, read_recording, read_results, read_results_from, saved_format,
};
