//! Reads the JSON that mitata prints with `run({ format: 'json' })`: benchmarks with a run for each
//! combination of their arguments.

use crate::identity::{Identity, QualifierPlace, QualifierShown};
use crate::results::{ResultBenchmark, ResultState, Results};
use deadheat_model::{Better, Metric, ResultFacts, Unit};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::json::{Number, Text, from_json_entries, lenient, text_of};
use super::rows::{NamesInGroups, Rows, fail_unless, summarised, thrown};
use deadheat_format::FileProblem;

#[derive(Deserialize)]
struct WireFile {
    #[serde(default, deserialize_with = "lenient")]
    layout: Vec<WireGroup>,
    benchmarks: Vec<WireBenchmark>,
    #[serde(default, deserialize_with = "lenient")]
    context: WireContext,
}

#[derive(Deserialize)]
struct WireGroup {
    /// mitata writes `null` or 0 for benchmarks outside of groups.
    #[serde(default, deserialize_with = "lenient")]
    name: Option<String>,
}

#[derive(Deserialize)]
struct WireBenchmark {
    /// Index of the benchmark's group in the layout.
    #[serde(default, deserialize_with = "lenient")]
    group: Option<usize>,
    runs: Vec<WireRun>,
}

#[derive(Deserialize)]
struct WireRun {
    name: String,
    #[serde(default, deserialize_with = "lenient")]
    args: Map<String, Value>,
    stats: Option<WireStats>,
    #[serde(default)]
    error: Value,
}

/// Statistics of an iteration, in nanoseconds.
#[derive(Deserialize)]
struct WireStats {
    samples: Option<Vec<Number>>,
    p50: Option<Number>,
    #[serde(default)]
    avg: Number,
    #[serde(default, deserialize_with = "lenient")]
    heap: WireHeap,
}

#[derive(Default, Deserialize)]
struct WireHeap {
    #[serde(default)]
    avg: Number,
}

#[derive(Default, Deserialize)]
struct WireContext {
    /// Milliseconds since 1970.
    #[serde(default, deserialize_with = "lenient")]
    now: Number,
    #[serde(default)]
    arch: Text,
    #[serde(default)]
    version: Text,
    #[serde(default)]
    runtime: Text,
    #[serde(default, deserialize_with = "lenient")]
    cpu: WireCpu,
}

#[derive(Default, Deserialize)]
struct WireCpu {
    #[serde(default)]
    name: Text,
}

/// Reads all runs, each as a benchmark. All samples of a file are of one process.
pub(super) fn read(text: &[u8]) -> Result<Results, FileProblem> {
    let (wire, broken) = from_json_entries::<WireFile, WireBenchmark>(text, "benchmarks")?;
    let mut results = Results::new("", "mitata");
    results.facts = wire.context.facts();
    let mut names = NamesInGroups::new()?;
    for (index, benchmark) in wire.benchmarks.iter().enumerate() {
        let group = benchmark.group.and_then(|group| wire.layout.get(group));
        let group = group.and_then(|group| group.name.as_deref());
        for (number, run) in benchmark.runs.iter().enumerate() {
            let name = match group {
                Some(group) => names.join(group, &run.name)?,
                None => run.name.clone(),
            };
            let mut read = run.named(name);
            let filled = run.fill(&mut read);
            let place = format!("benchmarks[{index}].runs[{number}].");
            fail_unless(&mut read, filled, &place);
            results.push(read);
        }
    }
    for entry in broken {
        entry.give_to(&mut results, &["alias"]);
    }
    Ok(results)
}

impl WireRun {
    fn named(&self, name: String) -> ResultBenchmark {
        let mut identity = Identity::new(name);
        for (key, value) in &self.args {
            let (place, shown) = (QualifierPlace::Parameter, QualifierShown::IfSideDiffers);
            identity = identity.with(key.clone(), text_of(value), place, shown);
        }
        ResultBenchmark {
            identity,
            ..ResultBenchmark::default()
        }
    }

