use std::cell::Cell;
use std::rc::Rc;

use super::Clock;

/// A clock that stands still until it is advanced. Clones show the same time.
#[derive(Clone, Debug, Default)]
pub struct SimulatedClock {
    now_ns: Rc<Cell<u64>>,
}

impl SimulatedClock {
    /// Lets `ns` nanoseconds pass.
    pub fn advance(&self, ns: u64) {
        self.now_ns.set(self.now_ns.get().saturating_add(ns));
    }
}

impl Clock for SimulatedClock {
    fn elapsed_ns(&self) -> u64 {
        self.now_ns.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_show_the_same_time() {
        let clock = SimulatedClock::default();
        let seen_elsewhere = clock.clone();
        clock.advance(5);
        assert_eq!(seen_elsewhere.elapsed_ns(), 5);
    }
}
