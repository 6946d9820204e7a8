//! Adds up the replies and errors that hey and oha list.

use super::report::{Report, successful};

/// Counts of replies and errors.
#[derive(Default)]
pub(super) struct Tally {
    pub(super) report: Report,
    requests: f64,
    /// Everything that the generator counts in its rate.
    all: f64,
}

/// What oha calls the requests that it drops because `-z` has elapsed. They have not failed.
const CUT_OFF: &str = "aborted due to deadline";

impl Tally {
    pub(super) fn add_status(&mut self, status: &str, count: Option<f64>) {
        self.all += count.unwrap_or(0.0);
        if matches!(status.parse(), Ok(200..400_u16)) {
            self.requests += count.unwrap_or(0.0);
        } else {
            let words = format!("[{status}] responses");
            self.report.add_errors(count, &words);
        }
    }

    pub(super) fn add_error(&mut self, count: Option<f64>, words: &str) {
        self.all += count.unwrap_or(0.0);
        if words != CUT_OFF {
            self.report.add_errors(count, words);
        }
    }

    pub(super) fn into_report(self, rate: Option<f64>) -> Option<Report> {
        let is_finite = self.all.is_finite();
        let rate = rate.filter(|_| is_finite)?;
        let mut report = self.report;
        report.requests = Some(self.requests);
        report.rate = Some(successful(rate, self.requests, self.all));
        Some(report)
    }
}
