//! The data of the charts of one comparison, as JSON beside it.
//!
//! Columns of numbers take little room: they are whole steps around a middle. Data of plots lie
//! close together, so few digits of each tell all there is to see. A column is one text, which
//! browsers take apart only when they draw it.

use deadheat_model::{
    Comparison, Difference, DifferenceSeries, Distribution, Estimate, Json, LookEstimate, Object,
    PairCloud, PairPoint, Plots, ReplicateEstimate,
};

use super::html::GLYPHS;
use crate::sentences;
use crate::units::Scale;

/// Steps to the spread of a column's middle half: finer than an eye can see, however far one zooms
/// into where the values are.
const STEPS: f64 = 400.0;

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
        .with("edges", packed(plots.edges.iter().copied()))
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
        .with("order", order(points, |point| point.baseline_first))
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

/// A sign per point: 1 where the baseline came first.
fn order<T>(points: &[T], baseline_first: fn(&T) -> bool) -> String {
    let signs = points.iter().map(baseline_first);
    signs.map(|first| if first { '1' } else { '0' }).collect()
}

fn pairs(cloud: &PairCloud) -> Object {
    let points = &cloud.points;
    let column = |of: fn(&PairPoint) -> f64| packed(points.iter().map(of));
    Object::new()
        .with("pairs", cloud.pairs)
        .with("order", order(points, |point| point.baseline_first))
        .with("baseline", column(|point| point.baseline))
        .with("candidate", column(|point| point.candidate))
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
        let [values, counts] = columns(&curve.points);
        Json::Row(vec![curve.family.name().into(), values, counts])
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

/// The middle, the step, and for each value the steps from the middle to it.
fn packed(values: impl IntoIterator<Item = f64>) -> Json {
    let values: Vec<f64> = values.into_iter().collect();
    let (middle, spread) = shape(&values);
    let step = power_of_ten_below(spread / STEPS);
    let mut text = format!("{middle:e} {step:e}");
    text.reserve(values.len() * 5);
    for value in &values {
        text.push(' ');
        push(&mut text, ((value - middle) / step).round() as i64);
    }
    Json::Text(text)
}

/// A value in the middle, and how far the middle half spreads; if that is nothing, all of them, or
/// else the middle itself.
fn shape(values: &[f64]) -> (f64, f64) {
    let mut mixed = values.to_vec();
    let mut at = |share: usize| match mixed.len() {
        0 => 0.0,
        len => {
            *mixed
                .select_nth_unstable_by((len * share / 4).min(len - 1), f64::total_cmp)
                .1
        }
    };
    let [least, low, middle, high, most] = [0, 1, 2, 3, 4].map(&mut at);
    let spread = [high - low, most - least, middle.abs(), 1.0];
    let spread = spread
        .into_iter()
        .find(|spread| *spread > 0.0 && spread.is_finite());
    (middle, spread.unwrap_or(f64::MAX))
}

/// Whole numbers that mostly rise by little: the first, then differences.
fn rising(values: impl IntoIterator<Item = u32>) -> Json {
    let mut text = String::new();
    let mut last = 0;
    for value in values {
        if !text.is_empty() {
            text.push(' ');
        }
        push(&mut text, i64::from(value) - last);
        last = i64::from(value);
    }
    Json::Text(text)
}

/// A page of hundreds of benchmarks has millions of numbers, for which the way through a formatter
/// is most of the work.
fn push(text: &mut String, number: i64) {
    if number < 0 {
        text.push('-');
    }
    let mut rest = number.unsigned_abs();
    let mut digits = [0_u8; 20];
    let mut first = digits.len();
    loop {
        first -= 1;
        digits[first] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    text.extend(digits[first..].iter().map(|digit| char::from(*digit)));
}

/// A number with six significant digits, for what stands alone.
fn rounded(value: f64) -> Json {
    Json::Number(format!("{value:.5e}").parse().unwrap_or(value))
}

fn power_of_ten_below(value: f64) -> f64 {
    let text = format!("{value:e}");
    let exponent = text.rsplit_once('e').map_or("0", |(_, exponent)| exponent);
    // Read as text, so that a thousandth is the double next to it.
    let step = format!("1e{exponent}").parse().ok();
    step.filter(|step| *step > 0.0).unwrap_or(f64::MIN_POSITIVE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unpacked(json: &Json) -> Vec<f64> {
        let words = json.as_text().unwrap().split(' ');
        let numbers: Vec<f64> = words.map(|word| word.parse().unwrap()).collect();
        let steps = numbers[2..].iter();
        steps.map(|steps| numbers[0] + steps * numbers[1]).collect()
    }

    #[test]
    fn values_come_back_to_a_fraction_of_their_spread() {
        // A millisecond with a spread of a hundred nanoseconds, and an outlier.
        let near = (0..100).map(|i| 1e6 + f64::from(i) * 2.0);
        let values: Vec<f64> = near.chain([5e7]).collect();
        let json = packed(values.iter().copied());
        for (value, back) in values.iter().zip(unpacked(&json)) {
            assert!((value - back).abs() <= 0.25, "{value} {back}");
        }
        assert!(json.to_string().len() < 5 * values.len(), "{json}");
    }

    #[test]
    fn odd_columns_are_kept() {
        let odd = [
            vec![],
            vec![0.0],
            vec![7.5, 7.5],
            vec![0.0, 0.0, 0.0, 0.0, 1e-12],
            vec![-3e300, 3e300],
        ];
        for values in odd {
            let back = unpacked(&packed(values.iter().copied()));
            assert_eq!(back.len(), values.len());
            for (value, back) in values.iter().zip(back) {
                assert!((value - back).abs() <= value.abs() * 2e-3, "{value} {back}");
            }
        }
    }

    #[test]
    fn numbers_are_written_as_everybody_writes_them() {
        let mut text = String::new();
        for number in [0, 7, -10, 1_234_567, i64::MIN] {
            push(&mut text, number);
            text.push(' ');
        }
        assert_eq!(text, "0 7 -10 1234567 -9223372036854775808 ");
    }

    #[test]
    fn rising_numbers_are_told_by_their_steps() {
        assert_eq!(rising([3, 4, 5, 9, 0]).to_string(), "\"3 1 1 4 -9\"");
        assert_eq!(rising([]).to_string(), "\"\"");
    }

    #[test]
    fn six_digits_suffice() {
        assert_eq!(rounded(0.123456789).to_string(), "0.123457");
    }
}
