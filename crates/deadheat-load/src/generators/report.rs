//! The figures that are read from the output of a load generator.

use super::text::number;

/// What a load generator reports about one burst.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// The number of requests (or transactions) that succeeded; `None` if it is not printed.
    pub requests: Option<f64>,
    /// Successful requests per second; `None` if it is not printed.
    pub rate: Option<f64>,
    /// The numbers of failures, each with the label that the generator gives them.
    pub errors: Vec<(f64, String)>,
    /// Latencies in nanoseconds, by their names, in this order: `min`, `mean`, percentiles from
    /// the median such as `p50` and `p99.9`, `max`. Latencies that are printed as zero are left
    /// out.
    pub latencies: Vec<(String, f64)>,
}

/// Maximum number of kinds of errors in a report; further kinds are added up.
const MOST_ERRORS: usize = 10;

/// Maximum number of latencies in a report.
const MOST_LATENCIES: usize = 64;

impl Report {
    pub(super) fn new(requests: Option<f64>, rate: f64) -> Report {
        Report {
            requests,
            rate: Some(rate),
            ..Report::default()
        }
    }

    /// Adds errors, unless there are none. The counts of errors with the same label are added.
    pub(super) fn add_errors(&mut self, count: Option<f64>, words: &str) {
        let Some(count) = count.filter(|count| *count > 0.0) else {
            return;
        };
        let of_words = |errors: &[(f64, String)], words| errors.iter().position(|it| it.1 == words);
        let words = match of_words(&self.errors, words) {
            None if self.errors.len() >= MOST_ERRORS => "other errors",
            _ => words,
        };
        match of_words(&self.errors, words) {
            Some(at) => self.errors[at].0 = f64::min(self.errors[at].0 + count, f64::MAX),
            None => self.errors.push((count, words.to_owned())),
        }
    }

    /// Adds a latency, unless it is zero or the report already has one of that name.
    pub(super) fn add_latency(&mut self, name: &str, nanoseconds: Option<f64>) {
        let usable = nanoseconds.filter(|value| value.is_finite() && *value > 0.0);
        if let Some(value) = usable
            && self.latencies.len() < MOST_LATENCIES
            && !self.latencies.iter().any(|(other, _)| other == name)
        {
            self.latencies.push((name.to_owned(), value));
        }
    }

    pub(super) fn sort_latencies(&mut self) {
        let rank = |name: &str| match name {
            "min" => -2.0,
            "mean" => -1.0,
            name => name.strip_prefix('p').and_then(number).unwrap_or(f64::MAX),
        };
        self.latencies
            .sort_by(|(a, _), (b, _)| rank(a).total_cmp(&rank(b)));
    }
}

/// Returns the rate of successful requests, from the rate of `all` requests.
pub(super) fn successful(rate: f64, requests: f64, all: f64) -> f64 {
    if requests < all {
        rate * (requests / all)
    } else {
        rate
    }
}
