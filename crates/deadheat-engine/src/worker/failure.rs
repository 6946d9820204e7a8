//! What a benchmark of functions did wrong, and where.

use std::time::Duration;

use crate::error::{Moment, signal_name};
use crate::placement::{Variant, on_link};

/// A benchmark of functions failed, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("benchmark '{benchmark}', {}", self.within_benchmark())]
pub struct FunctionFailure {
    /// The benchmark.
    pub benchmark: String,
    /// The contender, where it is known who it was.
    pub contender: Option<String>,
    /// When it happened.
    pub moment: Moment,
    /// What happened.
    pub cause: FunctionCause,
    /// The neutral link it ran on, if it was one.
    pub link: Option<Variant>,
}

impl FunctionFailure {
    /// The same for a reader who knows which benchmark it is.
    pub fn within_benchmark(&self) -> String {
        let moment = match self.moment {
            // Here a block is asked for as a whole.
            Moment::Block {
                replicate, block, ..
            } => format!("replicate {replicate}, block {block}"),
            moment => moment.to_string(),
        };
        let who = match &self.contender {
            Some(contender) => format!("'{contender}'"),
            None => "the worker process".to_owned(),
        };
        format!("{moment}: {who} {}{}", self.cause, on_link(&self.link))
    }
}

/// What happened to the code under test or to its process.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FunctionCause {
    /// It panicked.
    #[error("panicked {0}")]
    Panicked(String),
    /// The process ended in the middle of the work.
    #[error("ended its process with exit code {0}")]
    Exited(i32),
    /// The process was killed.
    #[error("was killed by signal {0}{name}", name = signal_name(*.0))]
    Signalled(i32),
    /// It did not come back within the time that a single sample may take.
    #[error("did not come back within {0:?} (--timeout) and was killed")]
    TimedOut(Duration),
    /// A candidate's answer is not that of the baseline.
    #[error("returns another output than '{baseline}' for the same input")]
    OutputDiffers {
        /// The baseline.
        baseline: String,
    },
    /// A contender's answers to one input differ.
    #[error("returns different outputs for the same input, so outputs cannot be compared")]
    OutputVaries,
    /// The process could not be started.
    #[error("cannot be started: {0}")]
    NotStarted(String),
    /// It was made for another release of deadheat.
    #[error(
        "speaks version {theirs} of the worker protocol, and this deadheat version {ours}; build \
         it with a release of deadheat that speaks {ours}"
    )]
    OtherProtocol {
        /// Its version.
        theirs: u32,
        /// The version spoken here.
        ours: u32,
    },
    /// It runs on as if nobody had asked.
    #[error(
        "says no hello within {0:?} and was killed: it is no worker (docs/protocol.md) and no \
         Google Benchmark executable"
    )]
    NoHello(Duration),
    /// It ends without having named any benchmark.
    #[error(
        "holds no benchmarks: it is no worker (docs/protocol.md) and no Google Benchmark \
         executable{}", printing(.printed)
    )]
    NoBenchmarks {
        /// What it printed.
        printed: String,
    },
    /// The process says what no worker says.
    #[error("does not speak the protocol of workers: {0}")]
    Protocol(String),
}

fn printing(printed: &str) -> String {
    match printed.trim() {
        "" => ", and prints nothing".to_owned(),
        text => format!("; it prints '{text}'"),
    }
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
            cause: FunctionCause::Panicked("at src/sort.rs:5:9: index out of bounds".to_owned()),
            link: None,
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
                },
                executable: "/links/17".into(),
            }),
            ..failure
        };
        let text = on_a_link.to_string();
        assert!(text.contains("seed 17, /links/17"), "{text}");
    }
}
