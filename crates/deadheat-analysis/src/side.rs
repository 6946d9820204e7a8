//! One side of a comparison in a few plain figures.

use deadheat_model::{ContenderId, Metric, Samples, Side};
use deadheat_stats::summary::{max, mean, median_in_place, min, std_dev};

/// Values of one contender in one metric, per iteration.
pub(crate) fn values(samples: &Samples, metric: &Metric, contender: ContenderId) -> Vec<f64> {
    let Some(column) = samples.column(metric) else {
        return Vec::new();
    };
    column
        .iter()
        .zip(samples.samples())
        .filter(|(_, sample)| sample.contender == contender)
        .map(|(value, sample)| {
            if metric.adds_up() {
                value / sample.iterations as f64
            } else {
                *value
            }
        })
        .collect()
}

/// The summary of `values`, which are reordered; `None` when there are none.
pub(crate) fn side(name: &str, values: &mut [f64]) -> Option<Side> {
    Some(Side {
        name: name.to_owned(),
        mean: mean(values)?,
        min: min(values)?,
        max: max(values)?,
        std_dev: std_dev(values),
        samples: values.len(),
        median: median_in_place(values)?,
    })
}
