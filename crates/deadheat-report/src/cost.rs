//! Converts changes to changes in cost, for which more is always worse. A change of a rate becomes
//! a change of the time per item, so that a column never mixes metrics for which more is better
//! with metrics for which less is better.

use deadheat_model::{AcrossHosts, Better, Comparison, Estimate, Interval, LogRatio, Metric, Unit};

/// Returns the head of a column of changes in these metrics.
pub(crate) fn change_head<'m>(metrics: impl Iterator<Item = &'m Metric>) -> &'static str {
    let (mut any, mut all_times) = (false, true);
    for metric in metrics {
        any |= metric.better() == Better::More;
        all_times &= metric.unit() == Unit::Nanoseconds || metric.unit().is_rate();
    }
    match (any, all_times) {
        (false, _) => "change",
        (true, true) => "change in time",
        (true, false) => "change in cost",
    }
}

/// Converts an estimate to a change in time or cost, as columns of changes show it: 14% fewer
/// operations per second are 16% more time for each operation.
pub(crate) fn in_cost(metric: &Metric, estimate: &Estimate) -> Estimate {
    Estimate {
        effect: effect_in_cost(metric, estimate.effect),
        interval: estimate.interval.map(|range| range_in_cost(metric, range)),
        ..*estimate
    }
}

pub(crate) fn effect_in_cost(metric: &Metric, effect: LogRatio) -> LogRatio {
    match metric.better() {
        Better::More => LogRatio(-effect.0),
        Better::Less | Better::Unknown => effect,
    }
}

fn range_in_cost(metric: &Metric, range: Interval) -> Interval {
    match metric.better() {
        Better::More => Interval {
            low: effect_in_cost(metric, range.high),
            high: effect_in_cost(metric, range.low),
            ..range
        },
        Better::Less | Better::Unknown => range,
    }
}

/// Returns the hosts of a comparison, with all changes as changes in cost; `None` if a single
/// machine raced.
pub(crate) fn hosts_in_cost(comparison: &Comparison) -> Option<AcrossHosts> {
    let metric = &comparison.terms.metric;
    let mut across = comparison.aspects.hosts.clone()?;
    across.next_host = across.next_host.map(|range| range_in_cost(metric, range));
    for kind in &mut across.kinds {
        kind.effect = effect_in_cost(metric, kind.effect);
        kind.interval = kind.interval.map(|range| range_in_cost(metric, range));
    }
    for host in &mut across.hosts {
        host.estimate = in_cost(metric, &host.estimate);
        if let Some(control) = &mut host.control {
            control.estimate = in_cost(metric, &control.estimate);
        }
    }
    Some(across)
}

pub(crate) fn cost_of(comparison: &Comparison) -> Option<Estimate> {
    let estimate = comparison.estimate.as_ref();
    estimate.map(|estimate| in_cost(&comparison.terms.metric, estimate))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate() -> Metric {
        Metric::foreign("ops/s", Unit::PerSecond, Better::More)
    }

    #[test]
    fn a_lower_rate_is_a_longer_time_and_its_interval_turns_with_it() {
        let estimate = Estimate {
            effect: LogRatio::from_change(-0.14),
            interval: Some(Interval {
                low: LogRatio::from_change(-0.2),
                high: LogRatio::from_change(-0.1),
                confidence: 0.95,
            }),
            p_value: None,
            replicates: 6,
            blocks: 6,
        };
        let cost = in_cost(&rate(), &estimate);
        let interval = cost.interval.unwrap();
        let changes = [cost.effect, interval.low, interval.high].map(LogRatio::change);
        for (found, wanted) in changes.into_iter().zip([1.0 / 0.86, 1.0 / 0.9, 1.0 / 0.8]) {
            assert!((found - (wanted - 1.0)).abs() < 1e-12, "{changes:?}");
        }
        assert_eq!(in_cost(&Metric::Wall, &estimate), estimate);
    }

    #[test]
    fn a_column_that_holds_a_rate_says_what_its_changes_are_of() {
        let head = |metrics: &[Metric]| change_head(metrics.iter());
        assert_eq!(head(&[Metric::Wall, Metric::PeakRss]), "change");
        assert_eq!(head(&[rate(), Metric::Wall]), "change in time");
        assert_eq!(head(&[rate(), Metric::PeakRss]), "change in cost");
    }
}
