//! Failures of benchmarks of functions, and of programs that hold some.

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

/// A benchmark of functions failed, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionFailure {
    /// The benchmark.
    pub benchmark: String,
    /// The contender, where it is known who it was.
    pub contender: Option<String>,
    /// When it happened.
    pub moment: Moment,
    /// The error.
    pub cause: FunctionError,
    /// The neutral link it ran on, if it was one.
    pub link: Option<Variant>,
    /// The end of its standard error, in one line, where
    /// nobody saw it.
    pub stderr_tail: Option<String>,
}

impl fmt::Display for FunctionFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "benchmark '{}', {}", self.benchmark, self.message())
    }
}

impl std::error::Error for FunctionFailure {}

impl FunctionFailure {
    /// The message in one line, for a reader who knows which benchmark it is about.
    pub fn within_benchmark(&self) -> String {
        in_one_line(&self.message())
    }

    fn message(&self) -> String {
        let moment = match self.moment {
            // Here a block is asked for as a whole.
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

/// A program could not be inspected.
#[cfg(feature = "commands")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InspectionFailure {
    /// The program.
    pub program: String,
    /// The error.
    pub cause: FunctionError,
    /// The end of its standard error, in one line, where nobody saw
    /// it.
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

/// An error of the code under test or of its process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FunctionError {
    /// It panicked.
    Panicked(String),
    /// It raised this error, in a language that raises errors.
    Raised(String),
    /// The benchmark does not want to run here; the reason.
    Skipped(String),
    /// The worker refuses to time the function, for this reason: the function returns without having
    /// computed anything, or its calls do different work.
    Refused(String),
    /// The process ended in the middle of the work.
    Exited(i32),
    /// The process was killed.
    Signalled(i32),
    /// An instruction killed it that Valgrind, which counts it, does not know.
    #[cfg(feature = "commands")]
    IllegalInstruction,
    /// It did not finish within the time that a single sample may take.
    TimedOut(Duration),
    /// The same, of one that does not tell when it goes on.
    TimedOutInAll {
        /// Time that a single sample may take.
        each: Duration,
        /// The number of samples to take.
        samples: u32,
    },
    /// Of two processes that take turns each waits for the other, for all that
    /// is known.
    NeitherCameBack(Duration),
    /// It cannot be reached by the other process any more.
    BatonClosed,
    /// A candidate's answer is not that of the baseline.
    OutputDiffers {
        /// The baseline.
        baseline: String,
        /// The outputs, in the worker's words.
        detail: Option<String>,
    },
    /// A contender's answers to one input differ; the outputs, in the worker's words.
    OutputVaries(Option<String>),
    /// Its calls cannot be timed one by one, as a quantile of them takes; the reason.
    NotOneByOne(String),
    /// The process could not be started.
    NotStarted(String),
    /// It was made for another release of deadheat.
    OtherProtocol {
        /// Its version.
        theirs: u32,
        /// The version spoken here.
        ours: u32,
    },
    /// It neither speaks the worker protocol nor lists benchmarks of a known harness.
    NoBenchmarks {
        /// Its end, in words.
        ended: String,
        /// What it wrote to standard error or standard output, in words.
        wrote: String,
        /// The kind of program that it is instead, and how that is raced, if its output shows it.
        instead: Option<&'static str>,
    },
    /// It is a file of Python that came to its end and raced nothing.
    WithoutSuite,
    /// The process says what no worker says.
    Protocol(String),
    /// It is an executable of a harness that does not list its benchmarks.
    #[cfg(feature = "commands")]
    Unlisted {
        /// The harness.
        harness: Harness,
        /// The problem, in words.
        problem: String,
    },
    /// It is an executable of a harness, and this went wrong.
    #[cfg(feature = "commands")]
    Harness(Box<HarnessCause>),
}

impl fmt::Display for FunctionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
Self::Panicked(inner) => write!(f, "panicked {inner}"),
Self::Raised(inner) => write!(f, "raised {inner}"),
Self::Skipped(inner) => write!(f, "skips itself: {inner}"),
Self::Refused(inner) => f.write_str(inner),
Self::Exited(inner) => write!(f, "ended its process with exit code {inner}"),
Self::Signalled(inner) => write!(f, "was killed by signal {inner}{name}", name = signal_name(*inner)),
#[cfg(feature = "commands")]
Self::IllegalInstruction => f.write_str(ILLEGAL_INSTRUCTION),
Self::TimedOut(inner) => write!(f, "did not finish within {inner:?} (--timeout) and was killed"),
Self::TimedOutInAll { each, samples } => write!(f, "did not finish within {:?} (--timeout {each:?} for each of {samples} samples) and was \
         killed", *each * *samples),
Self::NeitherCameBack(inner) => write!(f, "wait for each other: neither finished within {inner:?} (--timeout), and both were killed; \
         one of them does not hand the baton over as docs/protocol.md says"),
Self::BatonClosed => f.write_str("closed the turn-taking pipes before its last turn (docs/protocol.md) and keeps running"),
Self::OutputDiffers { baseline, detail } => write!(f, "returns another output than '{baseline}' for the same input{}", after_colon(detail)),
Self::OutputVaries(detail) => write!(f, "returns different outputs for the same input, so outputs cannot be compared{}", after_colon(detail)),
Self::NotOneByOne(why) => write!(f, "cannot be timed call by call, as a quantile takes (--quantile): {why}"),
Self::NotStarted(inner) => write!(f, "cannot be started: {inner}"),
Self::OtherProtocol { theirs, ours } => write!(f, "speaks version {theirs} of the worker protocol, and this deadheat version {ours}\nhelp: build \
         it with a release of deadheat that speaks version {ours}"),
Self::NoBenchmarks { ended, instead: Some(instead), .. } => write!(f, "{ended} and lists no benchmarks: it is {instead}"),
Self::NoBenchmarks { ended, wrote, instead: None } => write!(f, "{ended} and lists no benchmarks; {wrote}\nhelp: deadheat run OLD NEW races whole executions, and deadheat explain -- OLD NEW profiles them \
         (after deadheat rev --no-run, with the printed paths); if it has benchmarks, --harness \
         names \
         its harness (docs/suites.md)"),
Self::WithoutSuite => f.write_str("ends without deadheat.suite(), which must be the last line of a file of Python benchmarks (docs/python.md)\nhelp: \
         if it has tests of pytest-benchmark: deadheat rev BASE --pytest FILE, where BASE is a \
         git revision"),
Self::Protocol(inner) => write!(f, "does not speak the protocol of workers: {inner}"),
#[cfg(feature = "commands")]
Self::Unlisted { harness, problem } => write!(f, "does not list its benchmarks as executables of {} do: {problem}", harness.name()),
#[cfg(feature = "commands")]
Self::Harness(inner) => write!(f, "{inner}"),
}
    }
}

