//! Reads the text and the JSON of oha.

use deadheat::parts::model::Json;

use super::generator::Generator;
use super::hey::read_summary;
use super::json::{self, field, fields, find_object};
use super::report::Report;
use super::tally::Tally;
use super::text::percentile;
use super::words::CliOption;

pub(super) const OHA: Generator = Generator {
    name: "oha",
    programs: &["oha"],
    about: "HTTP, closed loop, open with -q and --latency-correction; reads requests, rate, \
            failed replies and latencies, from text or JSON",
    expected: "the summary of oha with `Requests/sec:` and a status code distribution",
    is_open: |arguments| RATE.is_in(arguments) && CORRECTION.is_in(arguments),
    missing,
    latencies: |_| &["mean", "p50", "p90", "p99"],
    reader: |stdout, _| read_json(stdout).or_else(|| read_summary(stdout)),
};

const RATE: CliOption = CliOption {
    short: Some('q'),
    long: "query-per-second",
    flags: "jwS",
};

const CORRECTION: CliOption = CliOption {
    short: None,
    long: "latency-correction",
    flags: "",
};

const NO_TUI: CliOption = CliOption {
    short: None,
    long: "no-tui",
    flags: "",
};

/// JSON is not requested, because its option differs between versions and the text has the same
/// figures.
fn missing(arguments: &[String]) -> (usize, Vec<&'static str>) {
    let is_there = NO_TUI.is_in(arguments);
    (0, if is_there { vec![] } else { vec!["--no-tui"] })
}

fn read_json(stdout: &str) -> Option<Report> {
    let root = find_object(stdout, |root| {
        field(root, "statusCodeDistribution").is_some()
    })?;
    let mut tally = Tally::default();
    let summary = field(&root, "summary")?;
    for (name, key) in [("min", "fastest"), ("mean", "average"), ("max", "slowest")] {
        let time = field(summary, key).and_then(seconds);
        tally.report.add_latency(name, time);
    }
    for (key, value) in fields(field(&root, "latencyPercentiles")) {
        if let Some(name) = key.strip_prefix('p').and_then(percentile) {
            tally.report.add_latency(&name, seconds(value));
        }
    }
    for (status, value) in fields(field(&root, "statusCodeDistribution")) {
        tally.add_status(status, json::number(value));
    }
    for (words, value) in fields(field(&root, "errorDistribution")) {
        tally.add_error(json::number(value), words);
    }
    tally.into_report(json::number(field(summary, "requestsPerSec")?))
}

/// Converts seconds to nanoseconds.
fn seconds(value: &Json) -> Option<f64> {
    json::scaled(value, 9)
}
