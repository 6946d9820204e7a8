//! Adapter for Google Benchmark: `--benchmark_filter` selects one benchmark, and the JSON report
//! arrives through a pipe.

use std::borrow::Cow;

use deadheat_model::{Harness, HarnessCalls, Json, Object, Program, RepetitionLength};

use super::adapter::{
    ArgumentError, HarnessAdapter, LaunchOutput, LaunchRequest, MOST_NS, Question, Repetition,
    RequestedRepetitions, ResultsBy,
};
use super::launch::startable;
use crate::command_failure::HarnessError;
use crate::executable::GOOGLE_BENCHMARK_VARIABLES;
use crate::tool::Tool;

pub(crate) struct GoogleBenchmark;

/// The seconds of warm-up if the number of iterations is fixed. Otherwise the search for that
/// number warms up the benchmark.
const WARM_UP_SECONDS: f64 = 0.001;
const WARM_UP_FLAG: &str = "--benchmark_min_warmup_time";

pub(crate) const LIST_TESTS: &str = "--benchmark_list_tests=true";

impl HarnessAdapter for GoogleBenchmark {
    /// Asks for the list with a filter that matches nothing. The reply to [`LIST_TESTS`] alone does
    /// not identify Google Benchmark, because any program may print lines. Releases 1.5 to 1.9.5
    /// print a fixed sentence if no benchmark matches the filter, even with a user-defined `main`.
    /// `--help` is not reliable, because a user-defined `main` may replace it.
    fn question(&self, _program: &Program) -> &'static [&'static str] {
        &[LIST_TESTS, "--benchmark_filter=^deadheat_matches_nothing$"]
    }

    fn marks(&self) -> &'static [&'static str] {
        &["Failed to match any benchmarks against regex: ^deadheat_matches_nothing$"]
    }

    fn listing(&self) -> Question {
        Question::by(&[LIST_TESTS])
    }

    fn listed(&self, printed: &str) -> Vec<String> {
        let lines = printed.lines().filter(|line| !line.trim().is_empty());
        lines.map(str::to_owned).collect()
    }

    fn requested_repetitions(
        &self,
        arguments: &[String],
    ) -> Result<RequestedRepetitions, ArgumentError> {
        wishes_of(arguments)
    }

    fn results(&self) -> ResultsBy {
        ResultsBy::Pipe
    }

    /// Returns arguments that follow the user's arguments and therefore override them.
    fn arguments(&self, ask: &LaunchRequest<'_>) -> Vec<String> {
        let mut arguments = vec![
            format!("--benchmark_filter={}", filter(ask.benchmark)),
            format!("--benchmark_repetitions={}", ask.repetitions),
        ];
        match ask.length {
            RepetitionLength::Iterations(count) => {
                arguments.push(format!("--benchmark_min_time={count}x"));
                if !ask.is_given(WARM_UP_FLAG) {
                    arguments.push(format!("{WARM_UP_FLAG}={WARM_UP_SECONDS}"));
                }
            }
            // No unit, because releases before 1.8 reject it.
            RepetitionLength::Seconds(seconds) => {
                arguments.push(format!("--benchmark_min_time={seconds}"));
            }
            RepetitionLength::Own => {}
        }
        arguments.push("--benchmark_report_aggregates_only=false".to_owned());
        arguments
    }

    fn arguments_for_results(&self, path: &str) -> Vec<String> {
        vec![
            format!("--benchmark_out={path}"),
            "--benchmark_out_format=json".to_owned(),
        ]
    }

    fn environment(&self, _folder: &str) -> Vec<(&'static str, Option<String>)> {
        GOOGLE_BENCHMARK_VARIABLES
            .map(|variable| (variable, None))
            .to_vec()
    }

    fn repetitions(
        &self,
        ask: &LaunchRequest<'_>,
        yielded: &LaunchOutput,
    ) -> Result<Vec<Repetition>, HarnessError> {
        match yielded.report(Harness::GoogleBenchmark) {
            Ok(text) => repetitions_in(text, ask.benchmark),
            // Older releases write no report if the filter matches nothing.
            Err(_) if yielded.stderr_tail.contains("match any benchmarks") => {
                Err(HarnessError::Missing(Harness::GoogleBenchmark))
            }
            Err(error) => Err(error),
        }
    }

    fn tells_cpu_time(&self) -> bool {
        true
    }

    /// Returns `None`: only releases of Google Benchmark from 1.8 on accept a number of iterations.
    fn counts_iterations(&self) -> Option<bool> {
        None
    }

    fn has_own_length(&self, benchmark: &str) -> bool {
        number(benchmark, "iterations:").is_some() || part(benchmark, "min_time:").is_some()
    }

    fn fixes_iterations(&self, benchmark: &str) -> bool {
        number(benchmark, "iterations:").is_some()
    }

    fn is_timed_by_wall(&self, benchmark: &str) -> bool {
        let mut parts = benchmark.split('/').skip(1);
        parts.any(|part| matches!(part, "real_time" | "manual_time"))
    }

    fn own_repetitions(&self, benchmark: &str) -> Option<u32> {
        number(benchmark, "repeats:")
    }

    fn threads(&self, _own: &[String], benchmark: &str) -> u32 {
        number(benchmark, "threads:").unwrap_or(1)
    }
}

