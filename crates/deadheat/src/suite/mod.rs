//! Benchmarks of functions, put side by side.

mod benchmark;
mod concurrent;
mod race;
mod registry;

pub use benchmark::{AsyncSetup, Benchmark, Consuming, Setup};
pub use concurrent::{ThreadSetup, Threads};
pub use race::{AsyncRace, ConsumingRace, PlainRace, Race, ThreadRace};
pub(crate) use registry::Registered;
pub use registry::Suite;
