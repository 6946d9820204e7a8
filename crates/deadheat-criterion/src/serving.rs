//! Serves the samples of a benchmark to the coordinator. A sample times a number of calls, whose
//! inputs are made before the clock starts.

use std::hint::black_box;

use deadheat::parts::engine::{Clock, Disagreement, FunctionBenchmark, Gauge, OsClock, Reading};

use crate::session;
use crate::settings::Measurement;

/// The number of inputs that a timing loop makes before it calls the function with them; at most
/// 4,096.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum BatchSize {
    /// For small inputs: all inputs that a sample needs, up to 4,096.
    SmallInput,
    /// For large inputs: 64 inputs at a time.
    LargeInput,
    /// For inputs so large that only one fits into memory. Every call is timed separately.
    PerIteration,
    /// Divides the calls of a sample into this many batches, each with inputs made beforehand.
    NumBatches(u64),
    /// This number of inputs at a time, at most 4,096.
    NumIterations(u64),
}

/// Maximum number of inputs for a sample. Making more inputs, which is not timed, would take longer
/// than the timed calls.
const MOST_INPUTS: u64 = 1 << 12;
/// The number of inputs at a time for `BatchSize::LargeInput`.
const LARGE_INPUTS: u64 = 64;
/// Maximum time for making the inputs of a sample, in nanoseconds. A sample has at least one input,
/// even if making it takes longer.
const MOST_SETUP_NS: u64 = 5_000_000;
/// The number of inputs that are made to measure the time of making an input.
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

/// A benchmark with a single contender: `sample` makes a number of calls and returns their times.
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

    /// Returns false, because criterion's functions make their inputs without deadheat's seed.
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

/// Serves samples of calls with inputs from `setup`. `timed` calls the benchmarked function with
/// each input, stores the results, and returns the reading of the clock.
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
            // Outputs are dropped first, because an output may have been made from its input.
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

/// Returns the number of inputs that can be made within [`MOST_SETUP_NS`], from 1 to
/// [`MOST_INPUTS`].
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

/// Returns `reading` with `value` as its wall time, which the benchmark measured itself.
pub(crate) fn timed_itself<M: Measurement>(
    measurement: &M,
    reading: Reading,
    value: &M::Value,
) -> Reading {
    assert!(
        measurement.is_wall_time(),
        "iter_custom returns no time, because the measurement is not WallTime"
    );
    Reading {
        wall_ns: measurement.to_f64(value),
        // The scheduling delay was measured over the whole call, and not over the part that was
        // timed.
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
