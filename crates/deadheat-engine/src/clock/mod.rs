//! Clocks that pace a run: the real one and one that only tests turn.

mod os;
mod simulated;

pub use os::{Clock, OsClock, unix_seconds};
pub use simulated::SimulatedClock;
