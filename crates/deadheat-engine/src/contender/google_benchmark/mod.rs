//! Executables of Google Benchmark: a fresh launch for every slot of a
//! replicate, whose repetitions are the samples of its blocks.

mod arguments;
mod cause;
mod contenders;
mod launch;
mod links;
mod name;
mod pilot;
mod report;
mod tokens;

pub use arguments::{ArgumentProblem, GoogleBenchmarkArguments};
pub use cause::{GoogleBenchmarkCause, GoogleBenchmarkProblem};
pub use contenders::{GoogleBenchmarkContenders, GoogleBenchmarkOptions};
pub use pilot::{GoogleBenchmarkPilot, GoogleBenchmarkSide};
