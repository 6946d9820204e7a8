//! Benchmarks of functions, put side by side.

mod builders;
mod registry;

pub use builders::{
    AsyncRace, AsyncSetup, Benchmark, Consuming, ConsumingRace, PlainRace, Race, Setup, ThreadRace,
    ThreadSetup, Threads,
};
pub use registry::Suite;
