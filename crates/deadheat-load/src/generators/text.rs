//! Numbers, durations and lines in the output of load generators.

/// Parses a finite number that is not negative.
pub(super) fn number(text: &str) -> Option<f64> {
    scaled(text, 0)
}

/// Parses a number and multiplies it by a power of ten. Shifting the decimal exponent before
/// parsing rounds only once.
pub(super) fn scaled(text: &str, exponent: i32) -> Option<f64> {
    let (digits, own) = match text.split_once(['e', 'E']) {
        Some((digits, own)) => (digits, own.parse().ok()?),
        None => (text, 0),
    };
    if !digits.bytes().all(|b| b.is_ascii_digit() || b == b'.') {
        return None;
    }
    let exponent = exponent.checked_add(own)?;
    let value: f64 = format!("{digits}e{exponent}").parse().ok()?;
    value.is_finite().then_some(value)
}

/// Parses the first word as a number.
pub(super) fn first_number(text: &str) -> Option<f64> {
    number(text.split_whitespace().next()?)
}

/// Converts a number with a unit of time to nanoseconds.
pub(super) fn nanoseconds(digits: &str, unit: &str) -> Option<f64> {
    match unit {
        "ns" => scaled(digits, 0),
        "us" | "µs" | "μs" => scaled(digits, 3),
        "ms" => scaled(digits, 6),
        "s" | "sec" | "secs" => scaled(digits, 9),
        "m" => scaled(digits, 9).map(|value| value * 60.0),
        "h" => scaled(digits, 9).map(|value| value * 3600.0),
        _ => None,
    }
}

/// Parses a duration such as `574.82us` or `1m2.5s` and returns nanoseconds.
pub(super) fn duration(text: &str) -> Option<f64> {
    let mut total = None;
    let mut rest = text;
    while !rest.is_empty() {
        let (digits, tail) = rest.split_at(rest.find(|c: char| !is_digit(c))?);
        let (unit, tail) = tail.split_at(tail.find(is_digit).unwrap_or(tail.len()));
        total = Some(total.unwrap_or(0.0) + nanoseconds(digits, unit)?);
        rest = tail;
    }
    total
}

fn is_digit(c: char) -> bool {
    c.is_ascii_digit() || c == '.'
}

/// Returns the name of the latency at a percentile such as `99.900`. Percentiles below the median
/// have no name.
pub(super) fn percentile(percent: &str) -> Option<String> {
    match number(percent)? {
        100.0 => Some("max".to_owned()),
        percent if (50.0..100.0).contains(&percent) => Some(format!("p{percent}")),
        _ => None,
    }
}

/// Splits a text into lines, and a progress line that is overwritten into its states.
pub(super) fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split(['\n', '\r'])
}

/// Maximum number of characters of a line in an error message.
const MOST_QUOTED: usize = 200;

/// Returns the last line that is not blank, shortened, without control characters.
pub(super) fn last_line(text: &str) -> Option<String> {
    let line = text.rsplit(['\n', '\r']).map(str::trim);
    let line = line.into_iter().find(|line| !line.is_empty())?;
    let printable = line.chars().filter(|c| !c.is_control());
    Some(printable.take(MOST_QUOTED).collect())
}
