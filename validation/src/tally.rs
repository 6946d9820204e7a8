//! The outcomes of the races of a tool, counted.

use std::fmt::Write as _;

use serde_json::Value;

use crate::bars::ALPHA;
use crate::binomial::share_bounds;
use crate::process::median;
use crate::told::Call;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    pub races: u64,
    pub faster: u64,
    pub slower: u64,
    pub unanswered: u64,
    pub seconds: Vec<f64>,
    /// Estimates less the truth, in points of a percent.
    pub errors: Vec<f64>,
}

impl Tally {
    /// Counts a row of raw data by the call it holds under this key; the true change is in
    /// percent.
    pub fn add(&mut self, row: &Value, key: &str, truth: f64) {
        self.races += 1;
        match Call::read(&row[key]) {
            Some(Call::Faster) => self.faster += 1,
            Some(Call::Slower) => self.slower += 1,
            Some(Call::Neither) => {}
            None => self.unanswered += 1,
        }
        self.seconds.extend(row["seconds"].as_f64());
        let error = row["percent"].as_f64().map(|percent| percent - truth);
        self.errors.extend(error);
    }

    pub fn told_apart(&self) -> u64 {
        self.faster + self.slower
    }

    /// Returns true if the counts allow a share of false calls of twice alpha: the lower one of
    /// their bounds is not above it.
    pub fn may_be_honest(&self) -> bool {
        let (low, _) = share_bounds(self.told_apart(), self.races, 0.95);
        low <= 2.0 * ALPHA
    }

    pub fn rmse(&self) -> Option<f64> {
        let squares: f64 = self.errors.iter().map(|error| error * error).sum();
        let count = self.errors.len() as f64;
        (!self.errors.is_empty()).then(|| (squares / count).sqrt())
    }

    pub fn median_seconds(&self) -> Option<f64> {
        (!self.seconds.is_empty()).then(|| median(self.seconds.iter().copied()))
    }

    /// Seconds of all races, for every one that called the candidate slower.
    pub fn seconds_per_right_answer(&self) -> Option<f64> {
        let seconds: f64 = self.seconds.iter().sum();
        (self.slower > 0).then(|| seconds / self.slower as f64)
    }

    /// Calls of either side, where both are the same.
    pub fn false_calls(&self) -> String {
        share(self.told_apart(), self.races) + &self.without_an_answer()
    }

    pub fn right_calls(&self) -> String {
        let mut text = share(self.slower, self.races);
        if self.faster > 0 {
            let _ = write!(text, "; **{} called faster**", self.faster);
        }
        text + &self.without_an_answer()
    }

    fn without_an_answer(&self) -> String {
        match self.unanswered {
            0 => String::new(),
            some => format!("; {some} without an answer"),
        }
    }
}

/// `3 of 60: 5% (1 to 14%)`
pub fn share(count: u64, races: u64) -> String {
    let (low, high) = share_bounds(count, races, 0.95);
    let percent = |share: f64| format!("{:.0}", share * 100.0);
    format!(
        "{count} of {races}: {}% ({} to {}%)",
        percent(count as f64 / races as f64),
        percent(low),
        percent(high)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_that_allow_twice_alpha_may_be_honest() {
        let tally = |wrong: u64, races: u64| Tally { slower: wrong, races, ..Tally::default() };
        assert!(tally(0, 20).may_be_honest());
        assert!(tally(5, 20).may_be_honest(), "25%, from 9%");
        assert!(!tally(6, 20).may_be_honest(), "30%, from 12%");
        assert_eq!(Tally::default().rmse(), None);
        assert_eq!(Tally::default().seconds_per_right_answer(), None);
    }
}
