//! Adapter for Go test executables (`go test -c`): `-test.bench` selects one benchmark, one pattern
//! per part of its name, and every repetition is a line of the output.

use deadheat_model::{Harness, RepetitionLength};

use super::adapter::{
    ArgumentError, HarnessAdapter, LaunchOutput, LaunchRequest, Question, Repetition,
    RequestedRepetitions, ResultsBy, escaped, number_of, refuse, value_of,
};
use crate::command_failure::HarnessError;
use crate::error::EngineError;
use crate::subprocess::Captured;

pub(super) struct Go;

/// Options that change what a launch measures or reports.
const REFUSED: [&str; 10] = [
    "-test.list",
    "-test.bench",
    "-test.run",
    "-test.fuzz",
    "-test.cpuprofile",
    "-test.memprofile",
    "-test.blockprofile",
    "-test.mutexprofile",
    "-test.coverprofile",
    "-test.trace",
];
/// Arguments that run no tests or examples and print names on separate lines: otherwise a panic, or
/// a benchmark that prints something, breaks the result line.
const QUIET: [&str; 2] = ["-test.run=^$", "-test.v"];
const TIME: &str = "ns/op";
/// Go derives this value from the time, so it is skipped.
const SPEED: &str = "MB/s";

impl HarnessAdapter for Go {
    fn marks(&self) -> &'static [&'static str] {
        &["-test.run", "-test.timeout", "-test.v"]
    }

    /// Lists functions only, because Go discovers sub-benchmarks while it runs them.
    fn listing(&self) -> Question {
        Question::by(&["-test.list=^Benchmark"])
    }

    fn listed(&self, printed: &str) -> Vec<String> {
        let lines = printed.lines().filter(|line| is_name(line));
        lines.map(str::to_owned).collect()
    }

    /// Runs every benchmark once to find the sub-benchmarks. If the run stops early, the last
    /// function may have sub-benchmarks that did not run. It is then run alone, and another process
    /// runs the functions after it.
    fn benchmarks(
        &self,
        ask: &mut dyn FnMut(&Question) -> Result<Captured, EngineError>,
    ) -> Result<Result<Vec<String>, String>, EngineError> {
        let captured = ask(&self.listing())?;
        if let Some(problem) = captured.problem() {
            return Ok(Err(problem));
        }
        let mut unseen = self.listed(&String::from_utf8_lossy(&captured.output));
        let mut names = Vec::new();
        while !unseen.is_empty() {
            let captured = ask(&once(&unseen))?;
            let ran = names_of(&unseen, &captured);
            let last = ran
                .last()
                .map(|name| function(name))
                .or(unseen.first().map(|name| &**name));
            let last = last
                .filter(|_| captured.ending.is_some())
                .map(str::to_owned);
            let is_of_last = |name: &&String| Some(function(name)) == last.as_deref();
            names.extend(leaves(ran.iter().filter(|name| !is_of_last(name))));
            if let Some(last) = &last {
                names.extend(alone(
                    last,
                    ran.iter().filter(is_of_last).cloned().collect(),
                    ask,
                )?);
            }
            let before = unseen.len();
            unseen.retain(|one| !ran.contains(one) && Some(one) != last.as_ref());
            if unseen.len() == before {
                break;
            }
        }
        names.extend(unseen);
        Ok(Ok(names))
    }

    fn requested_repetitions(
        &self,
        arguments: &[String],
    ) -> Result<RequestedRepetitions, ArgumentError> {
        let arguments = with_one_dash(arguments);
        refuse(&arguments, &REFUSED)?;
        let number = |option, problem| number_of(&arguments, option, 1, problem);
        number(
            "-test.cpu",
            "a race needs a single number of processors, at least 1",
        )?;
        Ok(RequestedRepetitions {
            length: value_of(&arguments, "-test.benchtime").map(|_| RepetitionLength::Own),
            repetitions: number("-test.count", "a launch needs at least 1 repetition")?,
        })
    }

    fn results(&self) -> ResultsBy {
        ResultsBy::StandardOutput
    }

    fn arguments(&self, ask: &LaunchRequest<'_>) -> Vec<String> {
        let mut arguments: Vec<String> = QUIET.map(str::to_owned).to_vec();
        arguments.push("-test.benchmem".to_owned());
        arguments.push(format!("-test.cpu={}", processors(ask.own)));
        arguments.push(format!("-test.count={}", ask.repetitions));
        match ask.length {
            RepetitionLength::Iterations(count) => {
                arguments.push(format!("-test.benchtime={count}x"));
            }
            RepetitionLength::Seconds(seconds) => {
                arguments.push(format!("-test.benchtime={seconds}s"));
            }
            RepetitionLength::Own => {}
        }
        let parts = ask.benchmark.split('/');
        let parts: Vec<String> = parts.map(|part| format!("^{}$", escaped(part))).collect();
        arguments.push(format!("-test.bench={}", parts.join("/")));
        arguments
    }

    fn repetitions(
        &self,
        ask: &LaunchRequest<'_>,
        yielded: &LaunchOutput,
    ) -> Result<Vec<Repetition>, HarnessError> {
        let text = &yielded.text;
        let label = match processors(ask.own) {
            1 => ask.benchmark.to_owned(),
            processors => format!("{}-{processors}", ask.benchmark),
        };
        let lines = text.lines().filter_map(|line| Line::find(line, &label));
        let rows = lines
            .enumerate()
            .map(|(index, line)| line.repetition(index));
        let rows = rows.collect::<Result<Vec<_>, _>>()?;
        if !rows.is_empty() {
            return Ok(rows);
        }
        if let Some(reason) = reason(text, "--- SKIP: ") {
            return Err(HarnessError::Skipped(reason));
        }
        let names: Vec<String> = text
            .lines()
            .filter(|line| is_name(line))
            .map(str::to_owned)
            .collect();
        if !names.iter().any(|name| name == ask.benchmark) {
            return Err(HarnessError::Missing(Harness::Go));
        }
        let parts = format!("{}/", ask.benchmark);
        let parts: Vec<String> = leaves(&names)
            .into_iter()
            .filter(|name| name.starts_with(&parts))
            .collect();
        let broken = text
            .lines()
            .find(|line| line.contains(&label) && !is_name(line));
        Err(match (parts.is_empty(), broken) {
            (false, _) => HarnessError::Several(parts),
            (true, Some(line)) => HarnessError::garbled(Harness::Go, line),
            (true, None) => HarnessError::NoReport {
                harness: Harness::Go,
                stderr_tail: yielded.stderr_tail.clone(),
            },
        })
    }

    fn printed_error(&self, printed: &str) -> Option<HarnessError> {
        reason(printed, "--- FAIL: ").map(HarnessError::Error)
    }

    /// Returns 10 ms. The heap of a new Go process grows from zero, and its first garbage
    /// collection happens at 4 MiB. A benchmark that allocates 1 KiB per iteration takes 240 ns in
    /// repetitions of 1 ms, mostly for new memory and without any collection; it takes 90 ns at 5
    /// ms, and 80 ns from 10 ms on.
    fn repetition_seconds(&self) -> f64 {
        0.010
    }

    fn counts_iterations(&self) -> Option<bool> {
        Some(true)
    }

    fn threads(&self, own: &[String], _benchmark: &str) -> u32 {
        processors(own)
    }
}

