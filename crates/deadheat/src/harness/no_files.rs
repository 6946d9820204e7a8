//! A build without the feature `reports`: nothing stands beside the answer of
//! `cargo bench`, and whoever asks for it is told how to have it.

use deadheat_analysis::Options;
use deadheat_model::Analysis;

use crate::answer::Answer;
use crate::exit::Failure;
use crate::race::RaceOutcome;

/// No files.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Files {}

impl Files {
    pub(super) fn ask(&mut self, flag: &str, _: String) -> Result<(), String> {
        needs_reports(flag)
    }

    pub(super) fn check(&self) -> Result<(), Failure> {
        Ok(())
    }

    pub(super) fn analysis_options(&self, options: Options, _: usize) -> Options {
        options
    }

    pub(super) fn write(
        &self,
        _: &RaceOutcome,
        _: &Analysis,
        _: &Answer,
    ) -> Result<Vec<String>, Failure> {
        Ok(Vec::new())
    }

    pub(super) fn takes_stdout(&self) -> bool {
        false
    }
}

/// Says how to have what a flag asks for.
pub(super) fn needs_reports(flag: &str) -> Result<(), String> {
    let version = env!("CARGO_PKG_VERSION");
    let version = version.rsplit_once('.').map_or(version, |(minor, _)| minor);
    Err(format!(
        "{flag}: these benchmarks were built without reports; write deadheat = {{ version = \
         \"{version}\", features = [\"reports\"] }} in Cargo.toml, or make them of the run that \
         is recorded: deadheat report FILE"
    ))
}
