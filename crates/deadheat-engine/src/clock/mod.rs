//! Clocks that pace a run: the real one and one that only tests turn.

mod os;
mod simulated;

pub use os::{OsClock, unix_seconds};
pub use simulated::SimulatedClock;

/// Elapsed time of a run, for budgets and progress. Samples are timed where
/// they are taken, not here.
pub trait Clock {
    /// Nanoseconds since the clock was started.
    fn elapsed_ns(&self) -> u64;
}
