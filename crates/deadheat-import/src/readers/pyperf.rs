//! Reads the JSON of pyperf: suites of benchmarks whose runs are processes.

use crate::identity::Identity;
use crate::results::{ResultBenchmark, ResultState, Results};
use deadheat_model::{Better, Metric, ResultFacts, Unit};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::json::{Number, from_json_entries, lenient};
use super::rows::{Rows, tool};
use deadheat_format::{FileProblem, Place};

/// Facts about a run, with free names. Facts that all runs share are stored in the benchmark; facts
/// that all benchmarks share are stored in the suite.
type Metadata = Map<String, Value>;

#[derive(Deserialize)]
struct WireSuite {
    version: Value,
    #[serde(default, deserialize_with = "lenient")]
    metadata: Option<Metadata>,
    benchmarks: Vec<WireBenchmark>,
}

#[derive(Deserialize)]
struct WireBenchmark {
    // Called `common_metadata` before format 1.0.
    #[serde(default, alias = "common_metadata", deserialize_with = "lenient")]
    metadata: Option<Metadata>,
    runs: Vec<WireRun>,
}

#[derive(Deserialize)]
struct WireRun {
    #[serde(default, deserialize_with = "lenient")]
    metadata: Option<Metadata>,
    // Called `samples` before format 1.0. Calibration runs have none.
    #[serde(default, alias = "samples")]
    values: Vec<Number>,
}

/// Reads a suite. Each run with values is a process. The values are per iteration.
pub(super) fn read(text: &[u8]) -> Result<Results, FileProblem> {
    let (wire, broken) = from_json_entries::<WireSuite, WireBenchmark>(text, "benchmarks")?;
    if !is_known(&wire.version) {
        let problem = format!(
            "deadheat does not know version {} of pyperf's format, only 5, 6 and \"1.0\"",
            wire.version
        );
        return Err(FileProblem::at("version", problem));
    }
    let suite = wire.metadata.as_ref();
    let version = first(&wire).text("perf_version");
    let mut results = Results::new("", tool("pyperf", version));
    results.facts = facts(&wire);
    for (index, benchmark) in wire.benchmarks.iter().enumerate() {
        let place = format!("benchmarks[{index}]");
        let first = benchmark.runs.first().and_then(|run| run.metadata.as_ref());
        let metadata = Nearest([first, benchmark.metadata.as_ref(), suite]);
        let Some(name) = metadata.text("name") else {
            results
                .unread
                .push(format!("{place}: the benchmark has no name"));
            continue;
        };
        let mut read = ResultBenchmark {
            name: name.to_owned(),
            ..ResultBenchmark::default()
        };
        let unit = metadata.text("unit").unwrap_or("second");
        match benchmark.rows(suite, unit, &place) {
            Ok(rows) => {
                if rows.len() == 0 {
                    read.state = ResultState::Skipped("no run of it has values".to_owned());
                }
                rows.give_to(&mut read);
            }
            Err(problem) => {
                let problem = problem.within("", &format!(", of benchmark '{name}'"));
                read.state = ResultState::Failed(problem.into_text());
            }
        }
        results.push(read);
    }
    for entry in broken {
        entry.give_to_named(&mut results, |entry| {
            let metadata = entry.get("metadata").or(entry.get("common_metadata"));
            Some(Identity::new(metadata?.get("name")?.as_str()?))
        });
    }
    if let ([], [problem, ..]) = (&results.benchmarks[..], &results.unread[..]) {
        return Err(FileProblem::at(Place::Whole, problem));
    }
    Ok(results)
}

impl WireBenchmark {
    /// Returns the values of all runs; each run is a process.
    fn rows(&self, suite: Option<&Metadata>, unit: &str, place: &str) -> Result<Rows, FileProblem> {
        let (metric, factor) = metric_of(unit).ok_or_else(|| {
            let problem =
                format!("the unit is '{unit}', but deadheat knows only second, byte and integer");
            FileProblem::at(place, problem)
        })?;
        let shared = Nearest([None, self.metadata.as_ref(), suite]);
        let mut rows = Rows::default();
        let measured = self.runs.iter().enumerate();
        let measured = measured.filter(|(_, run)| !run.values.is_empty());
        for (process, (index, run)) in measured.enumerate() {
            let place = format!("{place}.runs[{index}]");
            let metadata = shared.of_run(run);
            let own = metadata.text("unit").unwrap_or("second");
            if own != unit {
                let problem = format!("the unit is '{own}', but that of other runs is '{unit}'");
                return Err(FileProblem::at(place, problem));
            }
            for (value, number) in run.values.iter().enumerate() {
                let at = || format!("{place}.values[{value}]");
                rows.begin(process as u32);
                rows.set(&metric, number.measured(factor, at)?);
                if let Some(bytes) = metadata.peak() {
                    rows.set(&Metric::PeakRss, bytes);
                }
            }
        }
        Ok(rows)
    }
}

