//! Effects with the doubt that belongs to them, the units they are in, and the four things deadheat
//! can say.

/// A two-sided confidence interval on the log-ratio scale; finite, and it contains its estimate.
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

/// The effect of a candidate with its error, over all replicates that a run has of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeasuredEffect {
    /// The place of the benchmark in the plan.
    pub benchmark: usize,
    /// The place of the candidate among those of the benchmark, from 0.
    pub candidate: usize,
    /// The effect.
    pub effect: LogRatio,
    /// Its standard error, positive and finite.
    pub se: f64,
    /// Degrees of freedom of the error, at least 1.
    pub df: f64,
    /// Replicates it rests on.
    pub replicates: usize,
}

/// Medians over blocks of the contrasts that should be zero when order does not matter, in
/// log-ratio units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlockDiagnostics {
    /// Second half of the block against the first.
    pub drift: f64,
    /// The trace that a contender leaves behind for the other.
    pub carry_over: f64,
    /// Second against first of each pair.
    pub second_position: f64,
}

/// An effect `θ = ln(candidate / baseline)`.
///
/// All inference happens on this scale, because it is symmetric: swapping the roles flips the sign
/// and nothing else. People see [`LogRatio::change`].
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct LogRatio(pub f64);

impl LogRatio {
    /// The relative change `e^θ − 1`: −0.01 means the candidate needs 1 % less. Finite for every
    /// finite effect: an effect beyond 709 gives the largest number there is.
    pub fn change(self) -> f64 {
        self.0.exp_m1().min(f64::MAX)
    }

    /// The effect that a relative change stands for, `ln(1 + change)`.
    pub fn from_change(change: f64) -> Self {
        Self(change.ln_1p())
    }
}

named! {
    /// The answer to "is the candidate faster?".
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Verdict: name(self) {
        /// The candidate needs less.
        Faster = "faster",
        /// The candidate needs more.
        Slower = "slower",
        /// The change is smaller than the margin: a dead heat.
        Equivalent = "equivalent",
        /// Too close to call.
        Inconclusive = "inconclusive",
    }
}

named! {
    /// The scope of a verdict.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Scope: name(self) {
        /// The binaries as they were linked.
        Binary = "binary",
        /// The source: placement was drawn anew for every replicate.
        Source = "source",
    }
}

/// The outcome of the baseline against its second copy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Control {
    /// The change from the baseline to its copy, which is none in truth. Its interval is as sure as
    /// that of a candidate that is alone.
    pub estimate: Estimate,
    /// True if the two are told apart, paid for by all controls of the run.
    pub separated: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_survives_the_way_through_the_log_scale() {
        for change in [-0.5, -0.01, 0.0, 1e-9, 0.1, 3.0] {
            let back = LogRatio::from_change(change).change();
            assert!((back - change).abs() <= 1e-15 * change.abs().max(1.0));
        }
    }
}
