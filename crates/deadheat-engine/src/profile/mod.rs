//! What programs execute, counted by callgrind: samples of workers, and launches of Google Benchmark.

mod counted_worker;
mod google_benchmark;

pub use counted_worker::CountedWorker;
pub use google_benchmark::LaunchLength;
