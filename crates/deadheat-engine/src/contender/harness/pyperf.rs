//! Adapter for pyperf scripts, which Python starts: a launch is one pyperf worker process,
//! `--worker-task` selects one benchmark by its number, and the JSON values arrive through a pipe.
//!
//! deadheat replaces pyperf's master, which starts the workers one after another. Like the master,
//! deadheat tells workers the number of loops per value, and it uses the same number on both sides.

use std::path::Path;

use deadheat_model::{Harness, Json, Object, RepetitionLength};

use super::adapter::{
    ArgumentError, HarnessAdapter, LEAVE_AWAY, LaunchOutput, LaunchRequest, Question, Repetition,
    RequestedRepetitions, ResultsBy,
};
use crate::command_failure::HarnessError;
use crate::error::EngineError;
use crate::launch_folder::LaunchFolder;
use crate::subprocess::Captured;

pub(super) struct Pyperf;

/// The names of an option: the short one, which may be empty, and the long one.
type Words = [&'static str; 2];

const VALUES: Words = ["-n", "--values"];
const WARM_UPS: Words = ["-w", "--warmups"];
const LOOPS: Words = ["-l", "--loops"];
const MIN_TIME: Words = ["", "--min-time"];

/// Options that change what a launch measures or reports.
const REFUSED: [Words; 20] = [
    ["-h", "--help"],
    ["-o", "--output"],
    ["", "--append"],
    ["", "--pipe"],
    ["", "--worker"],
    ["", "--worker-task"],
    ["", "--in-process"],
    ["", "--calibrate-loops"],
    ["", "--recalibrate-loops"],
    ["", "--calibrate-warmups"],
    ["", "--recalibrate-warmups"],
    ["", "--rigorous"],
    ["", "--fast"],
    ["", "--debug-single-value"],
    ["", "--compare-to"],
    ["", "--python-names"],
    ["", "--profile"],
    ["", "--hook"],
    ["", "--tracemalloc"],
    ["", "--track-memory"],
];

/// Options of pyperf's master that deadheat replaces, each with advice on what to use instead.
const INSTEAD: [(Words, &str); 4] = [
    (
        ["-p", "--processes"],
        "--max-replicates limits the number of replicates, and each replicate has four processes",
    ),
    (
        ["", "--python"],
        "name the Python of a side before its script: 'old/bin/python bench.py'",
    ),
    (
        ["", "--affinity"],
        "--pin sets the cores that launches run on",
    ),
    (
        ["", "--timeout"],
        "leave it out; deadheat's own --timeout limits the duration of a launch",
    ),
];

/// The number of warm-up values if the user sets none; pyperf's default.
const USUAL_WARM_UPS: &str = "1";
/// The number of a task that no script has: a launch of it runs the script without measuring
/// anything.
const NO_TASK: u32 = u32::MAX;

impl HarnessAdapter for Pyperf {
    fn marks(&self) -> &'static [&'static str] {
        &["--worker-task", "--inherit-environ"]
    }

    fn listing(&self) -> Question {
        Question::by(&["--worker", "-w", "0", "-n", "1", "-l", "1"])
    }

    /// Parses the names in a results file, each preceded by the number of its task.
    fn listed(&self, printed: &str) -> Vec<String> {
        let suite = Json::parse(printed);
        let suite = suite.as_ref().and_then(Json::as_object);
        let names = suite.into_iter().flat_map(Row::all).map(|row| row.name());
        let known = |(task, name): (usize, Option<&str>)| format!("{task} {}", name.unwrap_or("?"));
        names.enumerate().map(known).collect()
    }

    /// Runs all benchmarks once in one process, because pyperf does not list their names. If a
    /// benchmark fails, the remaining ones are run one by one. A failing benchmark is listed by its
    /// number and the reason, because its name is unknown.
    fn benchmarks(
        &self,
        ask: &mut dyn FnMut(&Question) -> Result<Captured, EngineError>,
    ) -> Result<Result<Vec<String>, String>, EngineError> {
        let folder = match LaunchFolder::new() {
            Ok(folder) => folder,
            Err(error) => return Ok(Err(format!("has no folder to write to: {error}"))),
        };
        let mut launched = |task: Option<u32>| -> Result<(Vec<String>, Captured), EngineError> {
            let mut question = self.listing();
            let chosen = task.map(|task| format!("--worker-task={task}"));
            let name = format!(
                "{}.json",
                task.map_or("all".to_owned(), |it| it.to_string())
            );
            let path = folder.path().join(&name);
            question.arguments.extend(chosen);
            question
                .arguments
                .extend(["-o".to_owned(), path.to_string_lossy().into_owned()]);
            let captured = ask(&question)?;
            let files = folder.files(&[&name]).unwrap_or_default();
            let listed = files.iter().flat_map(|(_, text)| self.listed(text));
            Ok((listed.collect(), captured))
        };
        let (mut known, all) = launched(None)?;
        let Some(problem) = all.problem() else {
            return Ok(Ok(known));
        };
        if launched(Some(NO_TASK))?.1.ending.is_some() {
            return Ok(Err(problem));
        }
        for task in known.len() as u32.. {
            let (found, captured) = launched(Some(task))?;
            let name = match (found.first(), captured.problem()) {
                (Some(one), _) => self.name_of(one).to_owned(),
                (None, None) => break,
                (None, Some(problem)) => format!("task {task} ({})", last_words(&problem)),
            };
            known.push(format!("{task} {name}"));
        }
        Ok(Ok(known))
    }

    fn name_of<'a>(&self, benchmark: &'a str) -> &'a str {
        parts(benchmark).1
    }

    fn requested_repetitions(
        &self,
        arguments: &[String],
    ) -> Result<RequestedRepetitions, ArgumentError> {
        let given = |words: &Words| value_of(arguments, words).is_some();
        let error = |[_, long]: &Words, problem: &str| ArgumentError::new(*long, problem);
        if let Some(words) = REFUSED.iter().find(|words| given(words)) {
            return Err(error(words, LEAVE_AWAY));
        }
        if let Some((words, instead)) = INSTEAD.iter().find(|(words, _)| given(words)) {
            return Err(error(words, instead));
        }
        let number = |words: &Words| match value_of(arguments, words) {
            None => Ok(None),
            Some(value) => match power(value) {
                Some(number) => Ok(Some(number)),
                None => Err(error(words, "a number is needed")),
            },
        };
        number(&WARM_UPS)?;
        let repetitions = match number(&VALUES)?.map(u32::try_from) {
            None => None,
            Some(Ok(values @ 1..)) => Some(values),
            Some(_) => return Err(error(&VALUES, "a launch needs at least 1 value")),
        };
        let seconds = match value_of(arguments, &MIN_TIME).map(str::parse::<f64>) {
            None => None,
            Some(Ok(seconds)) if seconds > 0.0 && seconds.is_finite() => Some(seconds),
            Some(_) => return Err(error(&MIN_TIME, "a time in seconds is needed, such as 0.1")),
        };
        // 0 loops mean that pyperf determines the number, as it does by default.
        let loops = number(&LOOPS)?.filter(|loops| *loops > 0);
        let length = match (loops, seconds) {
            (Some(loops), _) => Some(RepetitionLength::Iterations(loops)),
            (None, Some(seconds)) => Some(RepetitionLength::Seconds(seconds)),
            (None, None) => None,
        };
        Ok(RequestedRepetitions {
            length,
            repetitions,
        })
    }

    fn results(&self) -> ResultsBy {
        ResultsBy::Pipe
    }

    /// Returns arguments that follow the user's arguments and therefore override them.
    fn arguments(&self, ask: &LaunchRequest<'_>) -> Vec<String> {
        let (task, _) = parts(ask.benchmark);
        let mut arguments = vec!["--worker".to_owned(), format!("--worker-task={task}")];
        let mut add = |option: &str, value: String| {
            arguments.extend([option.to_owned(), value]);
        };
        if value_of(ask.own, &WARM_UPS).is_none() {
            add("-w", USUAL_WARM_UPS.to_owned());
        }
        add("-n", ask.repetitions.to_string());
        match ask.length {
            RepetitionLength::Iterations(loops) => add("-l", loops.to_string()),
            RepetitionLength::Seconds(seconds) => {
                // pyperf calibrates loops only if the requested number is 0.
                add("-l", "0".to_owned());
                add("--min-time", seconds.to_string());
                arguments.push("--calibrate-loops".to_owned());
            }
            RepetitionLength::Own => {}
        }
        arguments
    }

    /// Uses `--pipe`, because `--output` refuses to write to an existing file.
    fn arguments_for_results(&self, path: &str) -> Vec<String> {
        let number = Path::new(path).file_name().unwrap_or_default();
        vec!["--pipe".to_owned(), number.to_string_lossy().into_owned()]
    }

    fn repetitions(
        &self,
        ask: &LaunchRequest<'_>,
        yielded: &LaunchOutput,
    ) -> Result<Vec<Repetition>, HarnessError> {
        let text = yielded.report(Harness::Pyperf)?;
        let garbled = || HarnessError::garbled(Harness::Pyperf, text);
        let report = Json::parse(text).ok_or_else(garbled)?;
        let suite = report.as_object().ok_or_else(garbled)?;
        let row = Row::all(suite).next().ok_or_else(garbled)?;
        if row.name().ok_or_else(garbled)? != self.name_of(ask.benchmark) {
            return Err(HarnessError::Missing(Harness::Pyperf));
        }
        match row.get("unit").and_then(Json::as_text) {
            None | Some("second") => {}
            Some(unit) => {
                let problem = format!("its values are not times: their unit is '{unit}'");
                return Err(HarnessError::Skipped(problem));
            }
        }
        let inner = row.get("inner_loops").and_then(Json::as_u64).unwrap_or(1);
        let values = row.values(ask.repetitions as usize).ok_or_else(garbled)?;
        let repetitions = values.into_iter().enumerate().map(|(index, value)| {
            let iterations = value.loops as f64 * inner as f64;
            let took_ns = value.seconds * 1e9 * iterations;
            Ok(Repetition {
                told: value.loops,
                ..Repetition::timed(index, iterations, took_ns)?
            })
        });
        repetitions.collect()
    }

    /// Returns 10 ms, because the first calls in a process initialise what later calls reuse.
    /// Shorter repetitions would save little: a launch takes about 0.15 s of a core to start Python
    /// and pyperf.
    fn repetition_seconds(&self) -> f64 {
        0.010
    }

    fn counts_iterations(&self) -> Option<bool> {
        Some(true)
    }
}

