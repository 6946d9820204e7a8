//! Detects measurement before the end of warm-up, from the first repetitions of launches that
//! compile code while it runs, and from the first blocks of interpreter processes.

use deadheat_model::{Benchmark, BlockSpan, ContenderId, LogRatio, Metric, Samples, Warning};
use deadheat_stats::MIN_REPLICATES_FOR_VERDICT;
use deadheat_stats::summary::{median, median_in_place};

/// The number of launches that a warning requires: six replicates with two launches of each side.
const FEWEST_LAUNCHES: usize = 24;
/// The share of launches whose first repetition must differ in the same direction. Without warm-up,
/// chance alone reaches this share in 2 of 100 benchmarks with 24 launches. With more launches this
/// happens less often. The difference must also exceed the margin, which it rarely does by chance.
const MOST_LAUNCHES: f64 = 0.75;
/// The number of blocks that a replicate of an interpreter must have to show a step: one per
/// quarter.
const FEWEST_BLOCKS: usize = 4;
/// The share of replicates that must have a step. A side has at least two samples in the first
/// quarter of a replicate and two in the last. With so few, chance alone makes a step in at most one
/// of six replicates, and in five of six replicates of a side in at most 1 of 1,500 benchmarks. A
/// rule that used the interval of the mean over replicates was worse: it missed steps of 17% that all
/// six replicates had, because the machine had slowed two of the replicates down by half.
const MOST_REPLICATES: f64 = 0.75;

/// Returns a warning if the first measurements were part of the warm-up. In harness launches the
/// first repetition must differ from the later ones by more than the margin, in interpreter
/// processes the first blocks must be slower than the last by more than the margin.
pub(crate) fn doubt(
    benchmark: &Benchmark,
    samples: &Samples,
    candidate: ContenderId,
    margin: f64,
) -> Option<Warning> {
    if benchmark.is_compiled_in_each_process() {
        repetitions_differ(samples, candidate, margin)
    } else if benchmark.is_interpreted() && benchmark.calls_functions() {
        let sides = [ContenderId::BASELINE, candidate];
        let steps = sides.iter().filter_map(|side| step(samples, *side, margin));
        let largest = steps.max_by(f64::total_cmp)?;
        Some(Warning::StillWarming {
            change: LogRatio(largest).change(),
        })
    } else {
        None
    }
}

/// Returns the step of a contender whose code was compiled or specialised during the measurement:
/// the log-ratio of the first quarter of the blocks to the last quarter, as the median over
/// replicates. `None` unless most replicates have a step: the lower quartile of the samples in the
/// first quarter is above the upper quartile of those in the last by more than the margin.
fn step(samples: &Samples, contender: ContenderId, margin: f64) -> Option<f64> {
    let column = samples.column(&Metric::Wall)?;
    let all = samples.samples();
    let margin = LogRatio::from_change(margin).0;
    let (mut steps, mut clear) = (Vec::new(), 0);
    for replicate in samples
        .blocks()
        .chunk_by(|one, next| one.replicate == next.replicate)
    {
        if replicate.len() < FEWEST_BLOCKS {
            continue;
        }
        let quartiles = |blocks: &[BlockSpan]| {
            let places = blocks.iter().flat_map(|b| b.first..b.first + b.len);
            let own = places.filter(|at| all[*at].contender == contender);
            let mut times: Vec<f64> = own
                .map(|at| column[at] / all[at].iterations as f64)
                .collect();
            times.sort_by(f64::total_cmp);
            // With two samples the quartiles are the samples themselves.
            let aside = times.len().checked_sub(1)? / 4;
            let (low, high) = (times[aside], times[times.len() - 1 - aside]);
            (low > 0.0).then_some((low.ln(), median(&times)?.ln(), high.ln()))
        };
        let quarter = replicate.len() / 4;
        let first = quartiles(&replicate[..quarter]);
        let last = quartiles(&replicate[replicate.len() - quarter..]);
        if let Some((first, last)) = first.zip(last) {
            steps.push(first.1 - last.1);
            clear += usize::from(first.0 - last.2 > margin);
        }
    }
    let most = clear as f64 >= MOST_REPLICATES * steps.len() as f64;
    if steps.len() < MIN_REPLICATES_FOR_VERDICT || !most {
        return None;
    }
    median_in_place(&mut steps)
}

