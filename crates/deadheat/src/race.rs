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
mod pilots;
mod planning;
mod session;
#[cfg(feature = "commands")]
mod shard;

use std::path::{Path, PathBuf};

use deadheat_engine::{EngineError, Interrupts};
use deadheat_format::{FormatError, NOWHERE};
use deadheat_model::{EndReason, Metric, Run};

use crate::exit::Failure;
use crate::rules::Rules;

#[cfg(feature = "commands")]
pub use benchmarks::inspect_program;
pub use benchmarks::race_benchmarks;
pub(crate) use benchmarks::smoke_test;
#[cfg(feature = "commands")]
pub use commands::{RaceOptions, race_commands};
pub use confirm::{Raced, SecondRace, add_second_analysis, refuse_old_confirmation};
#[cfg(feature = "commands")]
pub(crate) use confirm::{add_second_race, belong_together, second_path};
pub use entries::{BenchmarkRace, Entries, Planned};
#[cfg(feature = "commands")]
pub use from_file::{
    PlannedPart, Resumable, ResumeOptions, finish_part, race_planned, read_plan, resume_race,
};
#[cfg(feature = "commands")]
pub use harness::harness_benchmark;
#[cfg(feature = "commands")]
pub use known_calibration::{CALIBRATION_VARIABLE, calibration_file};
pub use session::PlanUse;
#[cfg(feature = "commands")]
pub use shard::{begun_part, settle_shard};

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
            Self::Design(inner) | Self::Unplannable(inner) => write!(f, "{inner}"),
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

/// Lets Ctrl-C and its relatives end a race and not the program.
pub(crate) fn take_over_signals() -> Result<Interrupts, RaceError> {
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
            RaceError::Save(cause) => Failure::unwritable("--save", &cause),
            RaceError::Unplannable(_) => Failure::Contender(text),
            RaceError::Record(_) => Failure::Internal(text),
            RaceError::Design(_) | RaceError::MetricNotMeasured { .. } => Failure::Usage(text),
            RaceError::Resume(cause) if cause.is_write_error() => {
                Failure::unwritable("--resume", &cause)
            }
            RaceError::Resume(_) | RaceError::NotResumable { .. } => Failure::Data(text),
        }
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