/// The metadata of a run, its benchmark and its suite, in order of precedence.
#[derive(Clone, Copy)]
struct Nearest<'a>([Option<&'a Metadata>; 3]);

impl<'a> Nearest<'a> {
    fn of_run(self, run: &'a WireRun) -> Nearest<'a> {
        Nearest([run.metadata.as_ref(), self.0[1], self.0[2]])
    }

    fn get(self, key: &str) -> Option<&'a Value> {
        self.0
            .into_iter()
            .flatten()
            .find_map(|metadata| metadata.get(key))
    }

    fn text(self, key: &str) -> Option<&'a str> {
        self.get(key)?.as_str()
    }

    /// Returns the peak resident set size of the measured command, or of the process that called
    /// the measured function, in bytes.
    fn peak(self) -> Option<f64> {
        let bytes = self.get("command_max_rss").or(self.get("mem_max_rss"));
        Number(bytes?.as_f64()).optional(1.0)
    }
}

fn is_known(version: &Value) -> bool {
    version.as_str() == Some("1.0") || matches!(version.as_u64(), Some(5 | 6))
}

/// Returns the metric of values in this unit, and the factor to deadheat's unit. The metric of
/// bytes is generic, because the file does not tell whether Python's allocator or the system
/// counted them.
fn metric_of(unit: &str) -> Option<(Metric, f64)> {
    match unit {
        "second" => Some((Metric::Wall, 1e9)),
        "byte" => Some((Metric::foreign("memory", Unit::Bytes, Better::Less), 1.0)),
        "integer" => Some((Metric::foreign("count", Unit::Count, Better::Less), 1.0)),
        _ => None,
    }
}

/// Returns the metadata of the first run, which represents all runs.
fn first(wire: &WireSuite) -> Nearest<'_> {
    let benchmark = wire.benchmarks.first();
    let run = benchmark.and_then(|benchmark| benchmark.runs.first());
    Nearest([
        run.and_then(|run| run.metadata.as_ref()),
        benchmark.and_then(|benchmark| benchmark.metadata.as_ref()),
        wire.metadata.as_ref(),
    ])
}

fn facts(wire: &WireSuite) -> ResultFacts {
    let metadata = first(wire);
    let text = |key| metadata.text(key).map(str::to_owned);
    let cores = metadata.get("cpu_count").and_then(Value::as_u64);
    let runtime = [text("python_implementation"), text("python_version")];
    let runtime: Vec<String> = runtime.into_iter().flatten().collect();
    ResultFacts {
        host: text("hostname"),
        system: text("platform"),
        cpu: text("cpu_model_name"),
        cores: cores.and_then(|cores| u32::try_from(cores).ok()),
        runtime: (!runtime.is_empty()).then(|| runtime.join(" ")),
        date: text("date"),
        cpu_scaling: metadata.text("cpu_config").and_then(scaled),
        ..ResultFacts::default()
    }
}

