//! The terms of a race that is planned after pilots, and what is refused
//! before anybody waits for those.

use std::path::Path;

use deadheat_analysis::{LooksError, planned_looks};
use deadheat_format::FormatError;
use deadheat_model::{Design, Front, Looks, Metric, RaceSettings};

use super::outcome::RaceError;

/// The design of a race of functions, with everything checked that the user could get wrong.
/// Blocks in a replicate are `blocks` where nobody says.
pub(super) fn design(settings: &RaceSettings, blocks: u32) -> Result<Design, RaceError> {
    let looks = looks(settings, settings.alpha())?;
    Ok(Design {
        blocks_per_replicate: settings.blocks.unwrap_or(blocks),
        ..settings.design(Front::Bench, looks)
    })
}

/// The looks of a benchmark with an accepted chance of a wrong verdict of its own.
pub(super) fn looks(settings: &RaceSettings, alpha: f64) -> Result<Looks, RaceError> {
    Ok(planned_looks(0, settings.max_replicates(), alpha)?)
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