/// Splits a listed benchmark into its task number and its name.
fn parts(benchmark: &str) -> (&str, &str) {
    benchmark.split_once(' ').unwrap_or((benchmark, ""))
}

/// Returns the value of the last occurrence of an option, as argparse reads it: the text after `=`,
/// the next argument, the rest of a short option, or an empty text. `None` if the option is
/// missing.
fn value_of<'a>(arguments: &'a [String], [short, long]: &Words) -> Option<&'a str> {
    let mut found = None;
    for (at, argument) in arguments.iter().enumerate() {
        let rest = match argument.strip_prefix(long) {
            Some(rest) if rest.is_empty() || rest.starts_with('=') => Some(rest),
            _ if short.is_empty() => None,
            _ => argument.strip_prefix(short),
        };
        match rest {
            Some("") => found = Some(arguments.get(at + 1).map_or("", String::as_str)),
            Some(rest) => found = Some(rest.strip_prefix('=').unwrap_or(rest)),
            None => {}
        }
    }
    found
}

/// Parses a number as pyperf does: `15` or `2^15`.
fn power(text: &str) -> Option<u64> {
    match text.split_once('^') {
        Some((base, exponent)) => base
            .parse::<u64>()
            .ok()?
            .checked_pow(exponent.parse().ok()?),
        None => text.parse().ok(),
    }
}

