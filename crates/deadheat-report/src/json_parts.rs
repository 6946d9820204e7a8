//! JSON parts that several documents share.

use deadheat_model::{Estimate, Interval, Json, LogRatio, Object};

use crate::units;

/// Returns a JSON list: the result of `one` for each item.
pub fn all<T>(items: &[T], one: impl FnMut(&T) -> Object) -> Json {
    items.iter().map(one).collect()
}

/// Returns a JSON list: the result of `one` for each item; `None` if `items` is empty.
pub(crate) fn some<T>(items: &[T], one: impl FnMut(&T) -> Object) -> Option<Json> {
    (!items.is_empty()).then(|| all(items, one))
}

pub(crate) fn estimated(object: Object, estimate: &Estimate) -> Object {
    let interval = estimate.interval.as_ref();
    object
        .with("change", change(estimate))
        .with("ci", interval.map(ends))
        .with("confidence", interval.map(|interval| interval.confidence))
}

pub(crate) fn change(estimate: &Estimate) -> f64 {
    estimate.effect.change()
}

/// Returns the ends of an interval as relative changes.
pub fn ends(interval: &Interval) -> Json {
    Json::from_iter(units::ends(interval))
}

/// Converts a log-ratio, or the standard deviation of log-ratios, to a relative change: e^x − 1.
pub(crate) fn relative(log_ratio: f64) -> f64 {
    LogRatio(log_ratio).change()
}
