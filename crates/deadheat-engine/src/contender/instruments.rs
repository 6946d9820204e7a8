//! The instruments that the workers of a race share: its clock, which is chosen while the first of
//! them starts, and what reading the CPU time shows of itself.

use std::cell::{OnceCell, RefCell};

use crate::clock::{ClockCheck, ClockChoice, SampleClock};
use crate::counters::ThreadUsage;
use crate::error::EngineError;

/// The part by which the clock of the samples may stray from the system's.
const CLOCKS_APART: f64 = 0.01;

/// The clock of a race and the overhead of its accounts, handed to every worker.
#[derive(Debug)]
pub(super) struct Instruments {
    /// Until the clock is chosen.
    choice: RefCell<Option<ClockChoice>>,
    chosen: OnceCell<Chosen>,
    /// Nanoseconds that reading the CPU clock shows of itself.
    pub(super) cpu_overhead_ns: f64,
}

#[derive(Debug)]
struct Chosen {
    clock: SampleClock,
    /// The reason why the counter of the processor does not serve as clock.
    fallback: Option<String>,
    check: ClockCheck,
}

impl Instruments {
    /// Begins to choose the clock.
    pub(super) fn new() -> Self {
        Self {
            choice: RefCell::new(Some(ClockChoice::begin())),
            chosen: OnceCell::new(),
            cpu_overhead_ns: ThreadUsage::cpu_overhead_ns() as f64,
        }
    }

    /// The clock for the workers of a pilot. The first of them starts before the clock is chosen,
    /// and the time it takes is time to measure it by.
    pub(super) fn clock_of_pilot(&self) -> SampleClock {
        let provisional = self
            .choice
            .borrow_mut()
            .as_mut()
            .map(ClockChoice::provisional);
        provisional.unwrap_or_else(|| *self.clock())
    }

    /// The clock of all samples that are recorded. Chosen when it is first asked for.
    pub(super) fn clock(&self) -> &SampleClock {
        &self.chosen().clock
    }

    /// The reason why the counter of the processor is not the clock, in plain words.
    pub(super) fn fallback(&self) -> Option<&str> {
        self.chosen().fallback.as_deref()
    }

    /// Returns whether the clock of the samples still keeps the pace of the system's.
    pub(super) fn check_clock(&self) -> Result<(), EngineError> {
        let apart = self.chosen().check.disagreement();
        if apart > CLOCKS_APART {
            Err(EngineError::Clock(apart))
        } else {
            Ok(())
        }
    }

    fn chosen(&self) -> &Chosen {
        self.chosen.get_or_init(|| {
            let choice = self.choice.take().unwrap_or_else(ClockChoice::begin);
            let (clock, fallback) = choice.finish();
            Chosen {
                check: ClockCheck::start(&clock),
                clock,
                fallback,
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_of_a_pilot_is_provisional_until_another_is_asked_for() {
        let instruments = Instruments::new();
        let provisional = instruments.clock_of_pilot();
        let chosen = *instruments.clock();
        assert_eq!(provisional.source(), chosen.source());
        assert_eq!(instruments.clock_of_pilot(), chosen);
        assert!(instruments.check_clock().is_ok());
    }
}
