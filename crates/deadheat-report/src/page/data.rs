//! The data of the charts of one comparison, as JSON beside it.

use deadheat_model::{
    Comparison, Difference, DifferenceSeries, Distribution, Estimate, Json, LookEstimate, Object,
    PairCloud, PairPoint, Plots, ReplicateEstimate,
};

use super::columns::{bits, curved, rising, scattered, whole};
use super::html::GLYPHS;
use crate::sentences;
use crate::units::Scale;

/// Everything the charts need, columns instead of points; `labels` name the baseline and the
/// candidate.
pub(super) fn of(comparison: &Comparison, plots: &Plots, labels: [&str; 2]) -> Json {
    let medians: Vec<f64> = std::iter::once(&comparison.baseline)
        .chain(&comparison.candidate)
        .map(|side| side.median)
        .collect();
    let unit = comparison.metric.unit();
    let largest = medians.iter().copied().fold(0.0, f64::max);
    let scale = Scale::shared(unit, &medians, GLYPHS)
        .unwrap_or_else(|| Scale::fitting(unit, largest, GLYPHS));
    let (factor, symbol) = (scale.factor, scale.symbol);
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
        .with("edges", curved(plots.edges.iter().copied()))
        .with(
            "distributions",
            plots.sides().map(distribution).collect::<Json>(),
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
            bits(points.iter().map(|point| point.baseline_first)),
        )
        .with(
            "effect",
            scattered(points.iter().map(|point| point.effect.0)),
        )
        .with("marked", marked(points))
        .with("starts", rising(series.starts.iter().copied()))
        .with(
            "drift",
            Json::Row(vec![
                rising(series.drift.iter().map(|(position, _)| *position)),
                curved(series.drift.iter().map(|(_, theta)| theta.0)),
            ]),
        )
}

/// The points with evidence of disturbance: which, the bits of both sides, and whether they were
/// dropped.
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

fn pairs(cloud: &PairCloud) -> Object {
    let points = &cloud.points;
    let column = |of: fn(&PairPoint) -> f64| scattered(points.iter().map(of));
    Object::new()
        .with("pairs", cloud.pairs)
        .with(
            "order",
            bits(points.iter().map(|point| point.baseline_first)),
        )
        .with("baseline", column(|point| point.baseline))
        .with("candidate", column(|point| point.candidate))
}

fn replicates(all: &[ReplicateEstimate]) -> Object {
    Object::new()
        .with("replicate", rising(all.iter().map(|one| one.replicate)))
        .with("effect", scattered(all.iter().map(|one| one.effect.0)))
        .with("low", scattered(all.iter().map(|one| one.low.0)))
        .with("high", scattered(all.iter().map(|one| one.high.0)))
        .with("blocks", rising(all.iter().map(|one| one.blocks)))
}

/// A row per look: replicates, and the estimate of it.
fn looks(all: &[LookEstimate]) -> Json {
    let row =
        |look: &LookEstimate| Json::Row(vec![look.replicates.into(), estimate(&look.estimate)]);
    Json::Row(all.iter().map(row).collect())
}

fn distribution(side: &Distribution) -> Object {
    // Of curves that stand at the same places the first tells them.
    let mut places = Json::Null;
    let curves = side.curves.iter().map(|curve| {
        let [values, counts] = columns(&curve.points);
        let family = Json::from(curve.family.name());
        let mut row = vec![family, counts];
        if values != places {
            places.clone_from(&values);
            row.push(values);
        }
        Json::Row(row)
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
            .with("five", scattered(five))
            .with("outliers", scattered(summary.outliers.iter().copied()))
            .with("beyond", summary.beyond)
    });
    let line = side
        .normal_line
        .map(|(intercept, slope)| Json::Row(vec![intercept.into(), slope.into()]));
    Object::new()
        .with("counts", whole(side.counts.iter().copied()))
        .with("first", scattered(side.first_half.iter().copied()))
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
        curved(points.iter().map(|point| point.0)),
        curved(points.iter().map(|point| point.1)),
    ]
}

/// A number with six significant digits, for what stands alone.
fn rounded(value: f64) -> Json {
    Json::Number(format!("{value:.5e}").parse().unwrap_or(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_digits_suffice() {
        assert_eq!(rounded(0.123456789).to_string(), "0.123457");
    }
}
