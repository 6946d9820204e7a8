//! Formats quantities for people: four significant digits, a unit, an explicit sign.

use deadheat_model::{Estimate, Interval, LogRatio, Unit};

use crate::glyphs::Glyphs;
use crate::names::texts;

/// Significant digits of every measured value.
const DIGITS: i32 = 4;

/// Maximum decimals of a percentage. More would be useless: if the timer resolution limits an
/// interval, the interval can be narrower than any difference that matters.
const MOST_DECIMALS: usize = 3;

/// Increases from this change on (+900%) are shown as a factor, because 16.04× is easier to read
/// than +1504.19%.
const FACTORS_FROM: f64 = 9.0;

/// The largest factor shown. An interval from two replicates can extend to meaninglessly large
/// factors.
const MOST_TIMES: f64 = 9_999.0;

/// Beyond this change in either direction, a sentence begins with a factor: 2.18× as fast.
const LEADS_FROM: f64 = 0.25;

/// The largest standard deviation shown, in percent.
pub(crate) const MOST_SPREAD: f64 = 999.0;

/// The smallest standard deviation shown, in percent; smaller ones have no practical effect.
const LEAST_SPREAD: f64 = 0.01;

/// Integer counts below this are shown without a unit prefix, because 13 next to 10000 is easier to
/// read than 0.01300 k next to 10.00 k.
const PLAIN_COUNTS: f64 = 1e6;

/// A unit for one or more values. If values share a unit, readers can compare their digits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// The number of recorded units in one unit of this scale.
    pub(crate) factor: f64,
    /// The name of the unit; empty for a plain count.
    pub(crate) symbol: &'static str,
    /// True if every value is an integer number of recorded units. Integer counts, bytes and ticks
    /// are exact, so decimals would suggest an uncertainty that does not exist.
    whole: bool,
}

impl Scale {
    /// Returns the scale in which the largest of `values` has one to three digits before the
    /// decimal point.
    ///
    /// Returns `None` if the values differ by more than a factor of 1,000, because the smaller ones
    /// would have many leading zeros. Each value then needs a separate scale.
    pub fn shared(unit: Unit, values: &[f64], glyphs: Glyphs) -> Option<Scale> {
        let positive = || values.iter().copied().filter(|v| *v > 0.0);
        let largest = positive().fold(0.0, f64::max);
        let smallest = positive().fold(f64::INFINITY, f64::min);
        (largest == 0.0 || largest / smallest <= 1000.0).then(|| Scale {
            whole: values.iter().all(|value| is_whole(*value)),
            ..Scale::fitting(unit, largest, glyphs)
        })
    }

    /// Returns the scale that suits one value.
    pub fn fitting(unit: Unit, value: f64, glyphs: Glyphs) -> Scale {
        // A rate recorded in MB/s may be shown in GB/s.
        let (recorded, unit) = match unit.bytes_per_second() {
            Some(bytes) => (bytes, Unit::BytesPerSecond),
            None => (1.0, unit),
        };
        let value = value * recorded;
        let (step, symbols) = match unit {
            Unit::Nanoseconds => (1e3, ["ns", glyphs.microseconds(), "ms", "s"]),
            Unit::Bytes => (1024.0, ["B", "KiB", "MiB", "GiB"]),
            Unit::Count => (1e3, ["", "k", "M", "G"]),
            Unit::PerSecond => (1e3, ["/s", "k/s", "M/s", "G/s"]),
            // The remaining units are byte rates.
            _ => (1e3, ["B/s", "kB/s", "MB/s", "GB/s"]),
        };
        let plain = unit == Unit::Count && is_whole(value) && value < PLAIN_COUNTS;
        let powers = if plain { 0..1 } else { 0..symbols.len() };
        let factor = |power: usize| f64::powi(step, power as i32);
        // A value that would round to 1000 of a unit is shown as 1.000 of the next unit.
        let power = powers
            .rev()
            .find(|power| value >= factor(*power) * (1.0 - 0.5e-4));
        let power = power.unwrap_or(0);
        Scale {
            factor: factor(power) / recorded,
            symbol: symbols[power],
            whole: is_whole(value / recorded),
        }
    }

