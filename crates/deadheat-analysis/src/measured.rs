//! Effects with their errors, for what is computed from many races: levels of commits, or the
//! probability of a culprit.

use deadheat_model::{LogRatio, MeasuredEffect, Run, Samples};
use deadheat_stats::dist::t_critical;

use crate::benchmark_state::BenchmarkState;
use crate::effect_estimate::{EffectEstimate, Level};

/// The two-sided level at which an interval is turned into an error; guards widen intervals at the
/// levels that verdicts are read at.
const LEVEL: f64 = 0.05;

/// The effect of every candidate of every benchmark, over all complete replicates, in the order of
/// the plan. What has no error is left out: a single replicate, times of zero.
///
/// The verdict may rest on fewer replicates, those at the look that ended the race.
pub fn measured_effects(run: &Run) -> Vec<MeasuredEffect> {
    let plan = &run.header.plan;
    let mut all = Vec::new();
    for (index, samples) in run.benchmarks.iter().enumerate() {
        if plan.benchmarks[index].own_link.is_some() {
            continue;
        }
        let mut state = BenchmarkState::new(&run.header, index);
        state.extend(samples);
        let replicates = state.candidates.first().map_or(0, |one| one.replicates());
        all.extend(measured(&state, samples, (index, replicates)));
    }
    all
}

/// The effects of one benchmark after so many replicates.
pub(crate) fn measured(
    state: &BenchmarkState,
    samples: &Samples,
    (benchmark, replicates): (usize, usize),
) -> Vec<MeasuredEffect> {
    let estimates = state.estimate_effects(samples, replicates, Level::Nominal(LEVEL));
    let numbered = estimates.iter().enumerate();
    numbered
        .filter_map(|(candidate, estimate)| of_estimate(estimate.as_ref()?, benchmark, candidate))
        .collect()
}

/// The error is that of the t interval that is as wide as the one of the estimate, whatever widened
/// that: few blocks in a replicate, a guard, or the step of the clock.
fn of_estimate(
    estimate: &EffectEstimate,
    benchmark: usize,
    candidate: usize,
) -> Option<MeasuredEffect> {
    let pooled = &estimate.pooled;
    let (low, high) = estimate.interval?;
    if pooled.replicates < 2 || pooled.df < 1.0 {
        return None;
    }
    let half = 0.5 * (high - low);
    let se = half / t_critical(1.0 - estimate.confidence, pooled.df);
    (se.is_finite() && se > 0.0).then_some(MeasuredEffect {
        benchmark,
        candidate,
        effect: LogRatio(pooled.theta),
        se,
        df: pooled.df,
        replicates: pooled.replicates,
    })
}
