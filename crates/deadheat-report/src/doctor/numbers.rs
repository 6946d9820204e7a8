//! Formats the measured numbers of a checkup, with two significant digits, because a short
//! measurement is not more precise.

use crate::glyphs::Glyphs;
use crate::names::enumerated;
use crate::units::{rounded, two_digits};

/// A share of the time that is smaller than this value is shown as 0%.
const LEAST: f64 = 0.000_05;

pub(super) fn share(share: f64) -> String {
    match share {
        share if share < LEAST => "0%".to_owned(),
        share if share >= 0.9995 => "100%".to_owned(),
        share => format!("{}%", two_digits(share * 100.0)),
    }
}

/// Formats a small relative change in percent, with its sign and as many digits as [`share`] shows.
pub(super) fn signed(change: f64, glyphs: Glyphs) -> String {
    let sign = match change {
        change if change.abs() < LEAST => "",
        change if change < 0.0 => glyphs.minus(),
        _ => "+",
    };
    format!("{sign}{}", share(change.abs()))
}

pub(super) fn change(change: f64, glyphs: Glyphs) -> String {
    let percent = change.abs() * 100.0;
    match percent {
        percent if percent < 0.05 => "0%".to_owned(),
        percent => {
            let sign = if change < 0.0 { glyphs.minus() } else { "+" };
            format!("{sign}{}%", rounded(percent))
        }
    }
}

pub(super) fn count(count: f64) -> String {
    rounded(count)
}

pub(super) fn time(ns: f64, glyphs: Glyphs) -> String {
    let units = [
        (1e9, "s"),
        (1e6, "ms"),
        (1e3, glyphs.microseconds()),
        (1.0, "ns"),
    ];
    let fits = |(size, _): &(f64, &str)| ns >= size * 0.995;
    let (size, unit) = units.into_iter().find(fits).unwrap_or((1.0, "ns"));
    format!("{} {unit}", rounded(ns / size))
}

pub(super) fn frequency(khz: u64) -> String {
    match khz {
        khz if khz >= 1_000_000 => format!("{:.2} GHz", khz as f64 / 1e6),
        khz => format!("{:.0} MHz", khz as f64 / 1e3),
    }
}

pub(super) fn degrees(celsius: f64, glyphs: Glyphs) -> String {
    format!("{celsius:.0} {}", glyphs.choose("°C", "C"))
}

/// Formats cores for a sentence: `core 1`, `cores 0 to 3 and 8`.
pub(super) fn cores(list: &[u32]) -> String {
    let word = if list.len() == 1 { "core" } else { "cores" };
    let spoken: Vec<String> = ranges(list)
        .into_iter()
        .flat_map(|(from, to)| match to - from {
            0 => vec![from.to_string()],
            1 => vec![from.to_string(), to.to_string()],
            _ => vec![format!("{from} to {to}")],
        })
        .collect();
    if spoken.is_empty() {
        "no core".to_owned()
    } else {
        format!("{word} {}", enumerated(&spoken))
    }
}

/// Formats cores for options and for the kernel: `0-3,8`.
pub(super) fn list(cores: &[u32]) -> String {
    let parts: Vec<String> = ranges(cores)
        .into_iter()
        .map(|(from, to)| {
            if from == to {
                from.to_string()
            } else {
                format!("{from}-{to}")
            }
        })
        .collect();
    parts.join(",")
}

/// Merges adjacent core numbers into ranges; `cores` must be in ascending order.
fn ranges(cores: &[u32]) -> Vec<(u32, u32)> {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for core in cores {
        match ranges.last_mut() {
            Some((_, to)) if *to + 1 == *core => *to = *core,
            _ => ranges.push((*core, *core)),
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::bytes;

    #[test]
    fn shares_and_changes_have_two_digits() {
        let shares = [0.0, 0.000_57, 0.034, 0.61, 1.0].map(share);
        assert_eq!(shares, ["0%", "0.057%", "3.4%", "61%", "100%"]);
        let changes = [0.0, 0.0031, -0.48, 1.2].map(|one| change(one, Glyphs::Unicode));
        assert_eq!(changes, ["0%", "+0.31%", "−48%", "+120%"]);
        let small = [0.000_01, 0.0002, -0.008].map(|one| signed(one, Glyphs::Ascii));
        assert_eq!(small, ["0%", "+0.020%", "-0.80%"]);
    }

    #[test]
    fn counts_are_whole_where_that_says_enough() {
        let counts = [0.0, 0.4, 7.25, 250.3, 12_345.0].map(count);
        assert_eq!(counts, ["0", "0.40", "7.2", "250", "12345"]);
    }

    #[test]
    fn cores_are_spoken_and_listed() {
        assert_eq!(cores(&[1]), "core 1");
        assert_eq!(cores(&[0, 1]), "cores 0 and 1");
        assert_eq!(cores(&[0, 1, 2, 3, 8]), "cores 0 to 3 and 8");
        assert_eq!(cores(&[]), "no core");
        assert_eq!(list(&[0, 1, 2, 3, 8]), "0-3,8");
        assert_eq!(list(&[5]), "5");
    }

    #[test]
    fn quantities_have_units() {
        assert_eq!(frequency(4_700_000), "4.70 GHz");
        assert_eq!(frequency(800_000), "800 MHz");
        assert_eq!(degrees(61.4, Glyphs::Unicode), "61 °C");
        assert_eq!(degrees(61.4, Glyphs::Ascii), "61 C");
        let times = [17.7, 64.2, 4_030.0, 12.1e6, 2e9, 0.0].map(|ns| time(ns, Glyphs::Ascii));
        let shown = ["18 ns", "64 ns", "4.0 us", "12 ms", "2.0 s", "0 ns"];
        assert_eq!(times, shown);
        assert_eq!(time(999_800.0, Glyphs::Unicode), "1.0 ms");
        assert_eq!([bytes(2 << 30), bytes(300 << 20)], ["2.0 GiB", "300 MiB"]);
        assert_eq!(bytes(0), "0 B");
    }
}
