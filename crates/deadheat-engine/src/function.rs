//! Functions as contenders: calls them, times them and keeps untimed work out of the samples. All
//! of it runs inside one process; [`crate::worker`] starts such processes.

mod calls;
mod pilot;

pub use calls::{AsyncExecutor, Asynchronous, ByReference, ByValue, Concurrent};
pub use pilot::{Pilot, least_warm_up_rounds, pilot};
pub(crate) use pilot::{primes, warm_up};

use std::hint::black_box;

use crate::clock::{Gauge, Reading};

/// A difference between the outputs of two contenders, or of two calls of one contender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disagreement {
    /// A candidate and the baseline returned different outputs for the same input.
    WithBaseline {
        /// The index of the candidate among the contenders.
        candidate: usize,
    },
    /// A contender returned different outputs for the same input.
    WithItself {
        /// The index of the contender.
        contender: usize,
    },
}

/// A benchmark made of functions. The trait hides the types of inputs and outputs from the code
/// that runs the race.
pub trait FunctionBenchmark {
    /// Returns the number of contenders.
    fn contenders(&self) -> usize;

    /// Returns the number of threads that call a contender at the same time.
    fn threads(&self) -> u32 {
        1
    }

    /// Returns the maximum number of iterations per sample. It is limited if every iteration
    /// consumes an input, because all inputs of a sample are made before the sample.
    fn most_iterations(&self) -> u64 {
        u64::MAX
    }

    /// Returns true if every block has a new input. Each contender is then called once on the new
    /// input before it is timed. Without this call, the first contender would train caches and
    /// branch predictors for the others: with the same code in both contenders, the slots of a
    /// block differed by 45 %.
    fn renews_input(&self) -> bool {
        true
    }

    /// Makes the input of the next block and discards the outputs of the previous block.
    fn prepare(&mut self, seed: u64);

    /// Calls one contender `iterations` times and returns the measured times and counts. Outputs
    /// are dropped after the timed section.
    fn sample(&mut self, contender: usize, iterations: u64, gauge: &Gauge) -> Reading;

    /// Returns an error if outputs since [`FunctionBenchmark::prepare`] differ. Always succeeds if
    /// outputs are not checked.
    fn check(&self) -> Result<(), Disagreement>;
}

/// A benchmark whose contenders all return the same type, so that their outputs can be compared.
pub trait ComparesOutputs {
    /// The type that the contenders return.
    type Output;

    /// Compares the outputs of the contenders from now on.
    fn check_with(&mut self, equal: fn(&Self::Output, &Self::Output) -> bool);
}

#[derive(Debug)]
pub(super) struct Outputs<O> {
    /// The outputs of the current sample, with space reserved before it begins.
    batch: Vec<O>,
    equal: Option<fn(&O, &O) -> bool>,
    /// The last output of every sample since the input was made, with its contender.
    answers: Vec<(usize, O)>,
}

impl<O> Outputs<O> {
    pub(super) fn new() -> Self {
        Self {
            batch: Vec::new(),
            equal: None,
            answers: Vec::new(),
        }
    }

    /// Creates a store that keeps all outputs, for the caller to compare.
    pub(super) fn keeping() -> Self {
        Self {
            equal: Some(|_, _| true),
            ..Self::new()
        }
    }

    pub(super) fn into_last(mut self) -> Option<O> {
        self.batch.pop()
    }

    pub(super) fn check_with(&mut self, equal: fn(&O, &O) -> bool) {
        self.equal = Some(equal);
    }

    pub(super) fn are_checked(&self) -> bool {
        self.equal.is_some()
    }

    /// Returns true if outputs must be kept until the sample has ended, because they are compared
    /// or need to be dropped.
    fn keeps(&self) -> bool {
        self.equal.is_some() || std::mem::needs_drop::<O>()
    }

