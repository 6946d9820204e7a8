//! The answer as github-action-benchmark reads it, under the tool
//! `customSmallerIsBetter`.

use std::io::{self, Write};
use std::path::Path;

use deadheat_model::{Analysis, Better};
use serde::Serialize;

use super::tracked::Tracked;
use crate::error::{FormatError, cannot_write, create_folder_of};
use crate::replace::replace;

/// Writes the median of each candidate, per iteration and in the unit of its
/// metric, replacing what the file held. `range` is the interval of the
/// comparison, laid around the median; `extra` tells of the comparison.
///
/// Metrics of which less is not better are left out: the name of the format
/// says otherwise.
pub fn write_smaller_is_better(
    analysis: &Analysis,
    path: impl AsRef<Path>,
) -> Result<(), FormatError> {
    let path = path.as_ref();
    create_folder_of(path)?;
    replace(path, |out| write_smaller_is_better_to(analysis, out, path))
}

/// Writes the same anywhere; `name` stands for the file in errors.
pub fn write_smaller_is_better_to(
    analysis: &Analysis,
    mut out: impl Write,
    name: impl AsRef<Path>,
) -> Result<(), FormatError> {
    let all = Tracked::of(analysis).into_iter();
    let smaller = all.filter(|tracked| tracked.metric.better() == Better::Less);
    let rows: Vec<Row> = smaller.map(|tracked| Row::of(&tracked)).collect();
    serde_json::to_writer_pretty(&mut out, &rows)
        .map_err(io::Error::from)
        .and_then(|()| out.write_all(b"\n"))
        .and_then(|()| out.flush())
        .map_err(cannot_write(name.as_ref()))
}

#[derive(Serialize)]
struct Row {
    name: String,
    unit: &'static str,
    value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    range: Option<String>,
    extra: String,
}

impl Row {
    fn of(tracked: &Tracked<'_>) -> Row {
        Row {
            name: tracked.name.clone(),
            unit: tracked.metric.unit().name(),
            value: tracked.side.median,
            range: tracked.interval.as_ref().map(|interval| {
                let (low, high) = (short(interval.low), short(interval.high));
                format!("{low} to {high} at {} %", percent(interval.confidence))
            }),
            extra: extra(tracked),
        }
    }
}

/// A line for each thing worth knowing when the chart is pointed at.
fn extra(tracked: &Tracked<'_>) -> String {
    let mut lines = vec![
        format!("metric: {}", tracked.metric),
        format!("contender: {}", tracked.side.name),
        format!("samples: {}", tracked.side.samples),
    ];
    let comparison = tracked.comparison;
    if comparison.candidate.is_some() {
        let baseline = &comparison.baseline;
        let unit = tracked.metric.unit().name();
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
