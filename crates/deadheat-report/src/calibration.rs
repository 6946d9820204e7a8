//! Answers about a calibration of the machine, in sentences and tables, and the sentence about it
//! that later races quote.

#[cfg(feature = "commands")]
mod answer;
#[cfg(feature = "commands")]
mod tables;

#[cfg(feature = "commands")]
pub use answer::{CalibrationOptions, to_calibration_markdown, to_calibration_text};

use deadheat_model::{CalibrationNote, Day, Promise, RaceKind};

use crate::units::{decimals, share, two_digits};

/// Returns the plural noun for races of this kind.
pub(crate) fn kind(kind: RaceKind) -> &'static str {
    match kind {
        RaceKind::Functions => "functions",
        RaceKind::Builds => "builds",
        RaceKind::Commands => "commands",
    }
}

/// Formats a share in percent, with two significant digits of its distance to 0% or to 100%,
/// whichever is closer. A positive share below 0.001% is shown as 0.001%.
fn percent(part: f64) -> String {
    match part * 100.0 {
        0.0 => "0%".to_owned(),
        percent if percent < 0.001 => "0.001%".to_owned(),
        percent if percent < 50.0 => format!("{}%", two_digits(percent)),
        percent if percent < 100.0 => format!("{percent:.*}%", decimals(100.0 - percent, 2)),
        percent => format!("{percent:.0}%"),
    }
}

/// Returns the result of the calibration of this machine for races of this kind, as a sentence
/// without its full stop.
pub fn calibrated(note: &CalibrationNote) -> String {
    let when = match note.started_at {
        Some(seconds) => format!(" on {}", Day::of_unix_seconds(seconds)),
        None => String::new(),
    };
    let calls = &note.false_calls;
    let found = match calls.at_most(note.alpha) {
        Promise::Broken => format!(
            "at least {}, although only {} are accepted: verdicts on {} are doubtful on this \
             machine",
            percent(calls.low),
            share(note.alpha),
            kind(note.kind)
        ),
        Promise::Kept | Promise::Open => format!("at most {}", percent(calls.high)),
    };
    let mut text = format!(
        "this machine was calibrated{when}: {} of {} A/A races of {} were called faster or slower \
         ({found})",
        calls.hits,
        calls.of,
        kind(note.kind)
    );
    if let Some(floor) = note.noise_floor {
        text += &format!(
            ", and the noise hides changes under {}",
            percent(floor.change())
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadheat_model::{LogRatio, Share};

    fn note(hits: u64, low: f64, high: f64) -> CalibrationNote {
        CalibrationNote {
            tool_version: "0.1.0".to_owned(),
            started_at: Some(1_795_312_800),
            kind: RaceKind::Functions,
            false_calls: Share {
                hits,
                of: 300,
                low,
                high,
            },
            alpha: 0.05,
            noise_floor: Some(LogRatio::from_change(0.003)),
        }
    }

    #[test]
    fn a_quiet_machine_is_told_by_what_it_calls_at_most() {
        assert_eq!(
            calibrated(&note(1, 0.0001, 0.0184)),
            "this machine was calibrated on 2026-11-22: 1 of 300 A/A races of functions were \
             called faster or slower (at most 1.8%), and the noise hides changes under 0.30%"
        );
    }

    #[test]
    fn a_machine_that_calls_too_much_is_told_by_what_it_calls_at_least() {
        let told = calibrated(&note(40, 0.097, 0.178));
        assert!(
            told.contains("(at least 9.7%, although only 5% are accepted"),
            "{told}"
        );
        assert!(told.contains("verdicts on functions are doubtful on this machine"));
    }

    #[test]
    fn what_is_not_known_is_not_told() {
        let bare = CalibrationNote {
            started_at: None,
            noise_floor: None,
            ..note(0, 0.0, 0.012)
        };
        assert_eq!(
            calibrated(&bare),
            "this machine was calibrated: 0 of 300 A/A races of functions were called faster or \
             slower (at most 1.2%)"
        );
    }

    #[test]
    fn shares_have_two_digits_and_none_is_hidden() {
        for (share, text) in [
            (0.0, "0%"),
            (1e-9, "0.001%"),
            (0.0184, "1.8%"),
            (0.5, "50%"),
            (0.7076, "71%"),
            (0.9106, "91.1%"),
            (0.9996, "99.960%"),
            (1.0, "100%"),
            (1.27, "127%"),
        ] {
            assert_eq!(percent(share), text);
        }
    }
}
