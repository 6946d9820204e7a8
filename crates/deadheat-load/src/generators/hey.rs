//! Reads the summary of hey, whose layout oha shares.

use super::generator::{Generator, is_closed, nothing_missing};
use super::report::Report;
use super::tally::Tally;
use super::text::{first_number, nanoseconds, percentile};

pub(super) const HEY: Generator = Generator {
    name: "hey",
    programs: &["hey"],
    about: "HTTP, closed loop; reads requests, rate and failed replies",
    expected: "the summary of hey with `Requests/sec:` and a status code distribution",
    is_open: is_closed,
    missing: nothing_missing,
    // hey rounds to 0.1 ms, so a fast server has latencies of zero.
    latencies: |_| &[],
    reader: |stdout, _| read_summary(stdout),
};

pub(super) fn read_summary(stdout: &str) -> Option<Report> {
    let mut tally = Tally::default();
    let mut section = Section::Other;
    let mut rate = None;
    let mut is_complete = false;
    for line in stdout.lines().map(str::trim) {
        if line == "Status code distribution:" {
            (section, is_complete) = (Section::Status, true);
        } else if line == "Error distribution:" {
            (section, is_complete) = (Section::Error, true);
        } else if let Some((key, value)) = entry(line) {
            match section {
                Section::Status => tally.add_status(key, first_number(value)),
                Section::Error => tally.add_error(first_number(key), value),
                Section::Other => {}
            }
        } else if let Some((name, value)) = line.split_once(':') {
            section = Section::Other;
            match name {
                "Requests/sec" => rate = rate.or(first_number(value)),
                "Fastest" => tally.report.add_latency("min", time(value)),
                "Average" => tally.report.add_latency("mean", time(value)),
                "Slowest" => tally.report.add_latency("max", time(value)),
                _ => {}
            }
        } else if let Some((percent, value)) = line.split_once("% in ")
            && let Some(name) = percentile(percent)
        {
            tally.report.add_latency(&name, time(value));
        }
    }
    is_complete.then(|| tally.into_report(rate)).flatten()
}

enum Section {
    Status,
    Error,
    Other,
}

/// Splits a line such as `[200] 2000 responses`.
fn entry(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.strip_prefix('[')?.split_once(']')?;
    Some((key, value.trim()))
}

/// Parses a time such as `0.0113 secs` or `5.0121 ms`.
fn time(value: &str) -> Option<f64> {
    let mut words = value.split_whitespace();
    nanoseconds(words.next()?, words.next()?)
}
