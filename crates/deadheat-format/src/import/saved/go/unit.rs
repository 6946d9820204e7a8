//! Units of Go's benchmark format, and what lines that begin with `Unit` say of
//! them.

use std::collections::HashMap;

use deadheat_model::{Better, Metric, Unit};

/// Directions that a file declares: `Unit hits/op better=higher`.
#[derive(Debug, Default)]
pub(super) struct Directions(HashMap<String, Better>);

impl Directions {
    /// Takes in what follows the word `Unit`. Of two declarations of a unit the
    /// first counts, and what is no `better=…` says nothing of its direction.
    pub(super) fn declare(&mut self, line: &str) {
        let mut fields = line.split_whitespace();
        let Some(unit) = fields.next() else { return };
        let better = fields.find_map(|field| match field {
            "better=higher" => Some(Better::More),
            "better=lower" => Some(Better::Less),
            _ => None,
        });
        if let Some(better) = better {
            self.0.entry(tidy(unit).0).or_insert(better);
        }
    }

    /// The metric of a unit, and the factor to deadheat's unit. Rates are
    /// better when they are higher; of other units only a declaration tells.
    pub(super) fn metric(&self, unit: &str) -> (Metric, f64) {
        if let Some(factor) = time(unit) {
            return (Metric::Wall, factor);
        }
        let (name, factor) = tidy(unit);
        let metric = match name.as_str() {
            "B/op" => Metric::AllocatedBytes,
            "allocs/op" => Metric::Allocations,
            _ => {
                let rate = name.ends_with("/s");
                let default = if rate { Better::More } else { Better::Unknown };
                let better = self.0.get(&name).copied().unwrap_or(default);
                let unit = dimension(&name);
                Metric::foreign(name, unit, better)
            }
        };
        (metric, factor)
    }
}

/// Nanoseconds in the unit, where it is that of the time of an iteration.
pub(super) fn time(unit: &str) -> Option<f64> {
    match unit {
        "ns/op" => Some(1.0),
        // What programs write that bring units to their base.
        "sec/op" => Some(1e9),
        _ => None,
    }
}

/// Megabytes become bytes, in name and value.
fn tidy(unit: &str) -> (String, f64) {
    match unit.strip_prefix("MB") {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => (format!("B{rest}"), 1e6),
        _ => (unit.to_owned(), 1.0),
    }
}

/// What the name of a unit tells: its last word before the `/op`.
fn dimension(name: &str) -> Unit {
    if name == "B/s" {
        return Unit::BytesPerSecond;
    }
    if name.ends_with("/s") {
        return Unit::PerSecond;
    }
    let total = name.strip_suffix("/op").unwrap_or(name);
    match total.rsplit('-').next() {
        Some("ns") => Unit::Nanoseconds,
        Some("B" | "bytes") => Unit::Bytes,
        _ => Unit::Count,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn foreign(name: &str, unit: Unit, better: Better) -> Metric {
        Metric::foreign(name, unit, better)
    }

    #[test]
    fn units_become_metrics() {
        let told = Directions::default();
        let none = Better::Unknown;
        for (unit, metric, factor) in [
            ("ns/op", Metric::Wall, 1.0),
            ("sec/op", Metric::Wall, 1e9),
            ("B/op", Metric::AllocatedBytes, 1.0),
            ("MB/op", Metric::AllocatedBytes, 1e6),
            ("allocs/op", Metric::Allocations, 1.0),
            (
                "MB/s",
                foreign("B/s", Unit::BytesPerSecond, Better::More),
                1e6,
            ),
            (
                "hits/s",
                foreign("hits/s", Unit::PerSecond, Better::More),
                1.0,
            ),
            (
                "p99-ns/op",
                foreign("p99-ns/op", Unit::Nanoseconds, none),
                1.0,
            ),
            (
                "peak-RSS-bytes",
                foreign("peak-RSS-bytes", Unit::Bytes, none),
                1.0,
            ),
            ("MBps", foreign("MBps", Unit::Count, none), 1.0),
            ("hits/op", foreign("hits/op", Unit::Count, none), 1.0),
        ] {
            assert_eq!(told.metric(unit), (metric, factor), "{unit}");
        }
    }

    #[test]
    fn a_declared_direction_counts_and_the_first_one_stays() {
        let mut told = Directions::default();
        told.declare(" hits/op assume=exact better=higher");
        told.declare(" hits/op better=lower");
        told.declare(" MB/s better=lower");
        told.declare(" misses/s better=sideways");
        told.declare("");
        let better = |unit| told.metric(unit).0.better();
        assert_eq!(better("hits/op"), Better::More);
        assert_eq!(better("B/s"), Better::Less);
        assert_eq!(better("misses/s"), Better::More);
    }
}
