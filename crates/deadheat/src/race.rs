//! Runs races: turns a plan into a recorded run.

#[cfg(feature = "commands")]
mod arrangement;
mod benchmarks;
#[cfg(feature = "commands")]
mod commands;
mod confirm;
mod entries;
#[cfg(feature = "commands")]
mod from_file;
#[cfg(feature = "commands")]
mod harness;
mod header;
#[cfg(feature = "reports")]
mod known_calibration;
#[cfg(feature = "commands")]
mod launch_arrangement;
mod overrun;
mod pilots;
mod planning;
mod session;
#[cfg(feature = "commands")]
mod shard;
#[cfg(feature = "commands")]
mod trust;

use std::path::{Path, PathBuf};

use deadheat_engine::{EngineError, Interrupts};
#[cfg(feature = "commands")]
use deadheat_format::{FileProblem, read_header, refuse_plan};
use deadheat_format::{FormatError, NOWHERE};
#[cfg(feature = "commands")]
use deadheat_model::Origin;
use deadheat_model::{EndReason, HELP, Metric, Run};

use crate::exit::Failure;
use crate::rules::Rules;

#[cfg(feature = "commands")]
pub use benchmarks::inspect_program;
pub use benchmarks::race_benchmarks;
pub(crate) use benchmarks::smoke_test;
#[cfg(feature = "commands")]
pub use commands::{RaceOptions, race_commands};
pub use confirm::{Raced, SecondRace, refuse_old_confirmation};
pub use entries::{BenchmarkRace, Entries, Planned};
#[cfg(feature = "commands")]
pub use from_file::{
    PlannedPart, Resumable, ResumeOptions, finish_part, race_planned, read_plan, resume_race,
};
#[cfg(feature = "commands")]
pub use harness::harness_benchmark;
#[cfg(feature = "commands")]
pub use known_calibration::{CALIBRATION_VARIABLE, calibration_file};
#[cfg(feature = "commands")]
pub use overrun::overrun;
#[cfg(feature = "commands")]
pub use shard::begun_part;
#[cfg(feature = "commands")]
pub use trust::{StartedFile, is_made_here, note_made_file, starts};

/// The result of a race, which may have been interrupted by a signal.
#[derive(Clone, Debug)]
pub struct RaceOutcome {
    /// The run: the plan and all samples.
    pub run: Run,
    /// The path of the run file.
    pub path: PathBuf,
}

impl RaceOutcome {
    /// Returns the number of the signal that ended the race; `None` if no signal did.
    pub fn interrupted(&self) -> Option<i32> {
        match self.run.end.as_ref()?.reason {
            EndReason::Interrupted(signal) => Some(signal),
            _ => None,
        }
    }
}

/// The reason why a race could not be started or finished.
#[derive(Debug)]
pub enum RaceError {
    /// The contenders could not be prepared, so no race was started.
    NotStarted(EngineError),
    /// A signal stopped the race before there was anything to record.
    Interrupted {
        /// The number of the signal.
        signal: i32,
    },
    /// The run file cannot be created, so no race was started.
    Save(FormatError),
    /// A new run file cannot be created below `.deadheat`.
    Record(FormatError),
    /// The run to resume cannot be read or written.
    Resume(FormatError),
    /// The race failed after it had started.
    BrokenOff {
        /// The reason.
        error: EngineError,
        /// The run file with the blocks measured until then.
        path: PathBuf,
        /// The number of blocks in the run file.
        blocks: usize,
    },
    /// The race cannot measure the metric that it should judge.
    MetricNotMeasured {
        /// The metric that the race should judge.
        metric: Metric,
        /// The reason.
        reason: String,
    },
    /// The race cannot be planned, for example because two settings cannot be combined. Contains
    /// the reason.
    Design(String),
    /// The calibration run of a benchmark failed, so a plan for other machines cannot be made.
    Unplannable(String),
    /// The run file was written by another user or on another machine, and the user did not agree
    /// to start its commands.
    Untrusted(String),
    /// Programs, scripts or inputs on this machine differ from those that the plan or run records.
    OtherFiles {
        /// The option that names the file, such as `--plan`.
        flag: &'static str,
        /// The path of the plan or run file.
        path: PathBuf,
        /// The first difference, as a clause.
        difference: String,
    },
    /// The run cannot be resumed.
    NotResumable {
        /// The run file.
        path: PathBuf,
        /// The reason, worded to follow the file's name: `holds a recording, not a race`.
        reason: String,
    },
}

