//! Reads the JSON of pytest-benchmark: tests with the times of their rounds.

use crate::results::{ResultBenchmark, ResultState, Results};
use deadheat_model::{Metric, ResultFacts};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::json::{Number, Text, from_json_entries, lenient, text_of};
use super::rows::{Rows, summarised, tool};
use deadheat_format::FileProblem;

#[derive(Deserialize)]
struct WireSession {
    // Plugins and users may add anything.
    #[serde(default)]
    machine_info: Value,
    #[serde(default, deserialize_with = "lenient")]
    datetime: Option<String>,
    #[serde(default)]
    version: Text,
    benchmarks: Vec<WireBenchmark>,
}

#[derive(Deserialize)]
struct WireBenchmark {
    name: String,
    #[serde(default, deserialize_with = "lenient")]
    fullname: Option<String>,
    #[serde(default)]
    group: Text,
    param: Option<Value>,
    #[serde(default, deserialize_with = "lenient")]
    params: Option<Map<String, Value>>,
    #[serde(default)]
    options: Value,
    stats: Option<WireStats>,
}

#[derive(Deserialize)]
struct WireStats {
    /// Seconds per iteration, one value per round; saved only on request.
    data: Option<Vec<Number>>,
    median: Option<Number>,
    mean: Option<Number>,
}

/// Reads a session. All rounds of a test are of one process.
pub(super) fn read(text: &[u8]) -> Result<Results, FileProblem> {
    let (wire, broken) = from_json_entries::<WireSession, WireBenchmark>(text, "benchmarks")?;
    let tool = tool("pytest-benchmark", wire.version.0.as_ref());
    let mut results = Results::new("", tool);
    results.facts = facts(&wire);
    for (index, benchmark) in wire.benchmarks.iter().enumerate() {
        let mut read = ResultBenchmark {
            name: name(benchmark),
            label: benchmark.group.0.clone(),
            parameters: parameters(benchmark),
            ..ResultBenchmark::default()
        };
        match rounds(benchmark) {
            Ok((rows, state)) => {
                rows.give_to(&mut read);
                read.state = state;
            }
            Err(problem) => {
                let behind = format!(", of benchmark '{}'", read.name);
                let problem = problem.within(&format!("benchmarks[{index}]."), &behind);
                read.state = ResultState::Failed(problem.into_text());
            }
        }
        results.push(read);
    }
    for entry in broken {
        entry.give_to(&mut results, &["fullname", "name"]);
    }
    Ok(results)
}

fn rounds(benchmark: &WireBenchmark) -> Result<(Rows, ResultState), FileProblem> {
    let metric = metric(&benchmark.options);
    let mut rows = Rows::default();
    let Some(stats) = &benchmark.stats else {
        return Err(FileProblem::at(
            "stats",
            "pytest-benchmark wrote no times for it",
        ));
    };
    for (round, time) in stats.data.iter().flatten().enumerate() {
        rows.begin(0);
        rows.set(
            &metric,
            time.measured(1e9, || format!("stats.data[{round}]"))?,
        );
    }
    if rows.len() > 0 {
        return Ok((rows, ResultState::Measured));
    }
    let (statistic, time) = match (stats.median, stats.mean) {
        (Some(median), _) => ("median", median),
        (None, Some(mean)) => ("mean", mean),
        (None, None) => {
            let problem = "it has neither the times of its rounds ('data') nor their median";
            return Err(FileProblem::at("stats", problem));
        }
    };
    rows.begin(0);
    rows.set(
        &metric,
        time.measured(1e9, || format!("stats.{statistic}"))?,
    );
    Ok((rows, summarised(statistic)))
}

/// Returns the name by which pytest-benchmark compares: with file and class, because different
/// files often have functions of the same name. Old versions of pytest add `()` to a class.
fn name(benchmark: &WireBenchmark) -> String {
    match &benchmark.fullname {
        Some(name) => name.replace("::()::", "::"),
        None => benchmark.name.clone(),
    }
}

