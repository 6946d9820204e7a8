//! The service of a benchmark whose calls are known: so many at a time, with the inputs they need
//! made before the clock is read.

use std::hint::black_box;

use deadheat::parts::engine::{Clock, Disagreement, FunctionBenchmark, Gauge, OsClock, Reading};

use crate::session;
use crate::settings::Measurement;

/// The number of inputs that are made at once.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum BatchSize {
    /// Inputs are small: all that a sample needs, up to 4,096.
    SmallInput,
    /// Inputs are large: 64.
    LargeInput,
    /// Inputs are too large for two of them, and every call is timed by itself.
    PerIteration,
    /// The calls of a sample, divided by this.
    NumBatches(u64),
    /// So many.
    NumIterations(u64),
}

/// More inputs than this are not made for one sample: making them, which nobody times, would take
/// longer than everything that is timed.
const MOST_INPUTS: u64 = 1 << 12;
/// Large inputs that are there at once.
const LARGE_INPUTS: u64 = 64;
/// Time that making the inputs of a sample may take, in nanoseconds, as long as there is one.
const MOST_SETUP_NS: u64 = 5_000_000;
/// Inputs that are made to see how long that takes.
const TRIES: u32 = 3;

impl BatchSize {
    fn inputs(self, iterations: u64) -> u64 {
        let inputs = match self {
            Self::SmallInput => MOST_INPUTS,
            Self::LargeInput => LARGE_INPUTS,
            Self::PerIteration => 1,
            Self::NumBatches(batches) => iterations.div_ceil(batches.max(1)),
            Self::NumIterations(inputs) => inputs,
        };
        inputs.clamp(1, MOST_INPUTS)
    }
}

/// The one contender of a benchmark: so many calls, and what they show.
struct Routine<F> {
    sample: F,
    most_iterations: u64,
}

impl<F: FnMut(u64, &Gauge) -> Reading> FunctionBenchmark for Routine<F> {
    fn contenders(&self) -> usize {
        1
    }

    fn most_iterations(&self) -> u64 {
        self.most_iterations
    }

    /// The inputs of a benchmark function are made once in a process.
    fn renews_input(&self) -> bool {
        false
    }

    fn prepare(&mut self, _seed: u64) {}

    fn sample(&mut self, _contender: usize, iterations: u64, gauge: &Gauge) -> Reading {
        (self.sample)(iterations, gauge)
    }

    fn check(&self) -> Result<(), Disagreement> {
        Ok(())
    }
}

pub(crate) fn serve(sample: impl FnMut(u64, &Gauge) -> Reading) {
    session::serve(&mut Routine {
        sample,
        most_iterations: u64::MAX,
    });
}

/// Serves batches of calls whose inputs `setup` makes. `timed` calls them: it takes the
/// inputs or borrows them, and leaves what they gave.
pub(crate) fn serve_batches<I, O>(
    mut setup: impl FnMut() -> I,
    size: BatchSize,
    mut timed: impl FnMut(&mut Vec<I>, &mut Vec<O>, &Gauge) -> Reading,
) {
    let most_iterations = most_inputs(&mut setup);
    let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
    let sample = |iterations: u64, gauge: &Gauge| {
        let at_once = size.inputs(iterations);
        let mut left = iterations;
        let mut reading = Reading::default();
        while left > 0 {
            let batch = left.min(at_once);
            inputs.extend((0..batch).map(|_| setup()));
            outputs.reserve(batch as usize);
            reading = reading.and_then(timed(black_box(&mut inputs), &mut outputs, gauge));
            black_box(&outputs);
            // An output may have been made of its input.
            outputs.clear();
            inputs.clear();
            left -= batch;
        }
        reading
    };
    session::serve(&mut Routine {
        sample,
        most_iterations,
    });
}

/// Inputs that can be made in the time there is for them.
fn most_inputs<I>(setup: &mut impl FnMut() -> I) -> u64 {
    let clock = OsClock::start();
    let mut shortest = u64::MAX;
    for _ in 0..TRIES {
        let before = clock.elapsed_ns();
        let input = black_box(setup());
        let took = clock.elapsed_ns() - before;
        drop(input);
        shortest = shortest.min(took.max(1));
        if took > MOST_SETUP_NS {
            break;
        }
    }
    (MOST_SETUP_NS / shortest).clamp(1, MOST_INPUTS)
}

/// A reading whose time a benchmark has taken itself.
pub(crate) fn timed_itself<M: Measurement>(
    measurement: &M,
    reading: Reading,
    value: &M::Value,
) -> Reading {
    assert!(
        measurement.is_wall_time(),
        "iter_custom of another measurement than WallTime returns no time"
    );
    Reading {
        wall_ns: measurement.to_f64(value),
        // Of all the call, and not of what was timed in it.
        run_delay_ns: 0,
        ..reading
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::time::Duration;

    #[test]
    fn inputs_of_a_batch_follow_the_size_and_are_never_none_nor_too_many() {
        for (size, iterations, inputs) in [
            (BatchSize::SmallInput, 10, MOST_INPUTS),
            (BatchSize::LargeInput, 1_000, 64),
            (BatchSize::PerIteration, 1_000, 1),
            (BatchSize::NumBatches(10), 95, 10),
            (BatchSize::NumBatches(0), 95, 95),
            (BatchSize::NumIterations(7), 95, 7),
            (BatchSize::NumIterations(0), 95, 1),
            (BatchSize::NumIterations(1 << 40), 95, MOST_INPUTS),
        ] {
            assert_eq!(size.inputs(iterations), inputs, "{size:?}");
        }
    }

    #[test]
    fn slow_inputs_are_made_a_few_at_a_time_and_quick_ones_as_many_as_there_may_be() {
        let made = Cell::new(0);
        let mut slow = || {
            made.set(made.get() + 1);
            std::thread::sleep(Duration::from_millis(6));
        };
        assert_eq!(most_inputs(&mut slow), 1);
        assert_eq!(made.get(), 1);
        assert_eq!(most_inputs(&mut || 7), MOST_INPUTS);
    }
}
