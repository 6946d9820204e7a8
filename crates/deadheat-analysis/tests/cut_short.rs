//! Repetitions that a harness cut short are left out with their blocks, by a rule that the plan fixes.

use deadheat_analysis::{Options, analyse};
use deadheat_model::{
    BlockRecord, Comparison, CutShortKept, Flags, Harness, HarnessCalls, RepetitionLength, Run,
    Sample, Verdict, Warning, Workload,
};
use deadheat_testing::runs::{Stream, benchmark, contenders, design, header, one_look, sample};
use proptest::prelude::*;

const REPLICATES: u32 = 40;
/// Repetitions of a launch.
const REPETITIONS: u32 = 4;
const ITERATIONS: u64 = 100_000;
/// What an iteration takes, and what the only one of a launch that was interrupted takes.
const USUAL_NS: f64 = 23.0;
const INTERRUPTED_NS: f64 = 5.1e6;

/// Launches that were cut short: replicate, slot and the iterations that they had.
type CutShort = (u32, usize, u64);

fn seconds(planned_iterations: Option<u64>) -> HarnessCalls {
    HarnessCalls {
        harness: Harness::GoogleBenchmark,
        length: RepetitionLength::Seconds(0.001),
        planned_iterations,
        repetitions: REPETITIONS,
        ..HarnessCalls::default()
    }
}

/// A race of two builds that take equally long, apart from these launches, without the replicates
/// in `absent`.
fn race(calls: &HarnessCalls, cut_short: &[CutShort], absent: &[u32]) -> Run {
    let workload = Workload::Harness(Box::new(calls.clone()));
    let mut benchmark = benchmark("b", contenders(["old", "new"], &workload));
    benchmark.blocks_per_replicate = Some(REPETITIONS);
    let mut run = Run::new(header(design(one_look(REPLICATES)), 7, vec![benchmark]));
    for replicate in 0..REPLICATES {
        let mut noise = Stream(replicate.into());
        let order: [u8; 4] = if replicate % 2 == 0 {
            [0, 1, 1, 0]
        } else {
            [1, 0, 0, 1]
        };
        for index in 0..REPETITIONS {
            let mut block = BlockRecord {
                replicate,
                index,
                ..BlockRecord::default()
            };
            for (slot, contender) in order.into_iter().enumerate() {
                let usual = USUAL_NS * (1.0 + 0.002 * noise.normal());
                let short = cut_short
                    .iter()
                    .find(|(r, s, _)| (*r, *s) == (replicate, slot));
                let (iterations, ns) = match short {
                    // The interruption hit the repetition that the launch looked with.
                    Some((_, _, iterations)) if index == 0 => (*iterations, INTERRUPTED_NS),
                    Some((_, _, iterations)) => (*iterations, 3.0 * usual),
                    None => (ITERATIONS, usual),
                };
                block.values.push(ns * iterations as f64);
                block.samples.push(Sample {
                    iterations,
                    flags: Flags::NONE,
                    ..sample(contender)
                });
            }
            if !absent.contains(&replicate) {
                run.benchmarks[0].push(&block).unwrap();
            }
        }
    }
    run
}

fn judged(run: &Run) -> Comparison {
    analyse(run, Options::default()).comparisons.remove(0)
}

fn warning(comparison: &Comparison) -> Option<&Warning> {
    let mut warnings = comparison.warnings.iter();
    warnings.find(|one| matches!(one, Warning::CutShort { .. }))
}

/// Relative change of the means.
fn mean_change(comparison: &Comparison) -> f64 {
    comparison.candidate.as_ref().unwrap().mean / comparison.baseline.mean - 1.0
}

#[test]
fn one_launch_that_was_cut_short_changes_no_mean_and_is_told() {
    let cut = [(11, 1, 1)];
    let fixed = HarnessCalls {
        length: RepetitionLength::Iterations(ITERATIONS),
        ..seconds(None)
    };
    // The number of the pilot, that of the plan, and that of the first block in an old file.
    for calls in [seconds(Some(ITERATIONS)), fixed, seconds(None)] {
        let found = judged(&race(&calls, &cut, &[]));
        assert_eq!(found.verdict, Some(Verdict::Equivalent));
        assert!(mean_change(&found).abs() < 0.01, "{}", mean_change(&found));
        let slowest = found
            .baseline
            .max
            .max(found.candidate.as_ref().unwrap().max);
        assert!(slowest < 2.0 * USUAL_NS, "{slowest}");
        let figures = found.figures.as_ref().unwrap();
        let between = figures.between.as_ref().unwrap();
        assert!(between.mean.unwrap().change().abs() < 0.01);
        let samples = REPLICATES * REPETITIONS * 4;
        let expected = Warning::CutShort {
            count: REPETITIONS as usize,
            of: samples as usize,
            blocks: REPETITIONS as usize,
            kept: None,
        };
        assert_eq!(warning(&found), Some(&expected));
        let mut codes = found.warnings.iter().map(Warning::code);
        assert!(
            codes.all(|code| code != "tail-differs" && code != "bimodal"),
            "{found:?}"
        );
        assert_eq!(found.aspects.dropped_blocks(), REPETITIONS as usize);
        assert_eq!(
            found.baseline.samples as u32,
            2 * (REPLICATES - 1) * REPETITIONS
        );
    }
}

