//! An axis of a plot: its range, and its ticks with labels.

use deadheat_model::Unit;

use crate::glyphs::Glyphs;
use crate::units::Scale;

const TICKS: usize = 7;

/// If the upper end of a logarithmic axis is at most this many times the lower end, the axis has
/// the tick values of a linear axis, because it looks like one.
const NARROW: f64 = 4.0;

/// One of the two axes of a frame.
#[derive(Clone, Debug)]
pub struct Axis {
    /// The smallest value.
    pub low: f64,
    /// The largest value.
    pub high: f64,
    pub(super) title: String,
    /// Positions on the axis, and their labels.
    pub ticks: Vec<(f64, String)>,
}

impl Axis {
    fn new((low, high): (f64, f64), title: impl Into<String>, ticks: Vec<(f64, String)>) -> Axis {
        Axis {
            low,
            high,
            title: title.into(),
            ticks,
        }
    }

    /// Creates an axis of changes, in percent.
    pub fn changes(span: (f64, f64), title: &str) -> Axis {
        let word = |value: f64, decimals| {
            let sign = Glyphs::Unicode.sign(value);
            format!("{sign}{}%", digits(value.abs(), decimals))
        };
        Axis::new(span, title, ticks(span, word))
    }

    /// Creates an axis of values of a metric, in a suitable unit.
    pub(super) fn quantities((low, high): (f64, f64), unit: Unit, title: &str) -> Axis {
        let scale = Scale::fitting(unit, low.abs().max(high.abs()), Glyphs::Unicode);
        let factor = scale.factor;
        let mut ticks = ticks((low / factor, high / factor), digits);
        ticks.iter_mut().for_each(|(at, _)| *at *= factor);
        let title = match scale.symbol {
            "" => title.to_owned(),
            symbol => format!("{title}, {symbol}"),
        };
        Axis::new((low, high), title, ticks)
    }

    /// Creates an axis of logarithms of a metric; its labels show the values themselves.
    pub(super) fn logarithms((low, high): (f64, f64), unit: Unit, title: &str) -> Axis {
        let (first, last) = (low.exp(), high.exp());
        let mut axis = Axis::quantities((first, last), unit, title);
        if last / first > NARROW {
            // The values differ by orders of magnitude, so each label has its own unit.
            axis = Axis::new((first, last), title, powers(low, high, unit));
        }
        let ticks = axis.ticks.into_iter();
        let ticks = ticks
            .map(|(value, word)| (value.ln(), word))
            .filter(|(at, _)| (low..=high).contains(at));
        Axis::new(
            (low, high),
            format!("{} (log)", axis.title),
            ticks.collect(),
        )
    }

    pub(super) fn counts(span: (f64, f64), title: &str) -> Axis {
        let mut ticks = ticks(span, |value, _| digits(value, 0));
        ticks.retain(|(at, _)| at.fract() == 0.0);
        Axis::new(span, title, ticks)
    }

    /// Creates an axis of signed numbers without a unit.
    pub(super) fn numbers(span: (f64, f64), title: &str) -> Axis {
        let word = |value: f64, decimals| {
            let sign = if value < 0.0 { "−" } else { "" };
            format!("{sign}{}", digits(value.abs(), decimals))
        };
        Axis::new(span, title, ticks(span, word))
    }

    /// Creates an axis without ticks, for example for rows.
    pub(super) fn hidden(span: (f64, f64)) -> Axis {
        Axis::new(span, "", Vec::new())
    }

    /// Creates an axis from 0% to 100%.
    pub(super) fn shares(title: &str) -> Axis {
        let tick = |quarter: u32| (f64::from(quarter) * 0.25, format!("{}%", quarter * 25));
        Axis::new((0.0, 1.0), title, (0..=4).map(tick).collect())
    }

    pub(super) fn holds(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }
}

/// Formats a value with this many decimals, or with an exponent if that would be long.
fn digits(value: f64, decimals: usize) -> String {
    if value.abs() < 1e7 && decimals <= 6 {
        format!("{value:.decimals$}")
    } else if value == 0.0 {
        "0".to_owned()
    } else {
        format!("{value:.1e}")
    }
}

/// Returns round values in the range, with labels that have just enough decimals to differ.
fn ticks((low, high): (f64, f64), word: impl Fn(f64, usize) -> String) -> Vec<(f64, String)> {
    if !(low < high && (high - low).is_finite()) {
        return Vec::new();
    }
    let power = ((high - low) / TICKS as f64).log10().floor() as i32;
    let steps = [(1.0, power), (2.0, power), (5.0, power), (1.0, power + 1)];
    let ticks = steps.into_iter().find_map(|(digit, power)| {
        let step = digit * 10f64.powi(power);
        let (first, last) = ((low / step).ceil(), (high / step).floor());
        let count = last - first + 1.0;
        (count <= TICKS as f64).then_some((step, power, first, count as usize))
    });
    let Some((step, power, first, count)) = ticks else {
        return Vec::new();
    };
    let decimals = power.min(0).unsigned_abs().min(12) as usize;
    (0..count)
        // Adding 0.0 turns −0.0 into 0.0.
        .map(|index| (first + index as f64) * step + 0.0)
        .map(|value| (value, word(value, decimals)))
        .collect()
}

