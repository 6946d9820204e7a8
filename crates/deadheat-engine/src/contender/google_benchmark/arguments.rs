//! Options of races of Google Benchmark executables, and the user's own arguments as far as
//! they concern the race.

use std::time::Duration;

use deadheat_model::{Pinning, RepetitionLength};

/// The wishes in the user's own arguments of a Google Benchmark executable.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GoogleBenchmarkArguments {
    /// Which benchmarks to race, in Google Benchmark's own dialect.
    pub filter: Option<String>,
    /// The length of a repetition.
    pub length: Option<RepetitionLength>,
    /// Repetitions in a launch.
    pub repetitions: Option<u32>,
}

/// The way in which Google Benchmark executables are raced.
#[derive(Clone, Debug)]
pub struct GoogleBenchmarkOptions {
    /// Time that one launch may take; forever when `None`.
    pub timeout: Option<Duration>,
    /// Cores to draw from.
    pub pinning: Pinning,
    /// The seed of the run.
    pub seed: u64,
    /// True if what the executables print is shown on standard error.
    pub shown: bool,
    /// The wishes of the user, which win over the findings of the pilot.
    pub wanted: GoogleBenchmarkArguments,
}

/// An argument that a race cannot do with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgumentError {
    /// The argument.
    pub flag: String,
    /// The problem with it, and what to do.
    pub problem: &'static str,
}

impl std::fmt::Display for ArgumentError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { flag, problem } = self;
        write!(f, "{flag}: {problem}")
    }
}

impl std::error::Error for ArgumentError {}

const OUR_REPORT: &str = "deadheat reads the report itself; leave this away, and look at the run \
                          file or at `deadheat analyze --json` for what was measured";
const EVERY_REPETITION: &str = "a race needs every repetition and not only their aggregates; \
                                leave this away or say =false";
const LISTS: &str = "a race runs benchmarks and lists none; `deadheat bench --list` shows them";
const NO_LENGTH: &str = "a time is a number of seconds above 0, such as 0.1 or 0.1s, or a number \
                         of iterations, such as 100x";
const RUNS_NOTHING: &str = "a dry run measures nothing; leave this away";

impl GoogleBenchmarkArguments {
    /// Reads the arguments that the user gave; those that Google Benchmark
    /// does not know are none of our business. Of several, the last counts.
    pub fn read(arguments: &[String]) -> Result<Self, ArgumentError> {
        let mut read = Self::default();
        for argument in arguments {
            let Some(flag) = argument.strip_prefix("--benchmark_") else {
                continue;
            };
            let assigned = flag.split_once('=');
            let (name, value) = assigned.map_or((flag, None), |(name, value)| (name, Some(value)));
            let problem = |problem| {
                Err(ArgumentError {
                    flag: argument.clone(),
                    problem,
                })
            };
            match name {
                "out" | "out_format" | "format" => return problem(OUR_REPORT),
                "list_tests" if is_true(value) => return problem(LISTS),
                "dry_run" if is_true(value) => return problem(RUNS_NOTHING),
                "report_aggregates_only" | "display_aggregates_only" if is_true(value) => {
                    return problem(EVERY_REPETITION);
                }
                "filter" => read.filter = value.map(str::to_owned),
                "min_time" => match value.and_then(length) {
                    Some(length) => read.length = Some(length),
                    None => return problem(NO_LENGTH),
                },
                "repetitions" => match value.and_then(|value| value.parse().ok()) {
                    Some(repetitions) if repetitions > 0 => read.repetitions = Some(repetitions),
                    _ => return problem("the repetitions of a launch are a number from 1 on"),
                },
                _ => {}
            }
        }
        Ok(read)
    }

    /// The same arguments and one more, by which the executable lists the
    /// benchmarks that its filter selects.
    pub fn listing(arguments: &[String]) -> Vec<String> {
        let list = "--benchmark_list_tests=true".to_owned();
        arguments.iter().cloned().chain([list]).collect()
    }
}

/// Returns whether Google Benchmark takes this for yes.
fn is_true(value: Option<&str>) -> bool {
    let no = ["0", "f", "n", "false", "no", "off"];
    value.is_none_or(|value| !no.iter().any(|no| no.eq_ignore_ascii_case(value)))
}

/// `100x` or seconds, with or without their unit.
fn length(value: &str) -> Option<RepetitionLength> {
    if let Some(count) = value.strip_suffix('x') {
        let iterations = count.parse().ok().filter(|count| *count > 0);
        return iterations.map(RepetitionLength::Iterations);
    }
    let seconds: f64 = value.strip_suffix('s').unwrap_or(value).parse().ok()?;
    (seconds > 0.0 && seconds.is_finite()).then_some(RepetitionLength::Seconds(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(arguments: &[&str]) -> Result<GoogleBenchmarkArguments, ArgumentError> {
        let arguments: Vec<String> = arguments.iter().map(|a| (*a).to_owned()).collect();
        GoogleBenchmarkArguments::read(&arguments)
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
        let expected = GoogleBenchmarkArguments {
            filter: Some("-slow".to_owned()),
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

    #[test]
    fn the_executable_is_asked_for_its_list_with_the_filter_of_the_user() {
        let asked = GoogleBenchmarkArguments::listing(&["--benchmark_filter=a".to_owned()]);
        assert_eq!(
            asked,
            ["--benchmark_filter=a", "--benchmark_list_tests=true"]
        );
    }
}
