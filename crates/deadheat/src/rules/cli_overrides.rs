//! What a command line says of what a rules file may say, too.

use std::path::PathBuf;
use std::time::Duration;

use deadheat_model::{FailOn, Metric};

/// What a command line says. It always wins over a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CliOverrides {
    /// `--margin`.
    pub margin: Option<f64>,
    /// `--alpha`.
    pub alpha: Option<f64>,
    /// `--metric`.
    pub metric: Option<Metric>,
    /// `--budget`.
    pub budget: Option<Duration>,
    /// `--max-replicates`.
    pub max_replicates: Option<u32>,
    /// `--fail-on`; empty when it was not given.
    pub fail_on: Vec<FailOn>,
    /// Whether benchmarks were named one by one, so that the filters of a file
    /// do not count.
    pub names: bool,
    /// Whether all benchmarks of a project are at hand, so that an entry of a
    /// file that fits none of them has outlived its benchmark.
    pub whole: bool,
}

/// Which rules file is read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum RulesSource {
    /// The nearest `deadheat.toml`, from the current folder upwards; none where
    /// there is none.
    #[default]
    Nearest,
    /// This one.
    Named(PathBuf),
    /// None.
    Nowhere,
}
