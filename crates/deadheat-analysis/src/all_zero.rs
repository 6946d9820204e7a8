//! Verdicts if all values of a side are zero, so that a ratio cannot be computed.

use deadheat_model::{AllZero, MetricComparison, Verdict};
use deadheat_stats::MIN_REPLICATES_FOR_VERDICT;

use crate::measurement::Measurement;

/// The evidence if all observations are equal within each side.
#[derive(Clone, Copy)]
pub(crate) struct Agreement {
    /// The number of observations of the side that has fewer.
    pub(crate) observations: usize,
    /// The probability that chance alone makes the observations equal within each side, if the
    /// sides do not differ.
    pub(crate) p: f64,
    /// The largest `p` that allows a verdict.
    pub(crate) level: f64,
}

impl Agreement {
    fn is_proof(self) -> bool {
        self.observations >= MIN_REPLICATES_FOR_VERDICT && self.p <= self.level
    }

    /// Gives a verdict to the metrics that lack an estimate because of zeros.
    pub(crate) fn judge_rows(self, rows: Vec<MetricComparison>) -> Vec<MetricComparison> {
        if !self.is_proof() {
            return rows;
        }
        let judged = |row: MetricComparison| {
            let (None, Some(candidate)) = (&row.estimate, &row.candidate) else {
                return row;
            };
            // A metric that is zero on both sides is not shown, so it gets no verdict.
            let found = AllZero::of(&row.metric, &row.baseline, candidate);
            let found = found.filter(|found| *found != AllZero::Both);
            MetricComparison {
                verdict: found.and_then(|found| found.verdict(row.metric.better())),
                ..row
            }
        };
        rows.into_iter().map(judged).collect()
    }

    /// Returns the verdict on the judged metric, if it lacks an estimate because of zeros.
    pub(crate) fn judge(self, measurement: &Measurement) -> Option<(AllZero, Verdict)> {
        let (None, Some(candidate)) = (&measurement.estimate, &measurement.candidate) else {
            return None;
        };
        let metric = &measurement.terms.metric;
        let found = AllZero::of(metric, &measurement.baseline, candidate)?;
        let verdict = found.verdict(metric.better())?;
        self.is_proof().then_some((found, verdict))
    }
}
