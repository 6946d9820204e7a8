//! What the calls of a sample return: kept out of the timed region where it
//! must be dropped, and compared where the answers must agree.

use std::hint::black_box;

use super::benchmark::Disagreement;

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

    /// Whether somebody asked to compare answers.
    pub(super) fn are_checked(&self) -> bool {
        self.equal.is_some()
    }

    /// Whether outputs are kept until the sample is over. Those that own
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

    /// Whether the answers agree. The baseline's first answer is the measure;
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
