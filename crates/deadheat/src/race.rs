//! The whole way of a race: plan in, recorded run out.

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
#[cfg(feature = "commands")]
pub use confirm::with_second_race_of;
pub use confirm::{
    Raced, SecondRace, refuse_old_confirmation, second_race_path, with_second_analysis,
};
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
pub use session::PlanUse;
#[cfg(feature = "commands")]
pub use shard::{begun_part, settle_shard};
#[cfg(feature = "commands")]
pub use trust::{StartedFile, is_made_here, note_made_file, starts};

/// A race that came to an end, also when it was interrupted.
#[derive(Clone, Debug)]
pub struct RaceOutcome {
    /// Everything measured.
    pub run: Run,
    /// The run file.
    pub path: PathBuf,
}

impl RaceOutcome {
    /// The signal that ended it, if one did.
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
    /// The contenders could not be got ready; nothing was launched.
    NotStarted(EngineError),
    /// A signal stopped the race before there was anything to record.
    Interrupted {
        /// The signal.
        signal: i32,
    },
    /// The run file cannot be created; nothing was launched.
    Save(FormatError),
    /// No new run file can be made below `.deadheat`.
    Record(FormatError),
    /// The run to go on with cannot be read or written.
    Resume(FormatError),
    /// The race broke off.
    BrokenOff {
        /// The reason.
        error: EngineError,
        /// Where the blocks measured until then are kept.
        path: PathBuf,
        /// Their number.
        blocks: usize,
    },
    /// The metric to be judged cannot be measured here.
    MetricNotMeasured {
        /// The metric.
        metric: Metric,
        /// The reason.
        reason: String,
    },
    /// The race cannot be planned as asked.
    Design(String),
    /// A benchmark fails, and so has no place in a plan for other machines.
    Unplannable(String),
    /// The run file is of another user or machine, and the user does not trust it.
    Untrusted(String),
    /// Programs, scripts or inputs are not those of the plan or run.
    OtherFiles {
        /// The option that names the plan or run.
        flag: &'static str,
        /// Its file.
        path: PathBuf,
        /// The first difference.
        difference: String,
    },
    /// The run cannot be taken up again.
    NotResumable {
        /// The file.
        path: PathBuf,
        /// The reason why not, as what is said of the file.
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
                    "--plan" => "take the planned files along with the plan, by `deadheat pack`",
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
    /// Turns the error into a failure; a metric that cannot be judged is blamed on the rules file
    /// where that chose it.
    pub fn into_failure(self, rules: &Rules) -> Failure {
        match self {
            Self::MetricNotMeasured { .. } => Failure::Usage(rules.blamed(self.to_string())),
            error => error.into(),
        }
    }
}

/// Handles Ctrl-C and other signals that ask to stop, so that they end a race and not the program.
pub fn take_over_signals() -> Result<Interrupts, RaceError> {
    Interrupts::install().map_err(|errno| RaceError::NotStarted(EngineError::Signals(errno)))
}

/// The error that kept a race from starting: a signal, or this.
pub(super) fn not_started(error: EngineError, interrupts: &Interrupts) -> RaceError {
    match (error, interrupts.requested()) {
        (EngineError::Interrupted, Some(signal)) => RaceError::Interrupted { signal },
        (error, _) => RaceError::NotStarted(error),
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
                    1 => format!("\n  1 block measured before is kept in {path}"),
                    n => format!("\n  {n} blocks measured before are kept in {path}"),
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
            // A scheduler does not start a part again that exits with this code; another attempt would
            // find the same files.
            RaceError::OtherFiles { flag: "--plan", .. } => Failure::Contender(text),
            RaceError::Resume(_)
            | RaceError::OtherFiles { .. }
            | RaceError::NotResumable { .. } => Failure::Data(text),
        }
    }
}

/// The failure of a run file that cannot be written. An older one may be continued or raced.
fn refused_save(cause: &FormatError) -> Failure {
    let failure = Failure::unwritable("--save", cause);
    #[cfg(feature = "commands")]
    if let (FileProblem::AlreadyExists, Failure::Usage(text)) = (&cause.problem, &failure) {
        return Failure::Usage(format!("{text}{}", use_of_older_run(&cause.file)));
    }
    failure
}

/// The use of the file that a new run may not replace; nothing if it is not a run.
#[cfg(feature = "commands")]
fn use_of_older_run(file: &Path) -> String {
    // A pipe is not opened: nothing may ever write into it.
    let is_file = file.is_file();
    match read_header(file).ok().filter(|_| is_file) {
        Some(header) if refuse_plan(file, &header).is_err() => {
            format!(", or race this plan by --plan {}", file.display())
        }
        Some(header) if header.origin == Origin::Race => {
            format!(", or continue this race by --resume {}", file.display())
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
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
}
