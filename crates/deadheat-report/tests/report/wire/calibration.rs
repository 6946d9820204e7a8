//! What an answer quotes of a calibration.

use schemars::JsonSchema;
use serde::Deserialize;

use super::numbers::{Alpha, Amount, AtLeastOne, Probability};
use super::presence::Nullable;

/// What `deadheat calibrate` had found about races of this kind on this machine
/// when the run began.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    tool: Calibrator,
    /// Seconds since 1970-01-01 UTC.
    started_at: Nullable<u64>,
    /// What raced.
    kind: Kind,
    false_calls: FalseCalls,
    alpha: Alpha,
    /// The 95th percentile of the sizes of the estimates of races of things
    /// against themselves, as a relative change.
    noise_floor: Nullable<Amount>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
struct Calibrator {
    /// Version of deadheat that calibrated.
    version: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum Kind {
    Functions,
    Builds,
    Commands,
}

/// Races of things against themselves that were called faster or slower, with
/// exact 95% bounds of the true share.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
struct FalseCalls {
    hits: u64,
    of: AtLeastOne,
    low: Probability,
    high: Probability,
}
