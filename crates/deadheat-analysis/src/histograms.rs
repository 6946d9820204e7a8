//! A run → histograms of its wall times.

use deadheat_model::{
    ContenderHistogram, ContenderId, HistogramUnit, Histograms, Metric, Run, Samples,
};
use deadheat_stats::Histogram;

use crate::side::Members;

/// Significant decimal digits kept; the custom among histogram logs.
const DIGITS: u8 = 3;

/// Below so many nanoseconds three digits need a finer unit.
const FINE_BELOW_NS: f64 = 1_000.0;

/// Larger values count as this one: readers take them for signed, and the
/// bounds of their buckets must be so as well.
const MOST: u64 = 1 << 62;

/// The wall times per iteration of every contender that ran, one count per
/// sample, to three significant digits, without controls. Empty when no wall
/// time was recorded.
///
/// The unit is the nanosecond, unless a time above zero lies below a
/// microsecond: whole nanoseconds would not keep its digits, so then all
/// values of the run are picoseconds. Only a run that also holds times of 53
/// days and more, which picoseconds could not count, stays with nanoseconds.
pub fn histograms(run: &Run) -> Histograms {
    let mut all: Vec<(usize, ContenderId, Vec<f64>)> = Vec::new();
    let plans = &run.header.plan.benchmarks;
    for (benchmark, (plan, samples)) in plans.iter().zip(&run.benchmarks).enumerate() {
        for (contender, times) in wall_times(samples, plan.rivals()) {
            all.push((benchmark, contender, times));
        }
    }
    let times = || all.iter().flat_map(|(_, _, times)| times.iter().copied());
    let smallest = times().filter(|ns| *ns > 0.0).fold(f64::INFINITY, f64::min);
    let largest = times().fold(0.0, f64::max);
    let fine = smallest < FINE_BELOW_NS && largest < MOST as f64 / 1e3;
    let (unit, per_ns) = match fine {
        true => (HistogramUnit::Picoseconds, 1e3),
        false => (HistogramUnit::Nanoseconds, 1.0),
    };
    // The cast saturates.
    let steps = |ns: f64| ((ns * per_ns).round() as u64).min(MOST);
    let highest = steps(largest).max(2);
    let count = |(benchmark, contender, times): (usize, ContenderId, Vec<f64>)| {
        let mut histogram = Histogram::new(highest, DIGITS).ok()?;
        let mut largest = 0;
        for ns in times {
            histogram.record(steps(ns));
            largest = largest.max(steps(ns));
        }
        Some(ContenderHistogram {
            benchmark,
            contender,
            largest,
            counts: histogram.counts().to_vec(),
        })
    };
    Histograms {
        unit,
        significant_digits: DIGITS,
        highest,
        contenders: all.into_iter().filter_map(count).collect(),
    }
}

/// Nanoseconds per iteration of every contender that ran.
fn wall_times(
    samples: &Samples,
    contenders: usize,
) -> impl Iterator<Item = (ContenderId, Vec<f64>)> {
    let members = Members::of(samples, contenders);
    (0..contenders).filter_map(move |index| {
        let contender = ContenderId(index as u8);
        let times = members.values(samples, &Metric::Wall, contender);
        (!times.is_empty()).then_some((contender, times))
    })
}