    fn fill(&self, read: &mut ResultBenchmark) -> Result<(), FileProblem> {
        let Some(stats) = &self.stats else {
            let why = thrown(&self.error)
                .unwrap_or("mitata wrote no statistics for this benchmark".to_owned());
            read.state = ResultState::Failed(why);
            return Ok(());
        };
        let mut times = Vec::new();
        for (at, time) in stats.samples.iter().flatten().enumerate() {
            times.push(time.measured(1.0, || format!("stats.samples[{at}]"))?);
        }
        if times.is_empty() {
            let (statistic, field, time) = match stats.p50 {
                Some(median) => ("median", "p50", median),
                None => ("mean", "avg", stats.avg),
            };
            times.push(time.measured(1.0, || format!("stats.{field}"))?);
            read.state = summarised(statistic);
        }
        let heap = Metric::foreign("heap", Unit::Bytes, Better::Less);
        let growth = stats.heap.avg.optional(1.0);
        let mut rows = Rows::default();
        for time in times {
            rows.begin(0);
            rows.set(&Metric::Wall, time);
            if let Some(bytes) = growth {
                rows.set(&heap, bytes);
            }
        }
        rows.give_to(read);
        Ok(())
    }
}

impl WireContext {
    fn facts(self) -> ResultFacts {
        let runtime = [self.runtime.0, self.version.0].into_iter().flatten();
        let runtime: Vec<String> = runtime.collect();
        ResultFacts {
            system: self.arch.0,
            cpu: self.cpu.name.0,
            runtime: (!runtime.is_empty()).then(|| runtime.join(" ")),
            moment: self.now.optional(1e-3),
            ..ResultFacts::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_run(run: &str) -> ResultBenchmark {
        let text = format!(
            r#"{{"layout":[{{"name":0}},{{"name":"g"}}],"benchmarks":[{{"alias":"a","group":1,"runs":[{run}]}}]}}"#
        );
        read(text.as_bytes()).unwrap().benchmarks.remove(0)
    }

    #[test]
    fn every_sample_is_a_row_with_the_growth_of_the_heap() {
        let run = r#"{"name":"a","stats":{"samples":[1.5,2],"p50":9,"heap":{"avg":64.5}}}"#;
        let read = read_run(run);
        let names: Vec<&str> = read.metrics.iter().map(Metric::name).collect();
        assert_eq!(names, ["wall", "heap"]);
        assert_eq!(read.values, [1.5, 64.5, 2.0, 64.5]);
        assert_eq!(read.processes, [0, 0]);
        assert_eq!(read.identity.base, "g > a");
    }

    #[test]
    fn without_samples_the_median_is_the_only_row_and_without_it_the_mean() {
        for (stats, value, statistic) in [
            (r#"{"samples":null,"p50":2,"avg":3}"#, 2.0, "median"),
            (r#"{"samples":[],"avg":3,"heap":{"avg":null}}"#, 3.0, "mean"),
        ] {
            let read = read_run(&format!(r#"{{"name":"a","stats":{stats}}}"#));
            assert_eq!(read.values, [value]);
            assert_eq!(read.state, summarised(statistic));
        }
    }

    #[test]
    fn a_run_without_times_fails_with_its_reason() {
        let place = "benchmarks[0].runs[0].stats.";
        for (run, told) in [
            (
                r#""error":{"message":"no input","stack":"x"}"#,
                "no input".to_owned(),
            ),
            (r#""error":"thrown text""#, "thrown text".to_owned()),
            (
                r#""error":{}"#,
                "it threw an error, whose message JSON.stringify omits".to_owned(),
            ),
            (
                r#""x":1"#,
                "mitata wrote no statistics for this benchmark".to_owned(),
            ),
            (
                r#""stats":{"samples":[1,-2]}"#,
                format!("{place}samples[1]: -2 is negative"),
            ),
            (
                r#""stats":{"avg":-1}"#,
                format!("{place}avg: -1 is negative"),
            ),
        ] {
            let read = read_run(&format!(r#"{{"name":"a",{run}}}"#));
            assert_eq!(read.state, ResultState::Failed(told), "{run}");
            assert!(read.values.is_empty());
        }
    }

    #[test]
    fn a_benchmark_of_another_shape_does_not_cost_the_others() {
        let good = r#"{"alias":"good","runs":[{"name":"good","stats":{"samples":[1]}}]}"#;
        for (bad, unread) in [
            (
                r#"{"alias":"bad","runs":[{"name":"bad","stats":{"samples":["1"]}}]}"#,
                0,
            ),
            (r#"{"alias":"bad","runs":7}"#, 0),
            ("7", 1),
        ] {
            let text = format!(r#"{{"layout":[],"benchmarks":[{bad},{good}],"context":7}}"#);
            let results = read(text.as_bytes()).unwrap();
            let names: Vec<&str> = results
                .benchmarks
                .iter()
                .map(|one| one.identity.base.as_str())
                .collect();
            assert_eq!(names[0], "good", "{bad}");
            assert_eq!(
                (results.benchmarks.len(), results.unread.len()),
                (2 - unread, unread)
            );
        }
    }
}
