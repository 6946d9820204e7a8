//! Repetitions that a harness cut short.
//!
//! Some harnesses search for the number of iterations in every launch, until a repetition takes
//! long enough. On a busy machine a single iteration may take long enough, because it was
//! interrupted: a launch of Google Benchmark 1.7 had 1 iteration of 5.1 ms where others had 100,000
//! of 23 ns, and the mean of its side was 68 times that of the other. Such a repetition measures
//! the interruption and the first iteration of a process instead of the code.

use deadheat_model::{Benchmark, ContenderId, Harness, HarnessCalls, RepetitionLength};
use deadheat_model::{Sample, Samples, Workload};

/// A repetition was cut short if it has fewer iterations than the planned number divided by this.
/// The search of Google Benchmark multiplies the number of iterations by at most ten in a step, so
/// fewer than a tenth means that the search ended two steps early. Sharing a core with other
/// programs makes iterations two to five times as slow, which is less than a step.
const SHORTENED: u64 = 10;

/// The planned number of iterations of a repetition, by the index of the contender.
#[derive(Clone, Debug, Default)]
pub(crate) struct PlannedIterations {
    of: Vec<Option<u64>>,
    /// Contenders whose planned number is missing, as in run files of older releases. The first
    /// block supplies it, because a median over all blocks would change at each interim analysis.
    unknown: Vec<ContenderId>,
}

impl PlannedIterations {
    pub(crate) fn of(benchmark: &Benchmark) -> Self {
        let mut planned = Self::default();
        for (index, contender) in benchmark.contenders.iter().enumerate() {
            let calls = match &contender.workload {
                Workload::Harness(calls) if repeats(calls.harness) => calls,
                _ => {
                    planned.of.push(None);
                    continue;
                }
            };
            let iterations = iterations(calls);
            if iterations.is_none() {
                planned.unknown.push(ContenderId(index as u8));
            }
            planned.of.push(iterations);
        }
        planned
    }

    /// Fills in the numbers of iterations that the plan lacks: for each contender, the largest
    /// number in the first block, because one of its repetitions there may itself be cut short.
    pub(crate) fn learn(&mut self, samples: &Samples) {
        let Some(first) = samples.blocks().first() else {
            return;
        };
        let slots = &samples.samples()[first.range()];
        for contender in std::mem::take(&mut self.unknown) {
            let own = slots.iter().filter(|slot| slot.contender == contender);
            self.of[contender.index()] = own.map(|slot| slot.iterations).max();
        }
    }

    pub(crate) fn is_cut_short(&self, sample: &Sample) -> bool {
        let planned = self.of.get(sample.contender.index()).copied().flatten();
        planned.is_some_and(|planned| sample.iterations < planned.div_ceil(SHORTENED))
    }
}

/// Returns the planned number of iterations of a repetition; `None` if the plan does not store it.
fn iterations(calls: &HarnessCalls) -> Option<u64> {
    calls.planned_iterations.or(match calls.length {
        RepetitionLength::Iterations(count) => Some(count),
        RepetitionLength::Seconds(_) | RepetitionLength::Own => None,
    })
}

/// Returns true if the harness runs all repetitions with the same number of iterations and reports
/// this number. Criterion increases it from sample to sample. JMH derives it from the time, so slow
/// code would have few iterations and be excluded.
fn repeats(harness: Harness) -> bool {
    !matches!(harness, Harness::Criterion | Harness::Jmh)
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadheat_model::{BlockRecord, Contender, Flags, Metric};

    fn benchmark(calls: &HarnessCalls) -> Benchmark {
        let contender = |name: &str| Contender {
            name: name.to_owned(),
            workload: Workload::Harness(Box::new(calls.clone())),
        };
        Benchmark {
            contenders: vec![contender("old"), contender("new")],
            ..Benchmark::default()
        }
    }

    fn sample(contender: u8, iterations: u64) -> Sample {
        Sample {
            contender: ContenderId(contender),
            flags: Flags::NONE,
            exit_code: None,
            iterations,
        }
    }

    fn samples(iterations: [u64; 4]) -> Samples {
        let mut samples = Samples::new(vec![Metric::Wall]);
        let slots = [0, 1, 1, 0].into_iter().zip(iterations);
        let block = BlockRecord {
            samples: slots.map(|(id, count)| sample(id, count)).collect(),
            values: vec![1.0; 4],
            ..BlockRecord::default()
        };
        samples.push(&block).unwrap();
        samples
    }

    #[test]
    fn a_repetition_is_cut_short_below_a_tenth_of_what_the_plan_says() {
        let seconds = HarnessCalls {
            length: RepetitionLength::Seconds(0.001),
            planned_iterations: Some(100_000),
            ..HarnessCalls::default()
        };
        let fixed = HarnessCalls {
            length: RepetitionLength::Iterations(100_000),
            ..HarnessCalls::default()
        };
        for calls in [seconds, fixed] {
            let mut planned = PlannedIterations::of(&benchmark(&calls));
            // Samples do not change a planned number.
            planned.learn(&samples([1; 4]));
            assert!(planned.is_cut_short(&sample(0, 1)));
            assert!(planned.is_cut_short(&sample(1, 9_999)));
            assert!(!planned.is_cut_short(&sample(1, 10_000)));
            assert!(!planned.is_cut_short(&sample(0, 9_000_000)));
        }
    }

    #[test]
    fn the_first_block_stands_in_for_a_plan_that_lacks_the_number() {
        let calls = HarnessCalls {
            length: RepetitionLength::Seconds(0.001),
            ..HarnessCalls::default()
        };
        let mut planned = PlannedIterations::of(&benchmark(&calls));
        assert!(!planned.is_cut_short(&sample(0, 1)));
        planned.learn(&samples([1, 50, 40, 1000]));
        planned.learn(&samples([9_999_999; 4]));
        for (contender, least) in [(0, 100), (1, 5)] {
            assert!(!planned.is_cut_short(&sample(contender, least)));
            assert!(planned.is_cut_short(&sample(contender, least - 1)));
        }
    }

    #[test]
    fn harnesses_whose_repetitions_differ_by_nature_are_never_cut_short() {
        for harness in [Harness::Criterion, Harness::Jmh] {
            let calls = HarnessCalls {
                harness,
                planned_iterations: Some(1_000),
                ..HarnessCalls::default()
            };
            let mut planned = PlannedIterations::of(&benchmark(&calls));
            planned.learn(&samples([1_000; 4]));
            assert!(!planned.is_cut_short(&sample(0, 1)), "{}", harness.name());
        }
        let functions = Benchmark {
            contenders: vec![Contender {
                name: "f".to_owned(),
                workload: Workload::Recording,
            }],
            ..Benchmark::default()
        };
        let mut planned = PlannedIterations::of(&functions);
        planned.learn(&samples([1_000; 4]));
        assert!(!planned.is_cut_short(&sample(0, 1)));
    }

    #[test]
    fn few_planned_iterations_cannot_be_cut_short() {
        for count in 1..=10 {
            let calls = HarnessCalls {
                planned_iterations: Some(count),
                ..HarnessCalls::default()
            };
            let planned = PlannedIterations::of(&benchmark(&calls));
            assert!(!planned.is_cut_short(&sample(0, 1)), "{count}");
        }
    }
}
