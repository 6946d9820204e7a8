//! What programs execute: counted by callgrind or sampled by perf, of samples of workers, and of
//! launches of Google Benchmark.

mod counted_worker;
mod google_benchmark;
mod perf;

pub use counted_worker::{CountedWorker, WorkerProfiler};
pub use google_benchmark::LaunchLength;
pub use perf::Perf;