/// Returns a launch of one benchmark with one repetition; `min_time` is the value of
/// `--benchmark_min_time`.
pub fn google_benchmark_launch(calls: &HarnessCalls, min_time: &str) -> Tool {
    let arguments = calls.program.arguments.iter().cloned().chain([
        format!("--benchmark_filter={}", filter(&calls.benchmark)),
        "--benchmark_repetitions=1".to_owned(),
        format!("--benchmark_min_time={min_time}"),
    ]);
    Tool {
        directory: calls.program.directory.clone(),
        variables: GOOGLE_BENCHMARK_VARIABLES.map(|name| (name, None)).to_vec(),
        ..Tool::new(startable(&calls.program.executable), arguments)
    }
}

/// Characters with a special meaning in any regular expression syntax that the executable may have
/// been built with.
const SPECIAL: &str = r".[\()*+?{}|^$]";

/// Returns a pattern for `--benchmark_filter` that matches only this name.
fn filter(name: &str) -> String {
    let mut pattern = String::from("^");
    for sign in name.chars() {
        if SPECIAL.contains(sign) {
            pattern.push('\\');
        }
        pattern.push(sign);
    }
    pattern.push('$');
    pattern
}

fn number(name: &str, key: &str) -> Option<u32> {
    part(name, key)?.parse().ok().filter(|number| *number > 0)
}

/// Returns the rest of the first part of `name` (after a slash) that starts with `key`.
fn part<'a>(name: &'a str, key: &str) -> Option<&'a str> {
    let mut parts = name.split('/').skip(1);
    parts.find_map(|part| part.strip_prefix(key))
}

const OUR_REPORT: &str = "deadheat reads the report itself; leave this option out, and find the \
                          measurements in the run file or with `deadheat analyze --json`";
const EVERY_REPETITION: &str = "a race needs all repetitions, not only their aggregates; leave \
                                this option out or set it to =false";
const LISTS: &str = "this option lists benchmarks instead of running them; `deadheat bench --list` \
                     lists them";
const NO_LENGTH: &str = "a time is a number of seconds above 0, such as 0.1 or 0.1s, or a number \
                         of iterations, such as 100x";
const RUNS_NOTHING: &str = "a dry run measures nothing; leave this option out";

/// Parses the user's arguments and ignores those that Google Benchmark does not define. The last
/// occurrence of an option counts.
fn wishes_of(arguments: &[String]) -> Result<RequestedRepetitions, ArgumentError> {
    let mut read = RequestedRepetitions::default();
    for argument in arguments {
        let Some(flag) = argument.strip_prefix("--benchmark_") else {
            continue;
        };
        let assigned = flag.split_once('=');
        let (name, value) = assigned.map_or((flag, None), |(name, value)| (name, Some(value)));
        let problem = |problem| Err(ArgumentError::new(argument, problem));
        match name {
            "out" | "out_format" | "format" => return problem(OUR_REPORT),
            "list_tests" if is_true(value) => return problem(LISTS),
            "dry_run" if is_true(value) => return problem(RUNS_NOTHING),
            "report_aggregates_only" | "display_aggregates_only" if is_true(value) => {
                return problem(EVERY_REPETITION);
            }
            "min_time" => match value.and_then(length) {
                Some(length) => read.length = Some(length),
                None => return problem(NO_LENGTH),
            },
            "repetitions" => match value.and_then(|value| value.parse().ok()) {
                Some(repetitions) if repetitions > 0 => read.repetitions = Some(repetitions),
                _ => return problem("the repetitions of a launch must be at least 1"),
            },
            _ => {}
        }
    }
    Ok(read)
}

