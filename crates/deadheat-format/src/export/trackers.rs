//! The answer for services that watch benchmarks from commit to commit: one value for each
//! benchmark, with its doubt.

use std::collections::HashMap;
use std::io::Write;
use std::path::Path;

use deadheat_model::{Analysis, Better, Comparison, Ending, Json, Metric, Object, Processes, Side};

use super::shared::{distinct_names, with_parameters, write_json};
use crate::error::FormatError;

/// Writes the median of each candidate as the JSON of Bencher's `json` adapter. Wall time is the
/// measure `latency`, in nanoseconds per iteration; any other metric is a measure of its own name.
///
/// The ends are those of the interval of the comparison, laid around the
/// median; without an interval there is the value alone.
///
/// `name` stands for the file in errors.
pub fn write_bmf(
    analysis: &Analysis,
    out: impl Write,
    name: impl AsRef<Path>,
) -> Result<(), FormatError> {
    let mut benchmarks = Object::new();
    for (comparison, name) in analysis.comparisons.iter().zip(names(analysis)) {
        let measure = match &comparison.metric {
            Metric::Wall => "latency",
            other => other.name(),
        };
        let interval = interval(comparison);
        let values = Object::new()
            .with("value", side(comparison).median)
            .with_some("lower_value", interval.map(|(low, _)| low))
            .with_some("upper_value", interval.map(|(_, high)| high));
        let mut measures = Object::new();
        measures.push(measure.to_owned().into(), values.into());
        benchmarks.push(name.into(), measures.into());
    }
    write_json(out, &benchmarks.into(), name.as_ref())
}

/// Writes the median of each candidate, per iteration and in the unit of its metric. `range` is the
/// interval of the comparison, laid around the median; `extra` tells of the comparison.
///
/// Metrics of which less is not better are left out: the name of the format says otherwise.
///
/// `name` stands for the file in errors.
pub fn write_smaller_is_better(
    analysis: &Analysis,
    out: impl Write,
    name: impl AsRef<Path>,
) -> Result<(), FormatError> {
    let all = analysis.comparisons.iter().zip(names(analysis));
    let smaller = all.filter(|(comparison, _)| comparison.metric.better() == Better::Less);
    let row = |(comparison, name): (&Comparison, String)| {
        let range = interval(comparison).map(|(low, high)| {
            let confidence = percent(comparison.coverage());
            format!("{} to {} at {confidence} %", short(low), short(high))
        });
        Object::new()
            .with("name", name)
            .with("unit", comparison.metric.unit().name())
            .with("value", side(comparison).median)
            .with_some("range", range)
            .with("extra", extra(comparison))
    };
    write_json(out, &smaller.map(row).collect::<Json>(), name.as_ref())
}

/// The candidate; without one, the only contender.
fn side(comparison: &Comparison) -> &Side {
    let candidate = comparison.candidate.as_ref();
    candidate.unwrap_or(&comparison.baseline)
}

/// The interval of a comparison, laid around the median of the candidate, in the unit of the metric:
/// how far off the candidate may be while the baseline is taken as it was measured.
fn interval(comparison: &Comparison) -> Option<(f64, f64)> {
    let candidate = comparison.candidate.as_ref()?;
    let estimate = comparison.estimate.as_ref()?;
    let interval = estimate.interval?;
    let end = |end: f64| candidate.median * (end - estimate.effect.0).exp();
    let (low, high) = (end(interval.low.0), end(interval.high.0));
    high.is_finite().then_some((low, high))
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
        with_parameters(&name, &it.parameters)
    });
    distinct_names(full, " #")
}

/// A line for each thing worth knowing when the chart is pointed at.
fn extra(comparison: &Comparison) -> String {
    let side = side(comparison);
    let mut lines = vec![
        format!("metric: {}", comparison.metric),
        format!("contender: {}", side.name),
        format!("samples: {}", side.samples),
    ];
    if comparison.candidate.is_some() {
        let baseline = &comparison.baseline;
        let unit = comparison.metric.unit().name();
        let median = short(baseline.median);
        lines.push(format!("baseline: {} at {median} {unit}", baseline.name));
    }
    if let Some(estimate) = &comparison.estimate {
        let change = |change: f64| format!("{:+.2} %", change * 100.0);
        let mut line = format!("change: {}", change(estimate.effect.change()));
        if let Some(interval) = estimate.interval {
            let (low, high) = (interval.low.change(), interval.high.change());
            line += &format!(" ({} to {})", change(low), change(high));
        }
        lines.push(line);
    }
    if let Some(verdict) = comparison.verdict {
        let provisional = if comparison.provisional {
            " (provisional)"
        } else {
            ""
        };
        lines.push(format!("verdict: {}{provisional}", verdict.name()));
    }
    lines.join("\n")
}

/// A number for people to read, of six significant digits.
fn short(value: f64) -> String {
    let rounded: f64 = format!("{value:.5e}").parse().unwrap_or(value);
    rounded.to_string()
}

/// 0.95 as 95, 0.9884 as 98.84.
fn percent(confidence: f64) -> f64 {
    (confidence * 1e4).round() / 1e2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_for_people_have_six_digits() {
        assert_eq!(short(1234567.8), "1234570");
        assert_eq!(short(0.000123456789), "0.000123457");
        assert_eq!(short(0.0), "0");
        assert_eq!(short(12.5), "12.5");
    }

    #[test]
    fn a_confidence_is_told_in_percent() {
        assert_eq!(percent(0.95).to_string(), "95");
        assert_eq!(percent(0.98841).to_string(), "98.84");
    }
}