    /// Formats the value with four significant digits and the unit.
    pub fn show(self, value: f64) -> String {
        let scaled = value / self.factor;
        let number = if self.whole && self.factor == 1.0 {
            format!("{scaled}")
        } else {
            format!("{scaled:.*}", decimals(scaled, DIGITS).min(9))
        };
        self.named(&number)
    }

    /// Formats the value with enough digits to distinguish values in this range, but at least four.
    pub fn show_within(self, value: f64, range: f64) -> String {
        let scaled = value / self.factor;
        let places = decimals(scaled, DIGITS).max(decimals(range / self.factor, 2));
        self.named(&format!("{scaled:.*}", places.min(9)))
    }

    fn named(self, number: &str) -> String {
        format!("{number} {}", self.symbol).trim_end().to_owned()
    }
}

fn is_whole(value: f64) -> bool {
    value.fract() == 0.0
}

/// Formats one value in a suitable unit.
pub fn quantity(unit: Unit, value: f64, glyphs: Glyphs) -> String {
    Scale::fitting(unit, value, glyphs).show(value)
}

/// Formats values for comparison, in one unit if that is readable.
pub fn quantities(unit: Unit, values: &[f64], glyphs: Glyphs) -> Vec<String> {
    let shared = Scale::shared(unit, values, glyphs);
    texts(values, &|value| match shared {
        Some(scale) => scale.show(*value),
        None => quantity(unit, *value, glyphs),
    })
}

/// A unit for all times of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeUnit {
    /// Nanoseconds, shown as `ns`.
    Nanoseconds,
    /// Microseconds, shown as `µs`.
    Microseconds,
    /// Milliseconds, shown as `ms`.
    Milliseconds,
    /// Seconds, shown as `s`.
    Seconds,
}

impl TimeUnit {
    /// The names and units that users can choose.
    pub const ALL: [(&str, TimeUnit); 4] = [
        ("ns", TimeUnit::Nanoseconds),
        ("us", TimeUnit::Microseconds),
        ("ms", TimeUnit::Milliseconds),
        ("s", TimeUnit::Seconds),
    ];

    /// Returns the unit with this name; "µs" also means "us".
    pub fn parse(name: &str) -> Option<TimeUnit> {
        let name = if name == "µs" { "us" } else { name };
        let named = Self::ALL.iter().find(|(known, _)| *known == name);
        named.map(|(_, unit)| *unit)
    }

    fn scale(self, glyphs: Glyphs) -> Scale {
        let (factor, symbol) = match self {
            TimeUnit::Nanoseconds => (1.0, "ns"),
            TimeUnit::Microseconds => (1e3, glyphs.microseconds()),
            TimeUnit::Milliseconds => (1e6, "ms"),
            TimeUnit::Seconds => (1e9, "s"),
        };
        Scale {
            factor,
            symbol,
            whole: false,
        }
    }
}

/// Formats values for comparison; times use `time_unit` if it is given.
pub(crate) fn quantities_in(
    time_unit: Option<TimeUnit>,
    unit: Unit,
    values: &[f64],
    glyphs: Glyphs,
) -> Vec<String> {
    match time_unit.filter(|_| unit == Unit::Nanoseconds) {
        Some(fixed) => texts(values, &|value| fixed.scale(glyphs).show(*value)),
        None => quantities(unit, values, glyphs),
    }
}

/// Returns the unit of a table, in which its smallest value has at least one digit before the
/// decimal point.
pub(crate) fn scale_of_table(
    time_unit: Option<TimeUnit>,
    unit: Unit,
    smallest: f64,
    glyphs: Glyphs,
) -> Scale {
    match time_unit.filter(|_| unit == Unit::Nanoseconds) {
        Some(fixed) => fixed.scale(glyphs),
        None => Scale::fitting(unit, smallest, glyphs),
    }
}

