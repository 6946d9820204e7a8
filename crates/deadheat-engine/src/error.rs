//! Everything that can go wrong between the plan and the last sample.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use deadheat_model::{SampleError, SinkError};

use crate::affinity::AffinityError;
use crate::launcher::LauncherError;
use crate::launcher::image::ImageError;

/// Why a race could not be started or finished.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// A contender or one of its hooks failed.
    #[error(transparent)]
    Contender(#[from] Box<ContenderFailure>),
    /// A command cannot be launched as written.
    #[error("command '{command}': {source}")]
    Command {
        /// The command.
        command: String,
        /// What is wrong with it.
        source: ImageError,
    },
    /// The contenders cannot be pinned as asked.
    #[error(transparent)]
    Affinity(#[from] AffinityError),
    /// The record of the run cannot be kept.
    #[error(transparent)]
    Sink(#[from] SinkError),
    /// deadheat's own launcher failed.
    #[error(transparent)]
    Launcher(#[from] LauncherError),
    /// A contender reported an impossible measurement.
    #[error("benchmark '{benchmark}': {source}")]
    Sample {
        /// The benchmark.
        benchmark: String,
        /// What is impossible.
        source: SampleError,
    },
    /// The plan holds something this kind of contender cannot do.
    #[error("benchmark '{benchmark}', contender '{contender}': a recording cannot be run")]
    NotRunnable {
        /// The benchmark.
        benchmark: String,
        /// The contender.
        contender: String,
    },
    /// More commands than one run can tell apart.
    #[error("a run can hold at most {max} commands and hooks, not {found}")]
    TooManyCommands {
        /// How many there are.
        found: usize,
        /// How many there may be.
        max: usize,
    },
    /// Signals cannot be taken over.
    #[error("cannot watch for Ctrl-C: {0}")]
    Signals(nix::errno::Errno),
    /// A signal asked to stop. The session turns this into an end of the run.
    #[error("interrupted")]
    Interrupted,
}

/// The moment of a race.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// Before the first block, discarded.
    WarmUp,
    /// In a block.
    Block {
        /// The replicate, counted from 0.
        replicate: u32,
        /// The block within it, counted from 0.
        block: u32,
        /// The slot; `None` for the discarded launch that primes the block.
        slot: Option<usize>,
    },
    /// Before or after all launches of the benchmark.
    Around,
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Moment::WarmUp => f.write_str("warm-up"),
            Moment::Block {
                replicate,
                block,
                slot: Some(slot),
            } => {
                write!(f, "replicate {replicate}, block {block}, slot {slot}")
            }
            Moment::Block {
                replicate,
                block,
                slot: None,
            } => {
                write!(f, "priming launch of replicate {replicate}, block {block}")
            }
            Moment::Around => f.write_str("outside the blocks"),
        }
    }
}

/// A contender failed, and where.
#[derive(Debug, thiserror::Error)]
#[error("benchmark '{benchmark}', {moment}: command '{command}' {cause}")]
pub struct ContenderFailure {
    /// The benchmark.
    pub benchmark: String,
    /// The command, as the user wrote it.
    pub command: String,
    /// When it happened.
    pub moment: Moment,
    /// What happened.
    pub cause: Cause,
}

/// What a contender did wrong.
#[derive(Debug, thiserror::Error)]
pub enum Cause {
    /// There is no such program, or it may not be executed.
    #[error("cannot be started: {0}")]
    NotStarted(io::Error),
    /// It exited with a code that does not count as success.
    #[error("exited with code {0}; use -i to ignore exit codes, or -i={0} for this one")]
    Exited(i32),
    /// It was killed by a signal.
    #[error("was killed by signal {0}{name}", name = signal_name(*.0))]
    Signalled(i32),
    /// It ran longer than `--timeout`.
    #[error("did not end within {0:?} (--timeout) and was killed")]
    TimedOut(Duration),
    /// Its input file cannot be opened.
    #[error("cannot read its --input '{}': {error}", path.display())]
    NoInput {
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// Its output cannot be opened.
    #[error("cannot write its --output{}: {error}", path.as_ref().map(|path| format!(" '{}'", path.display())).unwrap_or_default())]
    NoOutput {
        /// The file, when it is one.
        path: Option<PathBuf>,
        /// What the system said.
        error: io::Error,
    },
    /// A hook failed.
    #[error("has a {flag} hook '{hook}' that {ended}{}", said(errors))]
    Hook {
        /// The flag that set it.
        flag: &'static str,
        /// The hook's words.
        hook: String,
        /// How it ended, in words.
        ended: String,
        /// The end of what it wrote to its standard error.
        errors: String,
    },
    /// It printed something else than the baseline.
    #[error(
        "prints something else than '{baseline}' (--check-output): line {line} {}, the baseline's {}",
        reads(found),
        reads(expected)
    )]
    OutputDiffers {
        /// The baseline's command.
        baseline: String,
        /// The first differing line, counted from 1.
        line: usize,
        /// The baseline's line, quoted; `None` when its output ends before.
        expected: Option<String>,
        /// The candidate's line, quoted; `None` when its output ends before.
        found: Option<String>,
    },
    /// It exited unlike the baseline.
    #[error("exits with code {found} where '{baseline}' exits with {expected} (--check-output)")]
    ExitDiffers {
        /// The baseline's command.
        baseline: String,
        /// The baseline's exit code.
        expected: i32,
        /// The candidate's exit code.
        found: i32,
    },
}

fn signal_name(signal: i32) -> String {
    nix::sys::signal::Signal::try_from(signal)
        .map(|signal| format!(" ({})", signal.as_str()))
        .unwrap_or_default()
}

fn reads(line: &Option<String>) -> String {
    line.as_ref()
        .map_or("is missing".to_owned(), |line| format!("is {line}"))
}

fn said(errors: &str) -> String {
    if errors.is_empty() {
        String::new()
    } else {
        format!(": {errors}")
    }
}
