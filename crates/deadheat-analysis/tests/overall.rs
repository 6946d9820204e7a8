//! The change over all benchmarks of saved results, by hand.

mod common;

use common::{Block, run};
use deadheat_analysis::{Options, analyse};
use deadheat_model::{Overall, Population, ResultSide, ResultSource, Run};

/// Rows of one benchmark: side, file, ln of the value.
type Rows<'a> = &'a [(u8, u32, f64)];

/// Benchmarks of two sides of so many files each.
fn saved(files: [usize; 2], benchmarks: &[Rows<'_>]) -> Run {
    let of = |rows: &Rows<'_>| {
        let block = |(side, file, ln): &(u8, u32, f64)| (*file, vec![(*side, ln.exp())]);
        let blocks: Vec<Block> = rows.iter().map(block).collect();
        run(deadheat_model::Origin::UnpairedRecording, 2, &blocks)
    };
    let mut whole = of(&benchmarks[0]);
    for (index, rows) in benchmarks.iter().enumerate().skip(1) {
        let mut other = of(rows);
        let mut planned = other.header.plan.benchmarks.remove(0);
        planned.name = format!("b{index}");
        whole.header.plan.benchmarks.push(planned);
        whole.benchmarks.push(other.benchmarks.remove(0));
    }
    let side = |index: usize| ResultSide {
        name: format!("c{index}"),
        files: vec![ResultSource::default(); files[index]],
    };
    whole.sides = vec![side(0), side(1)];
    whole
}

fn overall(run: &Run) -> Vec<Overall> {
    analyse(run, Options::default()).overall
}

fn half(overall: &Overall) -> f64 {
    let interval = overall.estimate.interval.unwrap();
    assert_eq!(interval.confidence, 0.95);
    let (low, high) = (interval.low.0, interval.high.0);
    assert!((0.5 * (low + high) - overall.estimate.effect.0).abs() < 1e-12);
    0.5 * (high - low)
}

/// Twenty values a side, 1e-3 apart, and so much between the sides.
fn twenty(apart: f64) -> Vec<(u8, u32, f64)> {
    let side = |side: u8| {
        (0..20u32).map(move |i| (side, 0, f64::from(i) * 1e-3 + f64::from(side) * apart))
    };
    side(0).chain(side(1)).collect()
}

#[test]
fn the_mean_of_two_files_has_no_interval() {
    let (first, second) = (twenty(0.1), twenty(-0.02));
    let found = overall(&saved([1, 1], &[&first, &second])).remove(0);
    assert_eq!((found.candidate.as_str(), found.benchmarks), ("c1", 2));
    assert!((found.estimate.effect.0 - 0.04).abs() < 1e-12);
    assert!(found.estimate.interval.is_none());
}

#[test]
fn the_mean_of_pooled_files_is_judged_by_the_means_of_the_files() {
    // Over both benchmarks the old files have means of 0 and 0.02, the new ones of 0.1 and 0.12:
    // each error is 0.01, theirs together 0.01·√2, and of two degrees of freedom the quantile is
    // 4.302653.
    let first = [(0, 0, 0.0), (0, 1, 0.04), (1, 0, 0.1), (1, 1, 0.14)];
    let second = [(0, 0, 0.0), (0, 1, 0.0), (1, 0, 0.1), (1, 1, 0.1)];
    let run = saved([2, 2], &[&first, &second]);
    let found = &overall(&run)[0];
    assert!((found.estimate.effect.0 - 0.1).abs() < 1e-12);
    assert_eq!(found.estimate.replicates, 4);
    let expected = 4.302_652_729_911_275 * 0.01 * 2f64.sqrt();
    assert!((half(found) - expected).abs() < 1e-9, "{}", half(found));
}

#[test]
fn what_has_no_interval_leaves_the_mean_without_one() {
    let few = [(0, 0, 0.0), (1, 0, 0.2)];
    let found = overall(&saved([1, 1], &[&twenty(0.1), &few])).remove(0);
    assert!((found.estimate.effect.0 - 0.15).abs() < 1e-12);
    assert!(found.estimate.interval.is_none());
    // A file without one of the benchmarks, or one file against several.
    let whole = [(0, 0, 0.0), (0, 1, 0.04), (1, 0, 0.1), (1, 1, 0.14)];
    for (files, rows) in [
        ([2, 2], &[(0, 0, 0.0), (1, 0, 0.1), (1, 1, 0.1)][..]),
        ([1, 2], &[(0, 0, 0.0), (1, 0, 0.1), (1, 1, 0.1)][..]),
    ] {
        let found = overall(&saved(files, &[&whole, rows])).remove(0);
        assert!(found.estimate.interval.is_none(), "{files:?}");
    }
}

#[test]
fn files_without_any_scatter_leave_the_mean_without_an_interval() {
    let flat = [(0, 0, 0.0), (0, 1, 0.0), (1, 0, 0.1), (1, 1, 0.1)];
    let found = overall(&saved([2, 2], &[&flat, &flat])).remove(0);
    assert!((found.estimate.effect.0 - 0.1).abs() < 1e-12);
    assert!(found.estimate.interval.is_none());
}

#[test]
fn one_benchmark_has_no_mean() {
    assert!(overall(&saved([1, 1], &[&twenty(0.1)])).is_empty());
    let mut run = saved([1, 1], &[&twenty(0.1)]);
    run.sides.clear();
    assert!(overall(&run).is_empty());
}

#[test]
fn the_mean_of_a_race_takes_its_benchmarks_for_a_sample() {
    let mut run = saved([1, 1], &[&twenty(0.1), &twenty(0.2)]);
    assert_eq!(overall(&run)[0].population, Population::These);
    run.sides.clear();
    let found = overall(&run).remove(0);
    assert_eq!(
        (found.population, found.benchmarks),
        (Population::LikeThese, 2)
    );
    assert!((found.estimate.effect.0 - 0.15).abs() < 1e-9);
    // Student's t with one degree of freedom, 12.706, times sd/√2 = 0.05.
    let interval = found.estimate.interval.unwrap();
    assert!((interval.high.0 - interval.low.0 - 2.0 * 12.7062 * 0.05).abs() < 1e-4);
}
