//! A comparison of saved results as a table for other programs.

use deadheat_model::{
    Analysis, Better, Comparison, LeftOutReason, MetricComparison, Side, TextCells, Verdict,
    is_workflow_command,
};

use super::rows::{RowSubject, Sort, rows};
use crate::glyphs::Glyphs;
use crate::units::ends;

/// The columns, as [`to_comparison_csv`] explains them.
const HEAD: &str = "benchmark,parameters,label,threads,state,message,metric,unit,better,judged,\
    baseline,baseline_median,baseline_mean,baseline_min,baseline_max,baseline_stddev,\
    baseline_samples,candidate,candidate_median,candidate_mean,candidate_min,candidate_max,\
    candidate_stddev,candidate_samples,change,ci_low,ci_high,confidence,p_value,p_adjusted,\
    verdict,provisional";

/// The answer about saved results as CSV by RFC 4180, but for lines that end as they do on Unix: a
/// row for every benchmark, candidate and metric, and one for every benchmark without an answer. A
/// cell is empty where there is nothing to tell. With `only_changed` there are the benchmarks that
/// are faster or slower and those without an answer.
///
/// - `benchmark`, `parameters` (as `name=value`, parted by semicolons), `label`, `threads`: what
///   was measured; these and all other texts that come from outside are written as `cells` says
/// - `state`: `compared`, `alone`, `failed`, `skipped`, `not-alike` or `only-in`; `message` says
///   why, of `only-in` which side has it
/// - `metric`, its `unit` (`ns`, `bytes`, `count`, `bytes/s` or a multiple such as `MB/s`, `1/s`) and
///   which way is `better` (`less`, `more`, `unknown`); `judged` is `true` in the row the verdict on
///   the benchmark speaks of
/// - `baseline…`, `candidate…`: the side's name, and what its samples come to, per iteration and in
///   the unit
/// - `change`: candidate/baseline − 1 of the metric itself, with the ends of its interval, `ci_low`
///   and `ci_high`, and their two-sided `confidence`
/// - `p_value`, two-sided; `p_adjusted`, of the judged metric: paid for all benchmarks
/// - `verdict`: `faster`, `slower`, `equivalent` or `inconclusive`; faster is better, whichever way
///   that is. `provisional` goes with that of the judged metric
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

/// The lines so far, and the way texts are written into them.
struct Table {
    text: String,
    cells: TextCells,
}

impl Table {
    /// Writes the judged metric of a comparison, then the others.
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

    /// The cells that name a benchmark.
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

    /// Writes the row of a benchmark without an answer.
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

    /// A text that comes from outside.
    fn cell(&self, text: Option<&str>) -> String {
        text.map_or_else(String::new, |text| self.cells.cell(text).into_owned())
    }

    fn line(&mut self, cells: &[String]) {
        let quoted = cells.iter().map(|cell| {
            // A runner of workflows that prints the table obeys no cell between quotes.
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