/// Returns the decimals for the values of a row, chosen by the smallest positive value: none from
/// 1,000 on, one from 10 on, three from 1 on, and below 1 as many as give four significant digits.
fn plain_decimals(values: &[f64]) -> usize {
    let positive = values.iter().copied().filter(|value| *value > 0.0);
    match positive.fold(f64::INFINITY, f64::min) {
        smallest if smallest < 1.0 => decimals(smallest, 4).min(9),
        smallest if smallest < 10.0 => 3,
        smallest if smallest < 1000.0 => 1,
        _ => 0,
    }
}

/// Formats values for comparison, without a unit.
pub fn plain<const N: usize>(values: &[f64; N]) -> [String; N] {
    let decimals = plain_decimals(values);
    values.map(|value| format!("{value:.decimals$}"))
}

/// Formats a difference of two of `values`, with its sign and the decimals of [`plain`].
pub fn plain_signed(values: &[f64], difference: f64, glyphs: Glyphs) -> String {
    let decimals = plain_decimals(values);
    format!("{}{:.decimals$}", glyphs.sign(difference), difference.abs())
}

/// Returns the decimals that give `value` this many significant digits.
pub(crate) fn decimals(value: f64, digits: i32) -> usize {
    if value == 0.0 || !value.is_finite() {
        return 0;
    }
    // The exponent comes from the rounded number: 9.996 with three digits is 10.0, not 10.00.
    let rounded = format!("{:.*e}", (digits - 1) as usize, value.abs());
    let exponent: i32 = rounded
        .rsplit_once('e')
        .and_then(|(_, exponent)| exponent.parse().ok())
        .unwrap_or(0);
    (digits - 1 - exponent).max(0) as usize
}

/// The number of meaningful decimals of a percentage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Precision(usize);

impl Precision {
    /// Returns the decimals that give the half-width of the interval two significant digits.
    /// Without an interval, the precision is unknown, so two decimals are used.
    pub fn of(interval: Option<&Interval>) -> Precision {
        let half_width = interval.map_or(0.0, |interval| {
            let [low, high] = ends(interval);
            (high - low) * 50.0
        });
        if half_width > 0.0 {
            Precision(decimals(half_width, 2).min(MOST_DECIMALS))
        } else {
            Precision(2)
        }
    }

    /// Returns the decimals for the ends of an interval. They are up to two more than
    /// [`Precision::of`] returns if this distinguishes an end from zero, so that `[-0.02%, +2.63%]`
    /// does not begin with `-0.0%`.
    fn of_ends(interval: &Interval) -> Precision {
        let Precision(plain) = Precision::of(Some(interval));
        let percents = ends(interval).map(|change| (change * 100.0).abs());
        let tells_apart = |decimals: &usize| {
            let least = 0.5 * 0.1_f64.powi(*decimals as i32);
            percents
                .iter()
                .all(|percent| *percent == 0.0 || *percent > least)
        };
        let most = (plain + 2).min(MOST_DECIMALS);
        Precision((plain..=most).find(tells_apart).unwrap_or(plain))
    }

    /// Formats a relative change in percent with its sign; a change that rounds to zero has no
    /// sign.
    pub fn signed(self, change: f64, glyphs: Glyphs) -> String {
        let size = self.size(change);
        // Infinite and NaN changes have no digits, as if they rounded to zero. But an infinite
        // increase is shown as a factor.
        if change >= FACTORS_FROM || size.contains(|c: char| matches!(c, '1'..='9')) {
            self.end(change, glyphs)
        } else {
            size
        }
    }

    /// Formats the end of an interval. It keeps its sign even if it rounds to zero, because an
    /// interval that excludes zero must not seem to include it.
    pub(crate) fn end(self, change: f64, glyphs: Glyphs) -> String {
        if change >= FACTORS_FROM {
            let factor = change + 1.0;
            let digits = if self.0 > 0 { 4 } else { 3 };
            return times(factor, decimals(factor, digits), glyphs);
        }
        format!("{}{}", glyphs.sign(change), self.size(change))
    }

    /// Formats a change in percent without its sign.
    pub fn size(self, change: f64) -> String {
        let percent = (change * 100.0).abs();
        format!("{percent:.*}%", self.0)
    }
}

