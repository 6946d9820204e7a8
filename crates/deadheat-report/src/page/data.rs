//! What the charts of one comparison are drawn from, as JSON beside it.

use deadheat_model::{
    Comparison, Difference, DifferenceSeries, Distribution, Estimate, Json, LookEstimate, Object,
    PairCloud, Plots, ReplicateEstimate,
};

use super::html::GLYPHS;
use super::packed::{packed, rising, rounded};
use crate::sentences;
use crate::units::Scale;

/// Everything the charts need, columns instead of points; `labels` name the
/// baseline and the candidate.
pub(super) fn of(comparison: &Comparison, plots: &Plots, labels: [&str; 2]) -> Json {
    let medians: Vec<f64> = std::iter::once(&comparison.baseline)
        .chain(&comparison.candidate)
        .map(|side| side.median)
        .collect();
    let unit = comparison.metric.unit();
    let largest = medians.iter().copied().fold(0.0, f64::max);
    let scale = Scale::shared(unit, &medians, GLYPHS)
        .unwrap_or_else(|| Scale::fitting(unit, largest, GLYPHS));
    let (factor, symbol) = (scale.factor(), scale.symbol());
    let candidate = plots.candidate.as_ref();
    Object::new()
        .with("metric", sentences::metric(&comparison.metric, GLYPHS))
        .with("factor", factor)
        .with("unit", symbol)
        .with(
            "sides",
            labels.map(Json::from).into_iter().collect::<Json>(),
        )
        .with("margin", comparison.margin)
        .with_some("estimate", comparison.estimate.as_ref().map(estimate))
        .with_some("differences", plots.differences.as_ref().map(differences))
        .with_some("pairs", plots.pairs.as_ref().map(pairs))
        .with("replicates", replicates(&plots.replicates))
        .with("looks", looks(&plots.looks))
        .with("edges", packed(plots.edges.iter().copied()))
        .with(
            "distributions",
            std::iter::once(&plots.baseline)
                .chain(candidate)
                .map(distribution)
                .collect::<Json>(),
        )
        .into()
}

/// The effect and the ends of its interval, which may not be there.
fn estimate(estimate: &Estimate) -> Json {
    let ends = estimate
        .interval
        .map(|interval| [interval.low, interval.high]);
    let ends = ends.into_iter().flatten();
    let all = std::iter::once(estimate.effect).chain(ends);
    Json::Row(all.map(|theta| rounded(theta.0)).collect())
}

fn differences(series: &DifferenceSeries) -> Object {
    let points = &series.points;
    let column = |of: fn(&Difference) -> u32| rising(points.iter().map(of));
    Object::new()
        .with("blocks", series.blocks)
        .with("position", column(|point| point.position))
        .with("replicate", column(|point| point.replicate))
        .with("block", column(|point| point.block))
        .with(
            "order",
            order(points.iter().map(|point| point.baseline_first)),
        )
        .with("effect", packed(points.iter().map(|point| point.effect.0)))
        .with("marked", marked(points))
        .with("starts", rising(series.starts.iter().copied()))
        .with(
            "drift",
            Json::Row(vec![
                rising(series.drift.iter().map(|(position, _)| *position)),
                packed(series.drift.iter().map(|(_, theta)| theta.0)),
            ]),
        )
}

/// The points with evidence of disturbance: which, the bits of both sides, and
/// whether they were dropped.
fn marked(points: &[Difference]) -> Json {
    let row = |(index, point): (usize, &Difference)| {
        let (baseline, candidate) = (point.baseline_flags, point.candidate_flags);
        let seen = baseline.any() || candidate.any() || point.dropped;
        seen.then(|| {
            Json::Row(vec![
                index.into(),
                u32::from(baseline.bits()).into(),
                u32::from(candidate.bits()).into(),
                u32::from(point.dropped).into(),
            ])
        })
    };
    Json::Row(points.iter().enumerate().filter_map(row).collect())
}

/// A sign per point: 1 where the baseline came first.
fn order(baseline_first: impl Iterator<Item = bool>) -> String {
    baseline_first
        .map(|first| if first { '1' } else { '0' })
        .collect()
}

fn pairs(cloud: &PairCloud) -> Object {
    let points = &cloud.points;
    Object::new()
        .with("pairs", cloud.pairs)
        .with(
            "order",
            order(points.iter().map(|point| point.baseline_first)),
        )
        .with(
            "baseline",
            packed(points.iter().map(|point| point.baseline)),
        )
        .with(
            "candidate",
            packed(points.iter().map(|point| point.candidate)),
        )
}

fn replicates(all: &[ReplicateEstimate]) -> Object {
    Object::new()
        .with("replicate", rising(all.iter().map(|one| one.replicate)))
        .with("effect", packed(all.iter().map(|one| one.effect.0)))
        .with("low", packed(all.iter().map(|one| one.low.0)))
        .with("high", packed(all.iter().map(|one| one.high.0)))
        .with("blocks", rising(all.iter().map(|one| one.blocks)))
}

/// A row per look: replicates, and the estimate of it.
fn looks(all: &[LookEstimate]) -> Json {
    let row =
        |look: &LookEstimate| Json::Row(vec![look.replicates.into(), estimate(&look.estimate)]);
    Json::Row(all.iter().map(row).collect())
}

fn distribution(side: &Distribution) -> Object {
    let curves = side.curves.iter().map(|curve| {
        let name = Json::from(curve.family.name());
        Json::Row(
            std::iter::once(name)
                .chain(columns(&curve.points))
                .collect(),
        )
    });
    let summary = side.box_plot.as_ref().map(|summary| {
        let five = [
            summary.whisker_low,
            summary.lower,
            summary.median,
            summary.upper,
            summary.whisker_high,
        ];
        Object::new()
            .with("five", packed(five))
            .with("outliers", packed(summary.outliers.iter().copied()))
            .with("beyond", summary.beyond)
    });
    let line = side
        .normal_line
        .map(|(intercept, slope)| Json::Row(vec![intercept.into(), slope.into()]));
    Object::new()
        .with("counts", rising(side.counts.iter().copied()))
        .with("first", packed(side.first_half.iter().copied()))
        .with("below", side.below)
        .with("above", side.above)
        .with("curves", Json::Row(curves.collect()))
        .with_some("box", summary)
        .with("violin", Json::Row(columns(&side.violin).into()))
        .with("ecdf", Json::Row(columns(&side.ecdf).into()))
        .with(
            "quantiles",
            Json::Row(columns(&side.normal_quantiles).into()),
        )
        .with_some("line", line)
}

/// Points as two columns.
fn columns(points: &[(f64, f64)]) -> [Json; 2] {
    [
        packed(points.iter().map(|point| point.0)),
        packed(points.iter().map(|point| point.1)),
    ]
}
