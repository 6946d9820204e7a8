//! The terms of a race that is planned after pilots, and what is refused
//! before anybody waits for those.

use std::path::Path;
use std::time::Duration;

use deadheat_analysis::{LooksError, planned_looks};
use deadheat_format::FormatError;
use deadheat_model::{BenchmarkOverrides, Design, Looks, Metric, Pinning, RulesOfSome};

use super::outcome::RaceError;
use crate::rules::benchmark_overrides;

/// What is agreed before the first pilot.
#[derive(Clone, Copy, Debug)]
pub(super) struct Terms<'a> {
    pub(super) margin: f64,
    pub(super) alpha: f64,
    pub(super) max_replicates: u32,
    /// Blocks in a replicate where no pilot says.
    pub(super) blocks: u32,
    pub(super) budget: Option<Duration>,
    pub(super) judged: &'a Metric,
    pub(super) pinning: &'a Pinning,
}

impl Terms<'_> {
    fn looks(&self, alpha: f64) -> Result<Looks, RaceError> {
        Ok(planned_looks(0, self.max_replicates, alpha)?)
    }

    /// What is decided for one benchmark otherwise than for all.
    pub(super) fn benchmark_overrides(
        &self,
        some: &[RulesOfSome],
        benchmark: &str,
    ) -> Result<BenchmarkOverrides, RaceError> {
        benchmark_overrides(some, benchmark, |alpha| self.looks(alpha))
    }

    /// The design, with everything checked that the user could get wrong.
    pub(super) fn design(&self) -> Result<Design, RaceError> {
        let looks = self.looks(self.alpha)?;
        Ok(Design {
            margin: self.margin,
            alpha: self.alpha,
            looks,
            blocks_per_replicate: self.blocks,
            warmup: 0,
            budget: self.budget,
            judged: self.judged.clone(),
            pinning: self.pinning.clone(),
        })
    }
}

impl From<LooksError> for RaceError {
    fn from(error: LooksError) -> Self {
        RaceError::Design(unplannable(&error))
    }
}

fn unplannable(error: &LooksError) -> String {
    match error {
        LooksError::Range { max, .. } => {
            format!("--max-replicates must be at least 1, not {max}")
        }
        LooksError::Alpha(alpha) => {
            format!("--alpha must be above 0 and at most 0.5, not {alpha}")
        }
    }
}

/// The run file is created once the pilots are done, but nobody should have to
/// wait for them to hear that one lies there.
pub(super) fn refuse_existing(save: Option<&Path>) -> Result<(), RaceError> {
    match save.filter(|file| file.exists()) {
        Some(file) => {
            let file = file.to_owned();
            Err(RaceError::Save(FormatError::AlreadyExists { file }))
        }
        None => Ok(()),
    }
}

/// A metric can only be judged when it is measured of `whom`.
pub(super) fn refuse_unmeasured(
    judged: &Metric,
    measured: &[Metric],
    whom: &str,
) -> Result<(), RaceError> {
    if measured.contains(judged) {
        return Ok(());
    }
    let known: Vec<&str> = measured.iter().map(Metric::name).collect();
    Err(RaceError::MetricNotMeasured {
        metric: judged.clone(),
        reason: format!("of {whom} there are {}", known.join(", ")),
    })
}
