//! Clocks that pace a run: the real one and one that only tests turn.

mod elapsed;
mod os;
mod simulated;

pub use elapsed::Clock;
pub use os::{OsClock, unix_seconds};
pub use simulated::SimulatedClock;
