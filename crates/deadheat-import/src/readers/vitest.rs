//! Reads the JSON of Vitest: of `vitest bench --outputJson` up to release 4, and of the reporter
//! `json` in release 5, which lists the benchmarks of every test.

use std::collections::HashSet;

use crate::results::{ResultBenchmark, ResultState, Results};
use serde::Deserialize;
use serde_json::Value;

use super::json::{Number, Text, from_json_entries, inner_entry, lenient};
use super::rows::{NamesInGroups, fail_unless, failed};
use super::tinybench::Task;
use deadheat_format::FileProblem;

#[derive(Deserialize)]
struct WireOutput {
    files: Vec<WireFile>,
}

#[derive(Deserialize)]
struct WireFile {
    groups: Vec<WireGroup>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireGroup {
    /// The path of the file and the suites in it, such as `bench/sort.bench.ts > sort`.
    full_name: String,
    benchmarks: Vec<Value>,
}

/// Reads a file of `--outputJson`, which has no samples.
pub(super) fn read(text: &[u8]) -> Result<Results, FileProblem> {
    let (wire, broken) = from_json_entries::<WireOutput, WireFile>(text, "files")?;
    let mut reading = Reading::new()?;
    for (file, of_file) in wire.files.iter().enumerate() {
        for (group, of_group) in of_file.groups.iter().enumerate() {
            let place = format!("files[{file}].groups[{group}].benchmarks");
            reading.tasks(&of_group.full_name, &of_group.benchmarks, &place)?;
        }
    }
    for entry in broken {
        entry.give_to(&mut reading.results, &["filepath"]);
    }
    Ok(reading.results)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireReport {
    /// Milliseconds since 1970.
    #[serde(default, deserialize_with = "lenient")]
    start_time: Number,
    test_results: Vec<WireModule>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireModule {
    /// The path of the file.
    name: String,
    assertion_results: Vec<WireTest>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireTest {
    #[serde(default, deserialize_with = "lenient")]
    ancestor_titles: Vec<String>,
    title: String,
    #[serde(default)]
    status: Text,
    #[serde(default, deserialize_with = "lenient")]
    failure_messages: Vec<String>,
    benchmarks: Vec<WireComparison>,
}

#[derive(Deserialize)]
struct WireComparison {
    tasks: Vec<Value>,
}

/// Reads a test report of Vitest 5. It contains samples only if the configuration has
/// `benchmark.retainSamples`.
pub(super) fn read_report(text: &[u8]) -> Result<Results, FileProblem> {
    let (wire, broken) = from_json_entries::<WireReport, WireModule>(text, "testResults")?;
    let mut reading = Reading::new()?;
    reading.results.facts.moment = wire.start_time.optional(1e-3);
    let paths: Vec<&str> = wire.test_results.iter().map(|one| &*one.name).collect();
    let depth = depth_that_tells_apart(&paths);
    for (index, module) in wire.test_results.iter().enumerate() {
        let file = end_of_path(&module.name, depth);
        for (number, test) in module.assertion_results.iter().enumerate() {
            let suites = test
                .ancestor_titles
                .iter()
                .filter(|title| !title.is_empty());
            let titles = suites.chain([&test.title]).map(String::as_str);
            let name = reading
                .names
                .join(file, &titles.collect::<Vec<_>>().join(" > "))?;
            if test.benchmarks.is_empty() && test.status.0.as_deref() == Some("failed") {
                let message = test.failure_messages.first();
                let line = message.and_then(|message| message.lines().next());
                let why = line.unwrap_or("its test failed").to_owned();
                reading.results.push(failed(&name, why));
                continue;
            }
            let place = format!("testResults[{index}].assertionResults[{number}].benchmarks");
            for (at, comparison) in test.benchmarks.iter().enumerate() {
                reading.tasks(&name, &comparison.tasks, &format!("{place}[{at}].tasks"))?;
            }
        }
    }
    for entry in broken {
        entry.give_to(&mut reading.results, &["name"]);
    }
    Ok(reading.results)
}

struct Reading {
    results: Results,
    names: NamesInGroups,
}

impl Reading {
    fn new() -> Result<Self, FileProblem> {
        Ok(Self {
            results: Results::new("", "Vitest"),
            names: NamesInGroups::new()?,
        })
    }

    /// Reads the tasks of a group. Errors name `{place}[index]`.
    fn tasks(&mut self, group: &str, tasks: &[Value], place: &str) -> Result<(), FileProblem> {
        for (index, value) in tasks.iter().enumerate() {
            let place = format!("{place}[{index}]");
            let own = value.get("name").and_then(Value::as_str);
            let name = own.map(|own| self.names.join(group, own)).transpose()?;
            let task = match inner_entry::<Task>(value, &place) {
                Ok(task) => task,
                Err(broken) => {
                    broken.give_as(&mut self.results, name.as_deref());
                    continue;
                }
            };
            let Some(name) = name else {
                let problem = format!("{place}: the benchmark has no name");
                self.results.unread.push(problem);
                continue;
            };
            let mut read = ResultBenchmark {
                name,
                ..ResultBenchmark::default()
            };
            // `bench.from` repeats numbers that an earlier run stored.
            if value.get("fromStore").and_then(Value::as_bool) == Some(true) {
                read.state = ResultState::Skipped("bench.from repeats a stored result".to_owned());
            } else {
                let filled = task.fill(&mut read);
                fail_unless(&mut read, filled, &format!("{place}."));
            }
            self.results.push(read);
        }
        Ok(())
    }
}

/// Maximum number of path components in a name.
const MOST_COMPONENTS: usize = 16;

/// Returns the number of components at the end of these paths that are needed to distinguish them.
/// Whole paths would differ between the checkouts of two revisions.
fn depth_that_tells_apart(paths: &[&str]) -> usize {
    let whole: HashSet<&str> = paths.iter().copied().collect();
    let tells_apart = |depth: &usize| {
        let ends = whole.iter().map(|path| end_of_path(path, *depth));
        ends.collect::<HashSet<_>>().len() == whole.len()
    };
    (1..MOST_COMPONENTS)
        .find(tells_apart)
        .unwrap_or(MOST_COMPONENTS)
}

fn end_of_path(path: &str, components: usize) -> &str {
    let mut separators = path.rmatch_indices('/').map(|(at, _)| at + 1);
    separators
        .nth(components - 1)
        .map_or(path, |at| &path[at..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(results: &Results) -> Vec<(&str, &[f64])> {
        let all = results.benchmarks.iter();
        all.map(|one| (one.name.as_str(), &one.values[..]))
            .collect()
    }

    #[test]
    fn one_bad_benchmark_does_not_cost_the_others_of_its_group() {
        let text = r#"{"files":[{"filepath":"/a/x.bench.ts","groups":[{"fullName":"x.bench.ts > s",
            "benchmarks":[{"name":"bad","mean":"1"},{"name":"worse","mean":-1},{"mean":{}},
            {"name":"good","samples":[],"mean":0.5}]}]},{"filepath":"/a/y.bench.ts"}]}"#;
        let results = read(text.as_bytes()).unwrap();
        let of = |name: &str| {
            let mut of_name = results.benchmarks.iter().filter(|one| one.name == name);
            of_name.next().map(|one| one.state.clone())
        };
        assert_eq!(
            of("x.bench.ts > s > good"),
            Some(ResultState::Summarised {
                statistic: "mean".to_owned(),
            })
        );
        let place = "files[0].groups[0].benchmarks";
        for (name, why) in [
            (
                "x.bench.ts > s > bad",
                format!("{place}[0].mean: expected a number, but found the text \"1\""),
            ),
            (
                "x.bench.ts > s > worse",
                format!("{place}[1].mean: -1 is negative"),
            ),
        ] {
            assert_eq!(of(name), Some(ResultState::Failed(why)));
        }
        assert_eq!(results.unread.len(), 1);
        assert!(matches!(of("/a/y.bench.ts"), Some(ResultState::Failed(_))));
    }

    #[test]
    fn a_report_names_file_suites_test_and_benchmark() {
        let text = r#"{"testResults":[
            {"name":"/w/old/a/x.bench.ts","assertionResults":[
                {"ancestorTitles":["","s"],"title":"t","status":"failed","failureMessages":["slow"],
                 "benchmarks":[{"name":"g","tasks":[
                    {"name":"b","latency":{"samples":[0.5]}},
                    {"name":"kept","latency":{"mean":1},"fromStore":true}]}]},
                {"ancestorTitles":[],"title":"u","status":"failed","failureMessages":["Error: no\nat x"],
                 "benchmarks":[]},
                {"ancestorTitles":[],"title":"v","status":"passed","benchmarks":[]}]},
            {"name":"/w/old/b/x.bench.ts","assertionResults":[]}]}"#;
        let results = read_report(text.as_bytes()).unwrap();
        assert_eq!(
            told(&results),
            [
                ("a/x.bench.ts > s > t > b", &[5e5][..]),
                ("a/x.bench.ts > s > t > kept", &[]),
                ("a/x.bench.ts > u", &[]),
            ]
        );
        assert!(matches!(
            results.benchmarks[1].state,
            ResultState::Skipped(_)
        ));
        let why = "Error: no".to_owned();
        assert_eq!(results.benchmarks[2].state, ResultState::Failed(why));
    }

    #[test]
    fn names_of_files_are_as_long_as_it_takes_to_tell_them_apart() {
        for (paths, depth) in [
            (&["/w/a/x.ts"][..], 1),
            (&["/w/a/x.ts", "/w/a/y.ts", "/w/a/y.ts"], 1),
            (&["/w/a/x.ts", "/w/b/x.ts"], 2),
            (&["/v/a/x.ts", "/w/a/x.ts"], 3),
            (&["x.ts", "/x.ts"], 2),
        ] {
            assert_eq!(depth_that_tells_apart(paths), depth, "{paths:?}");
        }
        let far = format!("/{}x.ts", "d/".repeat(40));
        let depth = depth_that_tells_apart(&[&far, &format!("/e{far}")]);
        assert_eq!(depth, MOST_COMPONENTS);
        assert_eq!(end_of_path("/w/a/x.ts", 2), "a/x.ts");
        assert_eq!(end_of_path("/w/a/x.ts", 9), "/w/a/x.ts");
    }
}
