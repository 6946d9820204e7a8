//! What a command did wrong, and where.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use crate::error::{Moment, signal_name};
use crate::placement::{Variant, on_link};

/// A contender failed, and where.
#[derive(Debug)]
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

impl std::fmt::Display for ContenderFailure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            benchmark,
            command,
            moment,
            cause,
            link,
        } = self;
        write!(
            f,
            "benchmark '{benchmark}', {moment}: command '{command}' {cause}{}",
            on_link(link)
        )
    }
}

impl std::error::Error for ContenderFailure {}

/// What a contender did wrong.
#[derive(Debug)]
pub enum Cause {
    /// There is no such program, or it may not be executed.
    NotStarted(io::Error),
    /// It exited with a code that does not count as success.
    Exited(i32),
    /// It was killed by a signal.
    Signalled(i32),
    /// It ran longer than `--timeout`.
    TimedOut(Duration),
    /// Its input file cannot be opened.
    NoInput {
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// Its output cannot be opened.
    NoOutput {
        /// The file, when it is one.
        path: Option<PathBuf>,
        /// What the system said.
        error: io::Error,
    },
    /// A hook failed.
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
    ExitDiffers {
        /// The baseline's command.
        baseline: String,
        /// The baseline's exit code.
        expected: i32,
        /// The candidate's exit code.
        found: i32,
    },
}

impl std::fmt::Display for Cause {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NotStarted(inner) => write!(f, "cannot be started: {inner}"),
            Self::Exited(inner) => write!(
                f,
                "exited with code {inner}; use -i to ignore exit codes, or -i={inner} for this one"
            ),
            Self::Signalled(inner) => write!(
                f,
                "was killed by signal {inner}{name}",
                name = signal_name(*inner)
            ),
            Self::TimedOut(inner) => {
                write!(f, "did not end within {inner:?} (--timeout) and was killed")
            }
            Self::NoInput { path, error } => {
                write!(f, "cannot read its --input '{}': {error}", path.display())
            }
            Self::NoOutput { path, error } => write!(
                f,
                "cannot write its --output{}: {error}",
                path.as_ref()
                    .map(|path| format!(" '{}'", path.display()))
                    .unwrap_or_default()
            ),
            Self::Hook {
                flag,
                hook,
                ended,
                errors,
            } => write!(f, "has a {flag} hook '{hook}' that {ended}{}", said(errors)),
            Self::OutputDiffers {
                baseline,
                line,
                expected,
                found,
            } => write!(
                f,
                "prints something else than '{baseline}' (--check-output): line {line} {}, the baseline's {}",
                reads(found),
                reads(expected)
            ),
            Self::ExitDiffers {
                baseline,
                expected,
                found,
            } => write!(
                f,
                "exits with code {found} where '{baseline}' exits with {expected} (--check-output)"
            ),
        }
    }
}

impl std::error::Error for Cause {}

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
