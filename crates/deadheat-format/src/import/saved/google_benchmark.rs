//! The JSON of Google Benchmark, of all releases so far.

use std::collections::{HashMap, HashSet};
use std::fmt;

use deadheat_model::{Better, Metric, ResultBenchmark, ResultState, Results, Unit};
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};

use super::json::{Number, from_json};
use super::rows::{Rows, summarised, tool};
use crate::error::FileProblem;

/// The version of the JSON that is known. Files before it had one say nothing.
const SCHEMA_VERSION: i64 = 1;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Context {
    date: Option<String>,
    host_name: Option<String>,
    num_cpus: Option<u32>,
    cpu_scaling_enabled: Option<bool>,
    library_version: Option<String>,
    library_build_type: Option<String>,
    json_schema_version: Option<i64>,
}

#[derive(Debug, Deserialize)]
struct Wire {
    #[serde(default)]
    context: Context,
    benchmarks: Vec<Row>,
}

/// Reads a file.
pub(super) fn read(text: &[u8]) -> Result<Results, FileProblem> {
    let Wire {
        context,
        benchmarks: rows,
    } = from_json(text)?;
    if let Some(version) = context.json_schema_version.filter(|v| *v != SCHEMA_VERSION) {
        let problem = format!("version {version} is not known; deadheat reads {SCHEMA_VERSION}");
        return Err(FileProblem::at("context.json_schema_version", problem));
    }
    let version = context.library_version.as_deref().unwrap_or_default();
    let version = Some(version.trim_start_matches('v'))
        // None, or not its own: other programs, this one too, write the format.
        .filter(|version| version.starts_with(|c: char| c.is_ascii_digit()));
    let tool = tool("Google Benchmark", version);
    let mut results = Results::new("", tool);
    results.facts.host = context.host_name;
    results.facts.cores = context.num_cpus;
    results.facts.date = context.date;
    results.facts.cpu_scaling = context.cpu_scaling_enabled;
    results.facts.debug_build = context.library_build_type.map(|build| build == "debug");
    let mut families = Families::default();
    let old_summaries = OldSummaries::of(&rows);
    for (index, mut row) in rows.into_iter().enumerate() {
        old_summaries.mark(&mut row);
        let place = format!("benchmarks[{index}].");
        let taken = families.take(row);
        taken.map_err(|problem| problem.within(&place, ""))?;
    }
    for benchmark in families.benchmarks {
        results.push(benchmark.done());
    }
    Ok(results)
}

/// Releases before 1.5 did not say which rows are summaries: they are known by how their names end,
/// where the rows they sum up are there, or the mean beside the standard deviation.
struct OldSummaries {
    names: HashSet<String>,
}

impl OldSummaries {
    fn of(rows: &[Row]) -> Self {
        let old = rows.iter().any(|row| row.run_type.is_none());
        let names = rows.iter().filter(|_| old).map(|row| row.name.clone());
        Self {
            names: names.collect(),
        }
    }

    fn mark(&self, row: &mut Row) {
        if row.run_type.is_some() {
            return;
        }
        let Some((base, statistic)) = row.name.rsplit_once('_') else {
            return;
        };
        let named = |statistic: &str| self.names.contains(&format!("{base}_{statistic}"));
        let summed = self.names.contains(base) || (named("mean") && named("stddev"));
        let known = ["mean", "median", "stddev", "cv", "BigO", "RMS"];
        if known.contains(&statistic) && (summed || matches!(statistic, "BigO" | "RMS")) {
            row.run_name = Some(base.to_owned());
            row.aggregate_name = Some(statistic.to_owned());
            row.run_type = Some(RunType::Aggregate);
        }
    }
}

/// Benchmarks by name and by what they were registered as.
#[derive(Default)]
struct Families {
    benchmarks: Vec<Family>,
    /// By name: those of that name, which differ in what they were registered as.
    by_name: HashMap<String, Vec<usize>>,
}

/// One benchmark while its rows come in.
struct Family {
    registered: (Option<u64>, Option<u64>),
    benchmark: ResultBenchmark,
    rows: Rows,
    /// The central one of its summaries.
    summary: Option<(Aggregate, Rows)>,
}

