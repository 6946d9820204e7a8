//! A comparison of saved results as a table for other programs.

use deadheat_model::{
    Analysis, Better, Comparison, Estimate, LeftOutReason, Metric, MetricComparison, Side,
    TextCells, Verdict,
};

use super::rows::{Sort, What, rows};
use crate::glyphs::Glyphs;

/// The columns, as [`to_comparison_csv`] explains them.
const HEAD: [&str; 32] = [
    "benchmark",
    "parameters",
    "label",
    "threads",
    "state",
    "message",
    "metric",
    "unit",
    "better",
    "judged",
    "baseline",
    "baseline_median",
    "baseline_mean",
    "baseline_min",
    "baseline_max",
    "baseline_stddev",
    "baseline_samples",
    "candidate",
    "candidate_median",
    "candidate_mean",
    "candidate_min",
    "candidate_max",
    "candidate_stddev",
    "candidate_samples",
    "change",
    "ci_low",
    "ci_high",
    "confidence",
    "p_value",
    "p_adjusted",
    "verdict",
    "provisional",
];

/// The answer about saved results as CSV by RFC 4180, but for lines that end
/// as they do on Unix: a row for every benchmark, candidate and metric, and
/// one for every benchmark without an answer. A cell is empty where there is
/// nothing to tell. With `only_changed` there are the benchmarks that are
/// faster or slower and those without an answer.
///
/// - `benchmark`, `parameters` (as `name=value`, parted by semicolons), `label`,
///   `threads`: what was measured; these and all other texts that come from
///   outside are written as `cells` says
/// - `state`: `compared`, `alone`, `failed`, `skipped`, `not-alike` or
///   `only-in`; `message` says why, of `only-in` which side has it
/// - `metric`, its `unit` (`ns`, `bytes`, `count`, `bytes/s`, `1/s`) and which
///   way is `better` (`less`, `more`, `unknown`); `judged` is `true` in the row
///   the verdict on the benchmark speaks of
/// - `baseline…`, `candidate…`: the side's name, and what its samples come to,
///   per iteration and in the unit
/// - `change`: candidate/baseline − 1 of the metric itself, with the ends of
///   its interval, `ci_low` and `ci_high`, and their two-sided `confidence`
/// - `p_value`, two-sided; `p_adjusted`, of the judged metric: paid for all
///   benchmarks
/// - `verdict`: `faster`, `slower`, `equivalent` or `inconclusive`; faster is
///   better, whichever way that is. `provisional` goes with that of the judged
///   metric
pub fn to_comparison_csv(
    analysis: &Analysis,
    sort: Sort,
    only_changed: bool,
    cells: TextCells,
) -> String {
    let mut text = String::new();
    line(&mut text, HEAD.map(str::to_owned));
    for row in rows(analysis, sort, Glyphs::Unicode) {
        if only_changed && !row.changed() {
            continue;
        }
        match row.what {
            What::Compared(comparison) => compared(&mut text, comparison, cells),
            What::Failed(failure) => unanswered(
                &mut text,
                &failure.benchmark,
                &failure.parameters,
                "failed",
                &failure.message,
                cells,
            ),
            What::LeftOut(one) => {
                let (state, message) = match &one.reason {
                    LeftOutReason::OnlyIn(side) => ("only-in", side),
                    LeftOutReason::Skipped(message) => ("skipped", message),
                    LeftOutReason::NotAlike(message) => ("not-alike", message),
                };
                unanswered(&mut text, &one.benchmark, &[], state, message, cells);
            }
        }
    }
    text
}

/// The judged metric first, then the others.
fn compared(text: &mut String, comparison: &Comparison, cells: TextCells) {
    metric(text, comparison, &Row::judged(comparison), cells);
    for row in &comparison.metrics {
        if row.metric != comparison.metric {
            metric(text, comparison, &Row::beside(row), cells);
        }
    }
}

/// One metric of a comparison.
struct Row<'a> {
    metric: &'a Metric,
    baseline: &'a Side,
    candidate: Option<&'a Side>,
    estimate: Option<&'a Estimate>,
    verdict: Option<Verdict>,
    judged: bool,
}

