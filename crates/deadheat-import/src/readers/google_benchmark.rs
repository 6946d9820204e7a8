//! Reads the JSON of all releases of Google Benchmark so far.
//!
//! A file in the library's own layout is read row by row, in pieces, without holding it as a whole.
//! Any other file is read as a whole, which also locates errors.

mod row_by_row;

pub(super) use row_by_row::{read, read_pieces};

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fmt;

use crate::results::{ResultBenchmark, ResultState, Results};
use deadheat_model::{Better, Metric, Unit};
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

use super::json::{Number, Text, from_json_entries, give_to_known, lenient};
use super::rows::{Rows, summarised, tool};
use deadheat_format::FileProblem;
use deadheat_format::limits::refuse_many_metrics;

/// The supported version of the JSON. Files of older releases have no version.
const SCHEMA_VERSION: &str = "1";

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Context {
    #[serde(deserialize_with = "lenient")]
    date: Option<String>,
    host_name: Text,
    num_cpus: Text,
    #[serde(deserialize_with = "lenient")]
    cpu_scaling_enabled: Option<bool>,
    library_version: Text,
    library_build_type: Text,
    json_schema_version: Text,
}

/// Returns results with the facts of this context, without benchmarks.
fn without_benchmarks(context: Context) -> Result<Results, FileProblem> {
    let version = context.json_schema_version.0;
    if let Some(version) = version.filter(|version| version != SCHEMA_VERSION) {
        let problem = format!("version {version} is not known; deadheat reads {SCHEMA_VERSION}");
        return Err(FileProblem::at("context.json_schema_version", problem));
    }
    let version = context.library_version.0.as_deref().unwrap_or_default();
    let version = Some(version.trim_start_matches('v'))
        // Other programs, including deadheat, write this format with other versions or none.
        .filter(|version| version.starts_with(|c: char| c.is_ascii_digit()));
    let tool = tool("Google Benchmark", version);
    let mut results = Results::new("", tool);
    results.facts.host = context.host_name.0;
    results.facts.cores = context.num_cpus.0.and_then(|cores| cores.parse().ok());
    results.facts.date = context.date;
    results.facts.cpu_scaling = context.cpu_scaling_enabled;
    results.facts.debug_build = context.library_build_type.0.map(|build| build == "debug");
    Ok(results)
}

/// The benchmarks of a file, identified by name and by the indexes of their registration.
#[derive(Default)]
struct Families {
    benchmarks: Vec<Family>,
    /// Index of a benchmark by name and registration.
    by_key: HashMap<String, usize>,
    key: String,
    /// Index of the previous row's benchmark. It is tried first, because repetitions of a
    /// benchmark usually follow each other.
    last: usize,
    /// The metrics of the counters so far, by name.
    counters: HashMap<String, Metric>,
    /// True if a row has an error, which only the reader of the whole file can report.
    broken: bool,
}

struct Family {
    registered: (Option<u64>, Option<u64>),
    benchmark: ResultBenchmark,
    rows: Rows,
    /// The best summary so far: the median or the mean.
    summary: Option<(Aggregate, Rows)>,
}

impl Families {
    /// Adds the next row of the list and empties the row's counters.
    fn take(&mut self, row: &mut Row<'_>) -> Result<(), FileProblem> {
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
                // The median is preferred to the mean, in any order.
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
                let problem = format!("'{other}' is not a unit of time; they are ns, us, ms, s");
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
        let metrics = row.counters.len().max(self.counters.len());
        refuse_many_metrics(metrics).map_err(FileProblem::CannotRead)?;
        for (name, value) in row.counters.drain(..) {
            if let Some(value) = value.optional(1.0) {
                rows.set(known(&mut self.counters, &name), value);
            }
        }
        Ok(())
    }

