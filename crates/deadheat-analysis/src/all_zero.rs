//! Verdicts on sides whose values are all zero, of which there are no ratios.

use deadheat_model::{AllZero, Comparison, Warning};
use deadheat_stats::MIN_REPLICATES_FOR_VERDICT;

/// Judges what zeros left without an estimate: the judged metric, and each metric beside it.
/// `observations` is the lesser number of observations of the two sides, `p` the chance that so many
/// agree without a difference, and `level` the chance accepted.
pub(crate) fn judge(comparison: &mut Comparison, observations: usize, p: f64, level: f64) {
    if observations < MIN_REPLICATES_FOR_VERDICT || p > level {
        return;
    }
    for row in &mut comparison.metrics {
        let (None, Some(candidate)) = (&row.estimate, &row.candidate) else {
            continue;
        };
        // What neither side ever did is not shown.
        let found = AllZero::of(&row.metric, &row.baseline, candidate);
        let found = found.filter(|found| *found != AllZero::Both);
        row.verdict = found.and_then(|found| found.verdict(row.metric.better()));
    }
    let (None, Some(candidate)) = (&comparison.estimate, &comparison.candidate) else {
        return;
    };
    let Some(found) = AllZero::of(&comparison.metric, &comparison.baseline, candidate) else {
        return;
    };
    let Some(verdict) = found.verdict(comparison.metric.better()) else {
        return;
    };
    comparison.verdict = Some(verdict);
    comparison.excludes_zero = found != AllZero::Both;
    let is_about_ratios = |one: &Warning| matches!(one, Warning::TooManyZeros { .. });
    comparison.warnings.retain(|one| !is_about_ratios(one));
}