/// Returns the arguments of a test by name; older versions store only their text. Leaves out
/// arguments that are not JSON: pytest-benchmark stores their type, or an address that changes with
/// every run.
fn parameters(benchmark: &WireBenchmark) -> Vec<(String, String)> {
    let named = benchmark.params.iter().flatten();
    let named: Vec<(String, String)> = named
        .map(|(name, value)| (name.clone(), text_of(value)))
        .filter(|(_, text)| !text.starts_with("UNSERIALIZABLE["))
        .collect();
    match (&benchmark.param, benchmark.params.is_none()) {
        (Some(param), true) => vec![("param".to_owned(), text_of(param))],
        _ => named,
    }
}

/// Returns the metric of the test's timer: CPU time for a CPU timer, otherwise wall time.
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

    fn failure(text: &str) -> String {
        match read_text(text).unwrap().benchmarks.remove(0).state {
            ResultState::Failed(why) => why,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn one_bad_test_does_not_cost_the_others() {
        for (bad, failed, unread) in [
            (r#"{"name":"bad"}"#, 1, 0),
            (r#"{"name":"bad","stats":7}"#, 1, 0),
            (r#"{"name":"bad","stats":{"data":["1"]}}"#, 1, 0),
            (r#"{"name":"bad","stats":{"data":[-1]}}"#, 1, 0),
            (r#"{"stats":{"data":[1]}}"#, 0, 1),
        ] {
            let good = r#"{"name":"good","group":3,"stats":{"data":[1]}}"#;
            let text = format!(r#"{{"machine_info":{{}},"benchmarks":[{bad},{good}]}}"#);
            let read = read_text(&text).unwrap();
            let state = |name: &str| {
                let mut of_name = read.benchmarks.iter().filter(|one| one.name == name);
                of_name.next().map(|one| one.state.clone())
            };
            assert_eq!(state("good"), Some(ResultState::Measured), "{bad}");
            let is_failed = matches!(state("bad"), Some(ResultState::Failed(_)));
            assert_eq!(usize::from(is_failed), failed, "{bad}");
            assert_eq!(read.unread.len(), unread, "{bad}");
        }
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
    fn arguments_that_json_cannot_hold_are_left_out() {
        let benchmark = r#""params":{"n":10,"of":"UNSERIALIZABLE[<class 'shop.Order'>]",
            "by":"UNSERIALIZABLE[<function key at 0x7f00>]"},"param":"10-Order-key","#;
        let read = read_text(&session(benchmark, r#"{"data":[1]}"#)).unwrap();
        let n = ("n".to_owned(), "10".to_owned());
        assert_eq!(read.benchmarks[0].parameters, [n]);
        let alone = r#""params":{"of":"UNSERIALIZABLE[<class 'shop.Order'>]"},"param":"Order","#;
        let read = read_text(&session(alone, r#"{"data":[1]}"#)).unwrap();
        assert!(read.benchmarks[0].parameters.is_empty());
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
        for (stats, why) in [
            (
                "{}",
                "it has neither the times of its rounds ('data') nor their median",
            ),
            ("null", "pytest-benchmark wrote no times for it"),
        ] {
            let why = format!("benchmarks[0].stats, of benchmark 'test_a': {why}");
            assert_eq!(failure(&session("", stats)), why);
        }
    }

    #[test]
    fn times_that_are_none_are_named() {
        for (stats, told) in [
            (
                r#"{"data":[1,-1]}"#,
                "data[1], of benchmark 'test_a': -1 is negative",
            ),
            (
                r#"{"data":[NaN]}"#,
                "data[0], of benchmark 'test_a': the number is missing",
            ),
            (
                r#"{"median":Infinity}"#,
                "median, of benchmark 'test_a': the number is missing",
            ),
        ] {
            let why = failure(&session("", stats));
            assert_eq!(why, format!("benchmarks[0].stats.{told}"));
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