    /// Reserves space for the outputs of a sample; call it before the sample begins.
    pub(super) fn make_room(&mut self, iterations: u64) -> Room<'_, O> {
        if !self.keeps() {
            return Room(None);
        }
        self.batch.clear();
        self.batch.reserve(iterations as usize);
        Room(Some(&mut self.batch))
    }

    /// Keeps the last output of a sample for the comparison and drops the others.
    pub(super) fn finish(&mut self, contender: usize) {
        if self.equal.is_some()
            && let Some(answer) = self.batch.pop()
        {
            self.answers.push((contender, answer));
        }
        self.batch.clear();
    }

    /// Adds an output that another thread kept.
    pub(super) fn answer(&mut self, contender: usize, answer: O) {
        if self.equal.is_some() {
            self.answers.push((contender, answer));
        }
    }

    pub(super) fn forget(&mut self) {
        self.answers.clear();
    }

    /// Returns an error if outputs differ. Outputs are compared with the first output of the
    /// baseline. If the outputs of one contender differ from each other, the error names this
    /// contender.
    pub(super) fn check(&self) -> Result<(), Disagreement> {
        let Some(equal) = self.equal else {
            return Ok(());
        };
        for (place, (contender, answer)) in self.answers.iter().enumerate() {
            let mut before = self.answers[..place].iter();
            let own = before.find(|(other, _)| other == contender);
            if own.is_some_and(|(_, own)| !equal(own, answer)) {
                return Err(Disagreement::WithItself {
                    contender: *contender,
                });
            }
        }
        let baseline = self.answers.iter().find(|(contender, _)| *contender == 0);
        let Some((_, baseline)) = baseline else {
            return Ok(());
        };
        match self.answers.iter().find(|(_, a)| !equal(baseline, a)) {
            Some((candidate, _)) => Err(Disagreement::WithBaseline {
                candidate: *candidate,
            }),
            None => Ok(()),
        }
    }
}

/// The space for the outputs of one sample; `None` if they are not kept.
pub(super) struct Room<'a, O>(Option<&'a mut Vec<O>>);

impl<'a, O> Room<'a, O> {
    /// Calls a function `iterations` times, in the timed section. `black_box` keeps the optimiser
    /// from removing calls whose outputs are unused.
    #[inline(always)]
    pub(super) fn fill(self, iterations: u64, mut call: impl FnMut() -> O) {
        match self.0 {
            // Space was reserved, so no push allocates.
            Some(batch) => {
                for _ in 0..iterations {
                    batch.push(black_box(call()));
                }
            }
            None => {
                for _ in 0..iterations {
                    black_box(call());
                }
            }
        }
    }

    #[inline(always)]
    pub(super) fn into_batch(self) -> Option<&'a mut Vec<O>> {
        self.0
    }

    /// Like [`fill`](Self::fill), for calls that take inputs by value.
    #[inline(always)]
    pub(super) fn fill_from<I>(
        self,
        inputs: impl Iterator<Item = I>,
        mut call: impl FnMut(I) -> O,
    ) {
        match self.0 {
            Some(batch) => {
                for input in inputs {
                    batch.push(black_box(call(black_box(input))));
                }
            }
            None => {
                for input in inputs {
                    black_box(call(black_box(input)));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outputs(answers: &[(usize, i32)]) -> Outputs<i32> {
        let mut outputs = Outputs::new();
        outputs.check_with(|a, b| a == b);
        for (contender, answer) in answers {
            outputs.make_room(2).fill(2, || *answer);
            outputs.finish(*contender);
        }
        outputs
    }

    #[test]
    fn equal_answers_agree() {
        assert_eq!(outputs(&[(0, 7), (1, 7), (1, 7), (0, 7)]).check(), Ok(()));
    }

    #[test]
    fn a_candidate_that_answers_otherwise_is_named() {
        assert_eq!(
            outputs(&[(1, 8), (0, 7), (0, 7), (1, 8)]).check(),
            Err(Disagreement::WithBaseline { candidate: 1 })
        );
    }

    #[test]
    fn a_contender_that_contradicts_itself_is_told_as_such() {
        for (answers, contender) in [
            ([(0, 7), (1, 7), (1, 8), (0, 7)], 1),
            ([(0, 7), (1, 7), (1, 7), (0, 9)], 0),
        ] {
            assert_eq!(
                outputs(&answers).check(),
                Err(Disagreement::WithItself { contender })
            );
        }
    }

    #[test]
    fn without_a_question_every_answer_is_right() {
        let mut outputs = Outputs::new();
        for answer in [1, 2] {
            outputs.make_room(1).fill(1, || answer);
            outputs.finish(0);
        }
        assert_eq!(outputs.check(), Ok(()));
    }

    #[test]
    fn another_input_starts_anew() {
        let mut outputs = outputs(&[(0, 7), (1, 8)]);
        outputs.forget();
        assert_eq!(outputs.check(), Ok(()));
    }
}