impl Families {
    /// Takes in the next row of the list.
    fn take(&mut self, row: Row) -> Result<(), FileProblem> {
        let aggregate = row.aggregate();
        if aggregate == Some(Aggregate::Other) {
            return Ok(());
        }
        let name = match aggregate {
            Some(_) => row.run_name.as_deref().unwrap_or(&row.name),
            None => &row.name,
        };
        let family = self.family(name, (row.family_index, row.per_family_instance_index));
        let benchmark = &mut family.benchmark;
        if benchmark.label.is_none() {
            benchmark.label = row.label.clone().filter(|label| !label.is_empty());
        }
        benchmark.threads = benchmark.threads.or(row.threads);
        if row.error_occurred {
            let message = row.error_message.unwrap_or_default();
            benchmark.state = ResultState::Failed(message);
            return Ok(());
        }
        if row.skipped {
            if benchmark.state == ResultState::Measured {
                benchmark.state = ResultState::Skipped(row.skip_message.unwrap_or_default());
            }
            return Ok(());
        }
        let rows = match aggregate {
            None => &mut family.rows,
            Some(aggregate) => {
                let known = family.summary.as_ref().map(|(known, _)| *known);
                // The median says more than the mean, whichever comes first.
                if known.is_some_and(|known| known >= aggregate) {
                    return Ok(());
                }
                &mut family.summary.insert((aggregate, Rows::default())).1
            }
        };
        let missing = |field: &str| FileProblem::at(field, "the field is missing");
        let factor = match row.time_unit.as_deref() {
            Some("ns") => 1.0,
            Some("us") => 1e3,
            Some("ms") => 1e6,
            Some("s") => 1e9,
            Some(other) => {
                let problem = format!("'{other}' is no unit of time; they are ns, us, ms, s");
                return Err(FileProblem::at("time_unit", problem));
            }
            None => return Err(missing("time_unit")),
        };
        // All repetitions of a launch share one process.
        rows.begin(0);
        for (field, value, metric) in [
            ("real_time", row.real_time, Metric::Wall),
            ("cpu_time", row.cpu_time, Metric::Cpu),
        ] {
            let value = value.ok_or_else(|| missing(field))?;
            rows.set(metric, value.measured(factor, || field.to_owned())?);
        }
        for (name, value) in row.counters {
            if let Some(value) = value.optional(1.0) {
                rows.set(counter(name), value);
            }
        }
        Ok(())
    }

    fn family(&mut self, name: &str, registered: (Option<u64>, Option<u64>)) -> &mut Family {
        let same = self.by_name.get(name);
        let known = same.and_then(|all| {
            let mut all = all.iter().copied();
            all.find(|index| self.benchmarks[*index].registered == registered)
        });
        let index = known.unwrap_or_else(|| {
            let index = self.benchmarks.len();
            self.by_name.entry(name.to_owned()).or_default().push(index);
            self.benchmarks.push(Family {
                registered,
                benchmark: ResultBenchmark {
                    name: name.to_owned(),
                    ..ResultBenchmark::default()
                },
                rows: Rows::default(),
                summary: None,
            });
            index
        });
        &mut self.benchmarks[index]
    }
}

impl Family {
    fn done(mut self) -> ResultBenchmark {
        if self.benchmark.state != ResultState::Measured {
            // What was measured before it failed stands for nothing.
            return self.benchmark;
        }
        let summary = self.summary.filter(|_| self.rows.len() == 0);
        match summary {
            Some((aggregate, rows)) => {
                rows.give_to(&mut self.benchmark);
                self.benchmark.state = summarised(aggregate.name());
            }
            None => self.rows.give_to(&mut self.benchmark),
        }
        self.benchmark
    }
}

/// The metric of a counter, and which way it improves where that is known.
fn counter(name: String) -> Metric {
    let (unit, better) = match name.as_str() {
        "bytes_per_second" => (Unit::BytesPerSecond, Better::More),
        "items_per_second" => (Unit::PerSecond, Better::More),
        "allocs_per_iter" => return Metric::Allocations,
        "max_bytes_used" | "total_allocated_bytes" | "net_heap_growth" => {
            (Unit::Bytes, Better::Less)
        }
        "CYCLES" => return Metric::Cycles,
        "INSTRUCTIONS" => return Metric::Instructions,
        "BRANCH-MISSES" => return Metric::BranchMisses,
        "CACHE-MISSES" => return Metric::CacheMisses,
        name if name.ends_with("_per_second") || name.ends_with("/s") => {
            (Unit::PerSecond, Better::More)
        }
        _ => (Unit::Count, Better::Unknown),
    };
    Metric::foreign(name, unit, better)
}

/// A kind of row: measured, or summing up others.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum RunType {
    Iteration,
    Aggregate,
}

/// A statistic that a row sums others up to; what comes later says more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Aggregate {
    /// A spread, a complexity, or a statistic of the user's own.
    Other,
    Mean,
    Median,
}

impl Aggregate {
    fn name(self) -> &'static str {
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
struct Row {
    name: String,
    run_name: Option<String>,
    run_type: Option<RunType>,
    aggregate_name: Option<String>,
    family_index: Option<u64>,
    per_family_instance_index: Option<u64>,
    threads: Option<u32>,
    label: Option<String>,
    error_occurred: bool,
    error_message: Option<String>,
    skipped: bool,
    skip_message: Option<String>,
    real_time: Option<Number>,
    cpu_time: Option<Number>,
    time_unit: Option<String>,
    counters: Vec<(String, Number)>,
}

impl Row {
    /// The statistic that it is of others, if it is.
    fn aggregate(&self) -> Option<Aggregate> {
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
