//! What a recording is judged by.

use deadheat_model::Metric;

/// What a recording, which carries no plan, is to be judged by.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordingPlan {
    /// Smallest relative change worth acting on; 0.01 is 1 %.
    pub margin: f64,
    /// Chance of any wrong verdict that the user accepts.
    pub alpha: f64,
    /// The metric the verdict speaks of.
    pub judged: Metric,
}