/// Returns the last line of a failed script's output, such as `ValueError: out of luck`.
fn last_words(problem: &str) -> String {
    let last = problem.rsplit(" | ").next().unwrap_or(problem);
    last.chars().take(80).collect()
}

/// A benchmark of a suite. Its metadata may be in the run, the benchmark or the suite.
struct Row<'a> {
    run: &'a Object,
    facts: [Option<&'a Object>; 3],
}

/// A value: the time of an iteration and the number of loops it was measured over.
struct Value {
    loops: u64,
    seconds: f64,
}

impl<'a> Row<'a> {
    fn all(suite: &'a Object) -> impl Iterator<Item = Self> {
        let facts = |of: &'a Object| of.get("metadata").and_then(Json::as_object);
        let benchmarks = suite.get("benchmarks").and_then(Json::as_list);
        let benchmarks = benchmarks.unwrap_or_default().iter();
        benchmarks.filter_map(move |benchmark| {
            let benchmark = benchmark.as_object()?;
            let run = benchmark.get("runs")?.as_list()?.first()?.as_object()?;
            Some(Self {
                run,
                facts: [facts(run), facts(benchmark), facts(suite)],
            })
        })
    }

    fn get(&self, fact: &str) -> Option<&'a Json> {
        let mut facts = self.facts.iter().flatten();
        facts.find_map(|facts| facts.get(fact))
    }

    fn name(&self) -> Option<&'a str> {
        self.get("name")?.as_text()
    }

    /// Returns the values of the run. If the worker calibrated its loops, it reports every value as
    /// a warm-up, together with its loops; the last `count` values that were long enough are
    /// returned. `None` if the report has an unexpected form.
    fn values(&self, count: usize) -> Option<Vec<Value>> {
        if self.get("calibrate_loops").is_none() {
            let loops = self.get("loops")?.as_u64()?;
            let values = self.run.get("values")?.as_list()?.iter();
            let values = values.map(|value| {
                Some(Value {
                    loops,
                    seconds: value.as_number()?,
                })
            });
            return values.collect();
        }
        let tried = self.run.get("warmups")?.as_list()?.iter().map(|pair| {
            let [loops, seconds] = pair.as_list()? else {
                return None;
            };
            Some(Value {
                loops: loops.as_u64()?,
                seconds: seconds.as_number()?,
            })
        });
        let tried: Vec<Value> = tried.collect::<Option<_>>()?;
        // A value is too short if the next one uses more loops.
        let more: Vec<bool> = tried
            .windows(2)
            .map(|two| two[0].loops < two[1].loops)
            .collect();
        let long = tried.into_iter().enumerate();
        let long = long.filter(|(at, _)| !more.get(*at).copied().unwrap_or(false));
        let mut long: Vec<Value> = long.map(|(_, value)| value).collect();
        let warm_up = long.len().checked_sub(count)?;
        Some(long.split_off(warm_up))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::subprocess::Ending;

    fn own(arguments: &[&str]) -> Vec<String> {
        arguments.iter().map(|a| (*a).to_owned()).collect()
    }

    fn ask<'a>(
        own: &'a [String],
        benchmark: &'a str,
        length: RepetitionLength,
    ) -> LaunchRequest<'a> {
        LaunchRequest {
            own,
            benchmark,
            length,
            repetitions: 2,
        }
    }

    fn words(arguments: &[&str], length: RepetitionLength) -> String {
        let own = own(arguments);
        let ask = ask(&own, "3 sum of 9", length);
        Pyperf.arguments(&ask).join(" ")
    }

    /// Parses a report about `3 sum`; returns the iterations, loops and nanoseconds per iteration
    /// of each repetition.
    fn read(text: &str) -> Result<Vec<(u64, u64, f64)>, HarnessError> {
        let yielded = LaunchOutput {
            text: text.to_owned(),
            ..LaunchOutput::default()
        };
        let rows = Pyperf.repetitions(&ask(&[], "3 sum", RepetitionLength::Own), &yielded)?;
        let row = |row: &Repetition| (row.iterations, row.told, row.wall_ns.round());
        Ok(rows.iter().map(row).collect())
    }

    fn report(facts: &str, run: &str) -> String {
        format!(
            r#"{{"benchmarks":[{{"runs":[{{{run}}}]}}],"metadata":{{{facts}}},"version":"1.0"}}"#
        )
    }

    #[test]
    fn values_are_of_an_iteration_and_inner_loops_multiply_them() {
        let facts = r#""name":"sum","loops":100,"unit":"second""#;
        let run = r#""values":[1e-6,2e-6],"warmups":[[100,9e-6]]"#;
        assert_eq!(
            read(&report(facts, run)).unwrap(),
            [(100, 100, 1000.0), (100, 100, 2000.0)]
        );
        let facts = format!(r#"{facts},"inner_loops":10"#);
        assert_eq!(read(&report(&facts, run)).unwrap()[0], (1000, 100, 1000.0));
        // With several benchmarks, metadata that differs is in each benchmark.
        let run = r#"{"benchmarks":[{"metadata":{"name":"sum"},"runs":[{"metadata":{"loops":4},"values":[1e-6]}]}],"version":"1.0"}"#;
        assert_eq!(read(run).unwrap(), [(4, 4, 1000.0)]);
    }

    #[test]
    fn loops_that_a_launch_finds_itself_stand_among_its_warm_up() {
        let facts = r#""name":"sum","loops":8,"calibrate_loops":8"#;
        let values = |pairs: &str| read(&report(facts, &format!(r#""warmups":[{pairs}]"#)));
        let tried = "[1,9e-6],[2,8e-6],[4,4e-6],[4,3e-6],[8,2e-6]";
        assert_eq!(
            values(tried).unwrap(),
            [(4, 4, 4000.0), (8, 8, 2000.0)],
            "the second of four loops was too short"
        );
        let slow = "[1,3.0],[1,2.0],[1,1.0]";
        assert_eq!(values(slow).unwrap(), [(1, 1, 2e9), (1, 1, 1e9)]);
        let found = values("[1,1.0]");
        assert!(
            matches!(found, Err(HarnessError::Garbled { .. })),
            "{found:?}"
        );
    }

    #[test]
    fn what_is_no_time_and_what_is_another_benchmark_is_told() {
        let values = r#""values":[1.0,2.0]"#;
        let of = |facts: &str| read(&report(facts, values));
        let bytes = of(r#""name":"sum","loops":1,"unit":"byte""#);
        let expected = "its values are not times: their unit is 'byte'".to_owned();
        assert_eq!(bytes, Err(HarnessError::Skipped(expected)));
        let other = of(r#""name":"sum of 9","loops":1"#);
        assert_eq!(other, Err(HarnessError::Missing(Harness::Pyperf)));
        assert!(matches!(read(""), Err(HarnessError::NoReport { .. })));
        for text in [
            "hello",
            "[]",
            "{}",
            &report("", values),
            &report(r#""name":"sum""#, values),
        ] {
            let found = read(text);
            assert!(
                matches!(found, Err(HarnessError::Garbled { .. })),
                "{text}: {found:?}"
            );
        }
        for values in ["-1.0", "1e300"] {
            let found = read(&report(
                r#""name":"sum","loops":1"#,
                &format!(r#""values":[{values}]"#),
            ));
            assert!(
                matches!(found, Err(HarnessError::Number { .. })),
                "{found:?}"
            );
        }
        let no_loops = read(&report(r#""name":"sum","loops":0"#, values));
        assert!(
            matches!(no_loops, Err(HarnessError::Number { .. })),
            "{no_loops:?}"
        );
    }

    #[test]
    fn a_launch_is_told_its_task_and_its_loops() {
        assert_eq!(
            words(&["x"], RepetitionLength::Iterations(70)),
            "--worker --worker-task=3 -w 1 -n 2 -l 70"
        );
        assert_eq!(
            words(&["--warmups=5"], RepetitionLength::Seconds(0.01)),
            "--worker --worker-task=3 -n 2 -l 0 --min-time 0.01 --calibrate-loops"
        );
        let path = "/proc/self/fd/12";
        assert_eq!(Pyperf.arguments_for_results(path), ["--pipe", "12"]);
    }

    #[test]
    fn values_loops_and_times_of_the_user_are_heeded() {
        let requested_repetitions =
            |arguments: &[&str]| Pyperf.requested_repetitions(&own(arguments)).unwrap();
        for (loops, expected) in [
            (
                &["-l", "2^10"][..],
                Some(RepetitionLength::Iterations(1024)),
            ),
            (
                &["--loops=7", "--min-time", "1"],
                Some(RepetitionLength::Iterations(7)),
            ),
            (
                &["-l0", "--min-time=0.5"],
                Some(RepetitionLength::Seconds(0.5)),
            ),
            (&["-l0", "bench", "-v"], None),
        ] {
            assert_eq!(requested_repetitions(loops).length, expected, "{loops:?}");
        }
        assert_eq!(requested_repetitions(&["-n5"]).repetitions, Some(5));
        assert_eq!(
            requested_repetitions(&["--values", "6", "-n=7"]).repetitions,
            Some(7)
        );
        for (refused, named) in [
            ("-oresults.json", "--output"),
            ("--append=x", "--append"),
            ("--fast", "--fast"),
            ("-p2", "--processes"),
            ("--affinity=1", "--affinity"),
            ("--python=x", "--python"),
            ("-n0", "--values"),
            ("-wx", "--warmups"),
            ("-l9^99", "--loops"),
            ("--min-time=0", "--min-time"),
            ("--min-time=nan", "--min-time"),
        ] {
            assert_eq!(
                Pyperf
                    .requested_repetitions(&own(&[refused]))
                    .unwrap_err()
                    .flag,
                named
            );
        }
        let others = ["--python-name", "--inherit-environ=X", "-q", "--workers"];
        assert_eq!(
            Pyperf.requested_repetitions(&own(&others)),
            Ok(RequestedRepetitions::default())
        );
    }

    /// Lists the benchmarks of a simulated script, and also returns the requested tasks. For a task
    /// number or `all`, `answer` returns the benchmarks that run, and true if the script then
    /// fails.
    fn listed(
        answer: impl Fn(&str) -> (&'static [&'static str], bool),
    ) -> (Result<Vec<String>, String>, Vec<String>) {
        let mut asked = Vec::new();
        let found = Pyperf.benchmarks(&mut |question| {
            let arguments = &question.arguments;
            let task = arguments
                .iter()
                .find_map(|it| it.strip_prefix("--worker-task="));
            let task = task.unwrap_or("all");
            asked.push(task.to_owned());
            let (names, fails) = answer(task);
            let rows = names.iter().map(|name| {
                format!(r#"{{"metadata":{{"name":"{name}"}},"runs":[{{"values":[1.0]}}]}}"#)
            });
            let rows: Vec<String> = rows.collect();
            if !rows.is_empty() {
                let text = format!(r#"{{"benchmarks":[{}]}}"#, rows.join(","));
                std::fs::write(arguments.last().unwrap(), text).unwrap();
            }
            Ok(Captured {
                output: Vec::new(),
                stderr_tail: "Traceback: | ValueError: out of luck".to_owned(),
                ending: fails.then_some(Ending::Exited(1)),
            })
        });
        (found.unwrap(), asked)
    }

    #[test]
    fn benchmarks_are_listed_by_one_launch_where_none_fails() {
        let (found, asked) = listed(|_| (&["a", "b c"], false));
        let found = found.unwrap();
        assert_eq!(found, ["0 a", "1 b c"]);
        assert_eq!(Pyperf.name_of(&found[1]), "b c");
        assert_eq!(asked, ["all"]);
        assert_eq!(listed(|_| (&[], false)).0, Ok(Vec::new()));
    }

    #[test]
    fn benchmarks_behind_one_that_fails_are_asked_for_one_by_one() {
        let (found, asked) = listed(|task| match task {
            "all" => (&["a"], true),
            "1" => (&[], true),
            "2" => (&["a"], false),
            _ => (&[], false),
        });
        let expected = ["0 a", "1 task 1 (ValueError: out of luck)", "2 a"];
        assert_eq!(found.unwrap(), expected);
        assert_eq!(asked, ["all", "4294967295", "1", "2", "3"]);
    }

    #[test]
    fn a_script_that_fails_without_any_benchmark_is_none() {
        let (found, asked) = listed(|_| (&["a"], true));
        assert!(found.unwrap_err().ends_with("ValueError: out of luck"));
        assert_eq!(asked.len(), 2);
    }
}
