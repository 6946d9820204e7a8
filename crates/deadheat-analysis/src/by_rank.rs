//! A benchmark of a recording without blocks: every candidate against the
//! baseline by ranks, and a verdict that is provisional.

use deadheat_model::{Comparison, ContenderId, Metric, Run, Samples, Warning};

use crate::analyse::{Options, excludes_zero, verdict};
use crate::clocks::Traces;
use crate::doubts;
use crate::figures::Figured;
use crate::metrics::metric_rows;
use crate::side::{Members, side};
use crate::unpaired::{Level, Logs, Ranking, compare};

/// Compares every candidate with the baseline; `empty` is what stands in every
/// row, and the second of the answer the p-values of the rows.
pub(crate) fn by_rank(
    run: &Run,
    (index, samples, members): (usize, &Samples, &Members),
    empty: Comparison,
    baseline_values: &[f64],
    (figured, options): (Option<&Figured>, Options),
    ranking: &Ranking,
) -> (Vec<Comparison>, Vec<Option<f64>>) {
    let header = &run.header;
    let benchmark = &header.plan.benchmarks[index];
    let judged = header.plan.judged(index);
    let candidates = benchmark.contenders.len().saturating_sub(1);
    // As for pairs, all intervals hold together.
    let two_sided = header.plan.alpha(index) / candidates.max(1) as f64;
    let baselines: Vec<Option<Logs>> = samples
        .metrics()
        .iter()
        .map(|metric| Logs::of(header, samples, metric, ContenderId::BASELINE))
        .collect();
    let mut comparisons = Vec::new();
    let mut p_values = Vec::new();
    for id in benchmark.candidates() {
        let mut values = members.values(samples, judged, id);
        let Some(candidate) = side(&benchmark.contenders[id.index()].name, &mut values) else {
            continue;
        };
        let level = Level {
            two_sided,
            allowance: ranking.scatter.allowance(&candidate.name),
            orders: &ranking.orders,
            margin: header.plan.margin(index),
        };
        let against = |metric: &Metric| {
            let place = samples.metrics().iter().position(|m| m == metric)?;
            let baseline = baselines[place].as_ref()?;
            let candidate = Logs::of(header, samples, metric, id)?;
            let candidate = (id, &candidate);
            Some(compare(
                header, samples, metric, baseline, candidate, &level,
            ))
        };
        let Some(found) = against(judged) else {
            continue;
        };
        let metrics = metric_rows(run, samples, index, members, Some(id), |metric| {
            if metric == judged {
                let call = found.judged.as_ref()?.call;
                return Some((found.estimate()?, call.map(verdict)));
            }
            let other = against(metric)?;
            let estimate = other.estimate_of_the_table()?;
            let call = estimate.interval.and(other.call_of_the_table(metric));
            Some((estimate, call.map(verdict)))
        });
        let judged = found.judged.as_ref();
        let (figures, plots) = figured
            .map(|figured| figured.against(id, None, options.plots))
            .unzip();
        let mut comparison = Comparison {
            candidate: Some(candidate),
            estimate: found.estimate(),
            verdict: judged.and_then(|judged| judged.call).map(verdict),
            excludes_zero: excludes_zero(judged.and_then(|judged| judged.interval)),
            provisional: judged.is_some_and(|judged| judged.call.is_some()),
            metrics,
            figures: figures.filter(|_| !options.without_figures),
            plots: plots.flatten(),
            ..empty.clone()
        };
        let mut warnings = found.doubts();
        let summary = benchmark.saved.as_ref().and_then(|s| s.summary.clone());
        warnings.extend(summary.map(|statistic| Warning::OnlySummaries { statistic }));
        let margin = header.plan.margin(index);
        warnings.extend(doubts::about_the_tails(
            baseline_values,
            &values,
            &comparison,
            margin,
        ));
        let traces = Traces {
            benchmark,
            samples,
            members,
            candidate: id,
        };
        warnings.extend(traces.doubts(&comparison, margin));
        warnings.extend(doubts::about_the_code(&comparison, header, benchmark));
        warnings.extend(doubts::about_the_race(
            &comparison,
            header,
            benchmark,
            0,
            false,
            false,
        ));
        warnings.push(Warning::PlacementFixed { reason: None });
        warnings.extend(doubts::about_the_counters(header));
        comparison.warnings = warnings;
        p_values.push(comparison.estimate.as_ref().and_then(|e| e.p_value));
        comparisons.push(comparison);
    }
    (comparisons, p_values)
}
