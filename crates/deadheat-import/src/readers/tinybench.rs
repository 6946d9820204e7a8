//! Reads results of tinybench that scripts have saved: the results of its tasks, or
//! `bench.table()`. Vitest also writes results of tasks.

use crate::results::{ResultBenchmark, ResultState, Results};
use deadheat_model::{Metric, ResultFacts};
use serde::Deserialize;
use serde_json::Value;

use super::json::{Number, Text, from_json_entries};
use super::rows::{Rows, fail_unless, summarised, thrown};
use deadheat_format::FileProblem;

/// The result of a task with its name, or a task that contains its result.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Task {
    #[serde(default)]
    name: Text,
    result: Option<Box<Task>>,
    #[serde(default)]
    state: Text,
    #[serde(default)]
    error: Value,
    #[serde(default)]
    runtime: Text,
    #[serde(default)]
    runtime_version: Text,
    /// Present since tinybench 3.
    latency: Option<Statistics>,
    // Present in tinybench 2.
    samples: Option<Vec<Number>>,
    #[serde(default)]
    mean: Number,
}

/// Statistics of the time of a call, in milliseconds.
#[derive(Deserialize)]
struct Statistics {
    /// Always kept before tinybench 4, later only with `retainSamples`.
    samples: Option<Vec<Number>>,
    #[serde(default)]
    mean: Number,
}

impl Task {
    fn result(&self) -> &Task {
        self.result.as_deref().unwrap_or(self)
    }

    /// Reads the samples, or their mean if the file has no samples. All samples are of one process.
    ///
    /// The mean is better than the median: tinybench times every call separately, and clocks with
    /// steps of 40 ns or 100 µs are common, so the median of short calls is one of these steps.
    pub(super) fn fill(&self, read: &mut ResultBenchmark) -> Result<(), FileProblem> {
        let task = self.result();
        if let Some(why) = task.failure() {
            read.state = ResultState::Failed(why);
            return Ok(());
        }
        let (place, samples, mean) = match &task.latency {
            Some(latency) => ("latency.", &latency.samples, latency.mean),
            None => ("", &task.samples, task.mean),
        };
        let mut rows = Rows::default();
        for (at, time) in samples.iter().flatten().enumerate() {
            rows.begin(0);
            let time = time.measured(1e6, || format!("{place}samples[{at}]"))?;
            rows.set(&Metric::Wall, time);
        }
        if rows.len() == 0 {
            let time = mean.measured(1e6, || format!("{place}mean"))?;
            rows = Rows::of_value(&Metric::Wall, time);
            read.state = summarised("mean");
        }
        rows.give_to(read);
        Ok(())
    }

    /// Returns the reason why the task has no times.
    fn failure(&self) -> Option<String> {
        let no_times = self.latency.is_none() && self.mean.0.is_none();
        match self.state.0.as_deref() {
            _ if !self.error.is_null() => thrown(&self.error),
            Some(state) if no_times => Some(format!("its state is '{state}'")),
            None if no_times => Some("it has no times".to_owned()),
            _ => None,
        }
    }

    fn facts(&self) -> ResultFacts {
        let result = self.result();
        let runtime = [&result.runtime.0, &result.runtime_version.0];
        let runtime: Vec<&str> = runtime.into_iter().flatten().map(String::as_str).collect();
        ResultFacts {
            runtime: (!runtime.is_empty()).then(|| runtime.join(" ")),
            ..ResultFacts::default()
        }
    }
}

/// Reads a list of tasks. The results in `bench.results` have no names, so only their order
/// distinguishes them.
pub(super) fn read(text: &[u8]) -> Result<Results, FileProblem> {
    let (tasks, broken) = from_json_entries::<Vec<Task>, Task>(text, "")?;
    let mut results = Results::new("", "tinybench");
    results.facts = tasks.first().map(Task::facts).unwrap_or_default();
    for (index, task) in tasks.iter().enumerate() {
        let mut read = ResultBenchmark {
            name: task.name.0.as_deref().unwrap_or("task").to_owned(),
            ..ResultBenchmark::default()
        };
        let filled = task.fill(&mut read);
        fail_unless(&mut read, filled, &format!("[{index}]."));
        results.push(read);
    }
    for entry in broken {
        entry.give_to(&mut results, &["name"]);
    }
    Ok(results)
}

/// A row of `bench.table()`. Releases 3.0 and 3.1 renamed its columns.
#[derive(Deserialize)]
struct Row {
    #[serde(rename = "Task name", alias = "Task Name")]
    name: String,
    #[serde(
        rename = "Latency avg (ns)",
        alias = "Latency average (ns)",
        alias = "Average Time (ns)",
        default
    )]
    mean: Text,
    #[serde(rename = "Error", default)]
    error: Text,
    #[serde(rename = "Remarks", default)]
    remarks: Text,
}