#[test]
fn without_the_rule_the_mean_would_be_that_of_the_interruption() {
    // Criterion's iterations differ by nature, so there nothing is left out.
    let calls = HarnessCalls {
        harness: Harness::Criterion,
        ..seconds(None)
    };
    let found = judged(&race(&calls, &[(11, 0, 1)], &[]));
    assert!(mean_change(&found).abs() > 0.5, "{}", mean_change(&found));
    assert_eq!(warning(&found), None);
}

#[test]
fn raw_samples_stay_as_they_are() {
    let run = race(&seconds(None), &[(11, 1, 1)], &[]);
    let before = run.clone();
    judged(&run);
    assert_eq!(run, before);
}

#[test]
fn launches_of_one_side_that_are_cut_short_again_and_again_count() {
    // In every fifth replicate the candidate's first launch.
    let of_candidate: Vec<CutShort> = (0..REPLICATES)
        .step_by(5)
        .map(|replicate| (replicate, usize::from(replicate % 2 == 0), 1))
        .collect();
    let found = judged(&race(&seconds(Some(ITERATIONS)), &of_candidate, &[]));
    let kept = match warning(&found) {
        Some(Warning::CutShort {
            blocks: 0, kept, ..
        }) => *kept,
        other => panic!("{other:?}"),
    };
    let Some(CutShortKept::OneSided { p }) = kept else {
        panic!("{kept:?}");
    };
    assert!(p < 0.01, "{p}");
    assert_eq!(found.aspects.dropped_blocks(), 0);
    assert!(mean_change(&found) > 100.0, "{}", mean_change(&found));
}

#[test]
fn more_than_a_fifth_of_the_blocks_count() {
    let of_both: Vec<CutShort> = (0..REPLICATES)
        .filter(|replicate| replicate % 4 < 1)
        .map(|replicate| (replicate, usize::from(replicate % 8 == 0), 1))
        .collect();
    let found = judged(&race(&seconds(Some(ITERATIONS)), &of_both, &[]));
    let kept = match warning(&found) {
        Some(Warning::CutShort {
            blocks: 0, kept, ..
        }) => *kept,
        other => panic!("{other:?}"),
    };
    assert_eq!(kept, Some(CutShortKept::TooMany { share: 0.25 }));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// What is left out has no part in the answer, wherever it stands.
    #[test]
    fn the_answer_is_that_of_the_other_replicates(
        replicate in 1..REPLICATES,
        slot in 0..4usize,
        iterations in 1..ITERATIONS / 10,
    ) {
        let calls = seconds(Some(ITERATIONS));
        let with = judged(&race(&calls, &[(replicate, slot, iterations)], &[]));
        let without = judged(&race(&calls, &[], &[replicate]));
        // Without a replicate the race has not come to its look: its interval is another one.
        let effect = |one: &Comparison| one.estimate.as_ref().unwrap().effect;
        prop_assert_eq!(effect(&with), effect(&without));
        prop_assert_eq!(&with.baseline, &without.baseline);
        prop_assert_eq!(&with.candidate, &without.candidate);
        prop_assert!(warning(&without).is_none());
        prop_assert!((with.evidence.p_sign_flip.unwrap() - without.evidence.p_sign_flip.unwrap()).abs() < 0.05);
        let [with, without] = [with, without].map(|one| one.figures.unwrap().between.unwrap());
        prop_assert_eq!(with.mean, without.mean);
        prop_assert_eq!(with.student_paired, without.student_paired);
    }

    /// Load that slows a launch down to a tenth is a time like others.
    #[test]
    fn a_launch_with_a_tenth_of_the_iterations_counts(
        replicate in 0..REPLICATES,
        iterations in ITERATIONS / 10..ITERATIONS,
    ) {
        let cut = [(replicate, 2, iterations)];
        let found = judged(&race(&seconds(Some(ITERATIONS)), &cut, &[]));
        prop_assert!(warning(&found).is_none());
        prop_assert_eq!(found.aspects.dropped_blocks(), 0);
    }
}