/// Formats `factor` as "2.18×", with this many decimals.
fn times(factor: f64, decimals: usize, glyphs: Glyphs) -> String {
    let sign = glyphs.times();
    match factor {
        large if large > MOST_TIMES => format!("over {MOST_TIMES}{sign}"),
        factor => format!("{factor:.decimals$}{sign}"),
    }
}

/// Returns the factor that begins a sentence about this effect. The factor is always above 1:
/// "2.18×" for a change of −54.1%. Returns `None` for changes of at most 25%, because percentages
/// show these better.
pub(crate) fn leading_factor(effect: LogRatio, glyphs: Glyphs) -> Option<String> {
    let factor = effect.0.abs().exp();
    let leads = effect.change().abs() > LEADS_FROM;
    leads.then(|| times(factor, decimals(factor, 3), glyphs))
}

/// Formats a large increase at a mark of an axis as a factor: "10×"; `None` for changes shown in
/// percent.
pub(crate) fn round_factor(change: f64, glyphs: Glyphs) -> Option<String> {
    let factor = change + 1.0;
    (change >= FACTORS_FROM).then(|| times(factor, decimals(factor, 2), glyphs))
}

/// Returns true for an increase of at least [`FACTORS_FROM`], which every text shows as a factor.
pub(crate) fn is_shown_as_factor(effect: LogRatio) -> bool {
    effect.change() >= FACTORS_FROM
}

/// Formats an effect, with as many digits as its interval allows.
pub fn effect(effect: LogRatio, interval: Option<&Interval>, glyphs: Glyphs) -> String {
    Precision::of(interval).signed(effect.change(), glyphs)
}

/// Returns the change of an estimate, and its interval: "95% CI +7.2% to +11.2%". The label is the
/// level of the whole race, which all looks together keep, and not the higher level of the last
/// look.
pub(crate) fn estimated(estimate: &Estimate, coverage: f64, glyphs: Glyphs) -> [String; 2] {
    let change = effect(estimate.effect, estimate.interval.as_ref(), glyphs);
    let interval = match &estimate.interval {
        Some(interval) => format!(
            "{} {}",
            confidence_interval(coverage),
            range(interval, glyphs)
        ),
        None => "without an interval".to_owned(),
    };
    [change, interval]
}

pub(crate) fn confidence_interval(coverage: f64) -> String {
    format!("{} CI", share(coverage))
}

/// Returns the ends of an interval as relative changes.
pub(crate) fn ends(interval: &Interval) -> [f64; 2] {
    [interval.low.change(), interval.high.change()]
}

/// Formats an interval for tables: "[+1.4%, +2.8%]".
pub fn interval(interval: &Interval, glyphs: Glyphs) -> String {
    let [low, high] = shown_ends(interval, glyphs);
    format!("[{low}, {high}]")
}

/// Formats an effect with its interval: "+2.1% [+1.4%, +2.8%]".
pub fn sized(effect: LogRatio, found: Option<&Interval>, glyphs: Glyphs) -> String {
    let change = self::effect(effect, found, glyphs);
    match found {
        Some(found) => format!("{change} {}", interval(found, glyphs)),
        None => change,
    }
}

/// Formats the ends of an interval for a sentence: "+7.2% to +11.2%".
pub fn range(interval: &Interval, glyphs: Glyphs) -> String {
    shown_ends(interval, glyphs).join(" to ")
}

fn shown_ends(interval: &Interval, glyphs: Glyphs) -> [String; 2] {
    let precision = Precision::of_ends(interval);
    ends(interval).map(|end| precision.end(end, glyphs))
}

/// Returns the smallest and the largest value; `(∞, −∞)` without values.
pub fn extent(values: impl IntoIterator<Item = f64>) -> (f64, f64) {
    let none = (f64::INFINITY, f64::NEG_INFINITY);
    let values = values.into_iter();
    values.fold(none, |(low, high), value| (low.min(value), high.max(value)))
}