fn is_true(value: Option<&str>) -> bool {
    let no = ["0", "f", "n", "false", "no", "off"];
    value.is_none_or(|value| !no.iter().any(|no| no.eq_ignore_ascii_case(value)))
}

/// Parses `100x` (iterations) or a number of seconds, with or without `s`.
fn length(value: &str) -> Option<RepetitionLength> {
    if let Some(count) = value.strip_suffix('x') {
        let iterations = count.parse().ok().filter(|count| *count > 0);
        return iterations.map(RepetitionLength::Iterations);
    }
    let seconds: f64 = value.strip_suffix('s').unwrap_or(value).parse().ok()?;
    (seconds > 0.0 && seconds.is_finite()).then_some(RepetitionLength::Seconds(seconds))
}

/// Fields of a repetition that are not user-defined counters.
const KNOWN: [&str; 19] = [
    "name",
    "family_index",
    "per_family_instance_index",
    "run_name",
    "run_type",
    "repetitions",
    "repetition_index",
    "threads",
    "iterations",
    "real_time",
    "cpu_time",
    "time_unit",
    "label",
    "error_occurred",
    "error_message",
    "skipped",
    "skip_message",
    "aggregate_name",
    "aggregate_unit",
];

/// Returns the repetitions of one benchmark in a report, in the order they ran, at least one.
fn repetitions_in(text: &str, benchmark: &str) -> Result<Vec<Repetition>, HarnessError> {
    let report = Json::parse(&without_odd_numbers(text));
    let report = report.as_ref().and_then(Json::as_object);
    let rows = report.and_then(|report| report.get("benchmarks")?.as_list());
    let rows = rows.ok_or_else(|| HarnessError::garbled(Harness::GoogleBenchmark, text))?;
    let rows: Vec<&Object> = rows.iter().filter_map(Json::as_object).collect();
    let is_of_it = |row: &&&Object| {
        let named = |field| row.get(field).and_then(Json::as_text) == Some(benchmark);
        named("name") || named("run_name")
    };
    let (single, aggregates): (Vec<&Object>, Vec<&Object>) =
        rows.iter().filter(is_of_it).partition(|row| {
            // Releases before 1.5 have no `run_type`; their aggregates have different names.
            row.get("run_type")
                .is_none_or(|kind| kind.as_text() == Some("iteration"))
        });
    if single.is_empty() {
        return Err(if aggregates.is_empty() {
            HarnessError::Missing(Harness::GoogleBenchmark)
        } else {
            HarnessError::OnlyAggregates
        });
    }
    let read = single.iter().enumerate();
    read.map(|(index, row)| repetition(row, index)).collect()
}

fn repetition(row: &Object, index: usize) -> Result<Repetition, HarnessError> {
    let message = |flag, text| {
        let set = row.get(flag) == Some(&Json::Bool(true));
        let message = row.get(text).and_then(Json::as_text);
        let message = message.filter(|message| !message.is_empty());
        set.then(|| message.unwrap_or("it gives no reason").to_owned())
    };
    if let Some(message) = message("error_occurred", "error_message") {
        return Err(HarnessError::Error(message));
    }
    if let Some(message) = message("skipped", "skip_message") {
        return Err(HarnessError::Skipped(message));
    }
    let no = |field: &'static str| HarnessError::Number {
        field,
        repetition: index,
        found: match row.get(field) {
            None => "it is missing".to_owned(),
            Some(Json::Null) => "no finite number".to_owned(),
            Some(found) => match found.as_number() {
                Some(number) => number.to_string(),
                None => found.as_text().unwrap_or("no number").to_owned(),
            },
        },
    };
    let unit = match row.get("time_unit").and_then(Json::as_text) {
        None | Some("ns") => 1.0,
        Some("us") => 1e3,
        Some("ms") => 1e6,
        Some("s") => 1e9,
        Some(_) => return Err(no("time_unit")),
    };
    let iterations = row.get("iterations").and_then(Json::as_number);
    let iterations = iterations.filter(|iterations| (1.0..=MOST_NS).contains(iterations));
    let iterations = iterations.ok_or_else(|| no("iterations"))?;
    let time = |field| {
        let time = row.get(field).and_then(Json::as_number);
        let time = time.map(|time| time * unit);
        let time = time.filter(|time| *time >= 0.0 && time * iterations <= MOST_NS);
        time.ok_or_else(|| no(field))
    };
    let threads = row.get("threads").and_then(Json::as_u64).unwrap_or(1);
    let threads = threads.clamp(1, u64::from(u32::MAX));
    let counters = row.fields().filter_map(|(name, value)| {
        let value = match value {
            Json::Null => None,
            value => Some(value.as_number()?),
        };
        (!KNOWN.contains(&name)).then(|| (name.to_owned(), value))
    });
    Ok(Repetition {
        iterations: iterations as u64,
        told: iterations as u64 / threads,
        wall_ns: time("real_time")?,
        cpu_ns: Some(time("cpu_time")?),
        threads: threads as u32,
        counters: counters.collect(),
    })
}

