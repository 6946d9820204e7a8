//! Rows of the JSON of Google Benchmark, in its order of fields.

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value};

/// The whole file.
#[derive(serde::Serialize)]
pub(super) struct Report {
    pub(super) context: Context,
    pub(super) benchmarks: Vec<Row>,
}

#[derive(serde::Serialize)]
pub(super) struct Context {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) date: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) num_cpus: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cpu_scaling_enabled: Option<bool>,
    /// Readers expect the list; nobody looked at the caches.
    pub(super) caches: [(); 0],
    pub(super) library_version: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) library_build_type: Option<&'static str>,
    /// A note of ours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cpu_time: Option<&'static str>,
    pub(super) json_schema_version: u32,
}

/// One object of `benchmarks`.
pub(super) struct Row {
    pub(super) name: String,
    pub(super) family_index: usize,
    pub(super) per_family_instance_index: usize,
    pub(super) run_name: String,
    pub(super) threads: u32,
    pub(super) label: Option<String>,
    pub(super) kind: RowKind,
}

pub(super) enum RowKind {
    /// A sample.
    Iteration {
        repetitions: usize,
        at: usize,
        repetition: Repetition,
    },
    /// A statistic of all of them.
    Aggregate {
        repetitions: usize,
        aggregate: Aggregate,
    },
    /// Nothing but what went wrong.
    Error(String),
}

/// A sample: nanoseconds per iteration, and counters as they are.
#[derive(Debug)]
pub(super) struct Repetition {
    pub(super) iterations: u64,
    pub(super) real_time: f64,
    pub(super) cpu_time: f64,
    pub(super) counters: Map<String, Value>,
}

/// A statistic of both times.
#[derive(Debug, PartialEq)]
pub(super) struct Aggregate {
    pub(super) name: &'static str,
    unit: &'static str,
    real_time: f64,
    cpu_time: f64,
}

impl Row {
    /// Whether a row has a field of this name, so that no counter can.
    pub(super) fn is_field(name: &str) -> bool {
        matches!(
            name,
            "name"
                | "family_index"
                | "per_family_instance_index"
                | "run_name"
                | "run_type"
                | "repetitions"
                | "repetition_index"
                | "threads"
                | "aggregate_name"
                | "aggregate_unit"
                | "error_occurred"
                | "error_message"
                | "skipped"
                | "skip_message"
                | "iterations"
                | "real_time"
                | "cpu_time"
                | "time_unit"
                | "label"
        )
    }
}

impl Serialize for Row {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("name", &self.name)?;
        map.serialize_entry("family_index", &self.family_index)?;
        map.serialize_entry("per_family_instance_index", &self.per_family_instance_index)?;
        map.serialize_entry("run_name", &self.run_name)?;
        let (run_type, repetitions, at) = match &self.kind {
            RowKind::Iteration {
                repetitions, at, ..
            } => ("iteration", *repetitions, Some(*at)),
            RowKind::Aggregate { repetitions, .. } => ("aggregate", *repetitions, None),
            RowKind::Error(_) => ("iteration", 1, Some(0)),
        };
        map.serialize_entry("run_type", run_type)?;
        map.serialize_entry("repetitions", &repetitions)?;
        if let Some(at) = at {
            map.serialize_entry("repetition_index", &at)?;
        }
        map.serialize_entry("threads", &self.threads)?;
        let (iterations, real_time, cpu_time) = match &self.kind {
            RowKind::Iteration { repetition, .. } => (
                repetition.iterations,
                repetition.real_time,
                repetition.cpu_time,
            ),
            RowKind::Aggregate { aggregate, .. } => {
                map.serialize_entry("aggregate_name", aggregate.name)?;
                map.serialize_entry("aggregate_unit", aggregate.unit)?;
                (repetitions as u64, aggregate.real_time, aggregate.cpu_time)
            }
            RowKind::Error(message) => {
                map.serialize_entry("error_occurred", &true)?;
                map.serialize_entry("error_message", message)?;
                (0, 0.0, 0.0)
            }
        };
        map.serialize_entry("iterations", &iterations)?;
        map.serialize_entry("real_time", &real_time)?;
        map.serialize_entry("cpu_time", &cpu_time)?;
        map.serialize_entry("time_unit", "ns")?;
        if let RowKind::Iteration { repetition, .. } = &self.kind {
            for (name, value) in &repetition.counters {
                map.serialize_entry(name, value)?;
            }
        }
        if let Some(label) = &self.label {
            map.serialize_entry("label", label)?;
        }
        map.end()
    }
}

/// What Google Benchmark makes of more than one repetition.
pub(super) fn aggregates(repetitions: &[Repetition]) -> Vec<Aggregate> {
    if repetitions.len() < 2 {
        return Vec::new();
    }
    let real = Statistics::of(repetitions.iter().map(|repetition| repetition.real_time));
    let cpu = Statistics::of(repetitions.iter().map(|repetition| repetition.cpu_time));
    let aggregate = |name, unit, of: fn(&Statistics) -> f64| Aggregate {
        name,
        unit,
        real_time: of(&real),
        cpu_time: of(&cpu),
    };
    let mut all = vec![
        aggregate("mean", "time", |of| of.mean),
        aggregate("median", "time", |of| of.median),
        aggregate("stddev", "time", |of| of.deviation),
        aggregate("cv", "percentage", Statistics::variation),
    ];
    // Sums of times beyond all reason, which only a recording has, overflow.
    all.retain(|aggregate| aggregate.real_time.is_finite() && aggregate.cpu_time.is_finite());
    all
}

struct Statistics {
    mean: f64,
    median: f64,
    deviation: f64,
}

impl Statistics {
    /// Of at least two values.
    fn of(values: impl Iterator<Item = f64>) -> Statistics {
        let mut values: Vec<f64> = values.collect();
        values.sort_by(f64::total_cmp);
        let count = values.len();
        let mean = values.iter().sum::<f64>() / count as f64;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Statistics {
            mean,
            median: f64::midpoint(values[(count - 1) / 2], values[count / 2]),
            deviation: (squares / (count - 1) as f64).sqrt(),
        }
    }

    /// The coefficient of variation; none of what takes no time.
    fn variation(&self) -> f64 {
        match self.mean {
            0.0 => 0.0,
            mean => self.deviation / mean,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repetition(real_time: f64) -> Repetition {
        Repetition {
            iterations: 1,
            real_time,
            cpu_time: 0.0,
            counters: Map::new(),
        }
    }

    #[test]
    fn aggregates_are_those_of_a_sample() {
        let all = aggregates(&[1.0, 2.0, 6.0].map(repetition));
        let real: Vec<f64> = all.iter().map(|aggregate| aggregate.real_time).collect();
        let deviation = 7f64.sqrt();
        assert_eq!(real, [3.0, 2.0, deviation, deviation / 3.0]);
        assert!(all.iter().all(|aggregate| aggregate.cpu_time == 0.0));
    }

    #[test]
    fn a_sum_that_overflows_is_left_out() {
        let all = aggregates(&[1e308, 1.2e308].map(repetition));
        let names: Vec<&str> = all.iter().map(|aggregate| aggregate.name).collect();
        assert_eq!(names, ["median"]);
    }

    #[test]
    fn one_repetition_has_no_aggregates() {
        assert_eq!(aggregates(&[repetition(1.0)]), []);
    }
}
