//! The user's own arguments of a Google Benchmark executable, as far as they concern the race.

use deadheat_model::RepetitionLength;

use crate::contender::harness::adapter::{ArgumentError, Wishes};

const OUR_REPORT: &str = "deadheat reads the report itself; leave this away, and look at the run \
                          file or at `deadheat analyze --json` for what was measured";
const EVERY_REPETITION: &str = "a race needs every repetition and not only their aggregates; \
                                leave this away or say =false";
const LISTS: &str = "a race runs benchmarks and lists none; `deadheat bench --list` shows them";
const NO_LENGTH: &str = "a time is a number of seconds above 0, such as 0.1 or 0.1s, or a number \
                         of iterations, such as 100x";
const RUNS_NOTHING: &str = "a dry run measures nothing; leave this away";

/// Reads the arguments that the user gave; those that Google Benchmark does not know are none of
/// our business. Of several, the last counts.
pub(super) fn read(arguments: &[String]) -> Result<Wishes, ArgumentError> {
    let mut read = Wishes::default();
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
                _ => return problem("the repetitions of a launch are a number from 1 on"),
            },
            _ => {}
        }
    }
    Ok(read)
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

    fn read(arguments: &[&str]) -> Result<Wishes, ArgumentError> {
        let arguments: Vec<String> = arguments.iter().map(|a| (*a).to_owned()).collect();
        super::read(&arguments)
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
        let expected = Wishes {
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
}