/// Returns the number of processors that the user sets with `-test.cpu`; 1 by default, because a
/// launch has one core.
fn processors(own: &[String]) -> u32 {
    let own = with_one_dash(own);
    let said = value_of(&own, "-test.cpu").and_then(|value| value.parse().ok());
    said.unwrap_or(1)
}

/// Normalises options, because Go accepts one dash or two.
fn with_one_dash(arguments: &[String]) -> Vec<String> {
    let one = |argument: &String| match argument.strip_prefix("--test.") {
        Some(rest) => format!("-test.{rest}"),
        None => argument.clone(),
    };
    arguments.iter().map(one).collect()
}

/// Returns true if a line contains only the name of a benchmark. Go replaces blanks in names by
/// `_`.
fn is_name(line: &str) -> bool {
    line.starts_with("Benchmark") && !line.contains(char::is_whitespace)
}

/// Returns the function that a sub-benchmark belongs to.
fn function(name: &str) -> &str {
    name.split('/').next().unwrap_or(name)
}

fn once(functions: &[String]) -> Question {
    let functions: Vec<String> = functions.iter().map(|name| escaped(name)).collect();
    let chosen = format!("-test.bench=^({})$", functions.join("|"));
    let [no_test, verbose] = QUIET;
    Question::by(&[
        no_test,
        verbose,
        "-test.benchtime=1x",
        "-test.count=1",
        &chosen,
    ])
}

