//! Every metric on the same pairs as the judged one.

use deadheat_model::{
    ContenderId, Estimate, Metric, MetricComparison, Run, RunHeader, Samples, Side, Verdict,
};

use crate::effect_estimate::{EffectEstimate, Formula, estimate, verdict};
use crate::effects::Effects;
use crate::hosts::estimate_over_hosts;
use crate::raced::{Members, Typical, side};
use crate::warnings;

/// Every recorded metric, with the estimate and the verdict that `found` gives it. The sides of the
/// judged metric are known already.
pub(crate) fn metric_rows(
    run: &Run,
    samples: &Samples,
    index: usize,
    members: &Members,
    judged: (&Side, Option<(ContenderId, &Side)>),
    found: impl Fn(&Metric) -> Option<(Estimate, Option<Verdict>)>,
) -> Vec<MetricComparison> {
    let plan = &run.header.plan;
    let (contenders, quantile) = (&plan.benchmarks[index].contenders, plan.quantile(index));
    let summary = |metric: &Metric, id: ContenderId, typical: Typical| {
        side(
            &contenders[id.index()].name,
            &mut members.values(samples, metric, id),
            typical,
        )
    };
    let row = |metric: &Metric| {
        let is_judged = metric == plan.judged(index);
        let baseline = if is_judged {
            judged.0.clone()
        } else {
            summary(metric, ContenderId::BASELINE, Typical::of(quantile))?
        };
        let (estimate, verdict) = found(metric).unzip();
        let candidate = |(id, side): (ContenderId, &Side)| {
            if is_judged {
                return Some(side.clone());
            }
            let typical = Typical::of_candidate(quantile, estimate.is_some());
            summary(metric, id, typical)
        };
        Some(MetricComparison {
            metric: metric.clone(),
            baseline,
            candidate: judged.1.and_then(candidate),
            estimate,
            verdict: verdict.flatten(),
        })
    };
    let mut rows = Vec::with_capacity(samples.metrics().len());
    rows.extend(samples.metrics().iter().filter_map(row));
    rows
}

/// The estimate of a metric on the same replicates as the judged one, and the verdict had this one
/// been judged.
pub(crate) fn on_the_same_pairs(
    header: &RunHeader,
    samples: &Samples,
    (benchmark, candidate): (usize, ContenderId),
    metric: &Metric,
    judged: &EffectEstimate,
) -> Option<(Estimate, Option<Verdict>)> {
    if metric == header.plan.judged(benchmark) {
        return Some((estimate(judged), judged.call.map(verdict)));
    }
    // Nothing was ever counted, and of zeros no ratio can be formed.
    if samples.column(metric)?.iter().all(|value| *value <= 0.0) {
        return None;
    }
    let mut effects = Effects::new(metric, candidate, header, benchmark);
    effects.extend(samples);
    let effect_estimate = estimate_over_hosts(
        &effects,
        samples,
        judged.replicates,
        judged.asked,
        Formula::of(header, benchmark),
        header.plan.margin(benchmark),
    )?;
    let estimate = of_the_table(&effect_estimate, &effects, samples);
    // Where no interval is shown, none decides.
    let verdict = estimate.interval.and(effect_estimate.call).map(verdict);
    Some((estimate, verdict))
}

/// The estimate of a metric that is only shown. When all blocks agree to the count, an interval of
/// half a tick says more about the counter's unit than about the contenders: 2 context switches
/// against 2 would read ±50 %.
fn of_the_table(
    effect_estimate: &EffectEstimate,
    effects: &Effects,
    samples: &Samples,
) -> Estimate {
    let mut estimate = estimate(effect_estimate);
    let coarse = effects
        .ticks_per_sample(samples, effect_estimate.replicates)
        .is_some_and(|ticks| ticks < warnings::FEW_TICKS);
    if effect_estimate.pooled.timer_limited && coarse {
        estimate.interval = None;
    }
    estimate
}
