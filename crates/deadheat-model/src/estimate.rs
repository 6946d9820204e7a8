//! Effects with their uncertainty and their units, and the four possible verdicts.

/// A two-sided confidence interval on the log-ratio scale; finite, and it contains its estimate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub low: LogRatio,
    /// Upper end.
    pub high: LogRatio,
    /// Two-sided confidence, 0.95 for 95%.
    pub confidence: f64,
}

/// An estimated effect.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The effect.
    pub effect: LogRatio,
    /// The confidence interval; `None` if the data do not allow one.
    pub interval: Option<Interval>,
    /// Two-sided p-value of the hypothesis of no change, at the look that ended the race.
    pub p_value: Option<f64>,
    /// Number of replicates in the estimate; for unpaired data, the observations of both sides.
    pub replicates: usize,
    /// Number of blocks in the estimate; 0 for unpaired data.
    pub blocks: usize,
}

/// The effect of a candidate with its standard error, over all its replicates in a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeasuredEffect {
    /// Index of the benchmark in the plan.
    pub benchmark: usize,
    /// Index of the candidate among the candidates of the benchmark, from 0.
    pub candidate: usize,
    /// The effect.
    pub effect: LogRatio,
    /// Standard error of the effect, positive and finite.
    pub se: f64,
    /// Degrees of freedom of the error, at least 1.
    pub df: f64,
    /// Number of replicates in the estimate.
    pub replicates: usize,
}

/// Order effects within ABBA and BAAB blocks: medians over the blocks, in log-ratio units. Each is
/// zero if the order of the slots does not matter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlockDiagnostics {
    /// How much slower the second half of a block is than the first.
    pub drift: f64,
    /// How much slower a side is after the other side than after itself.
    pub carry_over: f64,
    /// How much slower the second slot of each half is than the first.
    pub second_position: f64,
}

/// An effect `θ = ln(candidate / baseline)`.
///
/// All inference happens on this scale, because it is symmetric: swapping the roles only flips the
/// sign. Reports show [`LogRatio::change`].
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct LogRatio(pub f64);

impl LogRatio {
    /// Returns the relative change `e^θ − 1`: −0.01 means that the candidate needs 1% less. The
    /// result is finite for every finite effect: effects above 709 return `f64::MAX`.
    pub fn change(self) -> f64 {
        self.0.exp_m1().min(f64::MAX)
    }

    /// Returns the effect of a relative change, `ln(1 + change)`.
    pub fn from_change(change: f64) -> Self {
        Self(change.ln_1p())
    }
}

named! {
    /// The answer to "is the candidate faster?".
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Verdict: name(self) {
        /// The candidate is better: it needs less time, or less of another cost.
        Faster = "faster",
        /// The candidate is worse: it needs more time, or more of another cost.
        Slower = "slower",
        /// A dead heat: the change is smaller than the margin.
        Equivalent = "equivalent",
        /// Too close to call: the interval contains zero and is not entirely within the margin.
        Inconclusive = "inconclusive",
    }
}

named! {
    /// The scope of a verdict: binaries, or their source code.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Scope: name(self) {
        /// The binaries as they were linked.
        Binary = "binary",
        /// The source code, because code placement was drawn again for every replicate.
        Source = "source",
    }
}

/// The result of a control race, the baseline against a second copy of itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Control {
    /// The measured change from the baseline to its copy, whose true value is zero. Its interval is
    /// not corrected for the number of controls.
    pub estimate: Estimate,
    /// True if the copies differ significantly after a correction for all controls of the run.
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
