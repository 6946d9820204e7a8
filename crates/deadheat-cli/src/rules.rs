//! Which rules file is read, and what the command line says before it.

use std::path::PathBuf;

use clap::Args;
use deadheat::exit::Failure;
use deadheat::rules::{CliOverrides, Rules, RulesSource};

/// Which rules file is read.
#[derive(Clone, Debug, Default, Args)]
pub struct RulesArgs {
    /// Take margins, gates and excuses from this file [default: the nearest deadheat.toml upwards]
    #[arg(long, value_name = "FILE", help_heading = "Rules")]
    config: Option<PathBuf>,
    /// Take none from a file
    #[arg(long, help_heading = "Rules", conflicts_with = "config")]
    no_config: bool,
}

impl RulesArgs {
    /// The rules of the file below those of the command line.
    pub fn read(&self, asked: CliOverrides) -> Result<Rules, Failure> {
        let source = match (&self.config, self.no_config) {
            (Some(path), _) => RulesSource::Named(path.clone()),
            (None, true) => RulesSource::Nowhere,
            (None, false) => RulesSource::Nearest,
        };
        Rules::read(asked, &source)
    }
}
