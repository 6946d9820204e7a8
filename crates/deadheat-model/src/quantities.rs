//! Durations, percentages, sizes and days as people write them.

use std::fmt;
use std::time::Duration;

use crate::message::HELP;

/// Parses a duration: `30s`, `1.5 min`, `500ms`, `2h`; a bare number is seconds.
pub fn duration(text: &str) -> Result<Duration, String> {
    let trimmed = text.trim();
    let split = trimmed
        .find(|c: char| !(c.is_ascii_digit() || c == '.'))
        .unwrap_or(trimmed.len());
    let (number, unit) = trimmed.split_at(split);
    let not_a_time = || {
        format!(
            "'{text}' is not a time\nhelp: write a number and ns, us, ms, s, min or h, such as 30s"
        )
    };
    if number.is_empty() {
        return Err(not_a_time());
    }
    let seconds_per_unit = match unit.trim() {
        "ns" => 1e-9,
        "us" | "µs" | "μs" => 1e-6,
        "ms" => 1e-3,
        "" | "s" | "sec" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        other => {
            return Err(format!(
                "'{other}' is not a unit of time\nhelp: write a number and ns, us, ms, s, min or h, such as 30s"
            ));
        }
    };
    let number: f64 = number.parse().map_err(|_| not_a_time())?;
    let seconds = number * seconds_per_unit;
    match Duration::try_from_secs_f64(seconds) {
        Ok(duration) if duration > Duration::ZERO && seconds <= 1e8 => Ok(duration),
        _ => Err(format!(
            "'{text}' is out of range, which is above 0 and at most 3 years"
        )),
    }
}

/// Parses a fraction: `1%` or `0.01`.
pub fn fraction(text: &str) -> Result<f64, String> {
    share_of(text, "write a share, such as 1% or 0.01")
}

/// Parses a fraction. If the text is not a share and its meaning cannot be guessed, the error ends
/// with `advice`.
pub(crate) fn share_of(text: &str, advice: &str) -> Result<f64, String> {
    let trimmed = text.trim();
    let (number, is_percent) = match trimmed.strip_suffix('%') {
        Some(percent) => (percent.trim(), true),
        None => (trimmed, false),
    };
    let value: f64 = number.parse().map_err(|_| {
        let advice = match share_meant(text) {
            Some(meant) if number.contains(',') => format!("write a decimal point: {meant}"),
            Some(meant) => format!("did you mean {meant}?"),
            None => advice.to_owned(),
        };
        format!("'{text}' is not a share{HELP}{advice}")
    })?;
    // Parsed as a decimal number, because 99.9 / 100.0 is 0.9990000000000001.
    let share = is_percent.then(|| format!("{number}e-2").parse());
    Ok(match share {
        Some(Ok(share)) => share,
        // Parsing fails if the number itself has an exponent.
        Some(Err(_)) => value / 100.0,
        None => value,
    })
}

/// Returns the share that the user probably meant by a text that is not a share: `5%` for `5
/// percent`, `99%` for `p99`, `1.5%` for `1,5%`.
pub fn share_meant(text: &str) -> Option<String> {
    let lower = text.trim().to_ascii_lowercase();
    let with_point = lower.replacen(',', ".", 1);
    let number = with_point.strip_suffix('%').unwrap_or(&with_point).trim();
    let is_number = |text: &str| text.parse().is_ok_and(|number: f64| number.is_finite());
    if is_number(number) {
        return (with_point != lower).then_some(with_point);
    }
    let units = ["percent", "per cent", "pct"];
    let mut without_unit = units.iter().filter_map(|unit| lower.strip_suffix(unit));
    let percent = without_unit
        .next()
        .or_else(|| lower.strip_prefix('p'))?
        .trim();
    let value: f64 = percent.parse().ok()?;
    (0.0..=100.0)
        .contains(&value)
        .then(|| format!("{percent}%"))
}