/// Replaces `NaN`, `-nan`, `inf`, `Infinity` and similar words outside of strings by `null`.
fn without_odd_numbers(text: &str) -> Cow<'_, str> {
    let mut clean = String::new();
    // The end of the text that has been copied.
    let mut done = 0;
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => at = end_of_text(bytes, at),
            // Skips numbers, because the `e` in a number is not a word.
            b'0'..=b'9' => at = end_of(bytes, at, |byte| !is_of_number(byte)),
            sign @ (b'-' | b'a'..=b'z' | b'A'..=b'Z') => {
                let word = at + usize::from(sign == b'-');
                let end = end_of(bytes, word, |byte| !byte.is_ascii_alphabetic());
                let is_word = |odd: &&str| text[word..end].eq_ignore_ascii_case(odd);
                if ["nan", "inf", "infinity"].iter().any(is_word) {
                    clean.push_str(&text[done..at]);
                    clean.push_str("null");
                    done = end;
                }
                at = end.max(at + 1);
            }
            _ => at += 1,
        }
    }
    match done {
        0 => Cow::Borrowed(text),
        _ => Cow::Owned(clean + &text[done..]),
    }
}

fn is_of_number(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-')
}

/// Returns the first index from `from` on whose byte satisfies `fits`, or the length.
fn end_of(bytes: &[u8], from: usize, fits: impl Fn(u8) -> bool) -> usize {
    let rest = &bytes[from..];
    from + rest.iter().position(|b| fits(*b)).unwrap_or(rest.len())
}