    /// Returns the index of the benchmark with this name and registration; adds it if it is new.
    fn family(&mut self, name: &str, registered: (Option<u64>, Option<u64>)) -> usize {
        let last = self.benchmarks.get(self.last);
        if last.is_some_and(|last| last.registered == registered && last.benchmark.name == name) {
            return self.last;
        }
        self.key.clear();
        // The key is unambiguous even if the name contains NUL bytes, because the numbers after its
        // last two NUL bytes contain none.
        self.key.push_str(name);
        for number in [registered.0, registered.1] {
            self.key.push('\0');
            if let Some(number) = number {
                self.key.push_str(&number.to_string());
            }
        }
        let known = self.by_key.get(&self.key).copied();
        self.last = known.unwrap_or_else(|| {
            let index = self.benchmarks.len();
            self.by_key.insert(self.key.clone(), index);
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

    /// Marks the benchmark of the last row as failed, because the row cannot be read.
    fn fail(&mut self, problem: FileProblem) {
        let state = &mut self.benchmarks[self.last].benchmark.state;
        if !matches!(state, ResultState::Failed(_)) {
            *state = ResultState::Failed(problem.into_text());
        }
    }

    fn give_to(self, results: &mut Results) {
        results.benchmarks.reserve_exact(self.benchmarks.len());
        for family in self.benchmarks {
            results.push(family.done());
        }
    }
}

/// Returns the metric of a counter, created once per file.
fn known<'m>(counters: &'m mut HashMap<String, Metric>, name: &str) -> &'m Metric {
    if !counters.contains_key(name) {
        counters.insert(name.to_owned(), counter(name.to_owned()));
    }
    &counters[name]
}

impl Family {
    fn done(mut self) -> ResultBenchmark {
        if self.benchmark.state != ResultState::Measured {
            // Values that were measured before the failure are dropped.
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

fn counter(name: String) -> Metric {
    let (unit, better) = match name.as_str() {
        "allocs_per_iter" => return Metric::Allocations,
        "max_bytes_used" | "total_allocated_bytes" | "net_heap_growth" => {
            (Unit::Bytes, Better::Less)
        }
        "CYCLES" => return Metric::Cycles,
        "INSTRUCTIONS" => return Metric::Instructions,
        "BRANCH-MISSES" => return Metric::BranchMisses,
        "CACHE-MISSES" => return Metric::CacheMisses,
        name => match Unit::of_rate(name) {
            Some(rate) => (rate, Better::More),
            None => (Unit::Count, Better::Unknown),
        },
    };
    Metric::foreign(name, unit, better)
}

/// The kind of a row: a measurement or an aggregate of others.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum RunType {
    Iteration,
    Aggregate,
}

/// A statistic over other rows, in order of preference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Aggregate {
    /// A spread, a complexity, or a custom statistic.
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

/// A row. The counters are all numeric fields of the file that have no field in this struct.
#[derive(Debug, Default)]
struct Row<'t> {
    name: Cow<'t, str>,
    run_name: Option<Cow<'t, str>>,
    run_type: Option<RunType>,
    aggregate_name: Option<Cow<'t, str>>,
    family_index: Option<u64>,
    per_family_instance_index: Option<u64>,
    threads: Option<u32>,
    label: Option<Cow<'t, str>>,
    error_occurred: bool,
    error_message: Option<Cow<'t, str>>,
    skipped: bool,
    skip_message: Option<Cow<'t, str>>,
    real_time: Option<Number>,
    cpu_time: Option<Number>,
    time_unit: Option<Cow<'t, str>>,
    counters: Vec<(Cow<'t, str>, Number)>,
}

impl Row<'_> {
    /// Returns the statistic that the row holds; `None` for a measured row.
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

#[derive(Debug, Deserialize)]
struct Wire {
    #[serde(default, deserialize_with = "lenient")]
    context: Context,
    benchmarks: Vec<Row<'static>>,
}

/// Reads a file of any release, with fields in any order.
fn read_whole(text: &[u8]) -> Result<Results, FileProblem> {
    let (wire, broken) = from_json_entries::<Wire, Row>(text, "benchmarks")?;
    let mut results = without_benchmarks(wire.context)?;
    let mut families = Families::default();
    let old_summaries = OldSummaries::of(&wire.benchmarks);
    for (index, mut row) in wire.benchmarks.into_iter().enumerate() {
        old_summaries.mark(&mut row);
        let place = format!("benchmarks[{index}].");
        if let Err(problem) = families.take(&mut row) {
            families.fail(problem.within(&place, ""));
        }
    }
    families.give_to(&mut results);
    // A broken row fails its benchmark, so the benchmark's other rows do not matter.
    give_to_known(broken, &mut results, &["run_name", "name"]);
    Ok(results)
}

/// The names of all rows of a file of a release before 1.5, whose rows do not say whether they are
/// aggregates. A row is an aggregate if its name ends in `_BigO` or `_RMS`. A row whose name ends
/// in `_mean`, `_median`, `_stddev` or `_cv` is an aggregate if the file also has a row with the
/// name without this ending, or rows with both `_mean` and `_stddev` after that name.
struct OldSummaries {
    names: HashSet<String>,
}

impl OldSummaries {
    fn of(rows: &[Row<'_>]) -> Self {
        let old = rows.iter().any(|row| row.run_type.is_none());
        let names = rows.iter().filter(|_| old).map(|row| row.name.to_string());
        Self {
            names: names.collect(),
        }
    }

    fn mark(&self, row: &mut Row<'_>) {
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
            row.run_name = Some(base.to_owned().into());
            row.aggregate_name = Some(statistic.to_owned().into());
            row.run_type = Some(RunType::Aggregate);
        }
    }
}

impl<'de> Deserialize<'de> for Row<'static> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Row<'static>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a benchmark")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Row<'static>, M::Error> {
        let mut row = Row::default();
        let mut name = None;
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "name" => name = Some(map.next_value()?),
                "run_name" => row.run_name = map.next_value()?,
                "run_type" => row.run_type = map.next_value()?,
                "aggregate_name" => row.aggregate_name = map.next_value()?,
                "family_index" => row.family_index = map.next_value::<Value>()?.as_u64(),
                "per_family_instance_index" => {
                    row.per_family_instance_index = map.next_value::<Value>()?.as_u64();
                }
                "threads" => {
                    let Text(threads) = map.next_value()?;
                    row.threads = threads.and_then(|threads| threads.parse().ok());
                }
                "label" => row.label = map.next_value::<Text>()?.0.map(Cow::Owned),
                "error_occurred" => row.error_occurred = map.next_value()?,
                "error_message" => row.error_message = map.next_value::<Text>()?.0.map(Cow::Owned),
                "skipped" => row.skipped = map.next_value()?,
                "skip_message" => row.skip_message = map.next_value::<Text>()?.0.map(Cow::Owned),
                "real_time" => row.real_time = Some(map.next_value()?),
                "cpu_time" => row.cpu_time = Some(map.next_value()?),
                "time_unit" => row.time_unit = map.next_value()?,
                "iterations" | "repetitions" | "repetition_index" | "aggregate_unit" => {
                    map.next_value::<IgnoredAny>()?;
                }
                _ => {
                    if let Counter(Some(value)) = map.next_value()? {
                        row.counters.push((key.into(), value));
                    }
                }
            }
        }
        row.name = name.ok_or_else(|| serde::de::Error::missing_field("name"))?;
        Ok(row)
    }
}