/// Returns the part of an estimate that an axis must show: its effect, and its interval up to a
/// factor of two from the effect. Otherwise the interval of two replicates, or of a mean of two
/// benchmarks, could stretch the axis from −99% to +9900% and compress the other intervals.
pub(crate) fn drawn_span(estimate: &Estimate) -> (LogRatio, LogRatio) {
    let LogRatio(effect) = estimate.effect;
    let interval = estimate.interval;
    let (low, high) = interval.map_or((effect, effect), |found| (found.low.0, found.high.0));
    let factor = std::f64::consts::LN_2;
    (
        LogRatio(low.max(effect - factor)),
        LogRatio(high.min(effect + factor)),
    )
}

/// Formats a standard deviation with "±" and two significant digits.
pub fn spread(sd: LogRatio, glyphs: Glyphs) -> String {
    let percent = sd.change() * 100.0;
    let sign = glyphs.plus_minus();
    if percent > MOST_SPREAD {
        format!("over {sign}{MOST_SPREAD}%")
    } else if percent < LEAST_SPREAD {
        format!("under {sign}{LEAST_SPREAD}%")
    } else {
        format!("{sign}{}%", two_digits(percent))
    }
}

/// Formats a share, a margin or a confidence level in percent, without trailing zeros.
///
/// Only 1 becomes 100%, and only 0 becomes 0%.
pub fn share(share: f64) -> String {
    let percent = share * 100.0;
    let from_edge = percent.min(100.0 - percent);
    if from_edge <= 0.0 {
        return format!("{percent:.0}%");
    }
    let places = decimals(from_edge, 2).clamp(2, 9);
    let digits = format!("{percent:.places$}");
    let digits = digits.trim_end_matches('0').trim_end_matches('.');
    format!("{digits}%")
}

/// Formats a quantile: "99% quantile".
pub fn quantile(of: f64) -> String {
    format!("{} quantile", share(of))
}

/// Formats a number with two significant digits.
pub fn two_digits(value: f64) -> String {
    format!("{value:.*}", decimals(value, 2))
}

/// The smallest p-value shown. Smaller p-values depend on the far tails of the distribution, about
/// which the data say nothing.
const LEAST_P: f64 = 0.0001;

/// Formats a p-value with two significant digits for a table cell: "0.012" or "< 0.0001".
pub fn p_value(p: f64) -> String {
    match p {
        p if p < LEAST_P => format!("< {LEAST_P}"),
        p => two_digits(p),
    }
}

/// Formats a p-value for a sentence: "p = 0.012" or "p < 0.0001".
pub fn p_is(p: f64) -> String {
    let shown = p_value(p);
    match shown.strip_prefix("< ") {
        Some(least) => format!("p < {least}"),
        None => format!("p = {shown}"),
    }
}

/// Formats a number as an integer from 10 on, and with two significant digits below.
pub(crate) fn rounded(value: f64) -> String {
    match value {
        0.0 => "0".to_owned(),
        value if value >= 9.95 => format!("{value:.0}"),
        value => two_digits(value),
    }
}

pub(crate) fn bytes(bytes: u64) -> String {
    let units = [(30, "GiB"), (20, "MiB"), (10, "KiB"), (0, "B")];
    let fits = |(shift, _): &(u32, &str)| bytes >= 1 << shift;
    let (shift, unit) = units.into_iter().find(fits).unwrap_or((0, "B"));
    format!("{} {unit}", rounded(bytes as f64 / (1u64 << shift) as f64))
}

/// Formats bytes in decimal units: `1.4 GB`, `264 MB`.
pub fn size_on_disk(bytes: u64) -> String {
    const UNITS: [(f64, &str); 3] = [(1e9, "GB"), (1e6, "MB"), (1e3, "kB")];
    let bytes = bytes as f64;
    // 999,999 bytes are shown as 1 MB, not as 1000 kB.
    let fitting = UNITS.iter().find(|(unit, _)| bytes >= 0.9995 * unit);
    match fitting {
        None => format!("{bytes} B"),
        Some((unit, name)) if bytes < 9.95 * unit => format!("{:.1} {name}", bytes / unit),
        Some((unit, name)) => format!("{:.0} {name}", bytes / unit),
    }
}