fn names_of(functions: &[String], ran: &Captured) -> Vec<String> {
    let printed = String::from_utf8_lossy(&ran.output);
    let names = printed.lines().filter(|line| is_name(line));
    let own = names.filter(|name| functions.iter().any(|one| one == function(name)));
    own.map(str::to_owned).collect()
}

/// Returns the sub-benchmarks of a function whose run stopped early after it printed the names
/// `seen`. If the function run alone also stops early, the result includes the function itself, so
/// that its launch reports the error.
fn alone(
    function: &str,
    seen: Vec<String>,
    ask: &mut dyn FnMut(&Question) -> Result<Captured, EngineError>,
) -> Result<Vec<String>, EngineError> {
    let functions = [function.to_owned()];
    let captured = ask(&once(&functions))?;
    let ran = names_of(&functions, &captured);
    let mut names = leaves(if ran.len() < seen.len() { &seen } else { &ran });
    let is_whole = captured.ending.is_none() && !names.is_empty();
    if !is_whole && !names.iter().any(|name| name == function) {
        names.push(function.to_owned());
    }
    Ok(names)
}

/// Returns the names without those that have sub-benchmarks, because Go only measures the innermost
/// benchmarks.
fn leaves<'a>(names: impl IntoIterator<Item = &'a String>) -> Vec<String> {
    let names: Vec<&String> = names.into_iter().collect();
    let is_parent = |name: &str| {
        let mut others = names.iter().filter_map(|other| other.strip_prefix(name));
        others.any(|rest| rest.starts_with('/'))
    };
    let leaves = names.iter().filter(|name| !is_parent(name));
    leaves.map(|name| (*name).clone()).collect()
}

/// Returns the last log entry before a verdict such as `--- FAIL: `, on one line.
fn reason(printed: &str, verdict: &str) -> Option<String> {
    let lines: Vec<&str> = printed.lines().collect();
    let at = lines.iter().position(|line| line.starts_with(verdict))?;
    let begins = |line: &str| line.starts_with("    ") && !line[4..].starts_with(' ');
    let first = lines[..at].iter().rposition(|line| begins(line))?;
    let said = lines[first..at].iter().map(|line| line.trim());
    Some(said.collect::<Vec<_>>().join(" | "))
}

/// The parsed result line: iterations, and values with their units.
struct Line<'a> {
    iterations: u64,
    values: Vec<(f64, &'a str)>,
}

impl<'a> Line<'a> {
    /// Parses the result with this name in a line. Output that the benchmark printed without a line
    /// break may precede the result.
    fn find(line: &'a str, label: &str) -> Option<Self> {
        line.match_indices(label).find_map(|(at, _)| {
            let rest = &line[at + label.len()..];
            let mut fields = rest.strip_prefix([' ', '\t'])?.split_whitespace();
            let iterations = fields.next()?.parse().ok()?;
            let fields: Vec<&str> = fields.collect();
            let pairs = fields.chunks(2).map(|pair| match pair {
                [value, unit] => Some((value.parse().ok()?, *unit)),
                _ => None,
            });
            let values = pairs.collect::<Option<Vec<_>>>()?;
            (!values.is_empty()).then_some(Self { iterations, values })
        })
    }

