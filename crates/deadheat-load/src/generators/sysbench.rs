//! Reads the report of sysbench.

use super::generator::{Generator, nothing_missing};
use super::report::Report;
use super::text::{first_number, nanoseconds, number, percentile};
use super::words::CliOption;

pub(super) const SYSBENCH: Generator = Generator {
    name: "sysbench",
    programs: &["sysbench"],
    about: "databases, CPU and memory, closed loop, open with --rate; reads transactions (else \
            events), their rate, ignored errors, reconnects and latencies",
    expected: "the report of sysbench with `transactions:` or `total number of events:`",
    is_open: |arguments| RATE.is_positive(arguments),
    missing: nothing_missing,
    latencies,
    reader: read,
};

const RATE: CliOption = CliOption {
    short: None,
    long: "rate",
    flags: "",
};

const PERCENTILE: CliOption = CliOption {
    short: None,
    long: "percentile",
    flags: "",
};

fn latencies(arguments: &[String]) -> &'static [&'static str] {
    // The operations of these tests take less than 0.01 ms, to which sysbench rounds.
    let is_rounded = |word: &String| word == "memory" || word == "fileio";
    if arguments.iter().any(is_rounded) {
        &[]
    } else if PERCENTILE.is_in(arguments) {
        &["mean"]
    } else {
        &["mean", "p95"]
    }
}

fn read(stdout: &str, stderr: &str) -> Option<Report> {
    let mut report = Report::default();
    let (mut transactions, mut events, mut seconds) = (None, None, None);
    for (name, value) in stdout.lines().filter_map(|line| line.split_once(':')) {
        let value = value.trim();
        match name.trim() {
            "transactions" => (transactions, report.rate) = (first_number(value), rate(value)),
            "Total operations" => report.rate = rate(value),
            "events per second" => report.rate = first_number(value),
            "ignored errors" => report.add_errors(first_number(value), "ignored errors"),
            "reconnects" => report.add_errors(first_number(value), "reconnects"),
            "total number of events" => events = first_number(value),
            "total time" => seconds = value.strip_suffix('s').and_then(number),
            "min" => report.add_latency("min", milliseconds(value)),
            "avg" => report.add_latency("mean", milliseconds(value)),
            "max" => report.add_latency("max", milliseconds(value)),
            name => {
                if let Some(percent) = name.strip_suffix("percentile") {
                    let percent = percent.trim().trim_start_matches("approx.").trim();
                    if let Some(name) = percentile(percent.trim_end_matches("th")) {
                        report.add_latency(&name, milliseconds(value));
                    }
                }
            }
        }
    }
    report.requests = transactions.or(events);
    // Some tests, such as `threads`, print no rate.
    let seconds = seconds.filter(|seconds| *seconds > 0.0);
    let rate = report.rate.or_else(|| Some(events? / seconds?))?;
    report.requests?;
    report.rate = rate.is_finite().then_some(rate);
    report.rate?;
    for line in stderr.lines().chain(stdout.lines()).map(str::trim) {
        if line.starts_with("FATAL:") {
            report.add_errors(Some(1.0), line);
        }
    }
    Some(report)
}

/// Parses the rate in `4779   (2385.26 per sec.)`.
fn rate(value: &str) -> Option<f64> {
    let (_, rate) = value.split_once('(')?;
    let (rate, _) = rate.split_once(" per sec")?;
    number(rate)
}

/// Parses a latency, which versions before 1.0 print with its unit.
fn milliseconds(value: &str) -> Option<f64> {
    nanoseconds(value.strip_suffix("ms").unwrap_or(value), "ms")
}
