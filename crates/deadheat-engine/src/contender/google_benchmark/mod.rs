//! Executables of Google Benchmark: a fresh launch for every slot of a
//! replicate, whose repetitions are the samples of its blocks.

mod arguments;
mod contenders;
mod launch;
mod pilot;
mod report;

pub use arguments::{GoogleBenchmarkArguments, GoogleBenchmarkOptions};
pub use contenders::GoogleBenchmarkContenders;
pub use pilot::{GoogleBenchmarkPilot, GoogleBenchmarkSide};
