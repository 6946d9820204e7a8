//! Warm-up that was not over when counting began, seen in launches whose repetitions were recorded
//! one by one.

use deadheat_model::{Benchmark, ContenderId, LogRatio, Metric, Samples, Warning};
use deadheat_stats::summary::median_in_place;

/// Launches below which nothing is said: of six replicates, two of each side.
const FEWEST_LAUNCHES: usize = 24;
/// The share of launches that must differ in one direction. Of 24 without any warm-up that many do
/// in 2 of 100 benchmarks, of more launches in fewer, and few of those by more than the margin.
const MOST_LAUNCHES: f64 = 0.75;

/// The doubt that the first repetitions counted were still warming up: they differ from those
/// behind them, in most launches and by more than the margin.
pub(crate) fn doubt(
    benchmark: &Benchmark,
    samples: &Samples,
    candidate: ContenderId,
    margin: f64,
) -> Option<Warning> {
    if !benchmark.is_compiled_in_each_process() {
        return None;
    }
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

/// The first repetition of every launch of the two sides, as the logarithm of its ratio to the
/// median of those behind it.
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
    use deadheat_model::{BlockRecord, Contender, Harness, HarnessCalls, Sample, Workload};

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

    /// The doubt about replicates of three blocks, whose first repetition takes so much longer in
    /// this launch of all.
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
}
