//! Whom a sentence speaks of, and to whom.

use deadheat_model::{Analysis, Ending, Processes};

/// How the two sides of a comparison are called in its sentences; already
/// fit to be shown.
#[derive(Clone, Copy, Debug)]
pub struct Called<'a> {
    /// The baseline.
    pub baseline: &'a str,
    /// The candidate; `None` for a contender alone.
    pub candidate: Option<&'a str>,
    /// True where the baseline stands right above, so that "slower" needs no
    /// "than".
    pub baseline_is_shown: bool,
}

/// Whether advice can ask for another race or only for another recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// deadheat raced commands, so the flags of `deadheat run` help.
    Commands,
    /// deadheat raced functions of one program, which have fewer flags.
    Functions,
    /// deadheat raced functions of programs that somebody else built.
    Programs,
    /// deadheat raced Google Benchmark executables.
    GoogleBenchmark,
    /// The samples were read from a file.
    Recording,
}

impl Source {
    /// Where the samples of an analysis come from.
    pub fn of(analysis: &Analysis) -> Source {
        match (&analysis.ending, analysis.processes) {
            (Ending::Recording, _) => Source::Recording,
            (_, Processes::Launches) => Source::Commands,
            (_, Processes::Workers) => Source::Functions,
            (_, Processes::ProgramWorkers) => Source::Programs,
            (_, Processes::GoogleBenchmark) => Source::GoogleBenchmark,
        }
    }

    /// The unit that values are told per: a launch of a command, an iteration
    /// of anything else.
    pub(crate) fn iteration(self) -> &'static str {
        match self {
            Source::Commands => "launch",
            _ => "iteration",
        }
    }

    /// The command that goes on with such a run; `None` where none does.
    pub fn resume(self) -> Option<&'static str> {
        match self {
            Source::Commands => Some("deadheat run --resume FILE"),
            Source::Programs | Source::GoogleBenchmark => Some("deadheat bench --resume FILE"),
            Source::Functions | Source::Recording => None,
        }
    }
}
