//! The data of the charts of one comparison, as JSON on the page. Columns of numbers are compressed
//! into strings.
//!
//! A value is stored as an integer number of steps from the middle of its column. The values of a
//! plot lie close together, so a few digits of each are enough. A number of steps takes one to
//! three characters of [`SIGNS`], most often one or two; decimal numbers with spaces took five.
//! Browsers decode a column only when they draw it.

use deadheat_model::{
    Comparison, Difference, DifferenceSeries, Distribution, Estimate, Json, LookEstimate, Object,
    PairCloud, PairPoint, Plots, ReplicateEstimate,
};

use super::html::GLYPHS;
use crate::sentences;
use crate::units::Scale;

/// Returns the data of all charts, with a column for each property of the points. `labels` name the
/// baseline and the candidate.
pub(super) fn of(comparison: &Comparison, plots: &Plots, labels: [&str; 2]) -> Json {
    let medians: Vec<f64> = std::iter::once(&comparison.baseline)
        .chain(&comparison.candidate)
        .map(|side| side.median)
        .collect();
    let unit = comparison.terms.metric.unit();
    let largest = medians.iter().copied().fold(0.0, f64::max);
    let scale = Scale::shared(unit, &medians, GLYPHS)
        .unwrap_or_else(|| Scale::fitting(unit, largest, GLYPHS));
    let (factor, symbol) = (scale.factor, scale.symbol);
    Object::new()
        .with(
            "metric",
            sentences::metric(&comparison.terms.metric, GLYPHS),
        )
        .with("factor", factor)
        .with("unit", symbol)
        .with(
            "sides",
            labels.map(Json::from).into_iter().collect::<Json>(),
        )
        .with("margin", comparison.terms.margin)
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

/// Returns the points with evidence of disturbance: their indices, the flags of both sides, and
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

/// Returns a row per look: the number of replicates and the estimate.
fn looks(all: &[LookEstimate]) -> Json {
    let row =
        |look: &LookEstimate| Json::Row(vec![look.replicates.into(), estimate(&look.estimate)]);
    Json::Row(all.iter().map(row).collect())
}

fn distribution(side: &Distribution) -> Object {
    // Curves often share their x values, so only the first such curve stores them.
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

fn columns(points: &[(f64, f64)]) -> [Json; 2] {
    [
        curved(points.iter().map(|point| point.0)),
        curved(points.iter().map(|point| point.1)),
    ]
}

/// Rounds a number outside a column to six significant digits.
fn rounded(value: f64) -> Json {
    Json::Number(format!("{value:.5e}").parse().unwrap_or(value))
}

/// The digits in base 90, in the order of their values. Characters that JSON or HTML would escape
/// are missing.
const SIGNS: &[u8; BASE as usize] =
    b" !#$%'()*+,-./0123456789:;=?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_`abcdefghijklmnopqrstuvwxyz{|}~";

const BASE: u64 = 90;

/// Numbers below this value have a single digit, which is the number.
const ONE: u64 = 45;

/// A number has two digits if the value of its first digit is at least [`ONE`] and below this.
const TWO: u64 = 85;

/// A number has three digits if the value of its first digit is at least [`TWO`] and below this. If
/// the first digit equals this value, the number of digits follows, then the digits.
const THREE: u64 = 89;

/// The smallest number that has three digits.
const FROM_THREE: u64 = ONE + (TWO - ONE) * BASE;
/// The smallest number that has more than three digits.
const FROM_MORE: u64 = FROM_THREE + (THREE - TWO) * BASE * BASE;

/// Steps per interquartile range of a column. This is finer than a reader can see, even when
/// zooming in on the bulk of the values.
const STEPS: f64 = 400.0;

/// JavaScript can add several numbers of steps up to this size without rounding.
const EXACT: u64 = 1 << 50;

/// The encoding of a column. Its character separates the middle, the step and the digits.
#[derive(Clone, Copy)]
enum Way {
    /// Each value is stored independently, as steps from the middle.
    Scattered = b' ' as isize,
    /// The first value is stored, then the increase from each value to the next.
    Ascending = b'/' as isize,
    /// The second differences are stored: each increase minus the previous increase.
    Curved = b'~' as isize,
}

/// Encodes a column of scattered or ascending values: the middle, the step, and the values in
/// steps.
pub(super) fn scattered(values: impl IntoIterator<Item = f64>) -> Json {
    column(values.into_iter().collect(), Way::Scattered)
}

/// Encodes a column of values that form a curve.
pub(super) fn curved(values: impl IntoIterator<Item = f64>) -> Json {
    column(values.into_iter().collect(), Way::Curved)
}

fn column(values: Vec<f64>, way: Way) -> Json {
    let ascends = values.is_sorted_by(|a, b| a.total_cmp(b).is_le());
    let (middle, spread) = shape(&values, ascends);
    let step = power_of_ten_below(spread / STEPS);
    let steps = |value: &f64| ((value - middle) / step).round() as i64;
    let far = |value: &f64| steps(value).unsigned_abs() > EXACT;
    let way = match ascends {
        _ if values.iter().any(far) => Way::Scattered,
        true => Way::Ascending,
        false => way,
    };
    let mark = char::from(way as u8);
    let mut text = format!("{middle:e}{mark}{step:e}{mark}");
    text.reserve(values.len() * 2);
    let mut steps = values.iter().map(steps);
    match way {
        Way::Scattered => steps.for_each(|steps| push_signed(&mut text, steps)),
        Way::Ascending => {
            let mut last = steps.next();
            last.into_iter()
                .for_each(|first| push_signed(&mut text, first));
            for steps in steps {
                let rise = last.replace(steps).map_or(0, |last| steps - last);
                push(&mut text, rise as u64);
            }
        }
        Way::Curved => {
            let (mut last, mut rise) = (0, 0);
            for steps in steps {
                push_signed(&mut text, steps - last - rise);
                (last, rise) = (steps, steps - last);
            }
        }
    }
    Json::Text(text)
}

/// Encodes integers that mostly increase by a constant: the changes of the increase, with runs of
/// zeros stored as a zero and the number of further zeros.
pub(super) fn rising(values: impl IntoIterator<Item = u32>) -> Json {
    let mut text = String::new();
    let (mut last, mut rise, mut zeros) = (0, 0, 0);
    for value in values {
        let next = i64::from(value) - last;
        if next == rise {
            zeros += 1;
        } else {
            push_zeros(&mut text, &mut zeros);
            push_signed(&mut text, next - rise);
        }
        (last, rise) = (i64::from(value), next);
    }
    push_zeros(&mut text, &mut zeros);
    Json::Text(text)
}

fn push_zeros(text: &mut String, zeros: &mut u64) {
    if let Some(more) = zeros.checked_sub(1) {
        push_signed(text, 0);
        push(text, more);
        *zeros = 0;
    }
}

pub(super) fn whole(values: impl IntoIterator<Item = u32>) -> Json {
    let mut text = String::new();
    values
        .into_iter()
        .for_each(|value| push(&mut text, value.into()));
    Json::Text(text)
}

/// Encodes booleans, six per character, the first one in the lowest bit.
pub(super) fn bits(values: impl IntoIterator<Item = bool>) -> Json {
    let mut text = String::new();
    let mut values = values.into_iter().peekable();
    while values.peek().is_some() {
        let six = values.by_ref().take(6).enumerate();
        push_digit(
            &mut text,
            six.fold(0, |six, (place, yes)| six | u64::from(yes) << place),
        );
    }
    Json::Text(text)
}

/// Returns the median and the interquartile range. If this range is zero, returns the whole range
/// instead, or the absolute median if all values are equal.
fn shape(values: &[f64], ascends: bool) -> (f64, f64) {
    let mut sorted = Vec::new();
    let sorted = if ascends {
        values
    } else {
        sorted.extend_from_slice(values);
        sorted.sort_unstable_by(f64::total_cmp);
        &sorted
    };
    let at = |share: usize| match sorted.len() {
        0 => 0.0,
        len => sorted[(len * share / 4).min(len - 1)],
    };
    let [least, low, middle, high, most] = [0, 1, 2, 3, 4].map(at);
    let spread = [high - low, most - least, middle.abs(), 1.0];
    let spread = spread
        .into_iter()
        .find(|spread| *spread > 0.0 && spread.is_finite());
    (middle, spread.unwrap_or(f64::MAX))
}

fn power_of_ten_below(value: f64) -> f64 {
    let text = format!("{value:e}");
    let exponent = text.rsplit_once('e').map_or("0", |(_, exponent)| exponent);
    // Parsing decimal text gives the `f64` nearest to a negative power of ten, which `powi` may
    // miss.
    let step = format!("1e{exponent}").parse().ok();
    step.filter(|step| *step > 0.0).unwrap_or(f64::MIN_POSITIVE)
}

/// Writes a signed number as an unsigned one: an even number for zero or a positive number, an odd
/// number for a negative number.
fn push_signed(text: &mut String, number: i64) {
    push(text, ((number << 1) ^ (number >> 63)) as u64);
}

fn push(text: &mut String, number: u64) {
    let mut digit = |digit| push_digit(text, digit);
    if number < ONE {
        digit(number);
    } else if number < FROM_THREE {
        let rest = number - ONE;
        digit(ONE + rest / BASE);
        digit(rest % BASE);
    } else if number < FROM_MORE {
        let rest = number - FROM_THREE;
        digit(TWO + rest / BASE / BASE);
        digit(rest / BASE % BASE);
        digit(rest % BASE);
    } else {
        let digits = number.ilog(BASE) + 1;
        digit(THREE);
        digit(digits.into());
        for place in (0..digits).rev() {
            digit(number / BASE.pow(place) % BASE);
        }
    }
}

fn push_digit(text: &mut String, digit: u64) {
    text.push(char::from(SIGNS[digit as usize]));
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn six_digits_suffice() {
        assert_eq!(rounded(0.123456789).to_string(), "0.123457");
    }

    /// Decodes the numbers in a text, with the same algorithm as the scripts of the page.
    fn read(text: &str) -> Vec<u64> {
        let place = |sign: u8| SIGNS.iter().position(|known| *known == sign).unwrap() as u64;
        let mut digits = text.bytes().map(place);
        let mut numbers = Vec::new();
        while let Some(first) = digits.next() {
            let mut more = |count: u64| {
                let digits = digits.by_ref().take(count as usize);
                digits.fold(0_u64, |number, digit| number * BASE + digit)
            };
            numbers.push(match first {
                THREE => {
                    let count = more(1);
                    more(count)
                }
                TWO.. => FROM_THREE + (first - TWO) * BASE * BASE + more(2),
                ONE.. => ONE + (first - ONE) * BASE + more(1),
                _ => first,
            });
        }
        numbers
    }

    fn signed(number: u64) -> i64 {
        (number >> 1) as i64 ^ -((number & 1) as i64)
    }

    fn unpacked(json: &Json) -> Vec<f64> {
        let text = json.as_text().unwrap();
        let mark = text.chars().find(|sign| " /~".contains(*sign)).unwrap();
        let mut parts = text.splitn(3, mark);
        let [middle, step] = [(); 2].map(|()| parts.next().unwrap().parse::<f64>().unwrap());
        let (mut last, mut rise) = (None, 0);
        let steps = read(parts.next().unwrap()).into_iter().map(|number| {
            let steps = match (mark, last) {
                ('/', Some(last)) => last + number as i64,
                ('~', _) => {
                    rise += signed(number);
                    last.unwrap_or(0) + rise
                }
                _ => signed(number),
            };
            last = Some(steps);
            steps
        });
        steps.map(|steps| middle + steps as f64 * step).collect()
    }

    fn risen(json: &Json) -> Vec<i64> {
        let mut numbers = read(json.as_text().unwrap()).into_iter();
        let (mut last, mut rise, mut all) = (0, 0, Vec::new());
        while let Some(number) = numbers.next() {
            rise += signed(number);
            let more = if number == 0 {
                numbers.next().unwrap()
            } else {
                0
            };
            for _ in 0..=more {
                last += rise;
                all.push(last);
            }
        }
        all
    }

    #[test]
    fn no_digit_has_another_meaning_in_json_or_html() {
        assert!(SIGNS.is_sorted_by(|a, b| a < b));
        assert!(SIGNS.iter().all(|sign| (b' '..=b'~').contains(sign)));
        assert!(!SIGNS.iter().any(|sign| b"\"\\<>&".contains(sign)));
    }

    #[test]
    fn numbers_come_back_and_small_ones_take_one_sign() {
        let ends = [ONE, FROM_THREE, FROM_MORE, u64::MAX];
        let around = ends
            .iter()
            .flat_map(|end| [end - 1, *end, end.saturating_add(1)]);
        for number in around.chain([0, 1, 1 << 40]) {
            let mut text = String::new();
            push(&mut text, number);
            assert_eq!(read(&text), [number], "{text}");
            let digits = [ONE, FROM_THREE, FROM_MORE];
            let digits = digits.iter().filter(|end| number >= **end).count() + 1;
            assert!(text.len() == digits || digits == 4, "{number} {text}");
        }
        for number in [0, 22, -22, 1800, -1800, i64::MIN, i64::MAX] {
            let mut text = String::new();
            push_signed(&mut text, number);
            assert_eq!(signed(read(&text)[0]), number);
        }
    }

    #[test]
    fn values_come_back_to_a_fraction_of_their_spread() {
        // 1 ms with a spread of 100 ns, and an outlier.
        let near = (0..100).map(|i| 1e6 + f64::from(i) * 2.0);
        let values: Vec<f64> = near.chain([5e7]).collect();
        let mixed: Vec<f64> = (0..101).map(|i| values[i * 37 % 101]).collect();
        for (values, room) in [(values, 2), (mixed, 3)] {
            let json = scattered(values.iter().copied());
            for (value, back) in values.iter().zip(unpacked(&json)) {
                assert!((value - back).abs() <= 0.25, "{value} {back}");
            }
            assert!(json.to_string().len() < room * values.len(), "{json}");
        }
        let bell: Vec<f64> = (-60..60)
            .map(|i| (-f64::from(i * i) / 500.0).exp())
            .collect();
        let json = curved(bell.iter().copied());
        for (value, back) in bell.iter().zip(unpacked(&json)) {
            assert!((value - back).abs() <= 0.001, "{value} {back}");
        }
        assert!(json.to_string().len() < 3 * bell.len() / 2, "{json}");
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
            let both = [scattered(values.clone()), curved(values.clone())];
            for back in both.map(|json| unpacked(&json)) {
                assert_eq!(back.len(), values.len());
                for (value, back) in values.iter().zip(back) {
                    assert!((value - back).abs() <= value.abs() * 2e-3, "{value} {back}");
                }
            }
        }
    }

    #[test]
    fn what_rises_evenly_takes_no_room() {
        assert!(rising(0..10_000).to_string().len() < 12);
        assert!(rising([7; 1_000]).to_string().len() < 12);
        assert_eq!(rising([]).to_string(), "\"\"");
    }

    #[test]
    fn six_bits_are_one_sign() {
        let even = |number: usize| number.is_multiple_of(2);
        let text = bits((0..8).map(even)).to_string();
        let digits = read(text.trim_matches('"'));
        assert_eq!(digits, [0b01_0101, 0b01]);
        assert_eq!(bits([true; 6]).to_string().len(), 3);
    }

    proptest! {
        #[test]
        fn whole_numbers_come_back(values in prop::collection::vec(prop_oneof![0..9_u32, any::<u32>()], 0..50)) {
            let wide: Vec<i64> = values.iter().copied().map(i64::from).collect();
            prop_assert_eq!(&risen(&rising(values.clone())), &wide);
            let back = read(whole(values).as_text().unwrap());
            prop_assert_eq!(back.into_iter().map(|one| one as i64).collect::<Vec<_>>(), wide);
        }

        #[test]
        fn every_way_to_write_values_gives_the_same_ones(values in prop::collection::vec(prop_oneof![-9.0..9.0, prop::num::f64::NORMAL], 0..50)) {
            let mut values = values;
            for _ in 0..2 {
                let [scattered, curved] = [scattered(values.clone()), curved(values.clone())];
                prop_assert_eq!(unpacked(&scattered), unpacked(&curved));
                prop_assert_eq!(unpacked(&scattered).len(), values.len());
                values.sort_by(f64::total_cmp);
            }
        }
    }
}
