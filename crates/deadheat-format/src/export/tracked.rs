//! What services that watch benchmarks from commit to commit are told: one
//! value for each benchmark, with its doubt.

use std::collections::HashMap;

use deadheat_model::{Analysis, Comparison, Ending, Metric, Processes, Side};

use super::names::told_apart;

/// One benchmark as the candidate runs it; without one, as the only contender
/// does.
pub(super) struct Tracked<'a> {
    pub(super) name: String,
    pub(super) metric: &'a Metric,
    pub(super) side: &'a Side,
    /// The interval of the comparison, laid around the median: how far off the
    /// candidate may be while the baseline is taken as it was measured.
    pub(super) interval: Option<TrackedInterval>,
    pub(super) comparison: &'a Comparison,
}

/// Ends of an interval, in the unit of the metric.
pub(super) struct TrackedInterval {
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) confidence: f64,
}

impl Tracked<'_> {
    /// Everything that has an answer, in the order of the run.
    pub(super) fn of(analysis: &Analysis) -> Vec<Tracked<'_>> {
        let names = names(analysis);
        let all = analysis.comparisons.iter().zip(names);
        all.map(|(comparison, name)| Tracked {
            name,
            metric: &comparison.metric,
            side: side(comparison),
            interval: interval(comparison),
            comparison,
        })
        .collect()
    }
}

fn side(comparison: &Comparison) -> &Side {
    comparison
        .candidate
        .as_ref()
        .unwrap_or(&comparison.baseline)
}

fn interval(comparison: &Comparison) -> Option<TrackedInterval> {
    let candidate = comparison.candidate.as_ref()?;
    let estimate = comparison.estimate.as_ref()?;
    let interval = estimate.interval?;
    let end = |end: f64| candidate.median * (end - estimate.effect.0).exp();
    let (low, high) = (end(interval.low.0), end(interval.high.0));
    high.is_finite().then_some(TrackedInterval {
        low,
        high,
        confidence: comparison.coverage(),
    })
}

/// Names that stay the same while the code changes: those of the benchmarks.
/// Commands have none, so they are called as they were typed, and where several
/// candidates race each is called after the benchmark and itself.
fn names(analysis: &Analysis) -> Vec<String> {
    let commands =
        analysis.processes == Processes::Launches && analysis.ending != Ending::Recording;
    let mut candidates = HashMap::new();
    for it in &analysis.comparisons {
        *candidates
            .entry((&it.benchmark, &it.parameters))
            .or_insert(0) += 1;
    }
    let plain = |it: &Comparison| match candidates[&(&it.benchmark, &it.parameters)] {
        _ if commands => side(it).name.clone(),
        1 => it.benchmark.clone(),
        _ => format!("{}/{}", it.benchmark, side(it).name),
    };
    let mut uses = HashMap::new();
    for it in &analysis.comparisons {
        *uses.entry(plain(it)).or_insert(0) += 1;
    }
    let full = analysis.comparisons.iter().map(|it| {
        let name = plain(it);
        if uses[&name] == 1 || it.parameters.is_empty() {
            return name;
        }
        let pairs = it
            .parameters
            .iter()
            .map(|(key, value)| format!("{key}={value}"));
        format!("{name} ({})", pairs.collect::<Vec<_>>().join(", "))
    });
    told_apart(full, " #")
}
