//! Numbers and pairs of them that mean the same wherever they stand.

use schemars::JsonSchema;
use serde::Deserialize;

/// candidate/baseline - 1.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(extend("minimum" = -1))]
pub struct Change(f64);

/// Both ends as relative changes, the lower first.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Interval(Change, Change);

/// Two-sided confidence of an interval.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
pub struct Confidence(f64);

/// A probability.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(extend("minimum" = 0, "maximum" = 1))]
pub struct Probability(f64);

/// Accepted probability of a wrong verdict.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(extend("exclusiveMinimum" = 0, "maximum" = 0.5))]
pub struct Alpha(f64);

/// Smallest relative change worth acting on.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
pub struct Margin(f64);

// What follows has no words of its own: the field says what it is.

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(inline, extend("minimum" = 0))]
pub struct Amount(f64);

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(inline, extend("exclusiveMinimum" = 0))]
pub struct Positive(f64);

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(inline, extend("minimum" = 0, "maximum" = 1))]
pub struct Share(f64);

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(inline, extend("minimum" = 1))]
pub struct AtLeastOne(u64);

/// The unit of a metric's values.
#[derive(Debug, Deserialize, JsonSchema)]
pub enum Unit {
    #[serde(rename = "ns")]
    Nanoseconds,
    #[serde(rename = "bytes")]
    Bytes,
    #[serde(rename = "count")]
    Count,
    #[serde(rename = "bytes/s")]
    BytesPerSecond,
    #[serde(rename = "kB/s")]
    KilobytesPerSecond,
    #[serde(rename = "MB/s")]
    MegabytesPerSecond,
    #[serde(rename = "GB/s")]
    GigabytesPerSecond,
    #[serde(rename = "KiB/s")]
    KibibytesPerSecond,
    #[serde(rename = "MiB/s")]
    MebibytesPerSecond,
    #[serde(rename = "GiB/s")]
    GibibytesPerSecond,
    #[serde(rename = "1/s")]
    PerSecond,
}
