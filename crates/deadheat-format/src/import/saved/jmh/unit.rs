//! Units of JMH.

use deadheat_model::{Better, Metric, Unit};

/// Seconds in one of JMH's units of time.
fn seconds(unit: &str) -> Option<f64> {
    Some(match unit {
        "ns" => 1e-9,
        "us" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        "min" => 60.0,
        "hr" => 3_600.0,
        "day" => 86_400.0,
        _ => return None,
    })
}

/// Nanoseconds in one of JMH's units of time, without a rounded factor.
fn nanoseconds(unit: &str) -> Option<f64> {
    match unit {
        "ns" => Some(1.0),
        "us" => Some(1e3),
        "ms" => Some(1e6),
        unit => Some(seconds(unit)? * 1e9),
    }
}

/// How often in a second, for once in one of JMH's units of time.
fn per_second(unit: &str) -> Option<f64> {
    match unit {
        "ns" => Some(1e9),
        "us" => Some(1e6),
        "ms" => Some(1e3),
        unit => Some(1.0 / seconds(unit)?),
    }
}

/// What a primary metric of this unit is, and the factor to deadheat's unit.
pub(super) fn judged(unit: &str) -> Option<(Metric, f64)> {
    match unit.split_once('/')? {
        ("ops", time) => Some((
            Metric::foreign("ops/s", Unit::PerSecond, Better::More),
            per_second(time)?,
        )),
        (time, "op") => Some((Metric::Wall, nanoseconds(time)?)),
        _ => None,
    }
}

/// The same of a secondary metric. Before JMH 1.30 their names began with a
/// dot in the middle of the line.
pub(super) fn counted(name: &str, unit: &str) -> (Metric, f64) {
    let name = name.trim_start_matches('·');
    let own = |unit, better| Metric::foreign(name, unit, better);
    match (name, unit) {
        ("gc.alloc.rate.norm", "B/op") => return (Metric::AllocatedBytes, 1.0),
        (_, "B/op") => return (own(Unit::Bytes, Better::Less), 1.0),
        (_, "#/op") => return (own(Unit::Count, Better::Less), 1.0),
        // The profiler divides by 1024 twice.
        (_, "MB/sec") => {
            let mebibyte = 1_048_576.0;
            return (own(Unit::BytesPerSecond, Better::Unknown), mebibyte);
        }
        ("gc.count", _) => return (own(Unit::Count, Better::Less), 1.0),
        _ => {}
    }
    if let Some((metric, factor)) = judged(unit) {
        let better = metric.better();
        return (own(metric.unit(), better), factor);
    }
    match nanoseconds(unit) {
        Some(factor) => (own(Unit::Nanoseconds, Better::Less), factor),
        None if matches!(unit, "" | "#" | "counts" | "---") => {
            (own(Unit::Count, Better::Unknown), 1.0)
        }
        // A unit of which nothing is known becomes part of the name.
        None => {
            let name = format!("{name} ({unit})");
            (Metric::foreign(name, Unit::Count, Better::Unknown), 1.0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_unit_of_time_is_known() {
        for (unit, factor) in [
            ("ns", 1e9),
            ("us", 1e6),
            ("ms", 1e3),
            ("s", 1.0),
            ("min", 1.0 / 60.0),
        ] {
            let (metric, per_second) = judged(&format!("ops/{unit}")).unwrap();
            assert_eq!((metric.name(), per_second), ("ops/s", factor));
        }
        for (unit, factor) in [
            ("ns", 1.0),
            ("us", 1e3),
            ("ms", 1e6),
            ("s", 1e9),
            ("day", 86_400e9),
        ] {
            assert_eq!(judged(&format!("{unit}/op")), Some((Metric::Wall, factor)));
        }
        for unit in ["", "ns", "ops/", "/op", "ops/week", "B/op", "ops/op"] {
            assert_eq!(judged(unit), None, "{unit}");
        }
    }

    #[test]
    fn a_secondary_metric_says_which_way_it_improves() {
        for (name, unit, expected, better, factor) in [
            (
                "·gc.alloc.rate",
                "MB/sec",
                Unit::BytesPerSecond,
                Better::Unknown,
                1_048_576.0,
            ),
            ("gc.time", "ms", Unit::Nanoseconds, Better::Less, 1e6),
            ("gc.count", "counts", Unit::Count, Better::Less, 1.0),
            ("instructions", "#/op", Unit::Count, Better::Less, 1.0),
            ("IPC", "insns/clk", Unit::Count, Better::Unknown, 1.0),
            ("pages", "ops/ms", Unit::PerSecond, Better::More, 1e3),
            ("take", "us/op", Unit::Nanoseconds, Better::Less, 1e3),
        ] {
            let (metric, scale) = counted(name, unit);
            assert_eq!(
                (metric.unit(), metric.better(), scale),
                (expected, better, factor),
                "{name}"
            );
            assert!(metric.name().starts_with(name.trim_start_matches('·')));
        }
        let allocated = counted("·gc.alloc.rate.norm", "B/op");
        assert_eq!(allocated, (Metric::AllocatedBytes, 1.0));
    }
}
