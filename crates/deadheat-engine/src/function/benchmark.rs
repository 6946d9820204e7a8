//! The seam between typed functions and the untyped loop that races them.

use super::gauge::{Gauge, Reading};

/// Two contenders that do not agree on the answer, or one that does not agree
/// with itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disagreement {
    /// A candidate returned another output than the baseline for one input.
    WithBaseline {
        /// The candidate, as an index among the contenders.
        candidate: usize,
    },
    /// A contender returned different outputs for one input.
    WithItself {
        /// The contender, as an index.
        contender: usize,
    },
}

/// One benchmark made of functions, with its input and its contenders behind
/// it. Types end here: what drives it knows neither input nor output.
pub trait FunctionBenchmark {
    /// How many contenders there are.
    fn contenders(&self) -> usize;

    /// How many threads call a contender at the same time.
    fn threads(&self) -> u32 {
        1
    }

    /// The most iterations a sample may have, where inputs must be made for
    /// all of them beforehand.
    fn most_iterations(&self) -> u64 {
        u64::MAX
    }

    /// Whether every block has another input. Then each contender is called on
    /// it once before it is timed: the first to see an input would pay for
    /// what all others find learned (caches, branch predictors), and with one
    /// piece of code behind two contenders that made the slots of a block
    /// differ by 45 %.
    fn renews_input(&self) -> bool {
        true
    }

    /// Gets the input of the next block ready and forgets what was returned
    /// for the last.
    fn prepare(&mut self, seed: u64);

    /// Calls one contender so many times. Only the calls are between the
    /// readings: what they return is dropped afterwards.
    fn sample(&mut self, contender: usize, iterations: u64, gauge: &Gauge) -> Reading;

    /// Whether what was returned since [`FunctionBenchmark::prepare`] agrees.
    /// Always, when nobody asked to check.
    fn check(&self) -> Result<(), Disagreement>;
}

/// A benchmark whose contenders all return the same type, so that their
/// answers can be compared.
pub trait ComparesOutputs {
    /// What the contenders return.
    type Output;

    /// Compares what the contenders return from now on.
    fn check_with(&mut self, equal: fn(&Self::Output, &Self::Output) -> bool);
}
