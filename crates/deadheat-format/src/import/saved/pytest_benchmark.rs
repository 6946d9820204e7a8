//! The JSON of pytest-benchmark: tests with the times of their rounds.

use deadheat_model::{Metric, ResultBenchmark, ResultFacts, ResultState, Results};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::json::{Number, from_json};
use super::rows::{Rows, summarised, tool};
use crate::error::FileProblem;

#[derive(Deserialize)]
struct WireSession {
    // Plugins and users may put anything into it.
    #[serde(default)]
    machine_info: Value,
    datetime: Option<String>,
    version: Option<String>,
    benchmarks: Vec<WireBenchmark>,
}

#[derive(Deserialize)]
struct WireBenchmark {
    name: String,
    fullname: Option<String>,
    group: Option<String>,
    param: Option<Value>,
    params: Option<Map<String, Value>>,
    #[serde(default)]
    options: Value,
    stats: WireStats,
}

#[derive(Deserialize)]
struct WireStats {
    /// Seconds per iteration, one of each round; saved only when asked for.
    data: Option<Vec<Number>>,
    median: Option<Number>,
    mean: Option<Number>,
}

/// Reads a session. All rounds of a test are of one process.
pub(super) fn read(text: &[u8]) -> Result<Results, FileProblem> {
    let wire: WireSession = from_json(text)?;
    let tool = tool("pytest-benchmark", wire.version.as_ref());
    let mut results = Results::new("", tool);
    results.facts = facts(&wire);
    for (index, benchmark) in wire.benchmarks.iter().enumerate() {
        let name = name(benchmark);
        let stats = &benchmark.stats;
        let place = format!("benchmarks[{index}].stats");
        let metric = metric(&benchmark.options);
        let mut rows = Rows::default();
        let mut state = ResultState::Measured;
        for (round, time) in stats.data.iter().flatten().enumerate() {
            let at = || format!("{place}.data[{round}], of benchmark '{name}'");
            rows.begin(0);
            rows.set(&metric, time.measured(1e9, at)?);
        }
        if rows.len() == 0 {
            let (statistic, time) = match (stats.median, stats.mean) {
                (Some(median), _) => ("median", median),
                (None, Some(mean)) => ("mean", mean),
                (None, None) => {
                    let problem = format!(
                        "benchmark '{name}' has neither the times of its rounds ('data') nor \
                         their median"
                    );
                    return Err(FileProblem::at(place, problem));
                }
            };
            let at = || format!("{place}.{statistic}, of benchmark '{name}'");
            rows.begin(0);
            rows.set(&metric, time.measured(1e9, at)?);
            state = summarised(statistic);
        }
        let mut read = ResultBenchmark {
            label: benchmark.group.clone(),
            parameters: parameters(benchmark),
            name,
            state,
            ..ResultBenchmark::default()
        };
        rows.give_to(&mut read);
        results.push(read);
    }
    Ok(results)
}

/// The name that pytest-benchmark itself compares by: with file and class, because functions of the
/// same name are common. Old versions of pytest have a `()` behind a class.
fn name(benchmark: &WireBenchmark) -> String {
    match &benchmark.fullname {
        Some(name) => name.replace("::()::", "::"),
        None => benchmark.name.clone(),
    }
}

/// The arguments of a test by their names; of older versions only their text.
fn parameters(benchmark: &WireBenchmark) -> Vec<(String, String)> {
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let named = benchmark.params.iter().flatten();
    let named: Vec<(String, String)> = named
        .map(|(name, value)| (name.clone(), text(value)))
        .collect();
    match (&benchmark.param, named.is_empty()) {
        (Some(param), true) => vec![("param".to_owned(), text(param))],
        _ => named,
    }
}

/// The metric of the timer of the test: wall time, unless it is one of CPU time.
fn metric(options: &Value) -> Metric {
    match options.get("timer").and_then(Value::as_str) {
        Some("process_time" | "process_time_ns" | "thread_time" | "thread_time_ns") => Metric::Cpu,
        _ => Metric::Wall,
    }
}

