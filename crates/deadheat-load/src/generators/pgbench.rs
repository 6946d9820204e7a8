//! Reads the report of pgbench.

use super::generator::{Generator, nothing_missing};
use super::report::Report;
use super::text::{first_number, nanoseconds};
use super::words::CliOption;

pub(super) const PGBENCH: Generator = Generator {
    name: "pgbench",
    programs: &["pgbench"],
    about: "PostgreSQL, closed loop, open with -R; reads transactions, tps without connection \
            time, failed and skipped transactions, aborted clients and the mean latency",
    expected: "the line `tps = ` of pgbench",
    is_open: |arguments| RATE.is_positive(arguments),
    missing: nothing_missing,
    latencies: |_| &["mean"],
    reader: read,
};

const RATE: CliOption = CliOption {
    short: Some('R'),
    long: "rate",
    flags: "CdilnNqrSv",
};

fn read(stdout: &str, stderr: &str) -> Option<Report> {
    let mut report = Report::default();
    for line in stdout.lines().take_while(|line| !begins_details(line)) {
        if let Some(value) = line.strip_prefix("tps = ") {
            // Before PostgreSQL 14, the second line excludes the connection time.
            report.rate = first_number(value).or(report.rate);
        } else if let Some(value) = line.strip_prefix("latency average") {
            report.add_latency("mean", time(value));
        } else if let Some((name, value)) = line.split_once(':') {
            let count = || first_number(value.split(['/', '(']).next()?);
            match name {
                "number of transactions actually processed" => report.requests = count(),
                "number of failed transactions" | "number of transactions skipped" => {
                    report.add_errors(count(), name);
                }
                _ => {}
            }
        }
    }
    // pgbench prints no rate if every client is aborted in its first transaction.
    if report.requests == Some(0.0) {
        report.rate = report.rate.or(Some(0.0));
    }
    report.rate?;
    for line in stderr.lines().filter(|line| line.contains("client ")) {
        if let Some(at) = line.find(" aborted") {
            report.add_errors(Some(1.0), &format!("client{}", &line[at..]));
        }
    }
    Some(report)
}

/// Returns true if figures of single statements or scripts follow.
fn begins_details(line: &str) -> bool {
    line.starts_with("statement latencies") || line.starts_with("SQL script ")
}

/// Parses ` = 4.305 ms`.
fn time(value: &str) -> Option<f64> {
    let mut words = value.trim_start_matches([' ', '=', ':']).split_whitespace();
    nanoseconds(words.next()?, words.next()?)
}
