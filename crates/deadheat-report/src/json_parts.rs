//! The parts that several JSON documents share.

use deadheat_model::{Estimate, Interval, Json, LogRatio, Object};

use crate::units;

/// A list of objects.
pub fn all<T>(items: &[T], one: impl FnMut(&T) -> Object) -> Json {
    items.iter().map(one).collect()
}

/// A list of objects; `None` without any.
pub(crate) fn some<T>(items: &[T], one: impl FnMut(&T) -> Object) -> Option<Json> {
    (!items.is_empty()).then(|| all(items, one))
}

/// Adds the change, its interval and the confidence level of the interval to an object.
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

/// The ends of an interval, as relative changes.
pub fn ends(interval: &Interval) -> Json {
    Json::from_iter(units::ends(interval))
}

/// A standard deviation, or another logarithm, as a relative change.
pub(crate) fn relative(log_ratio: f64) -> f64 {
    LogRatio(log_ratio).change()
}