fn repetitions_differ(samples: &Samples, candidate: ContenderId, margin: f64) -> Option<Warning> {
    let mut found = first_repetitions(samples, candidate);
    let slower = found.iter().filter(|ratio| **ratio > 0.0).count();
    let most = MOST_LAUNCHES * found.len() as f64;
    let one_way = slower.max(found.len() - slower) as f64 >= most;
    if found.len() < FEWEST_LAUNCHES || !one_way {
        return None;
    }
    let typical = LogRatio(median_in_place(&mut found)?);
    let beyond = typical.0.abs() > LogRatio::from_change(margin).0;
    beyond.then(|| Warning::StillWarming {
        change: typical.change(),
    })
}

/// Returns, for every launch of both sides, the log-ratio of its first repetition to the median of
/// its later ones.
fn first_repetitions(samples: &Samples, candidate: ContenderId) -> Vec<f64> {
    let Some(column) = samples.column(&Metric::Wall) else {
        return Vec::new();
    };
    let all = samples.samples();
    let mut found = Vec::new();
    for replicate in samples
        .blocks()
        .chunk_by(|one, next| one.replicate == next.replicate)
    {
        let slots = replicate.iter().map(|block| block.len).min().unwrap_or(0);
        for slot in 0..slots {
            let contender = all[replicate[0].first + slot].contender;
            if contender != ContenderId::BASELINE && contender != candidate {
                continue;
            }
            let times = replicate.iter().map(|block| {
                let at = block.first + slot;
                column[at] / all[at].iterations as f64
            });
            let times: Vec<f64> = times.collect();
            let (first, mut rest) = (times[0], times[1..].to_vec());
            if let Some(rest) = median_in_place(&mut rest)
                && first > 0.0
                && rest > 0.0
            {
                found.push((first / rest).ln());
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadheat_model::{
        BlockRecord, Contender, Harness, HarnessCalls, Program, Sample, WorkerCalls, Workload,
    };

    fn benchmark(harness: Harness) -> Benchmark {
        let contender = |name: &str| Contender {
            name: name.to_owned(),
            workload: Workload::Harness(Box::new(HarnessCalls {
                harness,
                ..HarnessCalls::default()
            })),
        };
        Benchmark {
            name: "b".to_owned(),
            contenders: vec![contender("old"), contender("new")],
            ..Benchmark::default()
        }
    }

    /// Returns the warning about replicates of three blocks. `longer` returns the factor by which
    /// the first repetition of a launch is slower, by the number of the launch.
    fn doubt_of(harness: Harness, replicates: u32, longer: impl Fn(u32) -> f64) -> Option<Warning> {
        let mut samples = Samples::new(vec![Metric::Wall]);
        for replicate in 0..replicates {
            for index in 0..3 {
                let order = [0u8, 1, 1, 0];
                let time = |slot: u32| {
                    let first = if index == 0 {
                        longer(replicate * 4 + slot)
                    } else {
                        1.0
                    };
                    first * (1000.0 + f64::from(index + slot))
                };
                let sample = |contender| Sample {
                    contender: ContenderId(contender),
                    flags: deadheat_model::Flags::NONE,
                    exit_code: None,
                    iterations: 10,
                };
                let block = BlockRecord {
                    replicate,
                    index,
                    samples: order.map(sample).to_vec(),
                    values: (0..4).map(time).collect(),
                    ..BlockRecord::default()
                };
                samples.push(&block).unwrap();
            }
        }
        doubt(&benchmark(harness), &samples, ContenderId(1), 0.01)
    }

    #[test]
    fn first_repetitions_that_are_slower_or_faster_in_most_launches_are_told() {
        for (longer, expected) in [(1.031, 0.03), (0.951, -0.05)] {
            let found = doubt_of(
                Harness::Jmh,
                6,
                |launch| if launch % 5 == 0 { 1.0 } else { longer },
            );
            let Some(Warning::StillWarming { change }) = found else {
                panic!("{found:?}");
            };
            assert!((change - expected).abs() < 0.002, "{change}");
        }
    }

    #[test]
    fn nothing_is_told_of_scatter_of_little_of_few_launches_and_of_compiled_programs() {
        let scatter = |launch| if launch % 2 == 0 { 1.05 } else { 0.95 };
        assert_eq!(doubt_of(Harness::Jmh, 6, scatter), None);
        assert_eq!(doubt_of(Harness::Jmh, 6, |_| 1.005), None);
        assert_eq!(doubt_of(Harness::Jmh, 5, |_| 1.5), None);
        assert_eq!(doubt_of(Harness::GoogleBenchmark, 6, |_| 1.5), None);
        assert_eq!(doubt_of(Harness::Jmh, 0, |_| 1.5), None);
    }

    /// Returns the warning about replicates of 12 blocks in workers of `program`. `longer` returns
    /// the factor by which a sample is slower, by replicate, block and contender.
    fn doubt_of_workers(
        program: &str,
        replicates: u32,
        longer: impl Fn(u32, u32, u8) -> f64,
    ) -> Option<Warning> {
        let contender = |name: &str| Contender {
            name: name.to_owned(),
            workload: Workload::Worker(Box::new(WorkerCalls {
                program: Program {
                    executable: program.into(),
                    ..Program::default()
                },
                ..WorkerCalls::default()
            })),
        };
        let benchmark = Benchmark {
            contenders: vec![contender("old"), contender("new")],
            ..Benchmark::default()
        };
        let mut samples = Samples::new(vec![Metric::Wall]);
        for replicate in 0..replicates {
            for index in 0..12 {
                let order = [0u8, 1, 1, 0];
                let scatter = 1.0 + 0.01 * f64::from((7 * replicate + 5 * index) % 6);
                let sample = |contender| Sample {
                    contender: ContenderId(contender),
                    flags: deadheat_model::Flags::NONE,
                    exit_code: None,
                    iterations: 10,
                };
                let time = |contender| 1000.0 * scatter * longer(replicate, index, contender);
                let block = BlockRecord {
                    replicate,
                    index,
                    samples: order.map(sample).to_vec(),
                    values: order.map(time).to_vec(),
                    ..BlockRecord::default()
                };
                samples.push(&block).unwrap();
            }
        }
        doubt(&benchmark, &samples, ContenderId(1), 0.01)
    }

    #[test]
    fn a_step_of_one_contender_in_most_replicates_of_an_interpreter_is_told() {
        // One of the eight replicates had compiled its code before the measurement. In another the
        // machine was slow for a while.
        let steps = |replicate, index, contender| match (replicate, contender) {
            (0, _) | (_, 0) => 1.0,
            (1, _) if index < 7 => 3.0,
            _ if index < 5 + replicate % 3 => 1.5,
            _ => 1.0,
        };
        let found = doubt_of_workers("bin/pypy3", 8, steps);
        let Some(Warning::StillWarming { change }) = found else {
            panic!("{found:?}");
        };
        assert!((change - 0.5).abs() < 0.03, "{change}");
        assert_eq!(doubt_of_workers("target/bench", 8, steps), None);
        assert_eq!(doubt_of_workers("bin/pypy3", 5, steps), None);
    }

    #[test]
    fn no_step_is_told_of_scatter_of_few_slow_samples_of_one_replicate_and_of_what_slows_down() {
        let of = |longer: fn(u32, u32, u8) -> f64| doubt_of_workers("bin/python3", 8, longer);
        assert_eq!(of(|_, _, _| 1.0), None);
        assert_eq!(of(|_, index, _| if index == 0 { 9.0 } else { 1.0 }), None);
        assert_eq!(
            of(|replicate, index, _| if replicate == 3 && index < 6 {
                9.0
            } else {
                1.0
            }),
            None
        );
        assert_eq!(of(|_, index, _| 1.0 + f64::from(index) / 50.0), None);
        assert_eq!(of(|_, index, _| if index < 6 { 1.005 } else { 1.0 }), None);
    }
}