pub(super) fn read_table(text: &[u8]) -> Result<Results, FileProblem> {
    let (table, broken) = from_json_entries::<Vec<Option<Row>>, Option<Row>>(text, "")?;
    let mut results = Results::new("", "tinybench");
    // Tasks that did not run are `null`.
    for row in table.into_iter().flatten() {
        let mut read = ResultBenchmark::default();
        match row.nanoseconds() {
            Ok(time) => {
                Rows::of_value(&Metric::Wall, time).give_to(&mut read);
                read.state = summarised("mean");
            }
            Err(why) => read.state = ResultState::Failed(why),
        }
        read.name = row.name;
        results.push(read);
    }
    for entry in broken {
        entry.give_to(&mut results, &["Task name", "Task Name"]);
    }
    Ok(results)
}

impl Row {
    /// Returns the mean from a cell such as `1234.5 ± 0.61%`, or the reason why it is missing.
    fn nanoseconds(&self) -> Result<f64, String> {
        let cell = self.mean.0.as_deref().unwrap_or_default();
        let number = cell.split([' ', '±']).next().unwrap_or_default().parse();
        match number {
            Ok(time) if f64::is_finite(time) && time >= 0.0 => Ok(time),
            _ => Err(match (&self.error.0, &self.remarks.0) {
                (Some(error), _) => error.clone(),
                (None, Some(state)) => format!("its state is '{state}'"),
                (None, None) => format!("'{cell}' is not a time"),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_one(task: &str) -> ResultBenchmark {
        let text = format!("[{task}]");
        read(text.as_bytes()).unwrap().benchmarks.remove(0)
    }

    #[test]
    fn every_layout_has_its_samples_in_milliseconds() {
        for task in [
            r#"{"name":"a","latency":{"samples":[0.5,1],"mean":9},"throughput":{"samples":[1]}}"#,
            r#"{"name":"a","samples":[0.5,1],"mean":9}"#,
            r#"{"name":"a","runs":2,"result":{"latency":{"samples":[0.5,1]},"samples":[7]}}"#,
        ] {
            let read = read_one(task);
            assert_eq!(
                (&*read.name, &read.values[..]),
                ("a", &[5e5, 1e6][..]),
                "{task}"
            );
            assert_eq!(read.metrics, [Metric::Wall]);
            assert_eq!(read.processes, [0, 0]);
        }
    }

    #[test]
    fn without_samples_the_mean_is_the_only_row() {
        for task in [
            r#"{"latency":{"mean":0.25,"p50":7}}"#,
            r#"{"samples":[],"mean":0.25}"#,
        ] {
            let read = read_one(task);
            assert_eq!((&*read.name, &read.values[..]), ("task", &[2.5e5][..]));
            assert_eq!(read.state, summarised("mean"));
        }
    }

    #[test]
    fn a_task_without_times_fails_with_its_reason() {
        for (task, told) in [
            (
                r#"{"name":"a","error":{},"state":"errored"}"#,
                "it threw an error, whose message JSON.stringify omits",
            ),
            (r#"{"name":"a","error":{"message":"no input"}}"#, "no input"),
            (
                r#"{"name":"a","result":{"state":"aborted"}}"#,
                "its state is 'aborted'",
            ),
            (
                r#"{"name":"a","rank":0,"rme":0,"samples":[]}"#,
                "it has no times",
            ),
            (
                r#"{"name":"a","latency":{"samples":[1,-1]}}"#,
                "[0].latency.samples[1]: -1 is negative",
            ),
            (r#"{"name":"a","mean":-1}"#, "[0].mean: -1 is negative"),
        ] {
            assert_eq!(
                read_one(task).state,
                ResultState::Failed(told.to_owned()),
                "{task}"
            );
        }
    }

    #[test]
    fn rows_of_a_table_are_means_in_the_columns_of_every_release() {
        for (row, told) in [
            (
                r#"{"Task Name":"a","ops/sec":"1","Average Time (ns)":1234.5,"Margin":"±1%"}"#,
                Ok(1234.5),
            ),
            (
                r#"{"Task name":"a","Latency average (ns)":"1234.50 ± 0.61%"}"#,
                Ok(1234.5),
            ),
            (
                r#"{"Task name":"a","Latency avg (ns)":"1234.5 ± 0.61%"}"#,
                Ok(1234.5),
            ),
            (
                r#"{"Task name":"a","Error":"no input","Stack":"x"}"#,
                Err("no input"),
            ),
            (
                r#"{"Task name":"a","Latency avg (ns)":"N/A","Remarks":"aborted"}"#,
                Err("its state is 'aborted'"),
            ),
            (
                r#"{"Task name":"a","Latency avg (ns)":"NaN ± 0%"}"#,
                Err("'NaN ± 0%' is not a time"),
            ),
            (
                r#"{"Task name":"a","Latency avg (ns)":"+∞ ± 0%"}"#,
                Err("'+∞ ± 0%' is not a time"),
            ),
            (
                r#"{"Task name":"a","Latency avg (ns)":"-1"}"#,
                Err("'-1' is not a time"),
            ),
            (r#"{"Task name":"a"}"#, Err("'' is not a time")),
        ] {
            let text = format!("[null,{row}]");
            let read = read_table(text.as_bytes()).unwrap().benchmarks.remove(0);
            match told {
                Ok(time) => {
                    assert_eq!(read.values, [time], "{row}");
                    assert_eq!(read.state, summarised("mean"));
                }
                Err(why) => assert_eq!(read.state, ResultState::Failed(why.to_owned()), "{row}"),
            }
        }
    }
}
