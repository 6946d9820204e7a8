//! From rows to results: benchmarks by their names, and what the context says of the machine.

use std::borrow::Cow;
use std::collections::HashMap;

use deadheat_model::{Better, Metric, ResultBenchmark, ResultState, Results, Unit};
use serde::Deserialize;

use crate::error::FileProblem;
use crate::import::saved::json::Number;
use crate::import::saved::rows::{Rows, summarised, tool};

/// The version of the JSON that is known. Files before it had one say nothing.
const SCHEMA_VERSION: i64 = 1;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Context {
    date: Option<String>,
    host_name: Option<String>,
    num_cpus: Option<u32>,
    cpu_scaling_enabled: Option<bool>,
    library_version: Option<String>,
    library_build_type: Option<String>,
    json_schema_version: Option<i64>,
}

/// The results that have this context, and no benchmarks yet.
pub(super) fn without_benchmarks(context: Context) -> Result<Results, FileProblem> {
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
    Ok(results)
}

/// Benchmarks by name and by what they were registered as.
#[derive(Default)]
pub(super) struct Families {
    benchmarks: Vec<Family>,
    /// By name: those of that name, which differ in what they were registered as.
    by_name: HashMap<String, Vec<usize>>,
    /// The family of the last row: repetitions mostly follow one another.
    last: usize,
    /// The metrics of counters by their names, as far as they came up.
    counters: Vec<(String, Metric)>,
    /// Set where a row was met that only a reader of the whole file can speak of.
    pub(super) broken: bool,
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
    /// Takes in the next row of the list, whose counters are taken out of it.
    pub(super) fn take(&mut self, row: &mut Row<'_>) -> Result<(), FileProblem> {
        let aggregate = row.aggregate();
        if aggregate == Some(Aggregate::Other) {
            return Ok(());
        }
        let name = match aggregate {
            Some(_) => row.run_name.as_deref().unwrap_or(&row.name),
            None => &row.name,
        };
        let index = self.family(name, (row.family_index, row.per_family_instance_index));
        let family = &mut self.benchmarks[index];
        let benchmark = &mut family.benchmark;
        if benchmark.label.is_none() {
            let label = row.label.as_deref().filter(|label| !label.is_empty());
            benchmark.label = label.map(str::to_owned);
        }
        benchmark.threads = benchmark.threads.or(row.threads);
        let message = |message: &Option<Cow<'_, str>>| message.as_deref().unwrap_or("").to_owned();
        if row.error_occurred {
            benchmark.state = ResultState::Failed(message(&row.error_message));
            return Ok(());
        }
        if row.skipped {
            if benchmark.state == ResultState::Measured {
                benchmark.state = ResultState::Skipped(message(&row.skip_message));
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
            rows.set(&metric, value.measured(factor, || field.to_owned())?);
        }
        for (name, value) in row.counters.drain(..) {
            if let Some(value) = value.optional(1.0) {
                rows.set(known(&mut self.counters, &name), value);
            }
        }
        Ok(())
    }

    /// The index of the benchmark of that name which was registered so, new or known.
    fn family(&mut self, name: &str, registered: (Option<u64>, Option<u64>)) -> usize {
        let last = self.benchmarks.get(self.last);
        if last.is_some_and(|last| last.registered == registered && last.benchmark.name == name) {
            return self.last;
        }
        let same = self.by_name.get(name);
        let known = same.and_then(|all| {
            let mut all = all.iter().copied();
            all.find(|index| self.benchmarks[*index].registered == registered)
        });
        self.last = known.unwrap_or_else(|| {
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
        self.last
    }

    pub(super) fn give_to(self, results: &mut Results) {
        results.benchmarks.reserve_exact(self.benchmarks.len());
        for family in self.benchmarks {
            results.push(family.done());
        }
    }
}

/// The metric of a counter, made once a file.
fn known<'m>(counters: &'m mut Vec<(String, Metric)>, name: &str) -> &'m Metric {
    let place = counters.iter().position(|(known, _)| known == name);
    let place = place.unwrap_or_else(|| {
        counters.push((name.to_owned(), counter(name.to_owned())));
        counters.len() - 1
    });
    &counters[place].1
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
pub(super) enum RunType {
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
pub(super) struct Row<'t> {
    pub(super) name: Cow<'t, str>,
    pub(super) run_name: Option<Cow<'t, str>>,
    pub(super) run_type: Option<RunType>,
    pub(super) aggregate_name: Option<Cow<'t, str>>,
    pub(super) family_index: Option<u64>,
    pub(super) per_family_instance_index: Option<u64>,
    pub(super) threads: Option<u32>,
    pub(super) label: Option<Cow<'t, str>>,
    pub(super) error_occurred: bool,
    pub(super) error_message: Option<Cow<'t, str>>,
    pub(super) skipped: bool,
    pub(super) skip_message: Option<Cow<'t, str>>,
    pub(super) real_time: Option<Number>,
    pub(super) cpu_time: Option<Number>,
    pub(super) time_unit: Option<Cow<'t, str>>,
    pub(super) counters: Vec<(Cow<'t, str>, Number)>,
}

impl Row<'_> {
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
