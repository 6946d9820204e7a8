//! What can go wrong with a launch of a Google Benchmark executable.

use std::fmt;
use std::time::Duration;

use crate::error::signal_name;
use crate::subprocess::{Ending, Problem};

/// Characters of what an executable wrote that a message quotes.
const QUOTED: usize = 80;

/// What went wrong, and how to see it again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GoogleBenchmarkCause {
    /// What happened.
    pub what: GoogleBenchmarkProblem,
    /// The command line that launches the same benchmark.
    pub launch: String,
}

impl fmt::Display for GoogleBenchmarkCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; to see for yourself: {}", self.what, self.launch)
    }
}

/// What happened in a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GoogleBenchmarkProblem {
    /// It never began.
    NotStarted(String),
    /// It took too long.
    TimedOut(Duration),
    /// It wrote without end.
    Endless,
    /// It ended with another exit code than 0.
    Exited {
        /// The code.
        code: i32,
        /// What it said last on standard error.
        stderr_tail: String,
    },
    /// A signal killed it.
    Signalled {
        /// The signal.
        signal: i32,
        /// What it said last on standard error.
        stderr_tail: String,
    },
    /// It ended in another way.
    Ended(String),
    /// It wrote nothing where its report belongs.
    NoReport {
        /// What it said last on standard error.
        stderr_tail: String,
    },
    /// It wrote something else than a report.
    Garbled(String),
    /// The benchmark is not there.
    Missing,
    /// There are more or fewer repetitions than planned.
    Repetitions {
        /// Repetitions in the report.
        found: usize,
        /// Repetitions that were asked for.
        expected: u32,
    },
    /// The source of the benchmark keeps its repetitions to itself.
    OnlyAggregates,
    /// Two sides cannot be told apart sample by sample.
    NotAlike {
        /// Repetitions in the source of this one.
        found: u32,
        /// Repetitions in the source of the baseline.
        baseline: u32,
    },
    /// The benchmark says that something went wrong.
    Error(String),
    /// The benchmark says that it does not run.
    Skipped(String),
    /// A number is missing or cannot be.
    Number {
        /// Its name in the report.
        field: &'static str,
        /// The repetition, counted from 0.
        repetition: usize,
        /// What stands there.
        found: String,
    },
    /// A counter that the pilot found is not there any more.
    Counter {
        /// Its name.
        counter: String,
        /// The repetition, counted from 0.
        repetition: usize,
        /// What stands there.
        found: String,
    },
}

impl std::fmt::Display for GoogleBenchmarkProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
Self::NotStarted(inner) => write!(f, "cannot be started: {inner}"),
Self::TimedOut(inner) => write!(f, "did not end within {inner:?} and was killed; a longer --timeout gives every launch more time"),
Self::Endless => f.write_str("wrote more than any report of a benchmark has, and was killed"),
Self::Exited { code, stderr_tail } => write!(f, "ended with exit code {code}{}", said(stderr_tail)),
Self::Signalled { signal, stderr_tail } => write!(f, "was killed by signal {signal}{}{}", signal_name(*signal), said(stderr_tail)),
Self::Ended(inner) => write!(f, "ended unexpectedly ({inner})"),
Self::NoReport { stderr_tail } => write!(f, "ended well but wrote no report to --benchmark_out; an executable of Google Benchmark \
         does, unless its main leaves before RunSpecifiedBenchmarks{}", said(stderr_tail)),
Self::Garbled(inner) => write!(f, "wrote a report that is not the JSON of Google Benchmark: '{inner}'"),
Self::Missing => f.write_str("ran no benchmark of this name; only what --benchmark_list_tests lists in every launch can \
         be raced"),
Self::Repetitions { found, expected } => write!(f, "reports {found} repetitions where {expected} were planned; a name that two benchmarks \
         share, or a benchmark that changes from launch to launch, cannot be raced"),
Self::OnlyAggregates => f.write_str("reports only aggregates of its repetitions; a race needs each of them, so take \
         ReportAggregatesOnly or Repetitions away from the benchmark"),
Self::NotAlike { found, baseline } => write!(f, "repeats itself {found} times, as its source says, and the baseline {baseline} times"),
Self::Error(inner) => write!(f, "reports an error: {inner}"),
Self::Skipped(inner) => write!(f, "skips itself: {inner}"),
Self::Number { field, repetition, found } => write!(f, "reports no usable {field} in repetition {repetition}: {found}"),
Self::Counter { counter, repetition, found } => write!(f, "gives no usable number for its counter '{counter}' in repetition {repetition}: {found}; \
         the pilot found one, so set it in every run of the benchmark, or never"),
}
    }
}

impl std::error::Error for GoogleBenchmarkProblem {}

impl GoogleBenchmarkProblem {
    /// What a process that ended badly did.
    pub(super) fn of_process(problem: Problem) -> Self {
        let stderr_tail = problem.stderr_tail;
        match problem.ending {
            Ending::NotStarted(reason) => Self::NotStarted(reason),
            Ending::Silent(time) => Self::TimedOut(time),
            Ending::Endless => Self::Endless,
            Ending::Exited(code) => Self::Exited { code, stderr_tail },
            Ending::Signalled(signal) => Self::Signalled {
                signal,
                stderr_tail,
            },
            Ending::Odd(status) => Self::Ended(status),
        }
    }

    /// A report that nobody can read.
    pub(super) fn garbled(text: &str) -> Self {
        Self::Garbled(text.trim().chars().take(QUOTED).collect())
    }

    /// Whether two launches failed in the same way: numbers and last words may
    /// be different every time.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Exited { code: one, .. }, Self::Exited { code: other, .. }) => one == other,
            (Self::Signalled { signal: one, .. }, Self::Signalled { signal: other, .. }) => {
                one == other
            }
            (one, other) => std::mem::discriminant(one) == std::mem::discriminant(other),
        }
    }
}

fn said(stderr_tail: &str) -> String {
    match stderr_tail.is_empty() {
        true => String::new(),
        false => format!(", saying: {stderr_tail}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_ends_with_how_to_see_it_again() {
        let cause = GoogleBenchmarkCause {
            what: GoogleBenchmarkProblem::Exited {
                code: 3,
                stderr_tail: "no disk".to_owned(),
            },
            launch: "./bench '--benchmark_filter=^a$'".to_owned(),
        };
        assert_eq!(
            cause.to_string(),
            "ended with exit code 3, saying: no disk; to see for yourself: \
             ./bench '--benchmark_filter=^a$'"
        );
    }

    #[test]
    fn the_same_failure_is_known_again_whatever_it_says() {
        let exited = |code, stderr_tail: &str| GoogleBenchmarkProblem::Exited {
            code,
            stderr_tail: stderr_tail.to_owned(),
        };
        assert!(exited(1, "at 0x17").is_like(&exited(1, "at 0x18")));
        assert!(!exited(1, "").is_like(&exited(2, "")));
        assert!(!exited(1, "").is_like(&GoogleBenchmarkProblem::Missing));
    }
}
