//! Rates of work, per second, for people and for programs.

use deadheat_model::{Comparison, Metric, Throughput, Unit};

use crate::glyphs::Glyphs;
use crate::units::quantities;

/// The work of each thread of either side per second, in bytes or items, at the median wall time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Rates {
    pub(crate) baseline: Option<f64>,
    pub(crate) candidate: Option<f64>,
}

impl Rates {
    /// The rates of a comparison; nothing where the benchmark does not say what an iteration gets
    /// done, or where wall time is not known.
    pub(crate) fn of(comparison: &Comparison) -> Rates {
        let mut rows = comparison.metrics.iter();
        let (baseline, candidate) = if comparison.metric == Metric::Wall {
            (&comparison.baseline, comparison.candidate.as_ref())
        } else if let Some(row) = rows.find(|row| row.metric == Metric::Wall) {
            (&row.baseline, row.candidate.as_ref())
        } else {
            return Rates::default();
        };
        let rate = |median_ns: f64| {
            let done = match comparison.throughput? {
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

/// The rates of a benchmark's contenders, the baseline first, as tables show them; `None` where
/// none is known.
pub(crate) fn rate_cells(group: &[Comparison], glyphs: Glyphs) -> Option<Vec<String>> {
    let (unit, suffix) = match group.first()?.throughput? {
        Throughput::Bytes(_) => (Unit::Bytes, "/s"),
        Throughput::Items(_) => (Unit::Count, " items/s"),
    };
    let candidates = group.iter().filter(|one| one.candidate.is_some());
    let rates: Vec<Option<f64>> = std::iter::once(Rates::of(&group[0]).baseline)
        .chain(candidates.map(|one| Rates::of(one).candidate))
        .collect();
    let known: Vec<f64> = rates.iter().copied().flatten().collect();
    if known.is_empty() {
        return None;
    }
    let mut shown = quantities(unit, &known, glyphs).into_iter();
    let cell = |rate: Option<f64>| match rate.and_then(|_| shown.next()) {
        Some(shown) => format!("{shown}{suffix}"),
        None => glyphs.nothing().to_owned(),
    };
    Some(rates.into_iter().map(cell).collect())
}
