//! Clocks: those that pace a run, the real one and one that only tests turn,
//! and the one that times samples.

mod frequency;
mod os;
mod sample;

pub use frequency::ClockCheck;
pub(crate) use frequency::ClockChoice;
#[cfg(feature = "simulated")]
pub use os::SimulatedClock;
pub use os::{Clock, OsClock, unix_seconds};
pub(crate) use sample::read_ns;
pub use sample::{ClockSource, SampleClock};