/// Parses a number of bytes: `1500`, or with `K`, `M` or `G` for powers of 1024.
pub fn byte_size(text: &str) -> Option<u64> {
    let (digits, factor) = match text.trim().char_indices().next_back()? {
        (at, 'K' | 'k') => (&text.trim()[..at], 1 << 10),
        (at, 'M' | 'm') => (&text.trim()[..at], 1 << 20),
        (at, 'G' | 'g') => (&text.trim()[..at], 1 << 30),
        _ => (text.trim(), 1),
    };
    digits.parse::<u64>().ok()?.checked_mul(factor)
}

/// A day of the Gregorian calendar, in UTC. Days compare in calendar order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Day {
    year: u16,
    month: u8,
    day: u8,
}

const DAYS_IN_400_YEARS: u64 = 146_097;

impl Day {
    /// Returns the day with these numbers; `None` if the calendar lacks it, such as the 30th of
    /// February.
    pub fn new(year: u16, month: u8, day: u8) -> Option<Self> {
        let exists = (1..=12).contains(&month)
            && day >= 1
            && u64::from(day) <= days_in_month(u64::from(year), u64::from(month));
        exists.then_some(Self { year, month, day })
    }

    /// Parses a day such as `2026-12-31`. The error describes the problem.
    pub fn parse(text: &str) -> Result<Self, String> {
        let no_date = || format!("'{text}' is not a date such as 2026-12-31");
        let mut parts = text.split('-');
        let mut number = |digits: usize| -> Result<u16, String> {
            let part = parts.next().unwrap_or_default();
            let plain = part.len() == digits && part.bytes().all(|b| b.is_ascii_digit());
            part.parse().ok().filter(|_| plain).ok_or_else(no_date)
        };
        let (year, month, day) = (number(4)?, number(2)?, number(2)?);
        if parts.next().is_some() {
            return Err(no_date());
        }
        // Two digits fit in a `u8`.
        Self::new(year, month as u8, day as u8)
            .ok_or_else(|| format!("'{text}' does not exist in the calendar"))
    }

    /// Returns the seconds from the beginning of 1970 to the beginning of the day, in UTC; 0 for an
    /// earlier day.
    pub fn unix_seconds(self) -> u64 {
        let year = u64::from(self.year);
        let years = (1970..year).map(days_in_year).sum::<u64>();
        let months = (1..u64::from(self.month)).map(|month| days_in_month(year, month));
        if year < 1970 {
            return 0;
        }
        (years + months.sum::<u64>() + u64::from(self.day) - 1) * 86_400
    }

