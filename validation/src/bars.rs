//! Promises, measurements, and whether the measurements keep the promises.

use std::fmt::{self, Write as _};

use crate::binomial::binomial_bound;
use crate::process::median;

/// The share of false verdicts that deadheat allows itself at its defaults.
pub const ALPHA: f64 = 0.05;

pub struct Section {
    pub text: String,
    pub bars: Vec<Bar>,
}

pub struct Bar {
    what: String,
    bar: String,
    measured: String,
    kept: bool,
}

impl Bar {
    pub fn is_kept(&self) -> bool {
        self.kept
    }

    /// A number that must not be above the bar; shown rounded up.
    pub fn at_most(
        what: impl Into<String>,
        measured: f64,
        bar: f64,
        digits: usize,
        unit: &str,
    ) -> Self {
        Self {
            what: what.into(),
            bar: format!("at most {bar} {unit}").trim_end().to_owned(),
            measured: format!("{} {unit}", up(measured, digits)).trim_end().to_owned(),
            kept: measured <= bar,
        }
    }

    /// A number of cases out of so many that must reach a share.
    pub fn share(what: impl Into<String>, count: usize, of: usize, least: f64) -> Self {
        Self {
            what: what.into(),
            bar: format!("at least {:.0}%", least * 100.0),
            measured: format!("{count} of {of}"),
            kept: of > 0 && count as f64 >= least * of as f64,
        }
    }

    /// False verdicts, of so many that could be false: no more than a true
    /// share of alpha exceeds in less than 1% of such experiments.
    pub fn false_verdicts(what: impl Into<String>, wrong: usize, of: usize) -> Self {
        let allowed = binomial_bound(of as u64, ALPHA, 0.99);
        let share = wrong as f64 / of as f64;
        let kept = wrong as u64 <= allowed;
        // A share above alpha is no proof that the rate is, and is not called
        // kept either without saying so.
        let remark = match kept && share > ALPHA {
            true => ", above alpha, but within what chance allows",
            false => "",
        };
        Self {
            what: what.into(),
            bar: format!("at most alpha = 5% (chance allows {allowed} of {of})"),
            measured: format!("{wrong} of {of} = {:.2}%{remark}", share * 100.0),
            kept,
        }
    }

    pub fn told(
        what: impl Into<String>,
        bar: impl Into<String>,
        measured: impl Into<String>,
        kept: bool,
    ) -> Self {
        Self { what: what.into(), bar: bar.into(), measured: measured.into(), kept }
    }
}

impl fmt::Display for Bar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kept = if self.kept { "met" } else { "MISSED" };
        write!(f, "{kept}: {}: {} ({})", self.what, self.measured, self.bar)
    }
}

pub fn table(bars: &[Bar]) -> String {
    let missed = bars.iter().filter(|bar| !bar.kept).count();
    let mut text = match missed {
        0 => format!("All {} targets of the table below are met.\n\n", bars.len()),
        _ => format!("**{missed} of {} targets missed.**\n\n", bars.len()),
    };
    text += "| what | target | measured | |\n| --- | --- | --- | --- |\n";
    for bar in bars {
        let kept = if bar.kept { "met" } else { "**missed**" };
        let _ = writeln!(text, "| {} | {} | {} | {kept} |", bar.what, bar.bar, bar.measured);
    }
    text + "\nTimes and costs of deadheat are rounded up, so rounding never favours deadheat.\n\n"
}

pub fn up(value: f64, digits: usize) -> String {
    let factor = 10f64.powi(digits as i32);
    // What a double cannot hold exactly is not a reason for a digit more.
    let raised = (value * factor - 1e-9).ceil() / factor;
    // The greater of -0 and 0 may be either; added to 0 both are 0.
    format!("{:.digits$}", raised.max(0.0) + 0.0)
}

/// A time or cost: one of ours rounded up, one of a peer to the nearest, so
/// that no digit is in favour of deadheat.
pub fn fairly(value: f64, digits: usize, ours: bool) -> String {
    match ours {
        true => up(value, digits),
        false => format!("{value:.digits$}"),
    }
}

pub fn fair_spread(values: &[f64], digits: usize, ours: bool) -> String {
    median_and_range(values, |value| fairly(value, digits, ours))
}

pub fn spread(values: &[f64], digits: usize) -> String {
    median_and_range(values, |value| up(value, digits))
}

pub fn plain_spread(values: &[f64], digits: usize) -> String {
    median_and_range(values, |value| format!("{value:.digits$}"))
}

fn median_and_range(values: &[f64], shown: impl Fn(f64) -> String) -> String {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let median = median(values.iter().copied());
    format!("{} ({} to {})", shown(median), shown(least), shown(most))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_digit_is_in_favour_of_deadheat() {
        assert_eq!(fairly(0.4512, 2, true), "0.46");
        assert_eq!(fairly(0.4512, 2, false), "0.45");
        let seconds = [1.01, 1.02, 1.03];
        assert_eq!(fair_spread(&seconds, 1, true), "1.1 (1.1 to 1.1)");
        assert_eq!(fair_spread(&seconds, 1, false), "1.0 (1.0 to 1.0)");
    }

    #[test]
    fn numbers_are_rounded_up_and_exact_ones_stay() {
        assert_eq!(up(0.501, 2), "0.51");
        assert_eq!(up(0.5, 2), "0.50");
        assert_eq!(up(3.0, 0), "3");
    }

    #[test]
    fn false_verdicts_above_alpha_are_kept_only_with_a_remark() {
        let said = |wrong| Bar::false_verdicts("A/A", wrong, 100).to_string();
        assert_eq!(
            said(5),
            "met: A/A: 5 of 100 = 5.00% (at most alpha = 5% (chance allows 11 of 100))"
        );
        assert!(said(11).starts_with("met: A/A: 11 of 100 = 11.00%, above alpha, but within"));
        assert!(said(12).starts_with("MISSED: A/A: 12 of 100 = 12.00% ("));
    }

    #[test]
    fn a_bar_that_is_missed_by_a_little_is_missed() {
        assert!(Bar::at_most("", 0.5, 0.5, 1, "s").kept);
        assert!(!Bar::at_most("", 0.501, 0.5, 1, "s").kept);
        assert!(Bar::share("", 18, 20, 0.9).kept);
        assert!(!Bar::share("", 17, 20, 0.9).kept);
        assert!(!Bar::share("", 0, 0, 0.9).kept);
    }
}
