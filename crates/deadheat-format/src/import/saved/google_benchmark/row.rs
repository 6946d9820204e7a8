//! One row of the JSON of Google Benchmark, as it stands there.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};

use crate::import::saved::json::Number;

/// Whether a row was measured or sums up others.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(super) enum RunType {
    Iteration,
    Aggregate,
}

/// What a row sums others up to; what comes later says more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Aggregate {
    /// A spread, a complexity, or a statistic of the user's own.
    Other,
    Mean,
    Median,
}

impl Aggregate {
    pub(super) fn name(self) -> &'static str {
        match self {
            Aggregate::Other => "other",
            Aggregate::Mean => "mean",
            Aggregate::Median => "median",
        }
    }
}

/// A row. What it measured beside the times are counters, under any name that
/// is not one of the others.
#[derive(Debug, Default)]
pub(super) struct Row {
    pub(super) name: String,
    pub(super) run_name: Option<String>,
    pub(super) run_type: Option<RunType>,
    pub(super) aggregate_name: Option<String>,
    pub(super) family_index: Option<u64>,
    pub(super) per_family_instance_index: Option<u64>,
    pub(super) threads: Option<u32>,
    pub(super) label: Option<String>,
    pub(super) error_occurred: bool,
    pub(super) error_message: Option<String>,
    pub(super) skipped: bool,
    pub(super) skip_message: Option<String>,
    pub(super) real_time: Option<Number>,
    pub(super) cpu_time: Option<Number>,
    pub(super) time_unit: Option<String>,
    pub(super) counters: Vec<(String, Number)>,
}

impl Row {
    /// What it sums up, if it does.
    pub(super) fn aggregate(&self) -> Option<Aggregate> {
        if self.run_type != Some(RunType::Aggregate) {
            return None;
        }
        Some(match self.aggregate_name.as_deref() {
            Some("mean") => Aggregate::Mean,
            Some("median") => Aggregate::Median,
            _ => Aggregate::Other,
        })
    }
}

impl<'de> Deserialize<'de> for Row {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Row;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a benchmark")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Row, M::Error> {
        let mut row = Row::default();
        let mut name = None;
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "name" => name = Some(map.next_value()?),
                "run_name" => row.run_name = map.next_value()?,
                "run_type" => row.run_type = map.next_value()?,
                "aggregate_name" => row.aggregate_name = map.next_value()?,
                "family_index" => row.family_index = map.next_value()?,
                "per_family_instance_index" => row.per_family_instance_index = map.next_value()?,
                "threads" => row.threads = map.next_value()?,
                "label" => row.label = map.next_value()?,
                "error_occurred" => row.error_occurred = map.next_value()?,
                "error_message" => row.error_message = map.next_value()?,
                "skipped" => row.skipped = map.next_value()?,
                "skip_message" => row.skip_message = map.next_value()?,
                "real_time" => row.real_time = Some(map.next_value()?),
                "cpu_time" => row.cpu_time = Some(map.next_value()?),
                "time_unit" => row.time_unit = map.next_value()?,
                "iterations" | "repetitions" | "repetition_index" | "aggregate_unit" => {
                    map.next_value::<IgnoredAny>()?;
                }
                _ => {
                    if let Counter(Some(value)) = map.next_value()? {
                        row.counters.push((key, value));
                    }
                }
            }
        }
        row.name = name.ok_or_else(|| serde::de::Error::missing_field("name"))?;
        Ok(row)
    }
}

/// The value of a field that nobody knows: a counter where it is a number.
struct Counter(Option<Number>);

impl<'de> Deserialize<'de> for Counter {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Any {
            Number(Number),
            Other(IgnoredAny),
        }
        Ok(match Any::deserialize(deserializer)? {
            Any::Number(number) => Counter(Some(number)),
            Any::Other(IgnoredAny) => Counter(None),
        })
    }
}