/// Returns the index after the closing quote of the string that begins at `quote`.
fn end_of_text(bytes: &[u8], quote: usize) -> usize {
    let mut at = quote + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(length: RepetitionLength, own: &[&str]) -> Vec<String> {
        let own: Vec<String> = own.iter().map(|a| (*a).to_owned()).collect();
        GoogleBenchmark.arguments(&LaunchRequest {
            own: &own,
            benchmark: "a.b",
            length,
            repetitions: 8,
        })
    }

    #[test]
    fn a_launch_is_told_benchmark_length_and_repetitions() {
        assert_eq!(
            words(RepetitionLength::Seconds(0.003), &[]),
            [
                r"--benchmark_filter=^a\.b$",
                "--benchmark_repetitions=8",
                "--benchmark_min_time=0.003",
                "--benchmark_report_aggregates_only=false",
            ]
        );
    }

    #[test]
    fn a_fixed_number_of_iterations_is_warmed_up_unless_the_user_says_how() {
        let words_of = |own: &[&str]| words(RepetitionLength::Iterations(70), own).join(" ");
        let without = words_of(&[]);
        assert!(without.contains("--benchmark_min_time=70x --benchmark_min_warmup_time=0.001"));
        let with = words_of(&["--benchmark_min_warmup_time=1"]);
        assert!(!with.contains("warmup"), "{with}");
        let own = words(RepetitionLength::Own, &[]).join(" ");
        assert!(!own.contains("min_time"), "{own}");
    }

    #[test]
    fn a_filter_fits_one_name_only() {
        assert_eq!(filter("sum/100"), "^sum/100$");
        assert_eq!(
            filter("BM<std::vector<int>, a.b>/{1}|x*y+(z)?[0]^$\\"),
            r"^BM<std::vector<int>, a\.b>/\{1\}\|x\*y\+\(z\)\?\[0\]\^\$\\$"
        );
    }

    #[test]
    fn names_tell_length_repetitions_and_threads() {
        assert!(GoogleBenchmark.has_own_length("a/8/iterations:7"));
        assert!(GoogleBenchmark.has_own_length("a/min_time:0.500/threads:2"));
        assert!(!GoogleBenchmark.has_own_length("a/8"));
        assert!(!GoogleBenchmark.has_own_length("iterations:7"));
        assert_eq!(
            GoogleBenchmark.own_repetitions("a/repeats:3/manual_time"),
            Some(3)
        );
        assert_eq!(GoogleBenchmark.own_repetitions("a/repeats:x"), None);
        assert_eq!(GoogleBenchmark.threads(&[], "a/real_time/threads:4"), 4);
        assert_eq!(GoogleBenchmark.threads(&[], "a"), 1);
    }

    fn read(arguments: &[&str]) -> Result<RequestedRepetitions, ArgumentError> {
        let arguments: Vec<String> = arguments.iter().map(|a| (*a).to_owned()).collect();
        wishes_of(&arguments)
    }

    #[test]
    fn what_concerns_the_race_is_read_and_the_rest_passed_over() {
        let found = read(&[
            "input.txt",
            "--benchmark_filter=-slow",
            "--benchmark_min_time=0.1",
            "--benchmark_min_time=0.2s",
            "--benchmark_repetitions=3",
            "--benchmark_perf_counters=CYCLES",
            "--benchmark_report_aggregates_only=false",
        ]);
        let expected = RequestedRepetitions {
            length: Some(RepetitionLength::Seconds(0.2)),
            repetitions: Some(3),
        };
        assert_eq!(found, Ok(expected));
        let counted = read(&["--benchmark_min_time=70x"]).unwrap().length;
        assert_eq!(counted, Some(RepetitionLength::Iterations(70)));
    }

    #[test]
    fn what_would_break_the_reading_is_refused_by_name() {
        for argument in [
            "--benchmark_out=x.json",
            "--benchmark_out_format=csv",
            "--benchmark_format=csv",
            "--benchmark_list_tests",
            "--benchmark_list_tests=true",
            "--benchmark_report_aggregates_only=true",
            "--benchmark_display_aggregates_only=true",
            "--benchmark_dry_run",
            "--benchmark_min_time=long",
            "--benchmark_min_time=0",
            "--benchmark_min_time=0x",
            "--benchmark_repetitions=0",
            "--benchmark_repetitions",
        ] {
            let problem = read(&[argument]).unwrap_err().to_string();
            assert!(problem.starts_with(argument), "{problem}");
        }
    }

    fn report(rows: &[&str]) -> String {
        format!(
            r#"{{"context": {{"num_cpus": 2}}, "benchmarks": [{}]}}"#,
            rows.join(",")
        )
    }

    const ONE: &str = r#"{"name": "a", "run_name": "a", "run_type": "iteration", "threads": 2,
        "iterations": 10, "real_time": 1.5, "cpu_time": 2e0, "time_unit": "us",
        "bytes_per_second": 8.0, "odd": -NaN, "debt": -3, "label": "x", "future": {"a": 1}}"#;

    #[test]
    fn times_are_nanoseconds_and_other_numbers_are_counters() {
        let read = repetitions_in(&report(&[ONE]), "a").unwrap();
        let expected = Repetition {
            iterations: 10,
            told: 5,
            wall_ns: 1500.0,
            cpu_ns: Some(2000.0),
            threads: 2,
            counters: vec![
                ("bytes_per_second".to_owned(), Some(8.0)),
                ("odd".to_owned(), None),
                ("debt".to_owned(), Some(-3.0)),
            ],
        };
        assert_eq!(read, [expected]);
        assert_eq!(read[0].took_ns(), 15_000.0);
        assert_eq!(read[0].counter("bytes_per_second"), Ok(8.0));
        for (counter, found) in [("odd", "finite"), ("debt", "-3"), ("none", "missing")] {
            let reason = read[0].counter(counter).unwrap_err();
            assert!(reason.contains(found), "{reason}");
        }
    }

    #[test]
    fn aggregates_fits_and_other_benchmarks_are_passed_over() {
        let mean = r#"{"name": "a_mean", "run_name": "a", "run_type": "aggregate", "iterations": 3,
            "real_time": 1, "cpu_time": 1}"#;
        let fit = r#"{"name": "a_BigO", "run_name": "a", "run_type": "aggregate",
            "cpu_coefficient": 1, "big_o": "N", "time_unit": "ns"}"#;
        let other = r#"{"name": "b", "run_type": "iteration", "iterations": 3,
            "real_time": 1, "cpu_time": 1}"#;
        let text = report(&[ONE, other, ONE, mean, fit]);
        assert_eq!(repetitions_in(&text, "a").unwrap().len(), 2);
        assert_eq!(
            repetitions_in(&report(&[mean]), "a"),
            Err(HarnessError::OnlyAggregates)
        );
        assert_eq!(
            repetitions_in(&text, "c"),
            Err(HarnessError::Missing(Harness::GoogleBenchmark))
        );
    }

    #[test]
    fn reports_of_old_releases_are_read_too() {
        let row = r#"{"name": "a", "iterations": 10, "real_time": 15, "cpu_time": 14}"#;
        let mean = r#"{"name": "a_mean", "iterations": 10, "real_time": 15, "cpu_time": 14}"#;
        let read = repetitions_in(&report(&[row, mean]), "a").unwrap();
        assert_eq!((read.len(), read[0].wall_ns, read[0].threads), (1, 15.0, 1));
    }

    #[test]
    fn errors_and_skips_come_with_their_message() {
        let row = |fields: &str| {
            report(&[&format!(
                r#"{{"name": "a", "iterations": 0, {fields}, "real_time": 0, "cpu_time": 0}}"#
            )])
        };
        let error = row(r#""error_occurred": true, "error_message": "no \"db\"""#);
        let expected = HarnessError::Error("no \"db\"".to_owned());
        assert_eq!(repetitions_in(&error, "a"), Err(expected));
        let skipped = row(r#""skipped": true, "skip_message": "too old""#);
        let expected = HarnessError::Skipped("too old".to_owned());
        assert_eq!(repetitions_in(&skipped, "a"), Err(expected));
    }

    #[test]
    fn numbers_that_cannot_be_are_named() {
        for (row, named) in [
            (
                r#""iterations": 0, "real_time": 1, "cpu_time": 1"#,
                "iterations",
            ),
            (
                r#""iterations": 1e300, "real_time": 1, "cpu_time": 1"#,
                "iterations",
            ),
            (
                r#""iterations": 1, "real_time": NaN, "cpu_time": 1"#,
                "real_time",
            ),
            (
                r#""iterations": 2, "real_time": 1e308, "cpu_time": 1"#,
                "real_time",
            ),
            (
                r#""iterations": 1, "real_time": 1, "cpu_time": 1e12, "time_unit": "s""#,
                "cpu_time",
            ),
            (
                r#""iterations": 1, "real_time": 1, "cpu_time": -1"#,
                "cpu_time",
            ),
            (
                r#""iterations": 1, "real_time": 1, "cpu_time": 1, "time_unit": "d""#,
                "time_unit",
            ),
        ] {
            let text = report(&[&format!(r#"{{"name": "a", {row}}}"#)]);
            let problem = repetitions_in(&text, "a").unwrap_err().to_string();
            assert!(problem.contains(named), "{problem}");
            assert!(problem.contains("repetition 0"), "{problem}");
        }
    }

    #[test]
    fn what_is_no_report_is_quoted() {
        for text in ["hello", "{}", r#"{"benchmarks": 1}"#, r#"{"benchmarks": ["#] {
            let problem = repetitions_in(text, "a").unwrap_err();
            assert_eq!(
                problem,
                HarnessError::garbled(Harness::GoogleBenchmark, text)
            );
        }
    }

    #[test]
    fn what_is_no_number_becomes_null_outside_strings_only() {
        let odd = r#"{"a": NaN, "b": -nan, "NaN": "inf \" NaN", "c": [Infinity,-Infinity,inf]}"#;
        let clean = r#"{"a": null, "b": null, "NaN": "inf \" NaN", "c": [null,null,null]}"#;
        assert_eq!(without_odd_numbers(odd), clean);
    }

    #[test]
    fn everything_else_stays_as_it_is() {
        for text in [
            r#"{"a": 1.5e+10, "b": -3E-7, "c": true, "d": null, "e": "ü\\"}"#,
            "",
            "-",
            "\"never closed \\",
            "information",
        ] {
            assert!(matches!(without_odd_numbers(text), Cow::Borrowed(same) if same == text));
        }
    }
}
