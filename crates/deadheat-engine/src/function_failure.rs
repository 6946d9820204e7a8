//! Failures of function benchmarks, and of programs that contain benchmarks.

use std::path::Path;
use std::time::Duration;
use std::{fmt, io};

#[cfg(feature = "commands")]
use deadheat_model::Harness;
use deadheat_model::{before_help, in_one_line};

#[cfg(feature = "commands")]
use crate::command_failure::{HarnessCause, ILLEGAL_INSTRUCTION};
use crate::executable::{Variant, on_link};
use crate::interrupt::signal_name;
use crate::order::Moment;
use crate::start_failure::why_not_started;

/// The failure of a function benchmark, with its place in the race.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionFailure {
    /// The name of the benchmark.
    pub benchmark: String,
    /// The name of the contender, if it is known.
    pub contender: Option<String>,
    /// The moment of the failure in the race.
    pub moment: Moment,
    /// The reason for the failure.
    pub cause: FunctionError,
    /// The neutral link that the process ran on, or `None` if it was the user's own executable.
    pub link: Option<Variant>,
    /// The last lines of the worker's standard error, joined into one; `None` if they were already
    /// shown.
    pub stderr_tail: Option<String>,
}

impl fmt::Display for FunctionFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "benchmark '{}', {}", self.benchmark, self.message())
    }
}

impl std::error::Error for FunctionFailure {}

impl FunctionFailure {
    /// Returns the error message of this failure on one line, without the name of the benchmark.
    pub fn within_benchmark(&self) -> String {
        in_one_line(&self.message())
    }

    fn message(&self) -> String {
        let moment = match self.moment {
            // Blocks are requested as a whole, so the slot is unknown.
            Moment::Block {
                replicate, block, ..
            } => format!("replicate {replicate}, block {block}"),
            moment => moment.to_string(),
        };
        let who = match (&self.contender, &self.cause) {
            (Some(contender), _) => format!("'{contender}'"),
            (None, FunctionError::NeitherCameBack(_)) => "the worker processes".to_owned(),
            (None, _) => "the worker process".to_owned(),
        };
        let link = on_link(&self.link);
        let stderr_tail = self.cause.with_last_words(self.stderr_tail.as_deref());
        let cause = before_help(&self.cause.to_string(), &format!("{link}{stderr_tail}"));
        format!("{moment}: {who} {cause}")
    }
}

/// The reason why a program could not be inspected.
#[cfg(feature = "commands")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InspectionFailure {
    /// The name of the program.
    pub program: String,
    /// The reason for the failure.
    pub cause: FunctionError,
    /// The last lines of the program's standard error, joined into one; `None` if they were already
    /// shown.
    pub stderr_tail: Option<String>,
}

#[cfg(feature = "commands")]
impl fmt::Display for InspectionFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            program,
            cause,
            stderr_tail,
        } = self;
        let last_words = cause.with_last_words(stderr_tail.as_deref());
        write!(
            f,
            "'{program}' {}",
            before_help(&cause.to_string(), &last_words)
        )
    }
}

#[cfg(feature = "commands")]
impl std::error::Error for InspectionFailure {}

