//! Adapter for JMH jars, which `java` starts: a pattern selects one benchmark, `-p` the values of
//! its parameters, and the JSON report arrives through a pipe.
//!
//! A launch is one fork, because the compiler's decisions vary between processes. Iterations are
//! short and all of them are measured. The calibration run finds the first iterations in which the
//! JVM still compiles, and the race discards these.

use std::path::{Path, PathBuf};

use deadheat_model::{Harness, Json, Object, Program, RepetitionLength};

use super::adapter::{
    ArgumentError, HarnessAdapter, LaunchOutput, LaunchRequest, Question, Repetition,
    RequestedRepetitions, ResultsBy, escaped, number_of, refuse, value_of,
};
use crate::command_failure::HarnessError;
use crate::executable::is_jar;

pub(super) struct Jmh;

/// The main class, if the user gives a class path instead of a jar.
const MAIN: &str = "org.openjdk.jmh.Main";
/// The number of warm-up iterations if the user gives `-w` or `-i` but not `-wi`; JMH's default.
const WARM_UPS: &str = "5";

/// Options that change what a launch measures or reports.
const REFUSED: [&str; 12] = [
    "-l", "-lp", "-lprof", "-lrf", "-h", "-rf", "-rff", "-o", "-v", "-f", "-wf", "-tu",
];

/// Options with which the user controls warm-up and iterations; deadheat then does not look for a
/// warm-up phase.
const WARM_UP: [&str; 3] = ["-wi", "-w", "-i"];

/// The modes of a benchmark, most preferred first. A benchmark with several modes is raced in the
/// first of them.
const MODES: [&str; 4] = ["avgt", "thrpt", "sample", SINGLE_CALLS];
const SINGLE_CALLS: &str = "ss";