/// Returns a few powers of ten between two logarithms, each with its label. A short range also has
/// 2 and 5 times these powers.
fn powers(low: f64, high: f64, unit: Unit) -> Vec<(f64, String)> {
    let ten = std::f64::consts::LN_10;
    let (first, last) = ((low / ten).floor() as i32, (high / ten).ceil() as i32);
    let every = (last - first) / TICKS as i32 + 1;
    let steps: &[f64] = match last - first {
        0..=2 => &[1.0, 2.0, 5.0],
        _ => &[1.0],
    };
    (first..=last)
        .step_by(every.max(1) as usize)
        .flat_map(|power| steps.iter().map(move |step| step * 10f64.powi(power)))
        .map(|value| {
            let scale = Scale::fitting(unit, value * 1.000_001, Glyphs::Unicode);
            let number = value / scale.factor;
            let number = match number {
                // Numbers too small or too large for any unit.
                ..1e-3 | 1e6.. => format!("{number:.0e}"),
                1.0.. => format!("{}", number.round()),
                _ => format!("{number:.3}").trim_end_matches('0').to_owned(),
            };
            (
                value,
                format!("{number} {}", scale.symbol).trim_end().to_owned(),
            )
        })
        .collect()
}

/// The visible range extends by this many interquartile ranges beyond the quartiles.
const BESIDE: f64 = 4.0;

/// Returns a range that shows most of the values and all of `shown`, so that a few outliers do not
/// compress the rest into a line. The caller reports the number of outliers outside the range.
pub(super) fn view(values: impl Iterator<Item = f64>, shown: &[f64]) -> (f64, f64) {
    let mut values: Vec<f64> = values.filter(|value| value.is_finite()).collect();
    values.sort_by(f64::total_cmp);
    let mut low = f64::INFINITY;
    let mut high = f64::NEG_INFINITY;
    if let (Some(first), Some(last)) = (values.first(), values.last()) {
        // If most values are equal, the interquartile range is zero, so the range without the outer
        // 2% on each side is used.
        let inner = [4, 50].map(|part| {
            let cut = values.len() / part;
            (values[cut], values[values.len() - 1 - cut])
        });
        let inner = inner.into_iter().find(|(low, high)| low < high);
        let (from, to) = inner.unwrap_or((*first, *last));
        low = first.max(from - (to - from) * BESIDE);
        high = last.min(to + (to - from) * BESIDE);
    }
    for value in shown.iter().filter(|value| value.is_finite()) {
        low = low.min(*value);
        high = high.max(*value);
    }
    padded(low, high)
}

/// Returns a suffix for a title with the number of points outside the two axes; empty if all are
/// inside.
pub(super) fn beyond(places: impl Iterator<Item = (f64, f64)>, x: &Axis, y: &Axis) -> String {
    let outside = places.filter(|(a, b)| !(x.holds(*a) && y.holds(*b)));
    beyond_the_edge(outside.count())
}

/// Returns a suffix for a title with the number of points outside a frame; empty for zero.
pub(super) fn beyond_the_edge(count: usize) -> String {
    match count {
        0 => String::new(),
        count => format!("; {count} beyond the edge"),
    }
}

/// Widens a range a little; the result is never empty.
pub(super) fn padded(low: f64, high: f64) -> (f64, f64) {
    if !(low.is_finite() && high.is_finite()) {
        return (0.0, 1.0);
    }
    let least = (low.abs().max(high.abs()) * 1e-6).max(1e-9);
    let beside = ((high - low) * 0.05).max(least);
    (low - beside, high + beside)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(axis: &Axis) -> Vec<&str> {
        axis.ticks.iter().map(|(_, word)| word.as_str()).collect()
    }

    #[test]
    fn changes_have_signs_and_decimals_that_tell_them_apart() {
        let axis = Axis::changes((-1.2, 1.3), "change");
        assert_eq!(words(&axis), ["−1.0%", "−0.5%", "0.0%", "+0.5%", "+1.0%"]);
        let fine = Axis::changes((9.98, 10.02), "change");
        assert!(words(&fine).contains(&"+10.01%"), "{fine:?}");
    }

    #[test]
    fn quantities_are_in_the_unit_of_the_largest() {
        let axis = Axis::quantities((680_000.0, 760_000.0), Unit::Nanoseconds, "wall time");
        assert_eq!(axis.title, "wall time, µs");
        assert!(words(&axis).contains(&"700"), "{axis:?}");
        for (at, _) in &axis.ticks {
            assert!((axis.low..=axis.high).contains(at), "{axis:?}");
        }
    }

    #[test]
    fn a_wide_logarithmic_axis_names_each_value_in_its_unit() {
        let axis = Axis::logarithms((0.0, 1e9f64.ln()), Unit::Nanoseconds, "time");
        assert_eq!(axis.title, "time (log)");
        assert!(words(&axis).contains(&"1 ms") || words(&axis).contains(&"10 ms"));
        let narrow = Axis::logarithms((700f64.ln(), 760f64.ln()), Unit::Nanoseconds, "time");
        assert_eq!(narrow.title, "time, ns (log)");
        assert!(narrow.ticks.len() >= 3, "{narrow:?}");
    }

    #[test]
    fn counts_have_whole_ticks_only() {
        let axis = Axis::counts((0.0, 2.2), "samples");
        assert_eq!(words(&axis), ["0", "1", "2"]);
    }

    #[test]
    fn a_view_leaves_the_far_out_out_and_keeps_what_must_be_seen() {
        let mut values: Vec<f64> = (0..100).map(|n| f64::from(n) * 0.01).collect();
        values.push(1e9);
        let (low, high) = view(values.iter().copied(), &[-2.0]);
        assert!(low < -2.0 && low > -2.5, "{low}");
        assert!(high > 0.99 && high < 4.0, "{high}");
        let (low, high) = view([5.0].into_iter(), &[]);
        assert!(low < 5.0 && 5.0 < high);
        assert_eq!(view(std::iter::empty(), &[]), (0.0, 1.0));
    }
}