impl std::error::Error for FunctionError {}

impl FunctionError {
    /// Returns whether the process ended by itself.
    pub(crate) fn is_death(&self) -> bool {
        matches!(self, FunctionError::Exited(_) | FunctionError::Signalled(_))
    }

    /// The words to append for the end of its standard error; empty if that says no more than the error.
    pub fn with_last_words(&self, stderr_tail: Option<&str>) -> String {
        match (self, stderr_tail) {
            (
                FunctionError::Panicked(_)
                | FunctionError::Raised(_)
                | FunctionError::Skipped(_)
                | FunctionError::Refused(_)
                | FunctionError::OutputDiffers { .. }
                | FunctionError::OutputVaries(_)
                | FunctionError::NoBenchmarks { .. }
                | FunctionError::WithoutSuite
                | FunctionError::NotStarted(_)
                | FunctionError::OtherProtocol { .. },
                _,
            )
            | (_, None) => String::new(),
            (_, Some(words)) => format!("; its last words on standard error: {words}"),
        }
    }
}

fn after_colon(detail: &Option<String>) -> String {
    detail
        .as_ref()
        .map(|detail| format!(": {detail}"))
        .unwrap_or_default()
}

/// Returns the reason why a program cannot be started, and what to do about it.
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
            "benchmark 'sum', warm-up: 'new' ended its process with exit code 1; its last words \
             on standard error: ValueError: no"
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