impl HarnessAdapter for Jmh {
    /// Asks only a program with a class path, because the content of a jar identifies JMH.
    fn question(&self, program: &Program) -> &'static [&'static str] {
        let is_class_path = program.arguments.iter().any(|argument| argument == MAIN);
        if is_class_path { &["-h"] } else { &[] }
    }

    fn marks(&self) -> &'static [&'static str] {
        &["-jvmArgsPrepend", "-prof <profiler>", "-wmb"]
    }

    /// Ignores JMH's lock file in `/tmp`, which all users share: a lock file of another user would
    /// make every launch fail.
    fn starter(&self, executable: &Path) -> Vec<String> {
        if !is_jar(executable) {
            return Vec::new();
        }
        let home = std::env::var_os("JAVA_HOME").filter(|home| !home.is_empty());
        let java = home.map_or("java".into(), |home| PathBuf::from(home).join("bin/java"));
        let words = ["-Djmh.ignoreLock=true", "-jar"].map(str::to_owned);
        [java.to_string_lossy().into_owned()]
            .into_iter()
            .chain(words)
            .collect()
    }

    fn listing(&self) -> Question {
        Question::by(&["-lp"])
    }

    /// Expands a benchmark with parameters into one name for each combination of values, and lists
    /// a benchmark with several modes once.
    fn listed(&self, printed: &str) -> Vec<String> {
        let mut found: Vec<Vec<String>> = Vec::new();
        for line in printed
            .lines()
            .skip_while(|line| !line.starts_with("Benchmarks:"))
            .skip(1)
        {
            match line.strip_prefix("  param \"") {
                Some(parameter) => {
                    if let Some((names, (key, values))) = found.last_mut().zip(values(parameter)) {
                        *names = combined(names, key, values);
                    }
                }
                None if line.trim().is_empty() => {}
                None => found.push(vec![line.trim().to_owned()]),
            }
        }
        let mut names: Vec<String> = Vec::new();
        for name in found.into_iter().flatten() {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    fn requested_repetitions(
        &self,
        arguments: &[String],
    ) -> Result<RequestedRepetitions, ArgumentError> {
        let main = arguments.iter().position(|argument| argument == MAIN);
        let arguments = &arguments[main.map_or(0, |at| at + 1)..];
        refuse(arguments, &REFUSED)?;
        if value_of(arguments, "-p").is_some() {
            let problem = "select values of parameters by the names of benchmarks before --, such \
                           as size=100";
            return Err(ArgumentError::new("-p", problem));
        }
        let mut before = "";
        for argument in arguments {
            if !argument.starts_with('-') && (!before.starts_with('-') || before.contains('=')) {
                let problem = "JMH would take this for the name of another benchmark to launch; \
                               name benchmarks before --";
                return Err(ArgumentError::new(argument, problem));
            }
            before = argument;
        }
        let length = match value_of(arguments, "-r") {
            None => None,
            Some(time) => Some(RepetitionLength::Seconds(seconds(time).ok_or_else(
                || ArgumentError::new("-r", "a time is needed, such as 100ms"),
            )?)),
        };
        Ok(RequestedRepetitions {
            length,
            repetitions: number_of(arguments, "-i", 1, "a number of at least 1 is needed")?,
        })
    }

    fn results(&self) -> ResultsBy {
        ResultsBy::Pipe
    }

    /// Skips options that the user gave, because JMH rejects duplicates.
    fn arguments(&self, ask: &LaunchRequest<'_>) -> Vec<String> {
        let (name, parameters) = parts(ask.benchmark);
        let mut arguments = vec![format!("^{}$", escaped(name))];
        for (key, value) in parameters {
            arguments.extend(["-p".to_owned(), format!("{key}={value}")]);
        }
        let mut add = |option: &str, value: String| {
            if !ask.is_given(option) {
                arguments.extend([option.to_owned(), value]);
            }
        };
        add("-f", "1".to_owned());
        add("-tu", "ns".to_owned());
        let own = !self.shows_warm_up(ask.own);
        // Single calls have no duration to set, and the benchmark defines their number.
        if let RepetitionLength::Seconds(seconds) = ask.length {
            let time = time(seconds);
            if own {
                add("-w", time.clone());
            }
            add("-r", time);
            add("-wi", if own { WARM_UPS } else { "0" }.to_owned());
            add("-i", ask.repetitions.to_string());
        }
        arguments
    }

    /// Requests the results as JSON in the file `path`, and JMH's human-readable output on standard
    /// error, because only this output says why a benchmark failed.
    fn arguments_for_results(&self, path: &str) -> Vec<String> {
        let people = "/proc/self/fd/2";
        ["-rf", "json", "-rff", path, "-o", people]
            .map(str::to_owned)
            .to_vec()
    }

    fn repetitions(
        &self,
        ask: &LaunchRequest<'_>,
        yielded: &LaunchOutput,
    ) -> Result<Vec<Repetition>, HarnessError> {
        let text = yielded.report(Harness::Jmh)?;
        let garbled = || HarnessError::garbled(Harness::Jmh, text);
        let report = Json::parse(text);
        let rows = report.as_ref().and_then(Json::as_list);
        let rows = rows.ok_or_else(garbled)?.iter().map(Row::read);
        let rows: Vec<Row<'_>> = rows.collect::<Option<_>>().ok_or_else(garbled)?;
        let mut names: Vec<String> = Vec::new();
        for row in &rows {
            let name = row.name();
            if !names.contains(&name) {
                names.push(name);
            }
        }
        if names.len() > 1 {
            return Err(HarnessError::Several(names));
        }
        // JMH exits successfully even if a benchmark fails.
        let chosen = rows.iter().min_by_key(|row| row.place()).ok_or_else(|| {
            let said = failure(&yielded.stderr_tail);
            said.map_or(HarnessError::Missing(Harness::Jmh), HarnessError::Error)
        })?;
        if !chosen.is(ask.benchmark) {
            return Err(HarnessError::Missing(Harness::Jmh));
        }
        let seconds = match ask.length {
            RepetitionLength::Seconds(seconds) => Some(seconds),
            RepetitionLength::Iterations(_) | RepetitionLength::Own => None,
        };
        if seconds.is_none() != (chosen.mode == SINGLE_CALLS) {
            return Err(HarnessError::SingleCalls);
        }
        let read = chosen.repetitions(seconds.unwrap_or(0.0));
        read.ok_or_else(garbled)?
    }

    fn repetition_seconds(&self) -> f64 {
        0.05
    }

    fn counts_iterations(&self) -> Option<bool> {
        Some(false)
    }

    /// Returns false: JMH is not pinned, because the JVM's compiler and garbage collection threads
    /// would wait for the benchmark. On one core, a launch of 0.47 s took 0.63 s.
    fn may_be_pinned(&self) -> bool {
        false
    }

    fn shows_warm_up(&self, own: &[String]) -> bool {
        WARM_UP.iter().all(|option| value_of(own, option).is_none())
    }
}

/// Parses the rest of a parameter line, such as `size" = {1, 10}`.
fn values(text: &str) -> Option<(&str, std::str::Split<'_, &'static str>)> {
    let (key, values) = text.split_once("\" = {")?;
    Some((key, values.strip_suffix('}')?.split(", ")))
}

fn combined<'v>(
    names: &[String],
    key: &str,
    values: impl Iterator<Item = &'v str> + Clone,
) -> Vec<String> {
    let each = |name: &String| {
        let sign = if name.contains(':') { ',' } else { ':' };
        let with: Vec<String> = values
            .clone()
            .map(|value| format!("{name}{sign}{key}={value}"))
            .collect();
        with
    };
    names.iter().flat_map(each).collect()
}

