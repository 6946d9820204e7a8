//! Clocks: those that pace a run, the real one and one that only tests turn,
//! and the one that times samples.

mod frequency;
mod os;
mod sample;
#[cfg(feature = "simulated")]
mod simulated;
mod ticks;
#[cfg(target_arch = "x86_64")]
mod tsc;

pub use frequency::ClockCheck;
pub use os::{Clock, OsClock, unix_seconds};
pub use sample::{ClockSource, SampleClock};
#[cfg(feature = "simulated")]
pub use simulated::SimulatedClock;
pub(crate) use ticks::read_ns;
