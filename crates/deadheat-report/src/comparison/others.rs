//! The metrics beside the judged one, a table for each that has something to
//! show.

use std::collections::HashMap;

use deadheat_model::{Better, Comparison, Metric, MetricComparison, Side, Unit, Verdict};

use super::judged::Scene;
use super::options::ComparisonOptions;
use super::rows::Row;
use super::sheet::{Cell, Kind, Sheet, Tone};
use super::words;
use crate::sentences;
use crate::tables::change_cells;

/// The tables of all metrics beside the judged one.
#[derive(Default)]
pub(super) struct Others {
    /// Title and table, in the order in which the metrics first come up.
    pub(super) sheets: Vec<(String, Sheet)>,
    /// Metrics of which no row is shown, each with the number of its rows.
    pub(super) quiet: Vec<(String, usize)>,
}

/// All rows of one metric.
struct Gathered<'a> {
    metric: &'a Metric,
    rows: Vec<(&'a Row<'a>, &'a MetricComparison)>,
}

impl Scene<'_> {
    /// The metrics beside the judged one: where they moved, or everywhere.
    pub(super) fn others(&self, rows: &[Row<'_>], options: &ComparisonOptions) -> Others {
        let mut others = Others::default();
        for gathered in gather(rows) {
            let whole = gathered.rows.len();
            // Beyond the margin of its own benchmark.
            let moved = |of: &Row<'_>, row: &MetricComparison| {
                let own = of.comparison().map(|comparison| comparison.margin);
                moved(row, own.unwrap_or(self.analysis.margin))
            };
            let count = gathered
                .rows
                .iter()
                .filter(|(of, row)| moved(of, row))
                .count();
            let shown: Vec<_> = gathered
                .rows
                .into_iter()
                .filter(|(of, row)| {
                    let asked = options.all_metrics && (!options.only_changed || of.changed());
                    asked || moved(of, row)
                })
                .collect();
            let name = words::metric_title(gathered.metric, self.glyphs);
            if !shown.is_empty() {
                let title = match self.compares() {
                    true => format!("{name}: {count} of {whole} moved"),
                    false => name,
                };
                others
                    .sheets
                    .push((title, self.sheet(&shown, gathered.metric)));
            } else if self.compares() {
                others.quiet.push((name, whole));
            }
        }
        others
    }

    fn sheet(&self, rows: &[(&Row<'_>, &MetricComparison)], metric: &Metric) -> Sheet {
        if !self.compares() {
            let mut sheet = Sheet::default();
            sheet.column(Kind::Name, "benchmark");
            for head in ["median", "mean", "min", "samples"] {
                sheet.column(Kind::Number, head);
            }
            for (of, row) in rows {
                let mut cells: Vec<Cell> = vec![of.title.clone().into()];
                cells.extend(self.summary(metric, &row.baseline));
                sheet.rows.push(cells);
            }
            return sheet;
        }
        let mut sheet = self.heads("benchmark");
        let estimates = rows.iter().filter_map(|(_, row)| row.estimate.as_ref());
        let intervals = estimates.filter_map(|estimate| estimate.interval);
        sheet.column(Kind::Number, words::interval_head(intervals));
        let judged = metric.better() != Better::Unknown;
        if judged {
            sheet.column(Kind::Words, "verdict");
        }
        let mut last = None;
        for (of, row) in rows {
            let Some(candidate) = &row.candidate else {
                continue;
            };
            let again = self.several() && last == Some(&of.title);
            last = Some(&of.title);
            let name = if again {
                "".into()
            } else {
                of.title.clone().into()
            };
            let mut cells: Vec<Cell> = vec![name];
            cells.extend(self.typical(metric, [&row.baseline, candidate]));
            let [change, interval] = change_cells(row.estimate.as_ref(), self.glyphs);
            let tone = row.verdict.map(Tone::Verdict);
            cells.push(Cell::toned(change, tone.filter(|tone| tone.moved())));
            cells.push(interval.into());
            if judged {
                let mark = self.glyphs.mark(row.verdict);
                let word = word(metric, row.verdict);
                cells.push(Cell::toned(format!("{mark} {word}"), tone));
            }
            sheet.rows.push(cells);
        }
        sheet
    }
}

/// Every metric but the judged one, with all rows in which anything was seen
/// of it.
fn gather<'a>(rows: &'a [Row<'a>]) -> Vec<Gathered<'a>> {
    let mut gathered: Vec<Gathered<'a>> = Vec::new();
    let mut places: HashMap<&Metric, usize> = HashMap::new();
    for row in rows {
        let Some(comparison) = row.comparison() else {
            continue;
        };
        for one in beside(comparison) {
            let place = *places.entry(&one.metric).or_insert_with(|| {
                gathered.push(Gathered {
                    metric: &one.metric,
                    rows: Vec::new(),
                });
                gathered.len() - 1
            });
            gathered[place].rows.push((row, one));
        }
    }
    gathered
}

/// The metrics of a comparison beside the judged one, but for those of which
/// nothing was ever seen.
fn beside(comparison: &Comparison) -> impl Iterator<Item = &MetricComparison> {
    let others = comparison.metrics.iter();
    others.filter(|row| {
        let sides = [Some(&row.baseline), row.candidate.as_ref()];
        let seen = sides.into_iter().flatten().any(|side| side.max > 0.0);
        let both = comparison.candidate.is_some() == row.candidate.is_some();
        row.metric != comparison.metric && seen && both
    })
}

/// Whether a metric is shown without being asked for: it is faster or slower;
/// nobody knows which way is better and its interval lies to one side of zero,
/// the change beyond the margin; or it is exact, as counts may be.
fn moved(row: &MetricComparison, margin: f64) -> bool {
    let beyond = |change: f64| change.abs() > margin;
    let estimate = row.estimate.as_ref();
    match (row.verdict, estimate, estimate.and_then(|one| one.interval)) {
        (Some(verdict), ..) => matches!(verdict, Verdict::Faster | Verdict::Slower),
        (None, Some(estimate), Some(interval)) => {
            let aside = interval.low.0 > 0.0 || interval.high.0 < 0.0;
            row.metric.better() == Better::Unknown && aside && beyond(estimate.effect.change())
        }
        (None, Some(estimate), None) => exact(row) && beyond(estimate.effect.change()),
        // From nothing to something there is no ratio.
        (None, None, _) => exact(row),
    }
}

/// Whether all samples of a side have one value, and the sides differ in it:
/// without scatter there is no interval, and nothing to doubt either.
fn exact(row: &MetricComparison) -> bool {
    let one_value = |side: &Side| side.samples > 1 && side.min == side.max;
    let candidate = row.candidate.as_ref();
    candidate.is_some_and(|candidate| {
        one_value(&row.baseline) && one_value(candidate) && row.baseline.min != candidate.min
    })
}

/// The verdict on a metric in a word: what is no time and no rate is not
/// faster or slower.
fn word(metric: &Metric, verdict: Option<Verdict>) -> &'static str {
    let amount = match metric.unit() {
        Unit::Bytes | Unit::Count => true,
        Unit::Nanoseconds | Unit::BytesPerSecond | Unit::PerSecond => false,
    };
    let more = metric.better() == Better::More;
    match verdict {
        Some(Verdict::Faster | Verdict::Slower) if amount => {
            match (verdict == Some(Verdict::Slower)) != more {
                true => "more",
                false => "less",
            }
        }
        verdict => sentences::verdict_word_of(verdict),
    }
}