/// Splits a name into the method and its parameters with their values. A part without `=` belongs
/// to the previous value, which then contains a comma. JMH cannot run such a benchmark, because JMH
/// splits values at commas.
fn parts(benchmark: &str) -> (&str, Vec<(&str, String)>) {
    let Some((name, rest)) = benchmark.split_once(':') else {
        return (benchmark, Vec::new());
    };
    let mut parameters: Vec<(&str, String)> = Vec::new();
    for part in rest.split(',') {
        match (part.split_once('='), parameters.last_mut()) {
            (Some((key, value)), _) => parameters.push((key, value.to_owned())),
            (None, Some((_, value))) => *value = format!("{value},{part}"),
            (None, None) => {}
        }
    }
    (name, parameters)
}

fn time(seconds: f64) -> String {
    let microseconds = (seconds * 1e6).round();
    if microseconds % 1e3 == 0.0 {
        format!("{}ms", microseconds / 1e3)
    } else {
        format!("{microseconds}us")
    }
}

/// Parses a time as JMH does: a number, with or without a unit.
fn seconds(text: &str) -> Option<f64> {
    let number = text.trim_end_matches(|sign: char| sign.is_ascii_alphabetic());
    let unit = match text[number.len()..].to_ascii_lowercase().as_str() {
        "ns" => 1e-9,
        "us" => 1e-6,
        "ms" => 1e-3,
        "" | "s" => 1.0,
        "m" => 60.0,
        "hr" => 3600.0,
        "day" => 86_400.0,
        _ => return None,
    };
    let number: u32 = number.trim().parse().ok().filter(|number| *number > 0)?;
    Some(f64::from(number) * unit)
}

/// Extracts the failure from the end of JMH's output, without the stack trace.
fn failure(printed: &str) -> Option<String> {
    let lines = printed.split(" | ");
    let begins = |line: &str| line.contains("<failure") || line.starts_with("<forked VM failed");
    let lines = lines.skip_while(|line| !begins(line));
    let lines = lines.take_while(|line| !line.starts_with("# Run complete"));
    let said = lines.filter_map(|line| {
        let line = line.split_once("<failure").map_or(line, |(_, rest)| rest);
        let line = line.trim_matches(|sign| "<>: ".contains(sign));
        let noise = ["at ", "stdout", "/stdout", "stderr", "/stderr"];
        let is_noise = line.is_empty() || noise.iter().any(|noise| line.starts_with(noise));
        (!is_noise).then_some(line)
    });
    let said: Vec<&str> = said.take(3).collect();
    (!said.is_empty()).then(|| said.join("; "))
}

/// The results of a benchmark in one mode.
struct Row<'a> {
    benchmark: &'a str,
    parameters: Vec<(&'a str, &'a str)>,
    mode: &'a str,
    threads: u32,
    primary: &'a Object,
    secondary: Option<&'a Object>,
}

