//! Reads the report of ab (ApacheBench).

use super::generator::{Generator, is_closed, nothing_missing};
use super::report::{Report, successful};
use super::text::{first_number, nanoseconds, number, percentile};

pub(super) const AB: Generator = Generator {
    name: "ab",
    programs: &["ab"],
    about: "HTTP/1.0, closed loop; reads requests, rate, failed replies, the mean latency and \
            percentiles (to 1 ms)",
    expected: "the lines `Complete requests:` and `Requests per second:` of ab",
    is_open: is_closed,
    missing: nothing_missing,
    latencies: |_| &["mean"],
    reader: read,
};

fn read(stdout: &str, _stderr: &str) -> Option<Report> {
    let mut report = Report::default();
    let (mut complete, mut failed, mut rate) = (None, None, None);
    let (mut kinds, mut other_status) = (Vec::new(), None);
    for line in stdout.lines().map(str::trim) {
        if let Some(list) = line.strip_prefix("(Connect:") {
            kinds = kinds_of_failures(list);
        } else if let Some((name, value)) = line.split_once(':') {
            let value = value.trim();
            match name {
                "Complete requests" => complete = first_number(value),
                "Failed requests" => failed = first_number(value),
                "Write errors" => report.add_errors(first_number(value), name),
                "Non-2xx responses" => other_status = first_number(value),
                "Requests per second" => rate = first_number(value),
                "Time per request" => report.add_latency("mean", mean(value)),
                _ => {}
            }
        } else if let Some((percent, value)) = line.split_once('%')
            && let Some(name) = percentile(percent)
        {
            let digits = value.split_whitespace().next();
            let time = digits.and_then(|digits| nanoseconds(digits, "ms"));
            report.add_latency(&name, time);
        }
    }
    let (complete, failed, rate) = (complete?, failed?, rate?);
    let sum: f64 = kinds.iter().map(|(count, _)| count).sum();
    if sum == failed {
        for (count, kind) in kinds {
            report.add_errors(Some(count), &format!("Failed requests: {kind}"));
        }
    } else {
        report.add_errors(Some(failed), "Failed requests");
    }
    report.add_errors(other_status, "Non-2xx responses");
    let other_status = other_status.unwrap_or(0.0);
    let requests = f64::max(complete - failed - other_status, 0.0);
    report.requests = Some(requests);
    report.rate = Some(successful(rate, requests, complete));
    Some(report)
}

/// Parses the mean over concurrent requests, `0.767 [ms] (mean)`. The next line of the same name is
/// the mean interval between replies.
fn mean(value: &str) -> Option<f64> {
    nanoseconds(value.strip_suffix(" [ms] (mean)")?, "ms")
}

/// Parses `0, Receive: 0, Length: 68, Exceptions: 0)`, the list after `(Connect:`.
fn kinds_of_failures(list: &str) -> Vec<(f64, &str)> {
    let mut kinds = Vec::new();
    let mut kind = "Connect";
    for part in list.trim_end_matches(')').split(',') {
        let count = match part.split_once(':') {
            Some((name, count)) => {
                kind = name.trim();
                count
            }
            None => part,
        };
        kinds.extend(number(count.trim()).map(|count| (count, kind)));
    }
    kinds
}