    /// Returns the day in UTC, given the seconds since the beginning of 1970.
    pub fn of_unix_seconds(seconds: u64) -> Self {
        let mut days = seconds / 86_400;
        // Whole cycles of 400 years come first, because the calendar repeats after each.
        let mut year = 1970 + days / DAYS_IN_400_YEARS * 400;
        days %= DAYS_IN_400_YEARS;
        while days >= days_in_year(year) {
            days -= days_in_year(year);
            year += 1;
        }
        let mut month = 1;
        while days >= days_in_month(year, month) {
            days -= days_in_month(year, month);
            month += 1;
        }
        Self {
            year: u16::try_from(year).unwrap_or(u16::MAX),
            month: month as u8,
            day: days as u8 + 1,
        }
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

fn days_in_year(year: u64) -> u64 {
    (1..=12).map(|month| days_in_month(year, month)).sum()
}

fn days_in_month(year: u64, month: u64) -> u64 {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        2 => 28 + u64::from(leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Returns the 64-bit FNV-1a hash, which is the same on every machine and in every version.
pub fn fnv1a(bytes: impl IntoIterator<Item = u8>) -> u64 {
    let hashed = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    bytes.into_iter().fold(0xcbf2_9ce4_8422_2325, hashed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_in_every_usual_unit() {
        for (text, ms) in [
            ("30s", 30_000),
            ("1.5 min", 90_000),
            ("500ms", 500),
            ("2", 2_000),
        ] {
            assert_eq!(duration(text), Ok(Duration::from_millis(ms)), "{text}");
        }
        for bad in ["", "s", "3 parsecs", "-1s", "0s", "1e9h", "1..2s"] {
            assert!(duration(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_fraction_is_the_same_with_and_without_percent() {
        assert_eq!(fraction("1%"), Ok(0.01));
        assert_eq!(fraction(" 0.5 %"), Ok(0.005));
        assert_eq!(fraction("0.01"), Ok(0.01));
        assert!(fraction("one").is_err());
        for (text, meant) in [
            ("5 percent", Some("5%")),
            ("5 Per cent", Some("5%")),
            ("p99", Some("99%")),
            ("p99.9", Some("99.9%")),
            ("1,5%", Some("1.5%")),
            ("0,9", Some("0.9")),
            ("p999", None),
            ("5%", None),
            ("0", None),
            ("5ms", None),
            ("p", None),
            ("small", None),
        ] {
            assert_eq!(share_meant(text).as_deref(), meant, "{text}");
        }
        for (percent, share) in [
            ("99.9%", 0.999),
            ("0.07%", 0.0007),
            ("1e1%", 0.1),
            ("+5.%", 0.05),
        ] {
            assert_eq!(fraction(percent), Ok(share), "{percent}");
        }
    }

    #[test]
    fn sizes_are_read_with_and_without_a_unit() {
        for (text, size) in [
            ("0", 0),
            ("1500", 1500),
            ("2K", 2048),
            ("3M", 3 << 20),
            ("1G", 1 << 30),
            ("4g", 4 << 30),
        ] {
            assert_eq!(byte_size(text), Some(size), "{text}");
        }
        for text in ["", "G", "1.5G", "-1", "1T", "99999999999G", "1€"] {
            assert_eq!(byte_size(text), None, "{text}");
        }
    }

    #[test]
    fn days_are_read_and_written_alike_and_follow_each_other() {
        let days = ["1999-12-31", "2000-02-29", "2026-01-31", "2026-02-01"];
        let read: Vec<Day> = days.iter().map(|day| Day::parse(day).unwrap()).collect();
        assert!(read.is_sorted());
        let written: Vec<String> = read.iter().map(Day::to_string).collect();
        assert_eq!(written, days);
    }

    #[test]
    fn what_the_calendar_does_not_have_is_refused() {
        for (text, told) in [
            ("2026-02-29", "does not exist in the calendar"),
            ("1900-02-29", "does not exist in the calendar"),
            ("2026-13-01", "does not exist in the calendar"),
            ("2026-00-10", "does not exist in the calendar"),
            ("2026-04-31", "does not exist in the calendar"),
            ("2026-4-30", "not a date"),
            ("tomorrow", "not a date"),
            ("2026-12-31T00:00:00Z", "not a date"),
            ("2026-12-31-01", "not a date"),
            ("+026-12-31", "not a date"),
            ("", "not a date"),
        ] {
            let problem = Day::parse(text).unwrap_err();
            assert!(problem.contains(told), "{text}: {problem}");
        }
    }

    #[test]
    fn seconds_fall_on_the_day_of_the_calendar() {
        for (seconds, day) in [
            (0, "1970-01-01"),
            (86_399, "1970-01-01"),
            (951_782_399, "2000-02-28"),
            (951_782_400, "2000-02-29"),
            (1_735_689_600, "2025-01-01"),
            (4_107_542_400, "2100-03-01"),
        ] {
            assert_eq!(Day::of_unix_seconds(seconds).to_string(), day, "{seconds}");
        }
    }

    #[test]
    fn names_are_hashed_as_the_authors_of_fnv_print_it() {
        for (name, hash) in [
            ("", 0xcbf2_9ce4_8422_2325),
            ("a", 0xaf63_dc4c_8601_ec8c),
            ("foobar", 0x8594_4171_f739_67e8),
        ] {
            assert_eq!(fnv1a(name.bytes()), hash, "{name}");
        }
    }
}