    fn repetition(&self, index: usize) -> Result<Repetition, HarnessError> {
        let time = self.values.iter().find(|(_, unit)| *unit == TIME);
        let (time, _) = time.ok_or_else(|| HarnessError::Number {
            field: TIME,
            repetition: index,
            found: "it is missing".to_owned(),
        })?;
        let iterations = self.iterations as f64;
        let timed = Repetition::timed(index, iterations, time * iterations)?;
        let others = self.values.iter();
        let others = others.filter(|(_, unit)| *unit != TIME && *unit != SPEED);
        let counters = others.map(|(value, unit)| {
            let value = value.is_finite().then_some(*value);
            ((*unit).to_owned(), value)
        });
        Ok(Repetition {
            counters: counters.collect(),
            ..timed
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::subprocess::Ending;

    fn own(arguments: &[&str]) -> Vec<String> {
        arguments.iter().map(|a| (*a).to_owned()).collect()
    }

    fn read(
        benchmark: &str,
        arguments: &[&str],
        text: &str,
    ) -> Result<Vec<Repetition>, HarnessError> {
        let own = own(arguments);
        let ask = LaunchRequest {
            own: &own,
            benchmark,
            length: RepetitionLength::Iterations(100),
            repetitions: 2,
        };
        let yielded = LaunchOutput {
            text: text.to_owned(),
            ..LaunchOutput::default()
        };
        Go.repetitions(&ask, &yielded)
    }

    fn words(benchmark: &str, arguments: &[&str], length: RepetitionLength) -> String {
        let own = own(arguments);
        let ask = LaunchRequest {
            own: &own,
            benchmark,
            length,
            repetitions: 3,
        };
        Go.arguments(&ask).join(" ")
    }

    #[test]
    fn every_line_is_a_repetition_and_what_is_no_time_is_a_counter() {
        let text = "\
goos: linux
BenchmarkA/x
BenchmarkA/x-2         \t     100\t         5.410 ns/op\t18484.29 MB/s\t 3.500 things/op\t  16 B/op\t 1 allocs/op
BenchmarkA/x-2         \t     100\t      1032 ns/op\t18484.29 MB/s\t NaN things/op\t  16 B/op\t 1 allocs/op
BenchmarkA/x-22        \t     100\t      7 ns/op
PASS
";
        let rows = read("BenchmarkA/x", &["--test.cpu", "2"], text).unwrap();
        let [one, other] = &rows[..] else {
            panic!("{rows:?}")
        };
        assert_eq!((one.iterations, one.threads, one.cpu_ns), (100, 1, None));
        assert!((one.wall_ns - 5.41).abs() < 1e-9, "{one:?}");
        let counters = [
            ("things/op", Some(3.5)),
            ("B/op", Some(16.0)),
            ("allocs/op", Some(1.0)),
        ];
        assert_eq!(
            one.counters,
            counters.map(|(name, value)| (name.to_owned(), value))
        );
        assert_eq!(other.counters[0].1, None);
    }

    #[test]
    fn what_a_benchmark_prints_into_its_line_is_passed_over() {
        let text = "BenchmarkA\nhello 5 BenchmarkA is BenchmarkA \t 100\t 1032 ns/op\nPASS\n";
        assert_eq!(read("BenchmarkA", &[], text).unwrap().len(), 1);
        let broken = "BenchmarkA\nBenchmarkA \t hello\n 100\t 1032 ns/op\nPASS\n";
        let line = "BenchmarkA \t hello";
        let expected = HarnessError::garbled(Harness::Go, line);
        assert_eq!(read("BenchmarkA", &[], broken), Err(expected));
    }

    #[test]
    fn a_launch_without_a_result_tells_why() {
        let skipped = "BenchmarkA\n    a_test.go:1: no\n    a_test.go:2: not\n        today\n--- SKIP: BenchmarkA\nPASS\n";
        let expected = HarnessError::Skipped("a_test.go:2: not | today".to_owned());
        assert_eq!(read("BenchmarkA", &[], skipped), Err(expected));
        let failed = skipped.replace("SKIP", "FAIL");
        let expected = HarnessError::Error("a_test.go:2: not | today".to_owned());
        assert_eq!(Go.printed_error(&failed), Some(expected));
        assert_eq!(Go.printed_error("BenchmarkA\nFAIL\n"), None);
        assert_eq!(
            read("BenchmarkA", &[], "PASS\n"),
            Err(HarnessError::Missing(Harness::Go))
        );
        let ended = read("BenchmarkA", &[], "BenchmarkA\n");
        assert!(
            matches!(ended, Err(HarnessError::NoReport { .. })),
            "{ended:?}"
        );
        let parts = "BenchmarkA\nBenchmarkA/x\nBenchmarkA/x \t 1\t 5 ns/op\nPASS\n";
        let expected = HarnessError::Several(vec!["BenchmarkA/x".to_owned()]);
        assert_eq!(read("BenchmarkA", &[], parts), Err(expected));
        let untimed = "BenchmarkA\nBenchmarkA \t 1\t 5 x\nPASS\n";
        let found = read("BenchmarkA", &[], untimed);
        assert!(
            matches!(found, Err(HarnessError::Number { field: TIME, .. })),
            "{found:?}"
        );
    }

    #[test]
    fn a_launch_is_told_one_benchmark_part_by_part() {
        assert_eq!(
            words(
                "BenchmarkA/q\"uote'/re(g)[e].*$|/a#01",
                &[],
                RepetitionLength::Iterations(70)
            ),
            r#"-test.run=^$ -test.v -test.benchmem -test.cpu=1 -test.count=3 -test.benchtime=70x -test.bench=^BenchmarkA$/^q\"uote\'$/^re\(g\)\[e\]\.\*\$\|$/^a\#01$"#
        );
        let given = words(
            "BenchmarkA",
            &["-test.cpu=4", "-test.benchtime=1s"],
            RepetitionLength::Own,
        );
        assert_eq!(
            given,
            "-test.run=^$ -test.v -test.benchmem -test.cpu=4 -test.count=3 -test.bench=^BenchmarkA$"
        );
        let timed = words("BenchmarkA", &[], RepetitionLength::Seconds(0.01));
        assert!(timed.contains("-test.benchtime=0.01s"), "{timed}");
    }

    #[test]
    fn options_are_taken_behind_one_dash_or_two() {
        let given = Go
            .requested_repetitions(&own(&["--test.count=5", "-test.benchtime", "1s"]))
            .unwrap();
        assert_eq!(given.repetitions, Some(5));
        assert_eq!(given.length, Some(RepetitionLength::Own));
        for (refused, named) in [
            ("--test.cpuprofile=x", "-test.cpuprofile"),
            ("-test.bench=.", "-test.bench"),
            ("-test.cpu=1,2", "-test.cpu"),
            ("-test.count=0", "-test.count"),
        ] {
            assert_eq!(
                Go.requested_repetitions(&own(&[refused])).unwrap_err().flag,
                named
            );
        }
        assert_eq!(
            Go.requested_repetitions(&own(&["-test.timeout=1h", "-x"])),
            Ok(RequestedRepetitions::default())
        );
    }

    /// Lists the benchmarks of an executable that gives these answers in turn. Also returns the
    /// last argument of each question.
    fn listed(answers: &[&str]) -> (Vec<String>, Vec<String>) {
        let mut asked = Vec::new();
        let mut answers = answers.iter();
        let found = Go.benchmarks(&mut |question| {
            asked.push(question.arguments.last().unwrap().clone());
            Ok(Captured {
                output: answers.next().unwrap().as_bytes().to_vec(),
                stderr_tail: String::new(),
                ending: (asked.len() > 1).then_some(Ending::Exited(2)),
            })
        });
        (found.unwrap().unwrap(), asked)
    }

    #[test]
    fn lists_the_last_function_alone_and_those_behind_it_if_a_listing_breaks_off() {
        let (names, asked) = listed(&[
            "BenchmarkA\nBenchmarkB\nBenchmarkC\nok\n",
            "BenchmarkA\nBenchmarkA/x\nBenchmarkA/x \t 1\t 5 ns/op\nBenchmarkA/x/y\nBenchmarking\nBenchmarkB\n",
            "BenchmarkB\n",
            "BenchmarkC\n",
            "BenchmarkC\nBenchmarkC/z\n",
        ]);
        let expected = ["BenchmarkA/x/y", "BenchmarkB", "BenchmarkC/z", "BenchmarkC"];
        assert_eq!(names, expected);
        assert_eq!(
            asked[1..],
            [
                "-test.bench=^(BenchmarkA|BenchmarkB|BenchmarkC)$",
                "-test.bench=^(BenchmarkB)$",
                "-test.bench=^(BenchmarkC)$",
                "-test.bench=^(BenchmarkC)$"
            ]
        );
        let (names, asked) = listed(&["BenchmarkA\nBenchmarkB\n", "", "BenchmarkA/x\n", "", ""]);
        let expected = ["BenchmarkA/x", "BenchmarkA", "BenchmarkB"];
        assert_eq!((names, asked.len()), (own(&expected), 5));
    }
}