/// The value of an unknown field: a counter if it is a number.
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PLAIN: &str = r#"{
  "context": {"date": "2026-01-31T10:00:00+01:00", "host_name": "a", "num_cpus": 4,
    "caches": [{"type": "Data", "level": 1}], "load_avg": [0.5, 1], "library_version": "v1.9.5",
    "library_build_type": "debug", "json_schema_version": 1},
  "benchmarks": [
    {"name": "BM_a/8", "family_index": 0, "per_family_instance_index": 0, "run_name": "BM_a/8",
      "run_type": "iteration", "repetitions": 2, "repetition_index": 0, "threads": 1,
      "iterations": 1000, "real_time": 1.25e+01, "cpu_time": 12, "time_unit": "us",
      "bytes_per_second": 3.5e9, "own": NaN, "label": "x"},
    {"name": "BM_a/8", "family_index": 0, "per_family_instance_index": 0, "run_name": "BM_a/8",
      "run_type": "iteration", "real_time": 13.5, "cpu_time": 0.1, "time_unit": "us",
      "bytes_per_second": 3, "own": 7, "words": "inf", "label": null},
    {"name": "BM_a/8_mean", "run_name": "BM_a/8", "run_type": "aggregate",
      "aggregate_name": "mean", "aggregate_unit": "time", "real_time": 13, "cpu_time": 1,
      "time_unit": "us"},
    {"name": "BM_\"b\"\u00e9", "run_type": "iteration", "error_occurred": true,
      "error_message": "no", "real_time": 0, "cpu_time": 0, "time_unit": "ns"},
    {"name": "c", "run_type": "iteration", "skipped": true, "skip_message": "later"},
    {"name": "BM_d_BigO", "run_name": "BM_d", "run_type": "aggregate", "aggregate_name": "BigO",
      "cpu_coefficient": 1.0, "big_o": "N", "time_unit": "ns"},
    {"name": "BM_d_median", "run_name": "BM_d", "run_type": "aggregate",
      "aggregate_name": "median", "real_time": 2, "cpu_time": 1, "time_unit": "s"}
  ]
}
"#;

    /// Returns true if both readers agree, or the row-by-row reader refuses the text.
    fn agree(text: &[u8]) -> bool {
        let in_pieces = read_pieces(text);
        if let Some(in_pieces) = &in_pieces {
            assert_eq!(read_whole(text).as_ref().ok(), Some(in_pieces));
        }
        in_pieces.is_some()
    }

    #[test]
    fn a_plain_file_is_read_row_by_row_as_it_is_read_as_a_whole() {
        assert!(agree(PLAIN.as_bytes()));
        assert!(agree(format!("\u{feff} {PLAIN} \n").as_bytes()));
        assert!(
            agree(br#"{"benchmarks": [], "context": {}}"#),
            "as sorted by name"
        );
        let skipped = PLAIN.lines().find(|line| line.contains("skipped")).unwrap();
        let long = PLAIN.replacen(skipped, &format!("{skipped}\n").repeat(20_000), 1);
        assert!(
            long.len() > 1_000_000 && agree(long.as_bytes()),
            "in many pieces"
        );
    }

    #[test]
    fn skipped_fields_of_the_context_must_be_utf8() {
        let mut text = PLAIN.as_bytes().to_vec();
        let cache = PLAIN.find("Data").unwrap();
        text[cache] = 0xff;
        assert_eq!(read_pieces(&text[..]), None);
        assert!(read_whole(&text[..]).is_err());
    }

    #[test]
    fn what_the_library_writes_is_read_row_by_row() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
        let files = std::fs::read_dir(folder.join("tests/golden/saved/google_benchmark")).unwrap();
        for file in files {
            let file = file.unwrap().path();
            if file.extension().is_none_or(|extension| extension != "json") {
                continue;
            }
            let text = std::fs::read(&file).unwrap();
            // Releases before 1.5 do not mark aggregates.
            let old = file.to_string_lossy().contains("/1.4");
            assert_eq!(agree(&text), !old, "{}", file.display());
        }
    }

    #[test]
    fn what_is_not_plain_is_left_to_the_reader_of_whole_files() {
        for (old, new) in [
            ("\"context\"", "\"version\""),
            ("\"run_type\": \"aggregate\",", ""),
            ("\"run_type\": \"aggregate\"", "\"run_type\": \"other\""),
            ("\"json_schema_version\": 1", "\"json_schema_version\": 2"),
            ("\"real_time\": 13.5", "\"real_time\": NaN"),
            ("\"real_time\": 13.5", "\"real_time\": -1"),
            ("\"real_time\": 13.5", "\"real_time\": 1e999"),
            ("\"real_time\": 13.5,", ""),
            ("\"time_unit\": \"us\"", "\"time_unit\": \"h\""),
            ("\"threads\": 1", "\"threads\": -1"),
            ("\"own\": 7", "\"own\": [7]"),
            ("\"own\": 7", "\"own\": 1e999"),
            ("\"name\": \"c\",", ""),
            ("\"name\": \"c\"", "\"name\": null"),
            ("\"skipped\": true", "\"skipped\": 1"),
            ("  ]\n}", "  ]"),
            ("  ]\n}", "  ]}}"),
            ("  ]\n}", "  ],}"),
            ("  ]\n}", "  ], \"benchmarks\": []}"),
            ("{\n  \"context\"", "[\n  \"context\""),
        ] {
            let text = PLAIN.replacen(old, new, 1);
            assert_ne!(text, PLAIN, "{old}");
            assert_eq!(read_pieces(text.as_bytes()), None, "{new}");
        }
    }

    proptest! {
        #[test]
        fn a_damaged_file_is_read_row_by_row_only_as_it_is_read_as_a_whole(
            places in prop::collection::vec((any::<prop::sample::Index>(), any::<bool>()), 1..3),
            sign in prop::sample::select(&b"0123456789.eE+-,[]{}\":tnuNaIif\\ \x7f\xff"[..]),
        ) {
            let mut text = PLAIN.as_bytes().to_vec();
            for (place, insert) in places {
                let place = place.index(text.len());
                if insert {
                    text.insert(place, sign);
                } else {
                    text[place] = sign;
                }
            }
            agree(&text);
        }

        #[test]
        fn every_time_is_read_to_the_last_bit(time in prop::num::f64::POSITIVE) {
            let digits = serde_json::to_string(&time).unwrap();
            let text = PLAIN.replacen("1.25e+01", &digits, 1);
            agree(text.as_bytes());
        }
    }
}
