//! Functions as contenders: how they are called, timed and kept apart from
//! what is not to be timed. What runs here runs inside one process; who
//! starts such processes stands in [`crate::worker`].

mod calls;
mod pilot;

pub use calls::{AsyncExecutor, Asynchronous, ByReference, ByValue, Concurrent};
pub use pilot::{Pilot, least_warm_up_rounds, pilot};
pub(crate) use pilot::{primes, warm_up};

use std::hint::black_box;

use crate::clock::{Gauge, Reading};

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
    /// The number of contenders.
    fn contenders(&self) -> usize;

    /// The number of threads that call a contender at the same time.
    fn threads(&self) -> u32 {
        1
    }

    /// The most iterations a sample may have, where inputs must be made for
    /// all of them beforehand.
    fn most_iterations(&self) -> u64 {
        u64::MAX
    }

    /// Returns whether every block has another input. Then each contender is called on
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

    /// Returns whether what was returned since [`FunctionBenchmark::prepare`] agrees.
    /// Always, when nobody asked to check.
    fn check(&self) -> Result<(), Disagreement>;
}

/// A benchmark whose contenders all return the same type, so that their
/// answers can be compared.
pub trait ComparesOutputs {
    /// The type that the contenders return.
    type Output;

    /// Compares what the contenders return from now on.
    fn check_with(&mut self, equal: fn(&Self::Output, &Self::Output) -> bool);
}

/// The outputs of one benchmark.
#[derive(Debug)]
pub(super) struct Outputs<O> {
    /// Outputs of the sample being taken; room is made before it begins.
    batch: Vec<O>,
    equal: Option<fn(&O, &O) -> bool>,
    /// The last output of every sample since the input was made, by
    /// contender.
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

    /// Outputs that are all kept, for somebody else to compare.
    pub(super) fn keeping() -> Self {
        Self {
            equal: Some(|_, _| true),
            ..Self::new()
        }
    }

    /// The output kept last.
    pub(super) fn into_last(mut self) -> Option<O> {
        self.batch.pop()
    }

    /// Compares answers from now on.
    pub(super) fn check_with(&mut self, equal: fn(&O, &O) -> bool) {
        self.equal = Some(equal);
    }

    /// Returns whether somebody asked to compare answers.
    pub(super) fn are_checked(&self) -> bool {
        self.equal.is_some()
    }

    /// Returns whether outputs are kept until the sample is over. Those that own
    /// nothing need no room.
    fn keeps(&self) -> bool {
        self.equal.is_some() || std::mem::needs_drop::<O>()
    }

    /// Room for the outputs of a sample; call it before the sample begins.
    pub(super) fn make_room(&mut self, iterations: u64) -> Room<'_, O> {
        if !self.keeps() {
            return Room(None);
        }
        self.batch.clear();
        self.batch.reserve(iterations as usize);
        Room(Some(&mut self.batch))
    }

    /// Keeps the last output of a sample as its answer and drops the others.
    pub(super) fn finish(&mut self, contender: usize) {
        if self.equal.is_some()
            && let Some(answer) = self.batch.pop()
        {
            self.answers.push((contender, answer));
        }
        self.batch.clear();
    }

    /// Takes over an answer that was kept elsewhere.
    pub(super) fn answer(&mut self, contender: usize, answer: O) {
        if self.equal.is_some() {
            self.answers.push((contender, answer));
        }
    }

    /// Forgets all answers: another input comes.
    pub(super) fn forget(&mut self) {
        self.answers.clear();
    }

    /// Returns whether the answers agree. The baseline's first answer is the measure;
    /// a contender that contradicts itself is told as such.
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

/// Room for the outputs of one sample, or none needed.
pub(super) struct Room<'a, O>(Option<&'a mut Vec<O>>);

impl<'a, O> Room<'a, O> {
    /// The timed loop: every call's output is seen by the optimiser as used.
    #[inline(always)]
    pub(super) fn fill(self, iterations: u64, mut call: impl FnMut() -> O) {
        match self.0 {
            // Room was reserved: no push allocates.
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

    /// Where to push the outputs; `None` when they need not be kept.
    #[inline(always)]
    pub(super) fn into_batch(self) -> Option<&'a mut Vec<O>> {
        self.0
    }

    /// The same over inputs that each call takes for itself.
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
