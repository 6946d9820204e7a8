//! Formats table cells for all kinds of answers: values, changes and metrics.

use deadheat_model::{
    AllZero, Better, Comparison, Estimate, Metric, MetricComparison, Side, Throughput, Unit,
};

use crate::cost::{change_head, cost_of, in_cost};
use crate::document::{Kind, Table};
use crate::glyphs::Glyphs;
use crate::names;
use crate::units::{TimeUnit, confidence_interval, effect, interval, quantile, quantities_in};

/// Formats values that appear next to each other; a missing value is a dash.
fn cells(
    time_unit: Option<TimeUnit>,
    unit: Unit,
    values: &[Option<f64>],
    glyphs: Glyphs,
) -> Vec<String> {
    let known: Vec<f64> = values.iter().copied().flatten().collect();
    let mut shown = quantities_in(time_unit, unit, &known, glyphs).into_iter();
    let mut cell = |value: &Option<f64>| value.and_then(|_| shown.next());
    let nothing = || glyphs.nothing().to_owned();
    values
        .iter()
        .map(|value| cell(value).unwrap_or_else(nothing))
        .collect()
}

/// Returns the typical values of the two sides, whose ratio is consistent with the change. Returns
/// medians instead if more than 1% of the values are zero. Without a candidate, returns one value.
pub(crate) fn typical(baseline: &Side, candidate: Option<&Side>) -> Vec<f64> {
    let sides: Vec<&Side> = std::iter::once(baseline).chain(candidate).collect();
    let typical: Option<Vec<f64>> = sides.iter().map(|side| side.typical).collect();
    typical.unwrap_or_else(|| sides.iter().map(|side| side.median).collect())
}

#[derive(Clone, Copy)]
pub(crate) enum Figure {
    Typical,
    Median,
    Mean,
    Min,
    Max,
    StdDev,
}

impl Figure {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Figure::Typical => "typical",
            Figure::Median => "median",
            Figure::Mean => "mean",
            Figure::Min => "min",
            Figure::Max => "max",
            Figure::StdDev => "std dev",
        }
    }

    pub(crate) fn name_in(self, comparison: &Comparison) -> String {
        match (self, comparison.terms.quantile) {
            (Figure::Typical, Some(judged)) => quantile(judged),
            _ => self.name().to_owned(),
        }
    }

    fn of(self, side: &Side) -> Option<f64> {
        match self {
            Figure::Typical => side.typical,
            Figure::Median => Some(side.median),
            Figure::Mean => Some(side.mean),
            Figure::Min => Some(side.min),
            Figure::Max => Some(side.max),
            Figure::StdDev => side.std_dev,
        }
    }
}

/// Formats the statistics `figures` for every contender of a benchmark, all in one unit if that is
/// readable.
pub(crate) fn figure_cells(
    sides: &[&Side],
    metric: &Metric,
    figures: &[Figure],
    time_unit: Option<TimeUnit>,
    glyphs: Glyphs,
) -> Vec<Vec<String>> {
    let values = sides
        .iter()
        .flat_map(|side| figures.iter().map(|figure| figure.of(side)));
    let shown = cells(
        time_unit,
        metric.unit(),
        &values.collect::<Vec<_>>(),
        glyphs,
    );
    shown
        .chunks(figures.len())
        .map(<[String]>::to_vec)
        .collect()
}

/// Returns a head such as "95% CI" if all confidence levels are equal, otherwise "CI".
pub(crate) fn interval_head(mut confidences: impl Iterator<Item = f64>) -> String {
    match confidences.next() {
        Some(first) if confidences.all(|other| other == first) => confidence_interval(first),
        _ => "CI".to_owned(),
    }
}

/// Returns a table of all metrics, without those that are always zero. The table shows typical
/// values and the change, or summary statistics if the benchmark has only one contender. `None` if
/// only the judged metric remains, because the answer already shows it elsewhere.
pub(crate) fn metrics<'a>(
    comparison: &Comparison,
    time_unit: Option<TimeUnit>,
    glyphs: Glyphs,
) -> Option<Table<'a>> {
    let judged = |row: &MetricComparison| row.metric == comparison.terms.metric;
    let shown: Vec<&MetricComparison> = comparison
        .metrics
        .iter()
        .filter(|row| judged(row) || seen(row))
        .collect();
    if shown.iter().all(|row| judged(row)) {
        return None;
    }
    let change = change_head(shown.iter().map(|row| &row.metric));
    let heads = match &comparison.candidate {
        Some(_) => ["metric", "baseline", "candidate", change, "CI"],
        None => ["metric", "median", "mean", "min", "max"],
    };
    let mut table = Table::new(Kind::Words, heads);
    table.caption = match comparison.terms.quantile {
        Some(judged) => format!("All metrics, by their {}", quantile(judged)),
        None => "All metrics, by their typical values".to_owned(),
    };
    for row in shown {
        let unit = row.metric.unit();
        let mut cells = vec![names::shown(row.metric.name(), 24, glyphs)];
        if let Some(candidate) = &row.candidate {
            let values = typical(&row.baseline, Some(candidate));
            cells.extend(quantities_in(time_unit, unit, &values, glyphs));
            let cost = row.estimate.as_ref().map(|one| in_cost(&row.metric, one));
            let [mut change, interval] = change_cells(cost.as_ref(), glyphs);
            if cost.is_none() {
                change = change_without_ratio(&row.metric, &row.baseline, candidate, glyphs);
            }
            let mut sides = [&row.baseline, candidate].into_iter();
            let zeros = row.estimate.is_none() && sides.any(|side| side.min <= 0.0);
            let interval = if zeros { "zeros".to_owned() } else { interval };
            cells.extend([change, interval]);
        } else {
            let side = &row.baseline;
            let values = [side.median, side.mean, side.min, side.max];
            cells.extend(quantities_in(time_unit, unit, &values, glyphs));
        }
        table.rows.push(cells.into());
    }
    Some(table)
}

