//! Races whose true change is known, counted: right, wrong and open verdicts, and how far the
//! estimates are off.

use std::fmt::Write as _;

use crate::bars::{Bar, plain_spread, spread};
use crate::process::median;

/// The distance allowed between an estimate and the true change, as a share of the latter;
/// bench_diff's definition of an anomaly.
pub const TOLERANCE: f64 = 0.4;

const ANOMALIES: f64 = 0.02;

#[derive(Clone, Copy, Debug)]
pub struct Promise {
    /// The share of races whose verdict is right, in time.
    pub right: f64,
    /// Seconds of a race from launch to end, in the median.
    pub seconds: f64,
    pub before: &'static str,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// `faster`, `slower`, `equivalent`, `inconclusive`; `None` without one.
    pub verdict: Option<String>,
    pub percent: f64,
    pub seconds: f64,
}

pub struct Known<'a> {
    pub what: &'a str,
    pub percent: f64,
    /// The outcome of each race.
    pub races: Vec<Outcome>,
}

pub const HEAD: &str = "\
| what | races | right | wrong | too close to call | reversals | anomalies | seconds | change, % | before |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
";

pub const LEGEND: &str = "\
The right verdict is *slower* if the candidate does more work than the baseline, and *dead heat* \
if both do the same work. A reversal is an estimate with the wrong sign. An anomaly is an estimate \
that misses the true change by more than 40% of the true change. Both definitions are \
bench_diff's. *Seconds* is the time of the whole process, as median (range). *Before* is the \
result of an earlier version of deadheat, which did not exclude scheduling delay. A row has no \
*before* if the earlier version was not measured.";

impl Known<'_> {
    fn right_verdict(&self) -> &'static str {
        if self.percent > 0.0 { "slower" } else { "equivalent" }
    }

    fn count(&self, is: impl Fn(&Outcome) -> bool) -> usize {
        self.races.iter().filter(|race| is(race)).count()
    }

    fn right(&self) -> usize {
        self.count(|race| race.verdict.as_deref() == Some(self.right_verdict()))
    }

    fn open(&self) -> usize {
        self.count(|race| matches!(race.verdict.as_deref(), None | Some("inconclusive")))
    }

    fn reversals(&self) -> usize {
        self.count(|race| race.percent < 0.0)
    }

    fn anomalies(&self) -> usize {
        self.count(|race| (race.percent - self.percent).abs() > TOLERANCE * self.percent)
    }

    fn seconds(&self) -> Vec<f64> {
        self.races.iter().map(|race| race.seconds).collect()
    }

    pub fn row(&self, before: &str) -> String {
        let (races, right, open) = (self.races.len(), self.right(), self.open());
        // Of no change there is no share, and neither sign is wrong.
        let [reversals, anomalies] = if self.percent > 0.0 {
            [self.reversals(), self.anomalies()].map(|count| count.to_string())
        } else {
            ["–".to_owned(), "–".to_owned()]
        };
        let changes: Vec<f64> = self.races.iter().map(|race| race.percent).collect();
        let mut line = String::new();
        let _ = writeln!(
            line,
            "| {} | {races} | {right} | {} | {open} | {reversals} | {anomalies} | {} | {} | {before} |",
            self.what,
            races - right - open,
            spread(&self.seconds(), 2),
            plain_spread(&changes, 2),
        );
        line
    }

    pub fn bars(&self, promise: &Promise) -> Vec<Bar> {
        let races = self.races.len();
        let before = match promise.before {
            "" => String::new(),
            before => format!(" (before: {before})"),
        };
        let mut bars = vec![
            Bar::share(
                format!("{}: {}{before}", self.what, self.right_verdict()),
                self.right(),
                races,
                promise.right,
            ),
            Bar::at_most(
                format!("{}: median time", self.what),
                median(self.seconds()),
                promise.seconds,
                2,
                "s",
            ),
        ];
        if self.percent > 0.0 {
            let (reversals, anomalies) = (self.reversals(), self.anomalies());
            bars.push(Bar::told(
                format!("{}: reversals", self.what),
                "none",
                format!("{reversals} of {races}"),
                reversals == 0,
            ));
            bars.push(Bar::told(
                format!("{}: anomalies", self.what),
                "at most 2 of 100",
                format!("{anomalies} of {races}"),
                anomalies as f64 <= ANOMALIES * races as f64,
            ));
        } else {
            let wrong = races - self.right() - self.open();
            bars.push(Bar::false_verdicts(
                format!("{}: faster or slower", self.what),
                wrong,
                races,
            ));
        }
        bars
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn race(verdict: &str, percent: f64) -> Outcome {
        Outcome { verdict: Some(verdict.to_owned()), percent, seconds: 1.0 }
    }

    #[test]
    fn what_is_right_depends_on_what_is_known() {
        let races = vec![
            race("slower", 1.1),
            race("equivalent", 0.5),
            race("inconclusive", -0.1),
            race("faster", -3.0),
        ];
        let more = Known { what: "more", percent: 1.0, races: races.clone() };
        assert_eq!(
            more.row("4 of 30"),
            "| more | 4 | 1 | 2 | 1 | 2 | 3 | 1.00 (1.00 to 1.00) | 0.50 (-3.00 to 1.10) | 4 of 30 |\n"
        );
        let promise = Promise { right: 0.9, seconds: 1.0, before: "4 of 30" };
        let bars: Vec<String> = more.bars(&promise).iter().map(Bar::to_string).collect();
        assert_eq!(
            bars,
            [
                "MISSED: more: slower (before: 4 of 30): 1 of 4 (at least 90%)",
                "met: more: median time: 1.00 s (at most 1 s)",
                "MISSED: more: reversals: 2 of 4 (none)",
                "MISSED: more: anomalies: 3 of 4 (at most 2 of 100)",
            ]
        );
        let same = Known { what: "same", percent: 0.0, races };
        assert!(same.row("").starts_with("| same | 4 | 1 | 2 | 1 | – | – |"));
        assert_eq!(same.bars(&promise).len(), 3);
    }
}