/// The reason why a function or its worker process failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FunctionError {
    /// The function panicked with this message.
    Panicked(String),
    /// The function raised this error or exception.
    Raised(String),
    /// The benchmark skipped itself for this reason.
    Skipped(String),
    /// The function reports this error.
    ReportsError(String),
    /// The worker refuses to time the function, for this reason: the function returns without
    /// having computed anything, or its calls do different work.
    Refused(String),
    /// The process exited with this code before it finished.
    Exited(i32),
    /// A signal with this number killed the process.
    Signalled(i32),
    /// The process ran under Valgrind and executed an instruction that Valgrind does not support.
    #[cfg(feature = "commands")]
    IllegalInstruction,
    /// The process did not finish within the time limit of a single sample.
    TimedOut(Duration),
    /// The process, which reports no progress, did not finish within the time limit of all its
    /// samples.
    TimedOutInAll {
        /// The time limit of a single sample.
        each: Duration,
        /// The maximum number of samples.
        samples: u32,
    },
    /// Neither of two processes that take turns finished within this time; each may be waiting for
    /// the other.
    NeitherCameBack(Duration),
    /// The process closed the pipes by which it takes turns with another process, but keeps
    /// running.
    BatonClosed,
    /// A candidate's output differs from the baseline's.
    OutputDiffers {
        /// The name of the baseline.
        baseline: String,
        /// The worker's description of the outputs.
        detail: Option<String>,
    },
    /// A contender's outputs for the same input differ; the text is the worker's description.
    OutputVaries(Option<String>),
    /// The calls cannot be timed individually, which quantiles require; the text is the reason.
    NotOneByOne(String),
    /// The process could not be started.
    NotStarted(String),
    /// The worker uses another version of the worker protocol.
    OtherProtocol {
        /// The version of the worker.
        theirs: u32,
        /// The version that this deadheat supports.
        ours: u32,
    },
    /// The program neither implements the worker protocol nor lists benchmarks of a known harness.
    NoBenchmarks {
        /// The description of how the program ended.
        ended: String,
        /// The description of what the program wrote to standard error or standard output.
        wrote: String,
        /// The kind of program that the output reveals, with advice on how to race it.
        instead: Option<&'static str>,
    },
    /// The program lists too many benchmarks.
    TooMany {
        /// The number of benchmarks.
        listed: usize,
    },
    /// The Python file ended without calling `deadheat.suite()`.
    WithoutSuite,
    /// The process violated the worker protocol.
    Protocol(String),
    /// The executable of a harness does not list its benchmarks.
    #[cfg(feature = "commands")]
    Unlisted {
        /// The harness of the executable.
        harness: Harness,
        /// The description of the problem.
        problem: String,
    },
    /// A launch of a harness executable failed.
    #[cfg(feature = "commands")]
    Harness(Box<HarnessCause>),
}

impl fmt::Display for FunctionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
Self::Panicked(inner) => write!(f, "panicked {inner}"),
Self::Raised(inner) => write!(f, "raised {inner}"),
Self::Skipped(inner) => write!(f, "skips itself: {inner}"),
Self::ReportsError(inner) => write!(f, "reports an error: {inner}"),
Self::Refused(inner) => f.write_str(inner),
Self::Exited(inner) => write!(f, "ended its process with exit code {inner}"),
Self::Signalled(inner) => write!(f, "was killed by signal {inner}{name}", name = signal_name(*inner)),
#[cfg(feature = "commands")]
Self::IllegalInstruction => f.write_str(ILLEGAL_INSTRUCTION),
Self::TimedOut(inner) => write!(f, "did not finish within {inner:?} (--timeout) and was killed"),
Self::TimedOutInAll { each, samples } => write!(f, "did not finish within {:?} (--timeout {each:?} for each of {samples} samples) and was \
         killed", *each * *samples),
Self::NeitherCameBack(inner) => write!(f, "wait for each other: neither finished within {inner:?} \
                                           (--timeout), and both were killed; one of them did not \
                                           pass the turn to the other (docs/protocol.md)"),
Self::BatonClosed => f.write_str("closed the turn-taking pipes before its last turn (docs/protocol.md) and keeps running"),
Self::OutputDiffers { baseline, detail } => write!(f, "returns a different output than \
                                                       '{baseline}' for the same \
                                                       input{}", after_colon(detail)),
Self::OutputVaries(detail) => write!(f, "returns different outputs for the same input, so outputs cannot be compared{}", after_colon(detail)),
Self::NotOneByOne(why) => write!(f, "cannot be timed call by call, which --quantile requires: {why}"),
Self::NotStarted(inner) => write!(f, "cannot be started: {inner}"),
Self::OtherProtocol { theirs, ours } => write!(f, "uses version {theirs} of the worker protocol, \
                                                   but this deadheat uses version {ours}\nhelp: \
                                                   build it with a release of deadheat that uses \
                                                   version {ours}"),
Self::NoBenchmarks { ended, instead: Some(instead), .. } => write!(f, "{ended} and lists no benchmarks: it is {instead}"),
Self::NoBenchmarks { ended, wrote, instead: None } => write!(f, "{ended} and lists no benchmarks; {wrote}\nhelp: deadheat run OLD NEW races whole executions (of commits: deadheat rev --run CMD), and deadheat \
         explain -- OLD NEW profiles them; if it has benchmarks, --harness names its harness (docs/suites.md)"),
Self::TooMany { listed } => write!(f, "lists {listed} benchmarks, and deadheat races at most 100000 of a program\nhelp: \
                 race fewer, such as one program for each group"),
