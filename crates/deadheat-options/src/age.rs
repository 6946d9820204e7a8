//! Ages of stored files, in hours, days or weeks.

use std::time::Duration;

/// Reads an age such as `12h`, `30d` or `8w`.
///
/// # Errors
///
/// Fails if the text is not an age; the message shows the accepted form.
pub fn age(text: &str) -> Result<Duration, String> {
    const DAY: u64 = 86_400;
    let (number, unit) = match text.trim().char_indices().next_back() {
        Some((at, 'd')) => (&text.trim()[..at], DAY),
        Some((at, 'w')) => (&text.trim()[..at], 7 * DAY),
        Some((at, 'h')) => (&text.trim()[..at], 3600),
        _ => ("", 0),
    };
    let seconds = number.parse::<u64>().ok().and_then(|n| n.checked_mul(unit));
    seconds
        .map(Duration::from_secs)
        .ok_or_else(|| format!("'{text}' is not an age\nhelp: write 12h, 30d or 8w"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_hours_days_or_weeks() {
        assert_eq!(age("12h"), Ok(Duration::from_secs(43_200)));
        assert_eq!(age("30d"), Ok(Duration::from_secs(2_592_000)));
        assert_eq!(age(" 2w "), Ok(Duration::from_secs(1_209_600)));
        assert_eq!(age("0d"), Ok(Duration::ZERO));
        for text in [
            "",
            "30",
            "d",
            "1.5d",
            "-1d",
            "3 parsecs",
            "99999999999999999999d",
        ] {
            assert!(age(text).unwrap_err().contains("30d"), "{text}");
        }
    }
}
