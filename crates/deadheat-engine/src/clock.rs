//! Clocks: the clock that times samples, the readings around each sample, and the real and
//! simulated clocks that measure the elapsed time of a run.

mod frequency;
mod sample;

#[cfg(feature = "simulated")]
use std::cell::Cell;
#[cfg(feature = "simulated")]
use std::rc::Rc;
use std::time::Instant;

pub use frequency::ClockCheck;
pub(crate) use frequency::ClockChoice;
pub(crate) use sample::Ended;
pub use sample::{ClockSource, Gauge, Reading, SampleClock};

/// A clock that measures the elapsed time of a run, for time budgets and progress. Samples are
/// timed by another clock.
pub trait Clock {
    /// Returns the nanoseconds since the clock was started.
    fn elapsed_ns(&self) -> u64;
}

/// The monotonic clock of the operating system.
#[derive(Clone, Copy, Debug)]
pub struct OsClock {
    start: Instant,
    offset_ns: u64,
}

impl OsClock {
    /// Returns a clock that reads 0 now.
    pub fn start() -> Self {
        Self::resume(0)
    }

    /// Returns a clock that reads `elapsed_ns` now.
    pub fn resume(elapsed_ns: u64) -> Self {
        Self {
            start: Instant::now(),
            offset_ns: elapsed_ns,
        }
    }

    /// Returns the smallest step between two different readings in nanoseconds, measured over 200
    /// steps. This is the real resolution of a duration; on virtual machines it is coarser than a
    /// nanosecond.
    pub fn measured_tick_ns() -> f64 {
        let mut smallest = u128::MAX;
        for _ in 0..200 {
            let from = Instant::now();
            let step = loop {
                let step = from.elapsed().as_nanos();
                if step > 0 {
                    break step;
                }
            };
            smallest = smallest.min(step);
        }
        smallest as f64
    }
}

/// Returns the seconds since 1970-01-01 UTC, or `None` if the system clock is set to an earlier
/// date.
pub fn unix_seconds() -> Option<u64> {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.ok().map(|elapsed| elapsed.as_secs())
}

impl Clock for OsClock {
    fn elapsed_ns(&self) -> u64 {
        self.offset_ns + self.start.elapsed().as_nanos() as u64
    }
}

/// A clock for simulations, which moves only when it is advanced. All clones show the same time.
#[cfg(feature = "simulated")]
#[derive(Clone, Debug, Default)]
pub struct SimulatedClock {
    now_ns: Rc<Cell<u64>>,
}

#[cfg(feature = "simulated")]
impl SimulatedClock {
    /// Advances the clock by `ns` nanoseconds.
    pub fn advance(&self, ns: u64) {
        self.now_ns.set(self.now_ns.get().saturating_add(ns));
    }
}

#[cfg(feature = "simulated")]
impl Clock for SimulatedClock {
    fn elapsed_ns(&self) -> u64 {
        self.now_ns.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_never_runs_backwards_and_starts_where_told() {
        let clock = OsClock::resume(1_000_000_000);
        let first = clock.elapsed_ns();
        assert!(first >= 1_000_000_000 && clock.elapsed_ns() >= first);
    }

    #[test]
    fn the_measured_tick_is_positive() {
        assert!(OsClock::measured_tick_ns() >= 1.0);
    }

    #[test]
    fn clones_show_the_same_time() {
        let clock = SimulatedClock::default();
        let seen_elsewhere = clock.clone();
        clock.advance(5);
        assert_eq!(seen_elsewhere.elapsed_ns(), 5);
    }
}
