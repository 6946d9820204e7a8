//! Calls before the first block that nobody records: as many as it takes
//! until they no longer get faster.

use super::benchmark::FunctionBenchmark;
use super::gauge::Gauge;

/// Rounds at most.
const MOST_ROUNDS: u64 = 50;
/// Rounds that bring no gain, one after another, and the warm-up is over.
const IDLE_ROUNDS: u32 = 2;
/// A round brings a gain when it is faster than every one before by this.
const GAIN: f64 = 0.01;
/// Rounds longer than this, in nanoseconds, are not repeated: what a function
/// needs to get warm it finds within its first call.
const LONG_NS: f64 = 1e7;

/// Rounds that a warm-up takes at least, when one takes so many nanoseconds.
pub fn least_warm_up_rounds(round_ns: f64) -> u32 {
    match round_ns > LONG_NS {
        true => 1,
        // The first is faster than none before it.
        false => IDLE_ROUNDS + 1,
    }
}

/// Calls every contender in turn, in `order`, with a new input each round.
/// Gives back the rounds it took.
pub(crate) fn warm_up(
    benchmark: &mut dyn FunctionBenchmark,
    order: &[usize],
    iterations: u64,
    seed_of: impl Fn(u64) -> u64,
    gauge: &Gauge,
) -> u64 {
    let mut best = f64::INFINITY;
    let mut idle = 0;
    for round in 0..MOST_ROUNDS {
        benchmark.prepare(seed_of(round));
        let took: f64 = order
            .iter()
            .map(|contender| benchmark.sample(*contender, iterations, gauge).wall_ns)
            .sum();
        idle = if took < best * (1.0 - GAIN) {
            0
        } else {
            idle + 1
        };
        best = best.min(took);
        if took > LONG_NS || idle == IDLE_ROUNDS {
            return round + 1;
        }
    }
    MOST_ROUNDS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::SampleClock;
    use crate::function::{Disagreement, Reading};

    /// Gets faster for a while.
    struct Warming {
        calls: u32,
        cold_calls: u32,
        ns: f64,
    }

    impl FunctionBenchmark for Warming {
        fn contenders(&self) -> usize {
            1
        }

        fn prepare(&mut self, _seed: u64) {}

        fn sample(&mut self, _contender: usize, _iterations: u64, _gauge: &Gauge) -> Reading {
            self.calls += 1;
            let cold = self.cold_calls.saturating_sub(self.calls);
            Reading {
                wall_ns: self.ns * (1.0 + 0.1 * f64::from(cold)),
                ..Reading::default()
            }
        }

        fn check(&self) -> Result<(), Disagreement> {
            Ok(())
        }
    }

    fn rounds(cold_calls: u32, ns: f64) -> u64 {
        let mut warming = Warming {
            calls: 0,
            cold_calls,
            ns,
        };
        let gauge = Gauge::new(SampleClock::os());
        warm_up(&mut warming, &[0], 1, |round| round, &gauge)
    }

    #[test]
    fn what_is_warm_at_once_is_called_three_times() {
        assert_eq!(rounds(0, 1_000.0), 3);
        assert_eq!(least_warm_up_rounds(1_000.0), 3);
    }

    #[test]
    fn the_warm_up_goes_on_while_it_helps() {
        assert_eq!(rounds(12, 1_000.0), 14);
    }

    #[test]
    fn a_slow_function_is_called_once() {
        for ns in [2e7, 1e9] {
            assert_eq!(rounds(0, ns), 1);
            assert_eq!(least_warm_up_rounds(ns), 1);
        }
    }
}
