//! A day of the calendar.

use std::fmt;

/// A day of the Gregorian calendar, in UTC. Days are ordered as they follow
/// each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Day {
    year: u16,
    month: u8,
    day: u8,
}

const DAYS_IN_400_YEARS: u64 = 146_097;

impl Day {
    /// The day with these numbers; `None` where the calendar has none, such as
    /// a 30th of February.
    pub fn new(year: u16, month: u8, day: u8) -> Option<Self> {
        let exists = (1..=12).contains(&month)
            && day >= 1
            && u64::from(day) <= days_in_month(u64::from(year), u64::from(month));
        exists.then_some(Self { year, month, day })
    }

    /// The day of a text such as `2026-12-31`. `Err` says what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let no_date = || format!("'{text}' is no date, as 2026-12-31 is");
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
        // Two digits fit.
        Self::new(year, month as u8, day as u8)
            .ok_or_else(|| format!("'{text}' is no day of the calendar"))
    }

    /// The day so many seconds after the beginning of 1970, in UTC.
    pub fn of_unix_seconds(seconds: u64) -> Self {
        let mut days = seconds / 86_400;
        // Whole cycles of 400 years first: the calendar repeats after them.
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

#[cfg(test)]
mod tests {
    use super::*;

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
            ("2026-02-29", "no day of the calendar"),
            ("1900-02-29", "no day of the calendar"),
            ("2026-13-01", "no day of the calendar"),
            ("2026-00-10", "no day of the calendar"),
            ("2026-04-31", "no day of the calendar"),
            ("2026-4-30", "no date"),
            ("tomorrow", "no date"),
            ("2026-12-31T00:00:00Z", "no date"),
            ("2026-12-31-01", "no date"),
            ("+026-12-31", "no date"),
            ("", "no date"),
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
}
