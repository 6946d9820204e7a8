//! The command line of `deadheat calibrate`.

use std::path::PathBuf;

use clap::Args;
use deadheat::calibration::{CalibrationSpec, Effort};
use deadheat::exit::Failure;
use deadheat::settings::{Color, Front, RaceSettings, random_seed};

use super::role::{ROLE, sha256};
use crate::options::{SettingsArgs, color};

/// Shown at the end of `deadheat calibrate --help`.
pub const EXAMPLES: &str = "Examples:
  deadheat calibrate
  deadheat calibrate --quick
  deadheat calibrate --markdown calibration.md
  deadheat calibrate --show";

/// The variable that leaves as little of a quick calibration as there is: tests
/// of this program want to see that it works, and soon. It is no option, which
/// completions would offer to everybody.
const LEAST_VARIABLE: &str = "DEADHEAT_CALIBRATE_LEAST";

/// Options of `deadheat calibrate`.
#[derive(Debug, Args)]
pub struct CalibrateArgs {
    /// Fewer races, some twenty-five seconds instead of up to five minutes
    #[arg(long)]
    quick: bool,
    /// Print the calibration that was saved, and race nothing
    #[arg(
        long,
        conflicts_with_all = ["quick", "budget", "alpha", "margin", "seed", "pin"]
    )]
    pub(super) show: bool,

    /// How everything is raced and judged.
    #[command(flatten)]
    design: SettingsArgs<{ Front::Calibrate as usize }>,

    /// Save it here, or show what was saved here
    /// [default: ~/.local/state/deadheat/calibration.json]
    #[arg(long, value_name = "FILE", help_heading = "Files")]
    pub(super) save: Option<PathBuf>,
    /// Write it as a page in Markdown; - prints it instead of the answer
    #[arg(
        long,
        value_name = "FILE",
        num_args = 0..=1,
        default_missing_value = "-",
        help_heading = "Files"
    )]
    pub(super) markdown: Option<PathBuf>,

    /// Print it as JSON instead of text
    #[arg(long, help_heading = "Answer")]
    pub(super) json: bool,
    /// When to colour the answer
    #[arg(
        long,
        value_name = "WHEN",
        default_value = "auto",
        value_parser = color(),
        help_heading = "Answer"
    )]
    pub(super) color: Color,
    /// No progress on standard error
    #[arg(short = 'q', long, help_heading = "Answer")]
    pub(super) quiet: bool,
}

impl CalibrateArgs {
    /// What is to be raced, by this very program.
    pub(super) fn spec(&self) -> Result<CalibrationSpec, Failure> {
        let program = match cfg!(target_os = "linux") {
            // Also when its file was replaced meanwhile.
            true => PathBuf::from("/proc/self/exe"),
            false => std::env::current_exe()
                .map_err(|error| Failure::Internal(format!("cannot find this program: {error}")))?,
        };
        let least = std::env::var_os(LEAST_VARIABLE).is_some();
        let effort = match self.quick {
            true if least => Effort::LEAST,
            true => Effort::QUICK,
            false => Effort::FULL,
        };
        Ok(CalibrationSpec {
            program,
            role: ROLE,
            work: sha256,
            effort: Effort {
                budget: self.design.0.budget.unwrap_or(effort.budget),
                ..effort
            },
            quick: self.quick,
            settings: RaceSettings {
                seed: Some(self.design.0.seed.unwrap_or_else(random_seed)),
                ..self.design.0.clone()
            },
        })
    }

    /// Whether the page takes the place of the answer.
    pub(super) fn page_takes_stdout(&self) -> bool {
        self.markdown
            .as_deref()
            .is_some_and(|path| path.as_os_str() == "-")
    }
}