fn facts(wire: &WireSession) -> ResultFacts {
    let machine = &wire.machine_info;
    let text = |key: &str| machine.get(key).and_then(Value::as_str);
    let joined = |keys: [&str; 2]| {
        let words: Vec<&str> = keys.into_iter().filter_map(text).collect();
        (!words.is_empty()).then(|| words.join(" "))
    };
    let cpu = machine.get("cpu");
    let brand = ["brand_raw", "brand"].into_iter();
    let mut brand = brand.filter_map(|key| cpu?.get(key)?.as_str());
    let cores = cpu.and_then(|cpu| cpu.get("count")?.as_u64());
    ResultFacts {
        host: text("node").map(str::to_owned),
        system: joined(["system", "release"]),
        cpu: brand.find(|brand| *brand != "unknown").map(str::to_owned),
        cores: cores.and_then(|cores| u32::try_from(cores).ok()),
        runtime: joined(["python_implementation", "python_version"]),
        date: wire.datetime.clone(),
        ..ResultFacts::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str) -> Result<Results, String> {
        read(text.as_bytes()).map_err(|problem| problem.of("a.json").to_string())
    }

    fn session(benchmark: &str, stats: &str) -> String {
        format!(
            r#"{{"machine_info":{{}},"benchmarks":[{{"name":"test_a",{benchmark}"stats":{stats}}}]}}"#
        )
    }

    #[test]
    fn a_benchmark_is_called_by_its_file_too() {
        for (benchmark, name) in [
            ("", "test_a"),
            (r#""fullname":"t.py::A::()::test_a","#, "t.py::A::test_a"),
            (r#""fullname":null,"#, "test_a"),
        ] {
            let read = read_text(&session(benchmark, r#"{"data":[1]}"#)).unwrap();
            assert_eq!(read.benchmarks[0].name, name);
        }
    }

    #[test]
    fn arguments_of_any_kind_become_text() {
        let benchmark = r#""group":"g","params":{"n":10,"s":"x","l":[1,null]},"param":"10","#;
        let read = read_text(&session(benchmark, r#"{"data":[1]}"#)).unwrap();
        let told: Vec<_> = read.benchmarks[0].parameters.iter().collect();
        let told: Vec<_> = told.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
        assert_eq!(told, [("l", "[1,null]"), ("n", "10"), ("s", "x")]);
        assert_eq!(read.benchmarks[0].label.as_deref(), Some("g"));
        let read = read_text(&session(r#""param":"10","#, r#"{"data":[1]}"#)).unwrap();
        let param = ("param".to_owned(), "10".to_owned());
        assert_eq!(read.benchmarks[0].parameters, [param]);
    }

    #[test]
    fn without_rounds_the_median_stands_for_them_and_without_it_the_mean() {
        for (stats, value, told) in [
            (r#"{"median":2,"mean":3}"#, 2e9, "median"),
            (r#"{"data":null,"mean":3}"#, 3e9, "mean"),
            (r#"{"data":[],"median":0}"#, 0.0, "median"),
        ] {
            let read = read_text(&session("", stats)).unwrap();
            let benchmark = &read.benchmarks[0];
            let statistic = told.to_owned();
            assert_eq!(benchmark.state, ResultState::Summarised { statistic });
            assert_eq!(
                (&benchmark.values[..], &benchmark.processes[..]),
                (&[value][..], &[0][..])
            );
        }
        assert_eq!(
            read_text(&session("", "{}")).unwrap_err(),
            "a.json: benchmarks[0].stats: benchmark 'test_a' has neither the times of its rounds \
             ('data') nor their median"
        );
    }

    #[test]
    fn times_that_are_none_are_named() {
        for (stats, told) in [
            (
                r#"{"data":[1,-1]}"#,
                "data[1], of benchmark 'test_a': -1000000000 is negative",
            ),
            (
                r#"{"data":[NaN]}"#,
                "data[0], of benchmark 'test_a': there is no number",
            ),
            (
                r#"{"median":Infinity}"#,
                "median, of benchmark 'test_a': there is no number",
            ),
        ] {
            let error = read_text(&session("", stats)).unwrap_err();
            assert_eq!(error, format!("a.json: benchmarks[0].stats.{told}"));
        }
        let error = read_text(&session("", r#"{"data":["1"]}"#)).unwrap_err();
        assert!(error.ends_with("at benchmarks[0].stats.data[0]"), "{error}");
    }

    #[test]
    fn a_timer_of_cpu_time_measures_cpu_time() {
        for (timer, metric) in [
            ("process_time", Metric::Cpu),
            ("perf_counter", Metric::Wall),
            ("my_timer", Metric::Wall),
        ] {
            let options = format!(r#""options":{{"timer":"{timer}"}},"#);
            let read = read_text(&session(&options, r#"{"data":[1]}"#)).unwrap();
            assert_eq!(read.benchmarks[0].metrics, [metric]);
        }
    }

    #[test]
    fn what_users_put_among_the_facts_does_no_harm() {
        for machine in [
            "3",
            "null",
            "[]",
            r#"{"node":1,"cpu":7}"#,
            r#"{"cpu":{"count":-2}}"#,
        ] {
            let text = format!(r#"{{"machine_info":{machine},"benchmarks":[]}}"#);
            assert_eq!(read_text(&text).unwrap().facts, ResultFacts::default());
        }
    }
}