impl<'a> Row<'a> {
    fn read(row: &'a Json) -> Option<Self> {
        let row = row.as_object()?;
        let text = |field| row.get(field).and_then(Json::as_text);
        let parameters = row.get("params").and_then(Json::as_object);
        let parameters = parameters.into_iter().flat_map(Object::fields);
        let parameters = parameters.map(|(key, value)| Some((key, value.as_text()?)));
        Some(Self {
            benchmark: text("benchmark")?,
            parameters: parameters.collect::<Option<_>>()?,
            mode: text("mode")?,
            threads: row.get("threads")?.as_number()? as u32,
            primary: row.get("primaryMetric")?.as_object()?,
            secondary: row.get("secondaryMetrics").and_then(Json::as_object),
        })
    }

    fn name(&self) -> String {
        let mut name = self.benchmark.to_owned();
        for (key, value) in &self.parameters {
            let sign = if name.contains(':') { ',' } else { ':' };
            name.push_str(&format!("{sign}{key}={value}"));
        }
        name
    }

    /// Returns true if the row is of `benchmark`; the order of parameters is ignored.
    fn is(&self, benchmark: &str) -> bool {
        let (name, mut parameters) = parts(benchmark);
        let mut own = self.parameters.clone();
        own.sort_unstable();
        parameters.sort_unstable();
        let parameters = parameters.iter().map(|(key, value)| (*key, value.as_str()));
        self.benchmark == name && own.into_iter().eq(parameters)
    }

    /// Returns the rank of the row's mode in [`MODES`].
    fn place(&self) -> usize {
        let place = MODES.iter().position(|mode| *mode == self.mode);
        place.unwrap_or(MODES.len())
    }

    /// Returns the iterations of the fork. JMH reports scores without call counts, so the calls are
    /// estimated from the duration of an iteration. `None` if the report has an unexpected form.
    fn repetitions(&self, seconds: f64) -> Option<Result<Vec<Repetition>, HarnessError>> {
        let unit = self.primary.get("scoreUnit")?.as_text()?;
        let scores: Vec<f64> = match self.primary.get("rawDataHistogram") {
            Some(data) => {
                let fork = data.as_list()?.first()?.as_list()?;
                fork.iter().map(mean).collect::<Option<_>>()?
            }
            None => raw(self.primary)?.into_iter().collect::<Option<_>>()?,
        };
        let to_ns = |score: f64| match unit {
            "ns/op" => Some(score),
            "ops/ns" => Some(f64::from(self.threads) / score),
            _ => None,
        };
        let times: Vec<f64> = scores.into_iter().map(to_ns).collect::<Option<_>>()?;
        if times.is_empty() {
            return None;
        }
        let counters = self.counters(times.len());
        let repetitions = times.into_iter().enumerate().map(|(index, time)| {
            let iterations = (seconds * 1e9 / time).round().clamp(1.0, 1e15);
            Ok(Repetition {
                threads: self.threads,
                counters: counters
                    .iter()
                    .map(|(name, values)| ((*name).to_owned(), values[index]))
                    .collect(),
                ..Repetition::timed(index, iterations, time * iterations)?
            })
        });
        Some(repetitions.collect())
    }

    /// Returns the secondary results, such as those of profilers, that have a value for each of
    /// `count` iterations. Releases before 1.36 put a dot in front of their names.
    fn counters(&self, count: usize) -> Vec<(&'a str, Vec<Option<f64>>)> {
        let metrics = self.secondary.into_iter().flat_map(Object::fields);
        let of = |(name, metric): (&'a str, &'a Json)| {
            let values = raw(metric.as_object()?)?;
            (values.len() == count).then_some((name.trim_start_matches('·'), values))
        };
        metrics.filter_map(of).collect()
    }
}

/// Returns the values of the iterations of the fork; `None` entries are not numbers.
fn raw(metric: &Object) -> Option<Vec<Option<f64>>> {
    let fork = metric.get("rawData")?.as_list()?.first()?.as_list()?;
    Some(fork.iter().map(Json::as_number).collect())
}

