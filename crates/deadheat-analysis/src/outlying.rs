//! Outliers among files: a file of saved results whose values are far from those of the other files
//! of its side, in nearly every benchmark.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use deadheat_model::{Comparison, ContenderId, Interval, LogRatio, Metric, Run, Samples, Verdict};
use deadheat_stats::summary::{mean, median, scaled_mad};

use crate::effects::verdict_of;

/// The smallest number of files of a side among which an outlier can be found.
const FEWEST_FILES: usize = 5;
/// The distance of an outlier from the median of the other files in its row is larger than this
/// many scaled median absolute deviations of those files.
const FAR: f64 = 10.0;
/// The smallest distance of an outlier from the other files, as a log-ratio. On a quiet machine
/// files scatter by so little that 1 % would exceed [`FAR`].
const LEAST: f64 = 0.05;
/// Share of the rows of a side in which a file must be an outlier.
const MOST_ROWS: f64 = 0.75;

/// A file of saved results that is an outlier in nearly every row of its side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OutlyingFile {
    /// The index in the run of the side that the file belongs to.
    pub side: usize,
    /// The index of the file on its side.
    pub file: usize,
    /// The number of rows in which the file is an outlier.
    pub rows: usize,
    /// The number of rows of the file's side that have enough files.
    pub of: usize,
    /// The distance of the file from the other files: the median over the rows in which it is an
    /// outlier.
    pub distance: LogRatio,
}

/// Finds the only outlier among the files of saved results. `None` if there are several, because
/// then the cause is not one failed recording.
pub fn outlying_file<'s>(
    run: &Run,
    samples: &dyn Fn(usize) -> Cow<'s, Samples>,
) -> Option<OutlyingFile> {
    let mut rows: HashMap<usize, usize> = HashMap::new();
    let mut apart: BTreeMap<(usize, usize), Vec<f64>> = BTreeMap::new();
    for (index, benchmark) in run.header.plan.benchmarks.iter().enumerate() {
        let samples = samples(index);
        for (place, contender) in benchmark.contenders.iter().enumerate() {
            let side = run
                .sides
                .iter()
                .position(|side| side.name == contender.name);
            let Some(side) = side.filter(|side| run.sides[*side].files.len() >= FEWEST_FILES)
            else {
                continue;
            };
            let judged = run.header.plan.judged(index);
            let files = locations(&samples, judged, ContenderId(place as u8));
            if files.len() < FEWEST_FILES {
                continue;
            }
            *rows.entry(side).or_default() += 1;
            for (file, distance) in far_apart(&files) {
                apart.entry((side, file)).or_default().push(distance);
            }
        }
    }
    let is_often = |(side, _): &(usize, usize), in_rows: usize| {
        in_rows as f64 >= MOST_ROWS * rows[side] as f64
    };
    let mut found = apart
        .into_iter()
        .filter(|(place, distances)| is_often(place, distances.len()));
    let ((side, file), distances) = found.next()?;
    if found.next().is_some() {
        return None;
    }
    Some(OutlyingFile {
        side,
        file,
        rows: distances.len(),
        of: rows[&side],
        distance: LogRatio(median(&distances)?),
    })
}

/// Counts the rows that are faster, slower, equivalent and inconclusive, in this order. A row
/// without a verdict counts by its interval; without an interval it counts as inconclusive. The
/// counts are shown in a note and decide nothing.
pub fn verdicts_of_intervals(comparisons: &[Comparison]) -> [usize; 4] {
    let verdict = |one: &Comparison| {
        let interval = || one.estimate.as_ref()?.interval;
        let of_interval = |found: Interval| {
            let ends = (found.low.0, found.high.0);
            verdict_of(one.terms.metric.better(), ends, one.terms.margin)
        };
        one.verdict.or_else(|| interval().map(of_interval))
    };
    let mut counts = [0; 4];
    for one in comparisons {
        counts[match verdict(one) {
            Some(Verdict::Faster) => 0,
            Some(Verdict::Slower) => 1,
            Some(Verdict::Equivalent) => 2,
            Some(Verdict::Inconclusive) | None => 3,
        }] += 1;
    }
    counts
}

/// Returns the mean logarithm of each file of a contender, with the number of the file.
fn locations(samples: &Samples, metric: &Metric, contender: ContenderId) -> Vec<(usize, f64)> {
    let Some(column) = samples.column(metric) else {
        return Vec::new();
    };
    let mut files: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    for block in samples.blocks() {
        for at in block.range() {
            let sample = &samples.samples()[at];
            if sample.contender == contender && column[at] > 0.0 {
                let each = if metric.adds_up() {
                    column[at] / sample.iterations as f64
                } else {
                    column[at]
                };
                files
                    .entry(block.replicate as usize)
                    .or_default()
                    .push(each.ln());
            }
        }
    }
    let located = files.into_iter();
    located
        .filter_map(|(file, logs)| Some((file, mean(&logs)?)))
        .collect()
}

/// If a side has more files than this, each file is compared with the median and the scatter of all
/// files, which one file hardly changes. Computing them without the file, for each of 20,000 files,
/// took minutes.
const MANY_FILES: usize = 200;

/// Returns the files that are outliers in one row, with their distance from the others as a
/// log-ratio.
fn far_apart(files: &[(usize, f64)]) -> Vec<(usize, f64)> {
    let scatter = |without: Option<usize>| {
        let others = files.iter().filter(|(other, _)| Some(*other) != without);
        let others: Vec<f64> = others.map(|(_, at)| *at).collect();
        Some((median(&others)?, scaled_mad(&others)?))
    };
    let all = (files.len() > MANY_FILES).then(|| scatter(None));
    let distance = |&(file, at): &(usize, f64)| {
        let (middle, scale) = all.unwrap_or_else(|| scatter(Some(file)))?;
        let distance = at - middle;
        (distance.abs() > (FAR * scale).max(LEAST)).then_some((file, distance))
    };
    files.iter().filter_map(distance).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbered(at: [f64; 6]) -> Vec<(usize, f64)> {
        at.into_iter().enumerate().collect()
    }

    #[test]
    fn a_file_is_far_apart_by_the_scatter_of_the_others_and_by_five_percent_at_least() {
        let quiet = numbered([0.0, 0.001, -0.001, 0.002, -0.7, 0.0]);
        assert_eq!(far_apart(&quiet).len(), 1);
        assert_eq!(far_apart(&quiet)[0].0, 4);
        let little = numbered([0.0, 0.001, -0.001, 0.002, -0.03, 0.0]);
        assert_eq!(far_apart(&little), []);
        let noisy = numbered([0.0, 0.2, -0.2, 0.1, -0.7, -0.1]);
        assert_eq!(far_apart(&noisy), []);
    }

    #[test]
    fn one_of_very_many_files_is_far_apart() {
        let at = |file: usize| {
            if file == 7 {
                -0.7
            } else {
                0.001 * (file % 5) as f64
            }
        };
        let files: Vec<(usize, f64)> = (0..100_000).map(|file| (file, at(file))).collect();
        let found: Vec<usize> = far_apart(&files).iter().map(|(file, _)| *file).collect();
        assert_eq!(found, [7]);
    }
}