impl std::fmt::Display for RaceError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NotStarted(inner) => inner.fmt(f),
            Self::Interrupted { .. } => {
                f.write_str("interrupted before the first block; nothing was recorded")
            }
            Self::Save(inner) => write!(f, "--save: {inner}"),
            Self::Record(inner) => {
                write!(f, "{inner}\nhelp: --save FILE records the run elsewhere")
            }
            Self::Resume(inner) => write!(f, "--resume: {inner}"),
            Self::BrokenOff { error, .. } => write!(f, "{error}"),
            Self::MetricNotMeasured { metric, reason } => write!(f, "--metric {metric}: {reason}"),
            Self::Design(inner) | Self::Unplannable(inner) | Self::Untrusted(inner) => {
                write!(f, "{inner}")
            }
            Self::OtherFiles {
                flag,
                path,
                difference,
            } => {
                let advice = match *flag {
                    "--plan" => {
                        "copy the planned files together with the plan: `deadheat pack` packs both"
                    }
                    _ => "race it again",
                };
                let path = path.display();
                write!(
                    f,
                    "{flag}: {path} was made with other files: {difference}{HELP}{advice}"
                )
            }
            Self::NotResumable { path, reason } => {
                write!(f, "--resume: {} {reason}", path.display())
            }
        }
    }
}

impl std::error::Error for RaceError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::NotStarted(inner) => inner.source(),
            _ => None,
        }
    }
}

impl RaceError {
    /// Converts the error to a failure. If the rules file sets a metric that cannot be measured,
    /// the message names the rules file.
    pub fn into_failure(self, rules: &Rules) -> Failure {
        match self {
            Self::MetricNotMeasured { .. } => Failure::Usage(rules.blamed(self.to_string())),
            error => error.into(),
        }
    }
}

/// Installs handlers for Ctrl-C and other stop signals, so that a signal ends the race, and the
/// program can still print the answer.
pub fn take_over_signals() -> Result<Interrupts, RaceError> {
    Interrupts::install().map_err(|errno| RaceError::NotStarted(EngineError::Signals(errno)))
}

/// Returns the error of a race that did not start: `Interrupted` if a signal arrived, otherwise
/// `error`.
pub(super) fn not_started(error: EngineError, interrupts: &Interrupts) -> RaceError {
    match (error, interrupts.requested()) {
        (EngineError::Interrupted, Some(signal)) => RaceError::Interrupted { signal },
        (error, _) => RaceError::NotStarted(error),
    }
}

impl Failure {
    /// Converts an error of the engine; `text` is the message of the failure.
    pub fn of_engine(error: &EngineError, text: String) -> Self {
        match error {
            EngineError::Sample { .. } => Self::Internal(text),
            error if error.is_of_a_contender() => Self::Contender(text),
            error if error.is_of_the_plan() => Self::Usage(text),
            _ => Self::Internal(text),
        }
    }
}