/// Returns the mean of a histogram of (value, count) pairs.
fn mean(histogram: &Json) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0.0);
    for pair in histogram.as_list()? {
        let [value, times] = pair.as_list()? else {
            return None;
        };
        sum += value.as_number()? * times.as_number()?;
        count += times.as_number()?;
    }
    Some(sum / count)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(arguments: &[&str]) -> Vec<String> {
        arguments.iter().map(|a| (*a).to_owned()).collect()
    }

    const SHORT: RepetitionLength = RepetitionLength::Seconds(0.05);

    fn words(benchmark: &str, length: RepetitionLength, arguments: &[&str]) -> String {
        let ask = LaunchRequest {
            own: &own(arguments),
            benchmark,
            length,
            repetitions: 13,
        };
        Jmh.arguments(&ask).join(" ")
    }

    #[test]
    fn every_combination_of_parameters_is_a_benchmark_and_every_mode_the_same() {
        let printed = "Picked up options\nBenchmarks: \na.B.size\n  param \"n\" = {1, 10}\n  \
                       param \"kind\" = {x y, c|d}\na.B.both\na.B.both\n\n";
        let names = [
            "a.B.size:n=1,kind=x y",
            "a.B.size:n=1,kind=c|d",
            "a.B.size:n=10,kind=x y",
            "a.B.size:n=10,kind=c|d",
            "a.B.both",
        ];
        assert_eq!(Jmh.listed(printed), names);
        assert_eq!(Jmh.listed("No matching benchmarks."), [""; 0]);
    }

    #[test]
    fn a_launch_is_one_fork_whose_iterations_are_all_measured() {
        assert_eq!(
            words("a.B.x_1:n=1,kind=c|d", SHORT, &[]),
            r"^a\.B\.x_1$ -p n=1 -p kind=c|d -f 1 -tu ns -r 50ms -wi 0 -i 13"
        );
        // JMH splits a value that contains a comma.
        let odd = words("a.B.x:kind=e,f,n=2", SHORT, &[]);
        assert!(odd.contains("-p kind=e,f -p n=2"), "{odd}");
        let rest = r"^a\.B\.x$ -f 1 -tu ns";
        let own = RepetitionLength::Own;
        assert_eq!(words("a.B.x", own, &[]), rest);
        for (given, added) in [
            ("-wi", "-w 50ms -r 50ms -i 13"),
            ("-w", "-r 50ms -wi 5 -i 13"),
            ("-i", "-w 50ms -r 50ms -wi 5"),
            ("-r", "-wi 0 -i 13"),
        ] {
            assert_eq!(
                words("a.B.x", SHORT, &[given, "7"]),
                format!("{rest} {added}")
            );
        }
        assert_eq!(time(0.0005), "500us");
    }

    #[test]
    fn what_concerns_the_race_is_read_and_what_would_break_it_is_refused() {
        let arguments = own(&["-jvmArgs", "-Xmx1g", "-r", "100ms", "-i=7", "-t", "2"]);
        let expected = RequestedRepetitions {
            length: Some(RepetitionLength::Seconds(0.1)),
            repetitions: Some(7),
        };
        assert_eq!(Jmh.requested_repetitions(&arguments), Ok(expected));
        let by_class_path = own(&["-cp", "a:b", MAIN, "-gc", "true"]);
        assert_eq!(
            Jmh.requested_repetitions(&by_class_path),
            Ok(RequestedRepetitions::default())
        );
        for (refused, flag) in [
            (&["-f", "3"][..], "-f"),
            (&["-p", "n=1"], "-p"),
            (&["-rff", "x"], "-rff"),
            (&["-r", "long"], "-r"),
            (&["-i", "0"], "-i"),
            (&["-t", "2", "Sums"], "Sums"),
            (&["Sums"], "Sums"),
        ] {
            assert_eq!(
                Jmh.requested_repetitions(&own(refused)).unwrap_err().flag,
                flag
            );
        }
        for (text, expected) in [("2", Some(2.0)), ("3 us", Some(3e-6)), ("1.5s", None)] {
            assert_eq!(seconds(text), expected);
        }
    }

    fn row(name: &str, mode: &str, metric: &str, rest: &str) -> String {
        format!(
            r#"{{"benchmark":"{name}","mode":"{mode}","threads":2,"primaryMetric":{{{metric}}}{rest}}}"#
        )
    }

    fn read_as(
        benchmark: &str,
        length: RepetitionLength,
        text: &str,
        stderr_tail: &str,
    ) -> Result<Vec<Repetition>, HarnessError> {
        let ask = LaunchRequest {
            own: &[],
            benchmark,
            length,
            repetitions: 2,
        };
        let yielded = LaunchOutput {
            text: text.to_owned(),
            stderr_tail: stderr_tail.to_owned(),
            ..LaunchOutput::default()
        };
        Jmh.repetitions(&ask, &yielded)
    }

    fn read(text: &str) -> Result<Vec<Repetition>, HarnessError> {
        read_as("a.B.x", SHORT, text, "")
    }

    fn numbers(text: &str) -> Vec<(u64, f64)> {
        let rows = read(text).unwrap();
        rows.iter()
            .map(|row| (row.iterations, row.wall_ns))
            .collect()
    }

    const TIMES: &str = r#""scoreUnit":"ns/op","rawData":[[1000,2000]]"#;

    #[test]
    fn scores_of_every_mode_are_nanoseconds_of_a_thread() {
        let average = row("a.B.x", "avgt", TIMES, "");
        assert_eq!(
            numbers(&format!("[{average}]")),
            [(50_000, 1000.0), (25_000, 2000.0)]
        );
        let rate = r#""scoreUnit":"ops/ns","rawData":[[0.002]]"#;
        let rate = row("a.B.x", "thrpt", rate, "");
        assert_eq!(numbers(&format!("[{rate}]")), [(50_000, 1000.0)]);
        let both = numbers(&format!("[{rate},{average}]"));
        assert_eq!(both.len(), 2, "the average is preferred");
        let sampled = r#""scoreUnit":"ns/op","rawDataHistogram":[[[[900.0,1],[1100.0,3]]]]"#;
        let sampled = row("a.B.x", "sample", sampled, "");
        assert_eq!(numbers(&format!("[{sampled}]")), [(47_619, 1050.0)]);
        // A call that is longer than its iteration.
        let long = row(
            "a.B.x",
            "avgt",
            r#""scoreUnit":"ns/op","rawData":[[1e10]]"#,
            "",
        );
        assert_eq!(numbers(&format!("[{long}]")), [(1, 1e10)]);
    }

    #[test]
    fn single_calls_are_counted_as_their_source_says_and_only_so() {
        let text = format!("[{}]", row("a.B.x", SINGLE_CALLS, TIMES, ""));
        assert_eq!(read(&text), Err(HarnessError::SingleCalls));
        let found = read_as("a.B.x", RepetitionLength::Own, &text, "").unwrap();
        assert_eq!((found[0].iterations, found[0].wall_ns), (1, 1000.0));
        let other = format!("[{}]", row("a.B.x", "avgt", TIMES, ""));
        let found = read_as("a.B.x", RepetitionLength::Own, &other, "");
        assert_eq!(found, Err(HarnessError::SingleCalls));
    }

    #[test]
    fn profilers_give_counters_where_they_have_a_value_for_each_iteration() {
        let rest = r#","secondaryMetrics":{"·gc.alloc.rate.norm":{"rawData":[[24.0,"NaN"]]},
                     "gc.time":{"rawData":[[1.0]]}}"#;
        let found = read(&format!("[{}]", row("a.B.x", "avgt", TIMES, rest))).unwrap();
        let counters = |value| vec![("gc.alloc.rate.norm".to_owned(), value)];
        assert_eq!(found[0].counters, counters(Some(24.0)));
        assert_eq!(found[1].counters, counters(None));
    }

    #[test]
    fn parameters_may_come_in_another_order_and_others_are_other_benchmarks() {
        let with = |parameters: &str| {
            let rest = format!(r#","params":{{{parameters}}}"#);
            row("a.B.x", "avgt", TIMES, &rest)
        };
        let asked = "a.B.x:n=1,kind=e";
        let one = with(r#""kind":"e","n":"1""#);
        assert!(read_as(asked, SHORT, &format!("[{one}]"), "").is_ok());
        let two = format!("[{one},{}]", with(r#""kind":"f","n":"1""#));
        let names = ["a.B.x:kind=e,n=1", "a.B.x:kind=f,n=1"].map(str::to_owned);
        let several = Err(HarnessError::Several(names.to_vec()));
        assert_eq!(read_as(asked, SHORT, &two, ""), several);
        let other = format!("[{}]", with(r#""kind":"f","n":"1""#));
        let missing = Err(HarnessError::Missing(Harness::Jmh));
        assert_eq!(read_as(asked, SHORT, &other, ""), missing);
    }

    #[test]
    fn a_benchmark_that_fails_is_told_without_its_stack() {
        let failed = |printed: &str| match read_as("a.B.x", SHORT, "[\n]\n", printed) {
            Err(HarnessError::Error(said)) => said,
            other => panic!("{other:?}"),
        };
        let thrown = "# Fork: 1 of 1 | Iteration   1: <failure> |  | java.lang.Error: out of luck | \
                      at a.B.x(B.java:3) | Caused by: java.io.IOException: no disk | at a.B | \
                      # Run complete. Total time: 00:00:00 |  | REMEMBER: The numbers";
        let told = "java.lang.Error: out of luck; Caused by: java.io.IOException: no disk";
        assert_eq!(failed(thrown), told);
        let exited = "Iteration   1: <failure: VM prematurely exited?> | <forked VM failed with exit \
                      code 3> | <stdout last='20 lines'> | </stdout> | <stderr last='20 lines'> | \
                      Unrecognized VM option 'X' | </stderr> |  | # Run complete.";
        assert_eq!(
            failed(exited),
            "VM prematurely exited?; forked VM failed with exit code 3; \
             Unrecognized VM option 'X'"
        );
        let missing = Err(HarnessError::Missing(Harness::Jmh));
        assert_eq!(read("[]"), missing);
    }

    #[test]
    fn what_is_no_report_and_no_time_is_told_apart() {
        assert!(matches!(read(""), Err(HarnessError::NoReport { .. })));
        for metric in [
            "",
            r#""scoreUnit":"ns/op","rawData":[]"#,
            r#""scoreUnit":"ns/op","rawData":[[]]"#,
            r#""scoreUnit":"ns/op","rawData":[["NaN"]]"#,
            r#""scoreUnit":"s/op","rawData":[[1]]"#,
            r#""scoreUnit":"ns/op","rawDataHistogram":[[[[1]]]]"#,
        ] {
            let found = read(&format!("[{}]", row("a.B.x", "avgt", metric, "")));
            assert!(
                matches!(found, Err(HarnessError::Garbled { .. })),
                "{metric}: {found:?}"
            );
        }
        for text in ["hello", "{}", "[1]", r#"[{"benchmark":"a.B.x"}]"#] {
            assert!(
                matches!(read(text), Err(HarnessError::Garbled { .. })),
                "{text}"
            );
        }
        for metric in [
            r#""scoreUnit":"ops/ns","rawData":[[0.0]]"#,
            r#""scoreUnit":"ns/op","rawData":[[-1.0]]"#,
            r#""scoreUnit":"ns/op","rawDataHistogram":[[[]]]"#,
        ] {
            let found = read(&format!("[{}]", row("a.B.x", "thrpt", metric, "")));
            assert!(
                matches!(found, Err(HarnessError::Number { .. })),
                "{metric}: {found:?}"
            );
        }
    }

    #[test]
    fn a_jar_is_started_by_java_and_anything_else_by_itself() {
        assert_eq!(Jmh.starter(Path::new("/bin/sh")), [""; 0]);
        let folder = tempfile::tempdir().unwrap();
        let jar = folder.path().join("benchmarks");
        std::fs::write(&jar, b"PK\x03\x04...").unwrap();
        let starter = Jmh.starter(&jar);
        assert!(starter[0].ends_with("java"), "{starter:?}");
        assert_eq!(starter[1..], ["-Djmh.ignoreLock=true", "-jar"]);
    }

    #[test]
    fn a_class_path_with_jmh_is_known_by_its_help() {
        let help = "-jvmArgsPrepend <string>\n -prof <profiler>\n -wmb <regexp+>";
        assert!(Jmh.recognises(help) && !Jmh.recognises("--help"));
    }
}
