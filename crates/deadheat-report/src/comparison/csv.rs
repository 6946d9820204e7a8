//! A comparison of saved results as CSV, for other programs.

use deadheat_model::{
    Analysis, Better, Comparison, LeftOutReason, MetricComparison, Side, TextCells, Verdict,
    is_workflow_command,
};

use super::rows::{RowSubject, Sort, rows};
use crate::glyphs::Glyphs;
use crate::units::ends;

const HEAD: &str = "benchmark,parameters,label,threads,state,message,metric,unit,better,judged,\
    baseline,baseline_median,baseline_mean,baseline_min,baseline_max,baseline_stddev,\
    baseline_samples,candidate,candidate_median,candidate_mean,candidate_min,candidate_max,\
    candidate_stddev,candidate_samples,change,ci_low,ci_high,confidence,p_value,p_adjusted,\
    verdict,provisional";

/// Formats the answer about saved results as CSV (RFC 4180, but with Unix line ends). The table has
/// a row for every benchmark, candidate and metric, and a row for every benchmark without an
/// answer. Missing values are empty cells. With `only_changed`, the table contains only benchmarks
/// that are faster or slower, and those without an answer. The argument `cells` determines how
/// texts from outside, such as names, are escaped.
///
/// - `benchmark`, `parameters` (as `name=value`, separated by semicolons), `label`, `threads`: the
///   benchmark
/// - `state`: `compared`, `alone`, `failed`, `skipped`, `not-alike` or `only-in`; `message` gives
///   the reason, or for `only-in` the name of the side that has the benchmark
/// - `metric`, its `unit` (`ns`, `bytes`, `count`, `bytes/s` or a multiple such as `MB/s`, `1/s`)
///   and which direction is `better` (`less`, `more`, `unknown`); `judged` is `true` in the row of
///   the metric that decides the verdict on the benchmark
/// - `baseline…`, `candidate…`: the name of the side and the statistics of its samples, per
///   iteration and in the unit
/// - `change`: candidate/baseline − 1 of the metric itself, with the ends of its interval, `ci_low`
///   and `ci_high`, and their two-sided `confidence`
/// - `p_value`, two-sided; `p_adjusted`, for the judged metric only: corrected for all benchmarks
/// - `verdict`: `faster`, `slower`, `equivalent` or `inconclusive`; `faster` means better, even if
///   more of the metric is better. `provisional` is filled in for the judged metric only
pub fn to_comparison_csv(
    analysis: &Analysis,
    sort: Sort,
    only_changed: bool,
    cells: TextCells,
) -> String {
    let mut table = Table {
        text: format!("{HEAD}\n"),
        cells,
    };
    for row in rows(analysis, sort, Glyphs::Unicode) {
        if only_changed && !row.changed() {
            continue;
        }
        match row.what {
            RowSubject::Compared(comparison) => table.compared(comparison),
            RowSubject::Failed(failure) => {
                let named = (&*failure.benchmark, &*failure.parameters);
                table.unanswered(named, "failed", &failure.message);
            }
            RowSubject::LeftOut(one) => {
                let (state, message) = match &one.reason {
                    LeftOutReason::OnlyIn(side) => ("only-in", side),
                    LeftOutReason::Skipped(message) => ("skipped", message),
                    LeftOutReason::NotAlike(message) => ("not-alike", message),
                };
                table.unanswered((&one.benchmark, &[]), state, message);
            }
        }
    }
    table.text
}

struct Table {
    text: String,
    cells: TextCells,
}

impl Table {
    fn compared(&mut self, one: &Comparison) {
        let judged = MetricComparison {
            metric: one.terms.metric.clone(),
            baseline: one.baseline.clone(),
            candidate: one.candidate.clone(),
            estimate: one.estimate,
            verdict: one.verdict,
        };
        self.metric(one, &judged, true);
        for beside in one
            .metrics
            .iter()
            .filter(|row| row.metric != one.terms.metric)
        {
            self.metric(one, beside, false);
        }
    }

    fn metric(&mut self, one: &Comparison, row: &MetricComparison, judged: bool) {
        let better = match row.metric.better() {
            Better::Less => "less",
            Better::More => "more",
            Better::Unknown => "unknown",
        };
        let state = if one.candidate.is_some() {
            "compared"
        } else {
            "alone"
        };
        let estimate = row.estimate.as_ref();
        let interval = estimate.and_then(|estimate| estimate.interval.as_ref());
        let verdict = row.verdict.map(Verdict::name);
        let mut line = self.named(&one.benchmark, &one.details.parameters);
        line.extend([
            self.cell(one.details.label.as_deref()),
            shown(one.details.threads),
            state.to_owned(),
            String::new(),
            self.cell(Some(row.metric.name())),
            row.metric.unit().name().to_owned(),
            better.to_owned(),
            judged.to_string(),
        ]);
        line.extend(self.side(Some(&row.baseline)));
        line.extend(self.side(row.candidate.as_ref()));
        line.extend([
            shown(estimate.map(|estimate| estimate.effect.change())),
            shown(interval.map(|interval| ends(interval)[0])),
            shown(interval.map(|interval| ends(interval)[1])),
            shown(interval.map(|interval| interval.confidence)),
            shown(estimate.and_then(|estimate| estimate.p_value)),
            shown(one.suite.p_adjusted.filter(|_| judged)),
            shown(verdict),
            shown(verdict.filter(|_| judged).map(|_| one.evidence.provisional)),
        ]);
        self.line(&line);
    }

    fn named(&self, benchmark: &str, parameters: &[(String, String)]) -> Vec<String> {
        let parameters = parameters
            .iter()
            .map(|(key, value)| format!("{key}={value}"));
        let parameters: Vec<String> = parameters.collect();
        [benchmark, &parameters.join(";")]
            .map(|text| self.cell(Some(text)))
            .into()
    }

    fn side(&self, side: Option<&Side>) -> [String; 7] {
        let value = |value: fn(&Side) -> f64| shown(side.map(value));
        [
            self.cell(side.map(|side| &*side.name)),
            value(|side| side.median),
            value(|side| side.mean),
            value(|side| side.min),
            value(|side| side.max),
            shown(side.and_then(|side| side.std_dev)),
            shown(side.map(|side| side.samples)),
        ]
    }

    fn unanswered(
        &mut self,
        (benchmark, parameters): (&str, &[(String, String)]),
        state: &str,
        message: &str,
    ) {
        let mut line = self.named(benchmark, parameters);
        line.resize(4, String::new());
        line.extend([state.to_owned(), self.cell(Some(message))]);
        line.resize(HEAD.split(',').count(), String::new());
        self.line(&line);
    }

    fn cell(&self, text: Option<&str>) -> String {
        text.map_or_else(String::new, |text| self.cells.cell(text).into_owned())
    }

    fn line(&mut self, cells: &[String]) {
        let quoted = cells.iter().map(|cell| {
            // A CI system that executes commands in printed lines does not recognise a quoted cell
            // as a command.
            if cell.contains([',', '"', '\n', '\r']) || is_workflow_command(cell) {
                format!("\"{}\"", cell.replace('"', "\"\""))
            } else {
                cell.clone()
            }
        });
        self.text += &quoted.collect::<Vec<String>>().join(",");
        self.text.push('\n');
    }
}

fn shown(value: Option<impl ToString>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}
