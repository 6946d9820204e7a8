//! Reads the JSON of BenchmarkDotNet.

mod table;

use std::collections::HashMap;

use crate::identity::{Identity, QualifierPlace, QualifierShown};
use crate::results::{ResultBenchmark, ResultState, Results};
use deadheat_model::{Metric, ResultFacts};
use serde::Deserialize;
use serde_json::Value;

use super::json::{Number, Text, from_json_entries, lenient};
use super::rows::{Rows, fail_unless, summarised, tool};
use deadheat_format::FileProblem;

pub(super) use table::{is_table, read_table};

const NOTHING_MEASURED: &str = "BenchmarkDotNet has no measurement for it";

/// Reads a full or brief report of BenchmarkDotNet. Each launch is a process.
pub(super) fn read(text: &[u8]) -> Result<Results, FileProblem> {
    let (report, broken) = from_json_entries::<Report, Case>(text, "Benchmarks")?;
    let host = report.host_environment_info.unwrap_or_default();
    let tool = tool("BenchmarkDotNet", host.benchmark_dot_net_version.0.as_ref());
    let mut results = Results::new("", tool);
    results.facts = host.facts();
    results.facts.date = report.title.as_deref().and_then(date);
    for (index, case) in report.benchmarks.iter().enumerate() {
        let mut read = case.named();
        let filled = case.fill(&mut read);
        fail_unless(&mut read, filled, &format!("Benchmarks[{index}]."));
        results.push(read);
    }
    for entry in broken {
        entry.give_to_named(&mut results, |entry| {
            let text = |key: &str| entry.get(key).and_then(Value::as_str);
            let identity = of_method(text("Type"), text("Method")?);
            let parameters = text("Parameters").unwrap_or_default();
            Some(with_parameters(identity, parameters))
        });
    }
    Ok(results)
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Report {
    #[serde(default, deserialize_with = "lenient")]
    title: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    host_environment_info: Option<Host>,
    benchmarks: Vec<Case>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Host {
    #[serde(default)]
    benchmark_dot_net_version: Text,
    #[serde(default)]
    os_version: Text,
    #[serde(default)]
    processor_name: Text,
    #[serde(default, deserialize_with = "lenient")]
    logical_core_count: Number,
    #[serde(default)]
    runtime_version: Text,
    #[serde(default)]
    configuration: Text,
}

impl Host {
    fn facts(self) -> ResultFacts {
        let built = self.configuration.0.as_deref();
        ResultFacts {
            system: self.os_version.0,
            cpu: self.processor_name.0,
            cores: self.logical_core_count.optional(1.0).map(|n| n as u32),
            runtime: self.runtime_version.0,
            debug_build: match built {
                Some("RELEASE") => Some(false),
                Some("DEBUG") => Some(true),
                _ => None,
            },
            ..ResultFacts::default()
        }
    }
}

/// A method with its parameters, in one job.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Case {
    #[serde(default, deserialize_with = "lenient")]
    display_info: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    namespace: Option<String>,
    #[serde(rename = "Type", default, deserialize_with = "lenient")]
    class: Option<String>,
    method: String,
    #[serde(default, deserialize_with = "lenient")]
    method_title: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    parameters: Option<String>,
    statistics: Option<Statistics>,
    #[serde(default, deserialize_with = "lenient")]
    memory: Option<Memory>,
    measurements: Option<Vec<Measurement>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Statistics {
    original_values: Option<Vec<Number>>,
    #[serde(default)]
    mean: Number,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Memory {
    #[serde(default)]
    bytes_allocated_per_operation: Number,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Measurement {
    iteration_mode: String,
    #[serde(default)]
    iteration_stage: String,
    #[serde(default)]
    launch_index: i64,
    operations: Number,
    nanoseconds: Number,
}

/// Mode and stage of the measurements that BenchmarkDotNet itself reports: times minus the overhead
/// of the loop. Before release 0.11, the mode `Result` had no stage.
const RESULTS: [(&str, &str); 2] = [("Workload", "Result"), ("Result", "")];

/// Mode and stage of measurements that include the overhead of the loop.
const ACTUAL: [(&str, &str); 3] = [
    ("Workload", "Actual"),
    ("Workload", "Target"),
    ("MainTarget", ""),
];

impl Case {
    fn named(&self) -> ResultBenchmark {
        let title = self.method_title.as_deref().map(unquoted);
        ResultBenchmark {
            identity: self.identity(),
            label: title
                .filter(|title| *title != self.method)
                .map(str::to_owned),
            ..ResultBenchmark::default()
        }
    }

    fn fill(&self, benchmark: &mut ResultBenchmark) -> Result<(), FileProblem> {
        let (times, state) = self.times()?;
        benchmark.state = state;
        let memory = self.memory.as_ref();
        let allocated =
            memory.and_then(|memory| memory.bytes_allocated_per_operation.optional(1.0));
        let mut rows = Rows::default();
        for (process, time) in times {
            rows.begin(process);
            rows.set(&Metric::Wall, time);
            if let Some(bytes) = allocated {
                rows.set(&Metric::AllocatedBytes, bytes);
            }
        }
        rows.give_to(benchmark);
        Ok(())
    }

    /// Returns the process and the nanoseconds per operation of each row, from the best source in
    /// the file: single measurements, the averages from which the statistics were computed, or
    /// their mean.
    fn times(&self) -> Result<(Vec<(u32, f64)>, ResultState), FileProblem> {
        let mut times = self.measured(&RESULTS)?;
        if times.is_empty() {
            times = self.measured(&ACTUAL)?;
        }
        let Some(statistics) = self.statistics.as_ref().filter(|_| times.is_empty()) else {
            let state = if times.is_empty() {
                ResultState::Failed(NOTHING_MEASURED.to_owned())
            } else {
                ResultState::Measured
            };
            return Ok((times, state));
        };
        for (at, value) in statistics.original_values.iter().flatten().enumerate() {
            let place = || format!("Statistics.OriginalValues[{at}]");
            times.push((0, value.measured(1.0, place)?));
        }
        if !times.is_empty() {
            return Ok((times, ResultState::Measured));
        }
        let mean = statistics
            .mean
            .measured(1.0, || "Statistics.Mean".to_owned())?;
        Ok((vec![(0, mean)], summarised("mean")))
    }

    fn measured(&self, words: &[(&str, &str)]) -> Result<Vec<(u32, f64)>, FileProblem> {
        let mut launches: HashMap<i64, u32> = HashMap::new();
        let mut times = Vec::new();
        for (at, one) in self.measurements.iter().flatten().enumerate() {
            if !words.contains(&(&one.iteration_mode, &one.iteration_stage)) {
                continue;
            }
            let place = |field| format!("Measurements[{at}].{field}");
            let operations = one.operations.measured(1.0, || place("Operations"))?;
            if operations < 1.0 {
                let problem = "a measurement needs at least one operation";
                return Err(FileProblem::at(place("Operations"), problem));
            }
            let total = one.nanoseconds.measured(1.0, || place("Nanoseconds"))?;
            let next = launches.len() as u32;
            let process = *launches.entry(one.launch_index).or_insert(next);
            times.push((process, total / operations));
        }
        Ok(times)
    }
}

impl Case {
    /// Identifies the case by class, method, namespace, parameters and job.
    fn identity(&self) -> Identity {
        let differs = QualifierShown::IfSideDiffers;
        let mut identity = of_method(self.class.as_deref(), &self.method);
        if let Some(namespace) = self.namespace.as_ref().filter(|name| !name.is_empty()) {
            identity = identity.with("namespace", &**namespace, QualifierPlace::Package, differs);
        }
        let parameters = self.parameters.as_deref().unwrap_or_default();
        identity = with_parameters(identity, parameters);
        with_job(identity, self.job())
    }

    /// Returns the word before the settings in `Type.Method: Job(settings) [parameters]`.
    fn job(&self) -> Option<&str> {
        let (_, job) = self.display_info.as_ref()?.split_once(": ")?;
        Some(job.split(['(', '[']).next()?.trim())
    }
}

fn of_method(class: Option<&str>, method: &str) -> Identity {
    Identity::new(match class {
        Some(class) => format!("{class}.{method}"),
        None => method.to_owned(),
    })
}

/// Adds parameters such as `Length=64&Kind=a` to an identity.
fn with_parameters(mut identity: Identity, parameters: &str) -> Identity {
    for pair in parameters.split('&').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=').unwrap_or(("", pair));
        let (place, shown) = (QualifierPlace::Parameter, QualifierShown::Always);
        identity = identity.with(key.to_owned(), value, place, shown);
    }
    identity
}

fn with_job(identity: Identity, job: Option<&str>) -> Identity {
    let Some(job) = job else { return identity };
    let shown = if is_a_way_to_run(job) {
        QualifierShown::IfFileDiffers
    } else {
        QualifierShown::IfSideDiffers
    };
    identity.with("job", job, QualifierPlace::Setting, shown)
}

/// Returns true if jobs with different names may still be compared: the name is one that
/// BenchmarkDotNet generates from the settings, such as `Job-ABCDEF`, or the name of a runtime.
fn is_a_way_to_run(job: &str) -> bool {
    ["Job-", ".NET", "NativeAOT", "Mono"]
        .iter()
        .any(|beginning| job.starts_with(beginning))
}

/// Removes the single quotes that surround a title with blanks.
fn unquoted(title: &str) -> &str {
    let bare = title.strip_prefix('\'');
    bare.and_then(|title| title.strip_suffix('\''))
        .unwrap_or(title)
}

/// Returns the date at the end of a title such as `Example.Sorting-20260301-101500`.
fn date(title: &str) -> Option<String> {
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let (rest, time) = title.rsplit_once('-')?;
    let (_, day) = rest.rsplit_once('-')?;
    let whole = day.len() == 8 && time.len() == 6 && digits(day) && digits(time);
    whole.then(|| format!("{day}-{time}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_date_is_the_end_of_the_title() {
        let date = |title| date(title).unwrap_or_default();
        assert_eq!(date("A.B-20260301-101500"), "20260301-101500");
        for title in ["", "A", "A-1-2", "A-20260301-10150x", "20260301-101500"] {
            assert_eq!(date(title), "", "{title}");
        }
    }

    #[test]
    fn quotes_around_a_title_go() {
        let titles = ["'a b'", "a", "'", "''"].map(unquoted);
        assert_eq!(titles, ["a b", "a", "'", ""]);
    }
}