impl From<RaceError> for Failure {
    fn from(error: RaceError) -> Self {
        let text = error.to_string();
        match error {
            RaceError::NotStarted(cause) => Failure::of_engine(&cause, text),
            RaceError::Interrupted { signal } => Failure::Interrupted { text, signal },
            RaceError::BrokenOff {
                error,
                path,
                blocks,
            } => {
                let is_kept = path != Path::new(NOWHERE);
                let path = path.display();
                let kept = match blocks {
                    0 => String::new(),
                    _ if !is_kept => String::new(),
                    1 => format!("\n  the block measured so far is in {path}"),
                    n => format!("\n  the {n} blocks measured so far are in {path}"),
                };
                Failure::of_engine(&error, format!("{text}{kept}"))
            }
            RaceError::Save(cause) => refused_save(&cause),
            RaceError::Unplannable(_) => Failure::Contender(text),
            RaceError::Record(_) => Failure::Internal(text),
            RaceError::Design(_)
            | RaceError::MetricNotMeasured { .. }
            | RaceError::Untrusted(_) => Failure::Usage(text),
            RaceError::Resume(cause) if cause.is_write_error() => {
                Failure::unwritable("--resume", &cause)
            }
            // Schedulers do not retry a part that exits with the code of this failure. A retry
            // would find the same files, so it would fail as well.
            RaceError::OtherFiles { flag: "--plan", .. } => Failure::Contender(text),
            RaceError::Resume(_)
            | RaceError::OtherFiles { .. }
            | RaceError::NotResumable { .. } => Failure::Data(text),
        }
    }
}

/// Converts the error of a run file that cannot be written. If the path already contains a run or a
/// plan, the message says how to use that file.
fn refused_save(cause: &FormatError) -> Failure {
    let failure = Failure::unwritable("--save", cause);
    #[cfg(feature = "commands")]
    if let (FileProblem::AlreadyExists, Failure::Usage(text)) = (&cause.problem, &failure) {
        return Failure::Usage(format!("{text}{}", use_of_older_run(&cause.file)));
    }
    failure
}

/// Returns advice on how to use an existing run or plan, which a new run must not replace; empty
/// for any other file.
#[cfg(feature = "commands")]
fn use_of_older_run(file: &Path) -> String {
    // A pipe or a device is not a run. `read_header` refuses a pipe without opening it, because
    // opening it would wait for a writer.
    let is_file = file.is_file();
    match read_header(file).ok().filter(|_| is_file) {
        Some(header) if refuse_plan(file, &header).is_err() => {
            format!(", or race this plan with --plan {}", file.display())
        }
        Some(header) if header.origin == Origin::Race => {
            format!(", or continue this race with --resume {}", file.display())
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use deadheat_engine::AffinityError;
    use deadheat_model::{RaceSettings, RulesFile};

    use super::*;
    use crate::rules::CliOverrides;

    #[test]
    fn a_metric_nobody_measures_is_blamed_on_who_asked_for_it() {
        let file = RulesFile {
            path: "deadheat.toml".into(),
            all: RaceSettings {
                metric: Some(Metric::Cpu),
                ..RaceSettings::default()
            },
            ..RulesFile::default()
        };
        let error = || RaceError::MetricNotMeasured {
            metric: Metric::Cpu,
            reason: "there is only wall".to_owned(),
        };
        let rules = Rules::new(CliOverrides::default(), Some(file));
        let told = error().into_failure(&rules);
        assert_eq!(
            told.to_string(),
            "deadheat.toml: metric cpu: there is only wall"
        );
        let told = error().into_failure(&Rules::default());
        assert_eq!(told.to_string(), "--metric cpu: there is only wall");
    }

    #[test]
    fn who_is_to_blame_for_an_error_of_the_engine_is_told_apart() {
        let error = EngineError::Affinity(AffinityError::NotAllowed {
            core: 9,
            allowed: "0, 1".to_owned(),
        });
        let failure = Failure::of_engine(&error, error.to_string());
        assert!(matches!(failure, Failure::Usage(_)), "{failure:?}");
        assert_eq!(failure.to_string(), error.to_string());
        let failure = Failure::of_engine(&EngineError::Interrupted, String::new());
        assert!(matches!(failure, Failure::Internal(_)), "{failure:?}");
    }
}
