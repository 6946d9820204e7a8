//! What a command did wrong, and where.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use crate::error::{Moment, signal_name};
use crate::placement::{Variant, on_link};

/// A contender failed, and where.
#[derive(Debug, thiserror::Error)]
#[error(
    "benchmark '{benchmark}', {moment}: command '{command}' {cause}{}",
    on_link(link)
)]
pub struct ContenderFailure {
    /// The benchmark.
    pub benchmark: String,
    /// The command, as the user wrote it.
    pub command: String,
    /// When it happened.
    pub moment: Moment,
    /// What happened.
    pub cause: Cause,
    /// The neutral link it was started from, if it was one.
    pub link: Option<Variant>,
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