/// Returns true if a governor other than `performance` is in use on some core. The governors are
/// embedded in text such as "0-1=driver:intel_pstate, governor:powersave; idle:intel_idle".
fn scaled(config: &str) -> Option<bool> {
    let mut governors = config.split("governor:").skip(1).peekable();
    governors.peek()?;
    Some(governors.any(|governor| !governor.starts_with("performance")))
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
    fn one_bad_benchmark_does_not_cost_the_others() {
        let good = r#"{"metadata":{"name":"good"},"runs":[{"values":[1]}]}"#;
        for (bad, failed) in [
            (
                r#"{"metadata":{"name":"bad"},"runs":[{"values":[-1]}]}"#,
                true,
            ),
            (
                r#"{"metadata":{"name":"bad"},"runs":[{"values":["1"]}]}"#,
                true,
            ),
            (r#"{"metadata":{"name":"bad"}}"#, true),
            (
                r#"{"metadata":{"name":"bad","unit":"mile"},"runs":[{"values":[1]}]}"#,
                true,
            ),
            (r#"{"runs":[{"values":[1]}]}"#, false),
        ] {
            let text = format!(r#"{{"version":"1.0","benchmarks":[{bad},{good}]}}"#);
            let read = read_text(&text).unwrap();
            let states: Vec<_> = read.benchmarks.iter().map(|one| &one.state).collect();
            assert!(states.contains(&&ResultState::Measured), "{bad}");
            let is_failed = states
                .iter()
                .any(|one| matches!(one, ResultState::Failed(_)));
            assert_eq!(
                (is_failed, read.unread.len()),
                (failed, usize::from(!failed)),
                "{bad}"
            );
        }
    }

    fn suite(values: &str, metadata: &str) -> String {
        format!(
            r#"{{"version":"1.0","benchmarks":[{{"metadata":{{"name":"a"{metadata}}},
            "runs":[{{"values":[{values}]}}]}}]}}"#
        )
    }

    #[test]
    fn files_of_the_versions_before_1_0_have_samples() {
        let read = read_text(
            r#"{"version":5,"benchmarks":[{"common_metadata":{"name":"a","hostname":"h"},
            "runs":[{"warmups":[[1,0.5]]},{"samples":[0.5,0.25]}]}]}"#,
        )
        .unwrap();
        assert_eq!(read.benchmarks[0].values, [0.5e9, 0.25e9]);
        assert_eq!(read.facts.host.as_deref(), Some("h"));
        assert_eq!(read.tool, "pyperf");
        let error = read_text(r#"{"version":"2.0","benchmarks":[]}"#).unwrap_err();
        assert!(
            error.starts_with("a.json: version: deadheat does not know version \"2.0\""),
            "{error}"
        );
    }

    #[test]
    fn memory_that_not_every_run_tells_is_left_out() {
        let text = |second: &str| {
            format!(
                r#"{{"version":"1.0","benchmarks":[{{"metadata":{{"name":"a"}},"runs":[
                {{"values":[1],"metadata":{{"mem_max_rss":4096}}}},
                {{"values":[2],"metadata":{{{second}}}}}]}}]}}"#
            )
        };
        let both = read_text(&text(r#""mem_max_rss":8192"#)).unwrap();
        assert_eq!(both.benchmarks[0].metrics, [Metric::Wall, Metric::PeakRss]);
        assert_eq!(both.benchmarks[0].values, [1e9, 4096.0, 2e9, 8192.0]);
        for second in ["", r#""mem_max_rss":-1"#, r#""mem_max_rss":"8 kB""#] {
            let one = read_text(&text(second)).unwrap();
            assert_eq!(one.benchmarks[0].metrics, [Metric::Wall], "{second}");
        }
    }

    #[test]
    fn values_that_are_no_measurements_are_named() {
        let at = "benchmarks[0].runs[0].values[1], of benchmark 'a': ";
        for (values, told) in [
            ("1, -2", "-2 is negative"),
            ("1, NaN", "the number is missing"),
            ("1, -Infinity", "the number is missing"),
            ("1, null", "the number is missing"),
            ("1, 1e300", "the number is too large"),
        ] {
            let why = failure(&suite(values, ""));
            assert_eq!(why, format!("{at}{told}"), "{values}");
        }
        let error = read_text(&suite("1, \"2\"", "")).unwrap_err();
        assert!(
            error.ends_with("at benchmarks[0].runs[0].values[1]"),
            "{error}"
        );
        assert_eq!(
            read_text(&suite("0", "")).unwrap().benchmarks[0].values,
            [0.0]
        );
    }

    #[test]
    fn an_unknown_unit_is_named_and_so_is_a_second_one() {
        assert_eq!(
            failure(&suite("1", r#","unit":"furlong""#)),
            "benchmarks[0], of benchmark 'a': the unit is 'furlong', but deadheat knows only \
             second, byte and integer"
        );
        let why = failure(
            r#"{"version":"1.0","benchmarks":[{"metadata":{"name":"a"},"runs":[{"values":[1]},
            {"values":[1],"metadata":{"unit":"byte"}}]}]}"#,
        );
        assert_eq!(
            why,
            "benchmarks[0].runs[1], of benchmark 'a': the unit is 'byte', but that of other runs \
             is 'second'"
        );
    }

    #[test]
    fn a_benchmark_that_was_only_calibrated_is_skipped() {
        let read = read_text(
            r#"{"version":"1.0","benchmarks":[{"runs":[{"warmups":[[1,0.5]],"metadata":{"name":"a"}}]}]}"#,
        )
        .unwrap();
        let benchmark = &read.benchmarks[0];
        assert!(matches!(&benchmark.state, ResultState::Skipped(_)));
        assert!(benchmark.metrics.is_empty() && benchmark.values.is_empty());
        let nameless = read_text(r#"{"version":"1.0","benchmarks":[{"runs":[]}]}"#).unwrap_err();
        assert_eq!(nameless, "a.json: benchmarks[0]: the benchmark has no name");
    }

    #[test]
    fn the_governor_says_whether_the_frequency_is_scaled() {
        let scaling = |config: &str| {
            let told = format!(r#","cpu_config":"{config}""#);
            read_text(&suite("1", &told)).unwrap().facts.cpu_scaling
        };
        assert_eq!(
            scaling("0-1=driver:x, governor:powersave; idle:y"),
            Some(true)
        );
        assert_eq!(
            scaling("0=governor:performance; 1=governor:powersave"),
            Some(true)
        );
        assert_eq!(scaling("0-1=driver:x, governor:performance"), Some(false));
        assert_eq!(scaling("idle:haltpoll"), None);
    }
}
