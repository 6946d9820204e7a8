//! A run whose samples are handed over benchmark by benchmark gives the same answer as one that
//! holds them all.

mod common;

use deadheat_analysis::{Options, Part, PerBenchmarkAnalysis, RerunSamples, analyse};
use deadheat_model::{
    BenchmarkFailure, EndReason, FunctionCalls, Origin, Rerun, RerunKind, Run, RunEnd, Samples,
    Workload,
};

/// A race of six benchmarks: the third broke down, the fifth is the own link of the first, and all
/// differ.
fn race() -> Run {
    let blocks = |benchmark: u32| -> Vec<common::Block> {
        let time = |at: u32| 1e6 + f64::from((at * 7 + benchmark * 13) % 11) * 1e3;
        (0..24)
            .map(|at| {
                let faster = time(at + 1) * (1.0 - 0.01 * f64::from(benchmark));
                let slots = vec![
                    (0, time(at)),
                    (1, faster),
                    (1, faster + 50.0),
                    (0, time(at)),
                ];
                (at / 2, slots)
            })
            .collect()
    };
    let mut run = common::run(Origin::Race, 2, &blocks(0));
    for contender in &mut run.header.plan.benchmarks[0].contenders {
        contender.workload = Workload::Function(FunctionCalls {
            iterations: 1,
            threads: 1,
        });
    }
    for index in 1..6 {
        let mut benchmark = run.header.plan.benchmarks[0].clone();
        benchmark.name = format!("b{index}");
        run.header.plan.benchmarks.push(benchmark);
        let samples = common::run(Origin::Race, 2, &blocks(index));
        run.benchmarks.extend(samples.benchmarks);
    }
    run.header.plan.design.looks = deadheat_analysis::fixed_look(12, 0.05).unwrap();
    run.header.plan.benchmarks[4].rerun = Some(Rerun {
        kind: RerunKind::OwnLink,
        of: 0,
        replicates: 12,
    });
    run.failures.push(BenchmarkFailure {
        benchmark: 2,
        message: "it panicked".to_owned(),
    });
    run.end = Some(RunEnd {
        reason: EndReason::Finished,
        launches: 144,
        elapsed_ns: 9,
    });
    run
}

/// The run without its samples, and these.
fn apart(mut run: Run) -> (Run, Vec<Samples>) {
    let samples = run.benchmarks;
    run.benchmarks = Vec::new();
    (run, samples)
}

fn one_by_one(run: Run, options: Options) -> deadheat_model::Analysis {
    let (run, samples) = apart(run);
    let one_by_one = PerBenchmarkAnalysis::new(&run, options);
    let count = samples.len();
    // Backwards, and from two threads: neither order nor thread matters.
    let mut parts: Vec<(usize, Part)> = std::thread::scope(|scope| {
        let some = |modulus: usize| {
            let (one_by_one, samples, run) = (&one_by_one, &samples, &run);
            let mine = (0..count).rev().filter(move |index| index % 2 == modulus);
            scope.spawn(move || -> Vec<(usize, Part)> {
                mine.filter(|index| one_by_one.has_answer(*index))
                    .map(|index| {
                        let of_kind = |kind| {
                            let rerun = run.header.plan.rerun(index, kind)?;
                            Some((rerun, &samples[rerun]))
                        };
                        let reruns = RerunSamples {
                            own_link: of_kind(RerunKind::OwnLink),
                            turns: of_kind(RerunKind::Turns),
                        };
                        let part = one_by_one.benchmark(index, &samples[index], reruns);
                        (index, part)
                    })
                    .collect()
            })
        };
        let threads = [some(0), some(1)];
        threads
            .into_iter()
            .flat_map(|one| one.join().unwrap())
            .collect()
    });
    parts.sort_by_key(|(index, _)| *index);
    one_by_one.gather(parts.into_iter().map(|(_, part)| part).collect())
}

#[test]
fn a_race_is_analysed_alike_at_once_and_benchmark_by_benchmark() {
    let whole = analyse(&race(), Options::default());
    assert_eq!(whole.comparisons.len(), 4);
    assert!(whole.comparisons[0].aspects.own_link.is_some());
    assert_eq!(one_by_one(race(), Options::default()), whole);
}

#[test]
fn a_race_that_went_on_after_its_end_is_judged_by_the_same_rule_without_its_samples() {
    let mut run = race();
    run.resumed_at = Some(vec![24, 20, 24, 24, 24, 0]);
    let whole = analyse(&run, Options::default());
    assert_ne!(
        whole.comparisons[1].estimate,
        analyse(&race(), Options::default()).comparisons[1].estimate
    );
    assert_eq!(one_by_one(run, Options::default()), whole);
}

#[test]
fn a_recording_without_pairs_is_analysed_alike_from_several_threads() {
    let mut run = race();
    run.header.origin = Origin::UnpairedRecording;
    run.failures.clear();
    for benchmark in &mut run.header.plan.benchmarks {
        benchmark.rerun = None;
        for contender in &mut benchmark.contenders {
            contender.workload = Workload::Recording;
        }
    }
    let whole = analyse(&run, Options::default());
    assert_eq!(whole.comparisons.len(), 6);
    assert_eq!(one_by_one(run, Options::default()), whole);
}
