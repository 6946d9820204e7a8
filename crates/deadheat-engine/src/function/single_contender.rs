//! One contender of a benchmark whose others are called elsewhere, or not at
//! all.

use super::benchmark::{Disagreement, FunctionBenchmark};
use super::gauge::{Gauge, Reading};

/// A benchmark in which only one contender is left, as number 0.
pub(crate) struct SingleContender {
    benchmark: Box<dyn FunctionBenchmark>,
    contender: usize,
}

impl SingleContender {
    /// The contender at this place of the whole benchmark.
    pub(crate) fn new(benchmark: Box<dyn FunctionBenchmark>, contender: usize) -> Self {
        Self {
            benchmark,
            contender,
        }
    }
}

impl FunctionBenchmark for SingleContender {
    fn contenders(&self) -> usize {
        1
    }

    fn threads(&self) -> u32 {
        self.benchmark.threads()
    }

    fn most_iterations(&self) -> u64 {
        self.benchmark.most_iterations()
    }

    fn renews_input(&self) -> bool {
        self.benchmark.renews_input()
    }

    fn prepare(&mut self, seed: u64) {
        self.benchmark.prepare(seed);
    }

    fn sample(&mut self, _contender: usize, iterations: u64, gauge: &Gauge) -> Reading {
        self.benchmark.sample(self.contender, iterations, gauge)
    }

    /// Only what it says about itself: nobody else was called.
    fn check(&self) -> Result<(), Disagreement> {
        match self.benchmark.check() {
            Err(Disagreement::WithItself { .. }) => Err(Disagreement::WithItself { contender: 0 }),
            Ok(()) | Err(Disagreement::WithBaseline { .. }) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::SampleClock;
    use crate::function::ByReference;
    use std::cell::Cell;
    use std::rc::Rc;

    #[test]
    fn only_the_contender_that_was_asked_for_is_called() {
        let calls = Rc::new(Cell::new([0, 0]));
        let count = |place: usize| {
            let calls = Rc::clone(&calls);
            move |_: &u64| {
                let mut counts = calls.get();
                counts[place] += 1;
                calls.set(counts);
            }
        };
        let mut functions = ByReference::new(|seed| seed);
        functions.add(count(0));
        functions.add(count(1));
        let mut alone = SingleContender::new(Box::new(functions), 1);
        alone.prepare(1);
        alone.sample(0, 3, &Gauge::new(SampleClock::os()));
        assert_eq!((alone.contenders(), calls.get()), (1, [0, 3]));
        assert_eq!(alone.check(), Ok(()));
    }
}