impl<'a> Row<'a> {
    fn judged(one: &'a Comparison) -> Row<'a> {
        Row {
            metric: &one.metric,
            baseline: &one.baseline,
            candidate: one.candidate.as_ref(),
            estimate: one.estimate.as_ref(),
            verdict: one.verdict,
            judged: true,
        }
    }

    fn beside(one: &'a MetricComparison) -> Row<'a> {
        Row {
            metric: &one.metric,
            baseline: &one.baseline,
            candidate: one.candidate.as_ref(),
            estimate: one.estimate.as_ref(),
            verdict: one.verdict,
            judged: false,
        }
    }
}

fn metric(text: &mut String, comparison: &Comparison, row: &Row<'_>, cells: TextCells) {
    let state = match comparison.candidate {
        Some(_) => "compared",
        None => "alone",
    };
    let better = match row.metric.better() {
        Better::Less => "less",
        Better::More => "more",
        Better::Unknown => "unknown",
    };
    let interval = row.estimate.and_then(|estimate| estimate.interval);
    let p = comparison.p_adjusted.filter(|_| row.judged);
    let provisional = row.judged && row.verdict.is_some();
    let [named, parameters, label, threads] = of(comparison, cells);
    let [b_name, b_median, b_mean, b_min, b_max, b_sd, b_samples] = side(Some(row.baseline), cells);
    let [c_name, c_median, c_mean, c_min, c_max, c_sd, c_samples] = side(row.candidate, cells);
    line(
        text,
        [
            named,
            parameters,
            label,
            threads,
            state.to_owned(),
            String::new(),
            cells.cell(row.metric.name()).into_owned(),
            row.metric.unit().name().to_owned(),
            better.to_owned(),
            row.judged.to_string(),
            b_name,
            b_median,
            b_mean,
            b_min,
            b_max,
            b_sd,
            b_samples,
            c_name,
            c_median,
            c_mean,
            c_min,
            c_max,
            c_sd,
            c_samples,
            cell(row.estimate.map(|estimate| estimate.effect.change())),
            cell(interval.map(|interval| interval.low.change())),
            cell(interval.map(|interval| interval.high.change())),
            cell(interval.map(|interval| interval.confidence)),
            cell(row.estimate.and_then(|estimate| estimate.p_value)),
            cell(p),
            row.verdict.map_or("", Verdict::name).to_owned(),
            cell(provisional.then_some(comparison.provisional)),
        ],
    );
}

/// What a benchmark is called and what it tells beside.
fn of(comparison: &Comparison, cells: TextCells) -> [String; 4] {
    let label = comparison.label.as_ref();
    [
        cells.cell(&comparison.benchmark).into_owned(),
        cells.cell(&joined(&comparison.parameters)).into_owned(),
        cell(label.map(|label| cells.cell(label))),
        cell(comparison.threads),
    ]
}

fn joined(parameters: &[(String, String)]) -> String {
    let parameters: Vec<String> = parameters
        .iter()
        .map(|(key, value)| format!("{key}={value}"))
        .collect();
    parameters.join(";")
}

fn side(side: Option<&Side>, cells: TextCells) -> [String; 7] {
    let number = |number: fn(&Side) -> f64| cell(side.map(number));
    [
        cell(side.map(|side| cells.cell(&side.name))),
        number(|side| side.median),
        number(|side| side.mean),
        number(|side| side.min),
        number(|side| side.max),
        cell(side.and_then(|side| side.std_dev)),
        cell(side.map(|side| side.samples)),
    ]
}

/// A row for a benchmark without an answer.
fn unanswered(
    text: &mut String,
    benchmark: &str,
    parameters: &[(String, String)],
    state: &str,
    message: &str,
    cells: TextCells,
) {
    let mut row = [const { String::new() }; HEAD.len()];
    row[0] = cells.cell(benchmark).into_owned();
    row[1] = cells.cell(&joined(parameters)).into_owned();
    row[4] = state.to_owned();
    row[5] = cells.cell(message).into_owned();
    line(text, row);
}

fn cell(value: Option<impl ToString>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

fn line(text: &mut String, cells: [String; HEAD.len()]) {
    for (index, cell) in cells.iter().enumerate() {
        if index > 0 {
            text.push(',');
        }
        if cell.contains([',', '"', '\n', '\r']) {
            text.push('"');
            text.push_str(&cell.replace('"', "\"\""));
            text.push('"');
        } else {
            text.push_str(cell);
        }
    }
    text.push('\n');
}
