//! Executables of Google Benchmark: `--benchmark_filter` chooses one benchmark, and the report comes
//! through a pipe, as JSON.

use deadheat_model::{Harness, Program, RepetitionLength};

use super::super::adapter::{
    ArgumentError, Ask, HarnessAdapter, Question, Repetition, ResultsBy, Wishes, Yielded,
};
use super::{arguments, report};
use crate::command_failure::HarnessError;

/// Executables of Google Benchmark.
pub(crate) struct GoogleBenchmark;

/// Variables by which Google Benchmark takes flags that would break a launch.
pub(crate) const VARIABLES: [&str; 3] = [
    "BENCHMARK_LIST_TESTS",
    "BENCHMARK_DRY_RUN",
    "BENCHMARK_FORMAT",
];

/// Seconds of iterations before the first repetition when their number is fixed: otherwise finding
/// that number is what warms up.
const WARM_UP_SECONDS: f64 = 0.001;
const WARM_UP_FLAG: &str = "--benchmark_min_warmup_time";

impl HarnessAdapter for GoogleBenchmark {
    fn harness(&self) -> Harness {
        Harness::GoogleBenchmark
    }

    /// None: what a program makes of the flag that lists benchmarks is known already.
    fn question(&self, _program: &Program) -> &'static [&'static str] {
        &[]
    }

    fn recognises(&self, _answer: &str) -> bool {
        false
    }

    fn listing(&self) -> Question {
        Question::by(&["--benchmark_list_tests=true"])
    }

    fn listed(&self, printed: &str) -> Vec<String> {
        printed.lines().map(str::to_owned).collect()
    }

    fn wishes(&self, arguments: &[String]) -> Result<Wishes, ArgumentError> {
        arguments::read(arguments)
    }

    fn results(&self) -> ResultsBy {
        ResultsBy::Pipe
    }

    /// They stand behind the user's, so that they win.
    fn arguments(&self, ask: &Ask<'_>) -> Vec<String> {
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
            // Without a unit: releases before 1.8 know none.
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
        VARIABLES.map(|variable| (variable, None)).to_vec()
    }

    fn repetitions(
        &self,
        ask: &Ask<'_>,
        yielded: &Yielded,
    ) -> Result<Vec<Repetition>, HarnessError> {
        let Yielded {
            text, stderr_tail, ..
        } = yielded;
        if !text.trim().is_empty() {
            return report::repetitions(text, ask.benchmark);
        }
        // Older releases begin no report at all then.
        Err(if stderr_tail.contains("match any benchmarks") {
            HarnessError::Missing(self.harness())
        } else {
            HarnessError::NoReport {
                harness: self.harness(),
                stderr_tail: stderr_tail.clone(),
            }
        })
    }

    fn tells_cpu_time(&self) -> bool {
        true
    }

    /// Releases from 1.8 on can.
    fn counts_iterations(&self) -> Option<bool> {
        None
    }

    fn has_own_length(&self, benchmark: &str) -> bool {
        number(benchmark, "iterations:").is_some() || part(benchmark, "min_time:").is_some()
    }

    fn own_repetitions(&self, benchmark: &str) -> Option<u32> {
        number(benchmark, "repeats:")
    }

    fn threads(&self, _own: &[String], benchmark: &str) -> u32 {
        number(benchmark, "threads:").unwrap_or(1)
    }
}

/// Signs that mean something in a regular expression, whichever of its dialects
/// the executable was built with.
const SPECIAL: &str = r".[\()*+?{}|^$]";

/// A pattern for `--benchmark_filter` that fits this name and no other.
pub(crate) fn filter(name: &str) -> String {
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

/// The text behind a key in the part of the name that begins with it.
fn part<'a>(name: &'a str, key: &str) -> Option<&'a str> {
    let mut parts = name.split('/').skip(1);
    parts.find_map(|part| part.strip_prefix(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(length: RepetitionLength, own: &[&str]) -> Vec<String> {
        let own: Vec<String> = own.iter().map(|a| (*a).to_owned()).collect();
        GoogleBenchmark.arguments(&Ask {
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
}
