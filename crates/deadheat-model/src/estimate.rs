//! Effects with the doubt that belongs to them.

use crate::units::LogRatio;

/// A two-sided confidence interval on the log-ratio scale; finite, and it
/// contains its estimate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub low: LogRatio,
    /// Upper end.
    pub high: LogRatio,
    /// Two-sided confidence, 0.95 for 95 %.
    pub confidence: f64,
}

/// An effect as estimated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The effect.
    pub effect: LogRatio,
    /// Its interval; `None` when the data cannot give one.
    pub interval: Option<Interval>,
    /// Two-sided p-value of no change at the look that ended the race.
    pub p_value: Option<f64>,
    /// Replicates it rests on; without pairs the observations of both sides.
    pub replicates: usize,
    /// Blocks it rests on; 0 without pairs.
    pub blocks: usize,
}

/// Medians over blocks of the contrasts that should be zero when order does
/// not matter, in log-ratio units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlockDiagnostics {
    /// Second half of the block against the first.
    pub drift: f64,
    /// What a contender leaves behind for the other.
    pub carry_over: f64,
    /// Second against first of each pair.
    pub second_position: f64,
}
