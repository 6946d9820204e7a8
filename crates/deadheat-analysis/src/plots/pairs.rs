//! Neighbouring samples of the two sides.

use deadheat_model::{PairCloud, PairPoint};

use super::thinning::thinned;

/// The cloud of these pairs of indices, the baseline's first, with at most so
/// many points; `None` without pairs. Extreme is what lies far from the
/// diagonal.
pub(super) fn pair_cloud(
    pairs: &[(usize, usize)],
    values: &[f64],
    logs: &[f64],
    points: usize,
) -> Option<PairCloud> {
    let point = |&(baseline, candidate): &(usize, usize)| PairPoint {
        baseline: values[baseline],
        candidate: values[candidate],
        baseline_first: baseline < candidate,
    };
    let key = |index: usize| {
        let (baseline, candidate) = pairs[index];
        logs[candidate] - logs[baseline]
    };
    let shown = thinned(pairs.len(), points, key, |_| false);
    (!pairs.is_empty()).then(|| PairCloud {
        points: shown
            .into_iter()
            .map(|index| point(&pairs[index]))
            .collect(),
        pairs: pairs.len() as u32,
    })
}
