//! Reads the summary of wrk, and of wrk2, which adds percentiles from a histogram.

use super::generator::{Generator, is_closed};
use super::report::{Report, successful};
use super::text::{duration, first_number, nanoseconds, percentile};
use super::words::CliOption;

pub(super) const WRK: Generator = Generator {
    name: "wrk",
    programs: &["wrk"],
    about: "HTTP/1.1, closed loop; reads requests, rate, failed replies and latencies",
    expected: "the line `Requests/sec:` of wrk",
    is_open: is_closed,
    missing,
    latencies: |_| &["mean", "p50", "p90", "p99"],
    reader: read_wrk,
};

pub(super) const WRK2: Generator = Generator {
    name: "wrk2",
    programs: &["wrk2"],
    about: "HTTP/1.1 at a fixed rate (-R); reads requests, rate, failed replies and latencies \
            from the scheduled time of sending",
    expected: "the line `Requests/sec:` of wrk2",
    is_open: |_| true,
    missing,
    latencies: |_| &["mean", "p50", "p90", "p99", "p99.9"],
    reader: read_wrk2,
};

const LATENCY: CliOption = CliOption {
    short: Some('L'),
    long: "latency",
    flags: "rvUB",
};

const RATE: CliOption = CliOption {
    short: Some('R'),
    long: "rate",
    flags: "LrvUB",
};

/// Returns true if the arguments have a rate, which wrk2 requires and wrk rejects.
pub(super) fn is_wrk2(arguments: &[String]) -> bool {
    RATE.is_in(arguments)
}

fn missing(arguments: &[String]) -> (usize, Vec<&'static str>) {
    let is_there = LATENCY.is_in(arguments);
    (0, if is_there { vec![] } else { vec!["--latency"] })
}

/// wrk counts a late reply as a timeout and as a request.
fn read_wrk(stdout: &str, _stderr: &str) -> Option<Report> {
    read(stdout, true)
}

/// wrk2 counts the connections that wait for a late reply as timeouts.
fn read_wrk2(stdout: &str, _stderr: &str) -> Option<Report> {
    read(stdout, false)
}

fn read(stdout: &str, counts_timeouts: bool) -> Option<Report> {
    let mut summary = Summary::default();
    let mut all = None;
    let mut rate = None;
    let mut failed = 0.0;
    for line in stdout.lines().map(str::trim) {
        if let Some(value) = line.strip_prefix("Requests/sec:") {
            rate = rate.or(first_number(value));
        } else if let Some(value) = line.strip_prefix("Non-2xx or 3xx responses:") {
            let count = first_number(value);
            failed += count.unwrap_or(0.0);
            let report = &mut summary.report;
            report.add_errors(count, "Non-2xx or 3xx responses");
        } else if let Some(kinds) = line.strip_prefix("Socket errors:") {
            for (kind, count) in kinds.split(',').filter_map(|it| it.trim().split_once(' ')) {
                let count = first_number(count);
                if kind == "timeout" && counts_timeouts {
                    failed += count.unwrap_or(0.0);
                }
                let words = format!("Socket errors: {kind}");
                summary.report.add_errors(count, &words);
            }
        } else if let Some((count, _)) = line.split_once(" requests in ") {
            all = all.or(first_number(count));
        } else {
            summary.read_latency(line);
        }
    }
    let (all, rate) = (all?, rate?);
    let requests = f64::max(all - failed, 0.0);
    let mut report = summary.into_report();
    report.requests = Some(requests);
    report.rate = Some(successful(rate, requests, all));
    Some(report)
}

#[derive(Default)]
struct Summary {
    report: Report,
    /// Mean and maximum in the table of the threads, which has fewer digits than the histogram.
    rounded: [Option<f64>; 2],
}

impl Summary {
    fn read_latency(&mut self, line: &str) {
        let words: Vec<&str> = line.split_whitespace().take(6).collect();
        match words[..] {
            ["Latency", mean, _deviation, max, _within] => {
                self.rounded = [duration(mean), duration(max)];
            }
            ["#[Mean", "=", mean, ..] => self.add_milliseconds("mean", mean),
            ["#[Max", "=", max, ..] => self.add_milliseconds("max", max),
            [percent, value] => {
                let name = percent.strip_suffix('%').and_then(percentile);
                // The maximum of the histogram is rounded up to the end of its bucket.
                if let Some(name) = name.filter(|name| name != "max") {
                    self.report.add_latency(&name, duration(value));
                }
            }
            _ => {}
        }
    }

    fn add_milliseconds(&mut self, name: &str, digits: &str) {
        let digits = digits.trim_end_matches(',');
        self.report.add_latency(name, nanoseconds(digits, "ms"));
    }

    fn into_report(mut self) -> Report {
        let [mean, max] = self.rounded;
        self.report.add_latency("mean", mean);
        self.report.add_latency("max", max);
        self.report
    }
}
