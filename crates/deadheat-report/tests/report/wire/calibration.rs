//! What an answer quotes of a calibration.

use schemars::JsonSchema;
use serde::Deserialize;

use super::numbers::{Alpha, Amount, AtLeastOne, Probability};
use super::presence::Nullable;

/// What `deadheat calibrate` had found, before the run began, about races of
/// this kind on this machine.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    tool: Calibrator,
    /// Seconds since 1970-01-01 UTC.
    started_at: Nullable<u64>,
    /// The kind of contenders that raced.
    kind: Kind,
    false_calls: FalseCalls,
    alpha: Alpha,
    /// The 95th percentile of the absolute estimates of A/A races, as a
    /// relative change.
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

/// A/A races that were called faster or slower, with exact 95% bounds of the
/// true share.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
struct FalseCalls {
    hits: u64,
    of: AtLeastOne,
    low: Probability,
    high: Probability,
}