/// Formats a duration: seconds, minutes and seconds, or hours and minutes.
pub fn waiting(seconds: f64) -> String {
    if seconds < 9.95 {
        return format!("{seconds:.1} s");
    }
    let whole = seconds.round() as u64;
    match (whole / 3600, whole % 3600 / 60, whole % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (hours, minutes, _) => format!("{hours} h {minutes} min"),
    }
}

/// Formats a count with the singular or the plural noun.
pub fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval_of(low: f64, high: f64) -> Interval {
        Interval {
            low: LogRatio::from_change(low),
            high: LogRatio::from_change(high),
            confidence: 0.95,
        }
    }

    #[test]
    fn times_have_four_digits_and_a_fitting_unit() {
        for (ns, text) in [
            (1.417e9, "1.417 s"),
            (21.05e6, "21.05 ms"),
            (685.9e3, "685.9 µs"),
            (12.3, "12.30 ns"),
            (0.25, "0.2500 ns"),
            (999.96, "1.000 µs"),
            (999_940.0, "999.9 µs"),
            (12_345e9, "12345 s"),
            (0.0, "0 ns"),
        ] {
            assert_eq!(quantity(Unit::Nanoseconds, ns, Glyphs::Unicode), text);
        }
    }

    #[test]
    fn bytes_and_counts_have_units_of_their_own() {
        let show = |unit, value| quantity(unit, value, Glyphs::Ascii);
        assert_eq!(show(Unit::Bytes, 512.0), "512 B");
        assert_eq!(show(Unit::Bytes, 1536.0), "1.500 KiB");
        assert_eq!(show(Unit::Bytes, 3.25 * 1048576.0), "3.250 MiB");
        assert_eq!(show(Unit::Count, 44.0), "44");
        assert_eq!(show(Unit::Count, 44.5), "44.50");
        assert_eq!(show(Unit::Count, 1_234_567.0), "1.235 M");
        assert_eq!(show(Unit::Nanoseconds, 1500.0), "1.500 us");
    }

    #[test]
    fn a_rate_is_shown_in_the_unit_that_suits_it_whatever_it_was_recorded_in() {
        let show = |unit, value| quantity(unit, value, Glyphs::Ascii);
        assert_eq!(show(Unit::BytesPerSecond, 1.52e9), "1.520 GB/s");
        assert_eq!(show(Unit::MegabytesPerSecond, 1520.3), "1.520 GB/s");
        assert_eq!(show(Unit::MegabytesPerSecond, 12.0), "12 MB/s");
        assert_eq!(show(Unit::MegabytesPerSecond, 0.25), "250.0 kB/s");
        assert_eq!(show(Unit::MebibytesPerSecond, 1.0), "1.049 MB/s");
        assert_eq!(show(Unit::GigabytesPerSecond, 1.5), "1.500 GB/s");
        assert_eq!(show(Unit::PerSecond, 3.4e6), "3.400 M/s");
        let both = quantities(Unit::MegabytesPerSecond, &[980.0, 1010.0], Glyphs::Ascii);
        assert_eq!(both, ["0.9800 GB/s", "1.010 GB/s"]);
    }

    #[test]
    fn a_p_value_has_two_digits_and_is_never_shown_as_zero() {
        let shown = [1.0, 0.049, 0.00012, 0.0001, 0.00009, 8.3e-16, 0.0].map(p_value);
        let least = "< 0.0001";
        assert_eq!(
            shown,
            ["1.0", "0.049", "0.00012", "0.00010", least, least, least]
        );
        assert_eq!(p_is(0.03), "p = 0.030");
        assert_eq!(p_is(8.3e-16), "p < 0.0001");
    }

    #[test]
    fn values_to_be_compared_share_their_unit_unless_they_are_worlds_apart() {
        let show = |values: &[f64]| quantities(Unit::Nanoseconds, values, Glyphs::Unicode);
        assert_eq!(show(&[0.95e6, 1.05e6]), ["0.9500 ms", "1.050 ms"]);
        assert_eq!(show(&[12.0, 3e9]), ["12 ns", "3.000 s"]);
        assert_eq!(show(&[0.0, 3e6]), ["0 ms", "3.000 ms"]);
        assert_eq!(show(&[97.0, 98.0]), ["97 ns", "98 ns"]);
        assert_eq!(show(&[97.0, 98.5]), ["97.00 ns", "98.50 ns"]);
    }

    #[test]
    fn times_in_a_unit_that_was_asked_for_keep_it_and_other_values_do_not() {
        let show = |name, unit, values: &[f64]| {
            quantities_in(TimeUnit::parse(name), unit, values, Glyphs::Ascii)
        };
        let times = [97.0, 2.162e7];
        assert_eq!(
            show("ms", Unit::Nanoseconds, &times),
            ["0.00009700 ms", "21.62 ms"]
        );
        assert_eq!(
            show("µs", Unit::Nanoseconds, &times),
            ["0.09700 us", "21620 us"]
        );
        assert_eq!(show("ms", Unit::Bytes, &[2048.0]), ["2.000 KiB"]);
        assert_eq!(TimeUnit::parse("h"), None);
    }

    #[test]
    fn a_change_has_two_digits_of_the_half_width_of_its_interval() {
        for (low, change, high, text) in [
            (0.0987, 0.1012, 0.1038, "+10.12% [+9.87%, +10.38%]"),
            (-0.02, -0.012, -0.004, "−1.20% [−2.00%, −0.40%]"),
            (-0.3, 0.1, 0.5, "+10% [−30%, +50%]"),
            (0.00231, 0.00248, 0.00265, "+0.248% [+0.231%, +0.265%]"),
        ] {
            let range = interval_of(low, high);
            let theta = LogRatio::from_change(change);
            let shown = format!(
                "{} {}",
                effect(theta, Some(&range), Glyphs::Unicode),
                interval(&range, Glyphs::Unicode)
            );
            assert_eq!(shown, text);
        }
    }

    #[test]
    fn an_increase_of_tenfold_or_more_is_a_factor() {
        let shown = |low, change, high| {
            let range = interval_of(low, high);
            let change = effect(LogRatio::from_change(change), Some(&range), Glyphs::Unicode);
            format!("{change} {}", interval(&range, Glyphs::Ascii))
        };
        assert_eq!(shown(15.02, 15.04, 15.06), "16.04× [16.02x, 16.06x]");
        assert_eq!(shown(5.0, 12.0, 20.0), "13.0× [+500%, 21.0x]");
        assert_eq!(shown(8.8, 8.9, 8.99), "+890.0% [+880.0%, +899.0%]");
    }

    #[test]
    fn a_factor_leads_beyond_a_quarter_either_way() {
        let factor = |change| leading_factor(LogRatio::from_change(change), Glyphs::Unicode);
        assert_eq!(factor(0.25), None);
        assert_eq!(factor(-0.2), None);
        assert_eq!(factor(-0.541).as_deref(), Some("2.18×"));
        assert_eq!(factor(0.352).as_deref(), Some("1.35×"));
        assert_eq!(factor(-0.9999).as_deref(), Some("over 9999×"));
        assert_eq!(factor(15.04).as_deref(), Some("16.0×"));
    }

    #[test]
    fn an_end_near_zero_has_digits_that_tell_it_from_zero_or_keeps_its_sign() {
        let range = interval_of(-0.000_2, 0.026);
        assert_eq!(interval(&range, Glyphs::Ascii), "[-0.02%, +2.60%]");
        let near = interval_of(-0.004, -0.000_01);
        assert_eq!(interval(&near, Glyphs::Ascii), "[-0.400%, -0.001%]");
        let nearer = interval_of(-0.004, -0.000_000_1);
        assert_eq!(interval(&nearer, Glyphs::Ascii), "[-0.40%, -0.00%]");
        let touching = interval_of(0.0, 0.026);
        assert_eq!(interval(&touching, Glyphs::Ascii), "[0.0%, +2.6%]");
        assert_eq!(Precision(1).signed(0.0, Glyphs::Ascii), "0.0%");
    }

    #[test]
    fn a_change_that_rounds_to_nothing_has_no_sign() {
        for change in [-0.004, -0.0, 0.0, 0.004] {
            assert_eq!(Precision(0).signed(change, Glyphs::Ascii), "0%");
        }
        assert_eq!(Precision(0).signed(-0.006, Glyphs::Ascii), "-1%");
        assert_eq!(Precision(2).signed(-0.000_01, Glyphs::Ascii), "0.00%");
    }

    #[test]
    fn an_axis_has_room_for_a_factor_of_two_beside_an_effect_and_no_more() {
        let span = |low, high| {
            let estimate = Estimate {
                effect: LogRatio(0.1),
                interval: Some(Interval {
                    low: LogRatio(low),
                    high: LogRatio(high),
                    confidence: 0.95,
                }),
                p_value: None,
                replicates: 2,
                blocks: 2,
            };
            let (low, high) = drawn_span(&estimate);
            (low.0, high.0)
        };
        assert_eq!(span(-0.2, 0.4), (-0.2, 0.4));
        let factor = std::f64::consts::LN_2;
        assert_eq!(span(-4.6, 4.6), (0.1 - factor, 0.1 + factor));
    }

    #[test]
    fn a_change_beyond_telling_has_no_hundred_digits() {
        let range = Interval {
            low: LogRatio(-800.0),
            high: LogRatio(800.0),
            confidence: 0.95,
        };
        assert_eq!(interval(&range, Glyphs::Ascii), "[-100%, over 9999x]");
    }

    #[test]
    fn plain_values_of_a_row_have_the_decimals_that_the_smallest_needs() {
        assert_eq!(plain(&[1234.56, 98765.4]), ["1235", "98765"]);
        assert_eq!(plain(&[999.96, 1000.25]), ["1000.0", "1000.2"]);
        assert_eq!(plain(&[0.25, 12.0]), ["0.2500", "12.0000"]);
        assert_eq!(plain(&[0.021, 0.023]), ["0.02100", "0.02300"]);
        assert_eq!(plain(&[0.0, 5000.0]), ["0", "5000"]);
        let signed = |difference| plain_signed(&[12.0], difference, Glyphs::Unicode);
        assert_eq!(signed(-1.25), "−1.2");
        assert_eq!(signed(0.04), "+0.0");
        assert_eq!(signed(0.0), "0.0");
    }

    #[test]
    fn a_share_never_rounds_to_certainty() {
        for (value, text) in [
            (0.95, "95%"),
            (0.9884, "98.84%"),
            (0.999_999, "99.9999%"),
            (0.000_003, "0.0003%"),
            (0.01, "1%"),
            (0.0, "0%"),
            (1.0, "100%"),
            (0.2, "20%"),
        ] {
            assert_eq!(share(value), text);
        }
    }

    #[test]
    fn a_spread_has_two_digits_and_no_false_nought() {
        for (sd, text) in [
            (0.0139, "±1.4%"),
            (0.1823, "±20%"),
            (0.000_209, "±0.021%"),
            (0.000_02, "under ±0.01%"),
            (800.0, "over ±999%"),
        ] {
            assert_eq!(spread(LogRatio(sd), Glyphs::Unicode), text);
        }
        assert_eq!(spread(LogRatio(0.0139), Glyphs::Ascii), "+-1.4%");
    }

    #[test]
    fn waiting_is_told_in_the_units_of_a_clock_on_the_wall() {
        for (seconds, text) in [
            (0.0, "0.0 s"),
            (1.94, "1.9 s"),
            (14.2, "14 s"),
            (59.7, "1 min 0 s"),
            (125.0, "2 min 5 s"),
            (3780.0, "1 h 3 min"),
        ] {
            assert_eq!(waiting(seconds), text);
        }
    }

    #[test]
    fn sizes_have_two_digits_or_three() {
        for (bytes, text) in [
            (0, "0 B"),
            (999, "999 B"),
            (1500, "1.5 kB"),
            (9_949, "9.9 kB"),
            (9_999, "10 kB"),
            (264_100_000, "264 MB"),
            (999_999_999, "1.0 GB"),
            (1_432_000_000, "1.4 GB"),
            (23_000_000_000_000, "23000 GB"),
        ] {
            assert_eq!(size_on_disk(bytes), text);
        }
    }
}