Self::WithoutSuite => f.write_str("defines no benchmarks: it ends without deadheat.suite(), the last line of a file of Python \
         benchmarks\nhelp: deadheat run 'python3 OLD' 'python3 NEW' races whole scripts; if it has \
         tests of pytest-benchmark: deadheat rev BASE --pytest FILE, where BASE is a git revision"),
Self::Protocol(inner) => write!(f, "does not follow the worker protocol: {inner}"),
#[cfg(feature = "commands")]
Self::Unlisted { harness, problem } => write!(f, "does not list its benchmarks like other \
                                                  executables of {}: {problem}", harness.name()),
#[cfg(feature = "commands")]
Self::Harness(inner) => write!(f, "{inner}"),
}
    }
}

impl std::error::Error for FunctionError {}

impl FunctionError {
    /// Returns true if the process exited or was killed by a signal.
    pub(crate) fn is_death(&self) -> bool {
        matches!(self, FunctionError::Exited(_) | FunctionError::Signalled(_))
    }

    /// Returns the end of the process's standard error as an addition to the message; empty if the
    /// error already contains it.
    pub fn with_last_words(&self, stderr_tail: Option<&str>) -> String {
        match (self, stderr_tail) {
            (
                FunctionError::Panicked(_)
                | FunctionError::Raised(_)
                | FunctionError::Skipped(_)
                | FunctionError::ReportsError(_)
                | FunctionError::Refused(_)
                | FunctionError::OutputDiffers { .. }
                | FunctionError::OutputVaries(_)
                | FunctionError::NoBenchmarks { .. }
                | FunctionError::TooMany { .. }
                | FunctionError::WithoutSuite
                | FunctionError::NotStarted(_)
                | FunctionError::OtherProtocol { .. },
                _,
            )
            | (_, None) => String::new(),
            (_, Some(words)) => format!("; its standard error ends: {words}"),
        }
    }
}

fn after_colon(detail: &Option<String>) -> String {
    detail
        .as_ref()
        .map(|detail| format!(": {detail}"))
        .unwrap_or_default()
}

pub(crate) fn not_started(error: &io::Error, program: &Path) -> FunctionError {
    FunctionError::NotStarted(why_not_started(error, program))
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadheat_model::NeutralLink;

    #[test]
    fn a_failure_names_benchmark_replicate_block_and_contender() {
        let failure = FunctionFailure {
            benchmark: "sort/1000".to_owned(),
            contender: Some("quick".to_owned()),
            moment: Moment::Block {
                replicate: 2,
                block: 7,
                slot: None,
            },
            cause: FunctionError::Panicked("at src/sort.rs:5:9: index out of bounds".to_owned()),
            link: None,
            stderr_tail: Some("thread main panicked".to_owned()),
        };
        assert_eq!(
            failure.within_benchmark(),
            "replicate 2, block 7: 'quick' panicked at src/sort.rs:5:9: index out of bounds"
        );
        let whole = format!("benchmark 'sort/1000', {}", failure.within_benchmark());
        assert_eq!(failure.to_string(), whole);
        let on_a_link = FunctionFailure {
            link: Some(Variant {
                link: NeutralLink {
                    seed: 17,
                    hash: "00".to_owned(),
                    matched: false,
                },
                executable: "/links/17".into(),
            }),
            ..failure
        };
        let text = on_a_link.to_string();
        assert!(text.contains("seed 17, /links/17"), "{text}");
    }

    #[test]
    fn last_words_are_told_where_nothing_else_says_why() {
        let failure = FunctionFailure {
            benchmark: "sum".to_owned(),
            contender: Some("new".to_owned()),
            moment: Moment::WarmUp,
            cause: FunctionError::Exited(1),
            link: None,
            stderr_tail: Some("ValueError: no".to_owned()),
        };
        assert_eq!(
            failure.to_string(),
            "benchmark 'sum', warm-up: 'new' ended its process with exit code 1; its standard \
             error ends: ValueError: no"
        );
        let neither = FunctionFailure {
            contender: None,
            cause: FunctionError::NeitherCameBack(Duration::from_secs(2)),
            stderr_tail: None,
            ..failure
        };
        let text = neither.to_string();
        assert!(
            text.contains("the worker processes wait for each other"),
            "{text}"
        );
    }
}
