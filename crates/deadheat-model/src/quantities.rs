//! Durations, percentages and sizes as people write them.

use std::time::Duration;

/// `30s`, `1.5 min`, `500ms`, `2h`; a bare number is seconds.
pub fn duration(text: &str) -> Result<Duration, String> {
    let trimmed = text.trim();
    let split = trimmed
        .find(|c: char| !(c.is_ascii_digit() || c == '.'))
        .unwrap_or(trimmed.len());
    let (number, unit) = trimmed.split_at(split);
    let seconds_per_unit = match unit.trim() {
        "ns" => 1e-9,
        "us" | "µs" | "μs" => 1e-6,
        "ms" => 1e-3,
        "" | "s" | "sec" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        other => {
            return Err(format!(
                "'{other}' is no unit of time; use ns, us, ms, s, min or h"
            ));
        }
    };
    let number: f64 = number
        .parse()
        .map_err(|_| format!("'{text}' is no duration, as 30s is"))?;
    let seconds = number * seconds_per_unit;
    match Duration::try_from_secs_f64(seconds) {
        Ok(duration) if duration > Duration::ZERO && seconds <= 1e8 => Ok(duration),
        _ => Err(format!(
            "'{text}' is out of range; use more than 0 and at most 3 years"
        )),
    }
}

/// `1%` or `0.01`.
pub fn fraction(text: &str) -> Result<f64, String> {
    let trimmed = text.trim();
    let (number, scale) = match trimmed.strip_suffix('%') {
        Some(percent) => (percent.trim(), 100.0),
        None => (trimmed, 1.0),
    };
    let value: f64 = number
        .parse()
        .map_err(|_| format!("'{text}' is no fraction, as 1% or 0.01 is"))?;
    Ok(value / scale)
}

/// A number of bytes: `1500`, or with `K`, `M` or `G` for powers of 1024.
pub fn byte_size(text: &str) -> Option<u64> {
    let (digits, factor) = match text.trim().char_indices().next_back()? {
        (at, 'K' | 'k') => (&text.trim()[..at], 1 << 10),
        (at, 'M' | 'm') => (&text.trim()[..at], 1 << 20),
        (at, 'G' | 'g') => (&text.trim()[..at], 1 << 30),
        _ => (text.trim(), 1),
    };
    digits.parse::<u64>().ok()?.checked_mul(factor)
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
}
