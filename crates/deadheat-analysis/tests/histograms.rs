//! Wall times counted by size.

mod common;

use common::{Block, run};
use deadheat_model::{ContenderHistogram, HistogramUnit, Histograms, Origin, Run};

/// A block of each pair of times.
fn paired(times: &[(f64, f64)]) -> Run {
    let block = |(index, (base, other)): (usize, &(f64, f64))| -> Block {
        (index as u32, vec![(0, *base), (1, *other)])
    };
    let blocks: Vec<Block> = times.iter().enumerate().map(block).collect();
    run(Origin::PairedRecording, 2, &blocks)
}

fn histograms(run: &Run) -> Histograms<Vec<ContenderHistogram>> {
    let Histograms {
        unit,
        significant_digits,
        highest,
        contenders,
    } = deadheat_analysis::histograms(run);
    Histograms {
        unit,
        significant_digits,
        highest,
        contenders: contenders.collect(),
    }
}

#[test]
fn every_sample_is_counted_once_with_its_contender() {
    let found = histograms(&paired(&[(2_000.0, 2_500.0), (2_000.0, 1_000.0)]));
    assert_eq!(found.unit, HistogramUnit::Nanoseconds);
    assert_eq!((found.significant_digits, found.highest), (3, 2_500));
    let [base, other] = &found.contenders[..] else {
        panic!("{found:?}");
    };
    assert_eq!(
        (base.benchmark, base.contender.0, base.largest),
        (0, 0, 2_000)
    );
    assert_eq!((base.counts.len(), base.counts[2_000]), (2_001, 2));
    assert_eq!((other.contender.0, other.largest), (1, 2_500));
    // From 2,048 on two values share a bucket.
    assert_eq!(other.counts.len(), 2_048 + (2_500 - 2_048) / 2 + 1);
    assert_eq!(other.counts.iter().sum::<u64>(), 2);
}

#[test]
fn times_below_a_microsecond_make_all_of_the_run_picoseconds() {
    let found = histograms(&paired(&[(0.25, 5_000.0), (0.0, 3.0)]));
    assert_eq!(found.unit, HistogramUnit::Picoseconds);
    assert_eq!(found.highest, 5_000_000);
    let base = &found.contenders[0];
    assert_eq!((base.counts[0], base.counts[250]), (1, 1));
    assert_eq!(found.contenders[1].largest, 5_000_000);
    // A time of zero has no digits to lose.
    let whole = histograms(&paired(&[(0.0, 5_000.0)]));
    assert_eq!(whole.unit, HistogramUnit::Nanoseconds);
}

#[test]
fn times_beyond_all_counting_count_as_the_largest() {
    let found = histograms(&paired(&[(0.5, 1e300)]));
    assert_eq!(found.unit, HistogramUnit::Nanoseconds);
    assert_eq!(found.highest, 1 << 62);
    assert_eq!(found.contenders[1].largest, 1 << 62);
    assert_eq!(found.contenders[1].counts.last(), Some(&1));
}

#[test]
fn times_are_per_iteration() {
    let mut one = paired(&[]);
    let mut samples = deadheat_model::Samples::new(one.header.metrics.clone());
    let from = paired(&[(8_000.0, 1.0)]);
    let mut record = deadheat_model::BlockRecord {
        samples: from.benchmarks[0].samples()[..1].to_vec(),
        values: vec![8_000.0],
        ..deadheat_model::BlockRecord::default()
    };
    record.samples[0].iterations = 4;
    samples.push(&record).unwrap();
    one.benchmarks[0] = samples;
    let found = histograms(&one);
    assert_eq!(found.contenders.len(), 1, "who never ran has no histogram");
    assert_eq!(found.contenders[0].largest, 2_000);
}

#[test]
fn a_run_without_samples_has_no_histograms_and_still_a_shape() {
    let found = histograms(&paired(&[]));
    assert_eq!((found.highest, found.contenders.len()), (2, 0));
}