/// Returns true if any sample of the baseline or the candidate is above zero. Without this check, a
/// function without page faults and waits would have a row of zeros for each metric that counts
/// them.
pub(crate) fn seen(row: &MetricComparison) -> bool {
    let sides = [Some(&row.baseline), row.candidate.as_ref()];
    sides.into_iter().flatten().any(|side| side.max > 0.0)
}

/// Returns the change of a metric that is all zero on one side or on both; otherwise a dash.
pub(crate) fn change_without_ratio(
    metric: &Metric,
    baseline: &Side,
    candidate: &Side,
    glyphs: Glyphs,
) -> String {
    // As in all tables, the change of a rate is a change in cost: a rate that rises from zero costs
    // nothing any more.
    let more = metric.better() == Better::More;
    match AllZero::of(metric, baseline, candidate) {
        Some(AllZero::Baseline) if !more => "from 0".to_owned(),
        Some(AllZero::Candidate) if more => "to 0".to_owned(),
        Some(AllZero::Baseline | AllZero::Candidate) => format!("{}100%", glyphs.minus()),
        Some(AllZero::Both) => "0%".to_owned(),
        None => glyphs.nothing().to_owned(),
    }
}

pub(crate) fn cells_of_change(comparison: &Comparison, glyphs: Glyphs) -> [String; 2] {
    let cost = cost_of(comparison);
    let [change, interval] = change_cells(cost.as_ref(), glyphs);
    match &comparison.candidate {
        Some(candidate) if cost.is_none() => {
            let sides = (&comparison.baseline, candidate);
            let change = change_without_ratio(&comparison.terms.metric, sides.0, sides.1, glyphs);
            [change, interval]
        }
        _ => [change, interval],
    }
}

pub(crate) fn change_cells(estimate: Option<&Estimate>, glyphs: Glyphs) -> [String; 2] {
    let nothing = || glyphs.nothing().to_owned();
    match estimate {
        None => [nothing(), nothing()],
        Some(Estimate {
            effect: theta,
            interval: range,
            ..
        }) => [
            effect(*theta, range.as_ref(), glyphs),
            range.map_or_else(nothing, |range| interval(&range, glyphs)),
        ],
    }
}

/// The throughput per thread of each side, in bytes or items per second, at the median wall time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Rates {
    pub(crate) baseline: Option<f64>,
    pub(crate) candidate: Option<f64>,
}

impl Rates {
    /// Computes the throughput of both sides; empty if the benchmark declares no throughput or has
    /// no wall time.
    pub(crate) fn of(comparison: &Comparison) -> Rates {
        let mut rows = comparison.metrics.iter();
        let (baseline, candidate) = if comparison.terms.metric == Metric::Wall {
            (&comparison.baseline, comparison.candidate.as_ref())
        } else if let Some(row) = rows.find(|row| row.metric == Metric::Wall) {
            (&row.baseline, row.candidate.as_ref())
        } else {
            return Rates::default();
        };
        let rate = |median_ns: f64| {
            let done = match comparison.details.throughput? {
                Throughput::Bytes(count) | Throughput::Items(count) => count as f64,
            };
            let rate = done / median_ns * 1e9;
            rate.is_finite().then_some(rate)
        };
        Rates {
            baseline: rate(baseline.median),
            candidate: candidate.and_then(|side| rate(side.median)),
        }
    }
}

/// Formats the throughput of a benchmark's contenders, the baseline first; `None` if no throughput
/// is known.
pub(crate) fn rate_cells(group: &[Comparison], glyphs: Glyphs) -> Option<Vec<String>> {
    let (unit, suffix) = match group.first()?.details.throughput? {
        Throughput::Bytes(_) => (Unit::Bytes, "/s"),
        Throughput::Items(_) => (Unit::Count, " items/s"),
    };
    let candidates = group.iter().filter(|one| one.candidate.is_some());
    let rates: Vec<Option<f64>> = std::iter::once(Rates::of(&group[0]).baseline)
        .chain(candidates.map(|one| Rates::of(one).candidate))
        .collect();
    if rates.iter().all(Option::is_none) {
        return None;
    }
    let mut shown = cells(None, unit, &rates, glyphs);
    for (cell, _) in shown
        .iter_mut()
        .zip(&rates)
        .filter(|(_, rate)| rate.is_some())
    {
        cell.push_str(suffix);
    }
    Some(shown)
}
