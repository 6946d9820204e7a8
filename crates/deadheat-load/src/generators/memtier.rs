//! Reads the table and the progress of memtier_benchmark.

use super::generator::{Generator, is_closed, nothing_missing};
use super::report::{Report, successful};
use super::text::{lines, number, percentile, scaled};
use super::words::CliOption;

pub(super) const MEMTIER: Generator = Generator {
    name: "memtier",
    programs: &["memtier_benchmark"],
    about: "Redis and memcached (memtier_benchmark), closed loop; reads the rate and latencies of \
            `Totals`, and requests and error replies from its progress",
    expected: "the row `Totals` of memtier_benchmark",
    is_open: is_closed,
    missing: nothing_missing,
    latencies,
    reader: read,
};

const PERCENTILES: CliOption = CliOption {
    short: None,
    long: "print-percentiles",
    flags: "",
};

fn latencies(arguments: &[String]) -> &'static [&'static str] {
    if PERCENTILES.is_in(arguments) {
        &["mean"]
    } else {
        &["mean", "p50", "p99"]
    }
}

fn read(stdout: &str, stderr: &str) -> Option<Report> {
    let mut columns = Vec::new();
    let mut totals = None;
    for line in stdout.lines() {
        if line.starts_with("Type ") && line.contains("Ops/sec") {
            columns = line.split("  ").map(str::trim).collect();
            columns.retain(|column| !column.is_empty());
        } else if line.starts_with("Totals ") {
            // With several runs, the last table has the averages.
            let cells: Vec<&str> = line.split_whitespace().take(columns.len() + 1).collect();
            totals = (cells.len() == columns.len()).then(|| (columns.clone(), cells));
        }
    }
    let (columns, cells) = totals?;
    let ops = columns.iter().position(|column| *column == "Ops/sec")?;
    let printed = number(cells[ops])?;
    let progress = Progress::read(stderr);
    // After a run of some hundredths of a second, the table may have rates of 0.
    let rate = if printed > 0.0 {
        printed
    } else {
        progress.rate.unwrap_or(printed)
    };
    let all = progress.operations;
    let requests = all.map(|all| f64::max(all - progress.error_replies, 0.0));
    let mut report = progress.report;
    report.requests = requests;
    report.rate = Some(match (requests, all) {
        (Some(requests), Some(all)) => successful(rate, requests, all),
        _ => rate,
    });
    // Without a request, the table has the lower bound of the histogram.
    if report.rate.is_some_and(|rate| rate > 0.0) {
        for (column, cell) in columns.iter().zip(cells) {
            let name = match column.strip_suffix("Latency").map(str::trim) {
                Some("" | "Avg.") => Some("mean".to_owned()),
                Some(name) => name.strip_prefix('p').and_then(percentile),
                None => None,
            };
            if let Some(name) = name {
                report.add_latency(&name, scaled(cell, 6));
            }
        }
    }
    Some(report)
}

/// What memtier prints on standard error.
#[derive(Default)]
struct Progress {
    report: Report,
    operations: Option<f64>,
    /// Operations per second, on average over the last run.
    rate: Option<f64>,
    error_replies: f64,
}

impl Progress {
    fn read(stderr: &str) -> Progress {
        let mut progress = Progress::default();
        let mut last: Option<(&str, f64)> = None;
        let mut earlier_runs = 0.0;
        for line in lines(stderr) {
            if let Some((run, count)) = operations(line) {
                let earlier = last.filter(|(before, _)| *before != run);
                earlier_runs += earlier.map_or(0.0, |(_, count)| count);
                last = Some((run, count));
                progress.rate = average(line);
            }
            progress.read_error(line);
        }
        let operations = last.map(|(_, count)| earlier_runs + count);
        progress.operations = operations.filter(|count| count.is_finite());
        progress
    }

    /// Reads a message, which can follow the progress on the same line.
    fn read_error(&mut self, line: &str) {
        if let Some((_, reply)) = line.split_once("handle error response: ") {
            self.error_replies += 1.0;
            self.report.add_errors(Some(1.0), reply.trim());
        } else if let Some(at) = ["Connection error: ", "connection dropped"]
            .iter()
            .find_map(|words| line.find(words))
        {
            let words = line[at..].trim().trim_end_matches('.');
            self.report.add_errors(Some(1.0), words);
        }
    }
}

/// Parses 65461, the rate of `…: 4000 ops, 0 (avg: 65461) ops/sec, …`.
fn average(line: &str) -> Option<f64> {
    let (_, rest) = line.split_once("(avg:")?;
    let (rate, _) = rest.split_once(") ops/sec")?;
    number(rate.trim())
}

/// Parses the run and the count of `[RUN #1 100%, 0 secs] 0 threads 4 conns: 4000 ops, …`.
fn operations(line: &str) -> Option<(&str, f64)> {
    let (before, _) = line.strip_prefix("[RUN #")?.split_once(" ops,")?;
    let (run, _) = before.split_once(' ')?;
    let count = before.rsplit([' ', ':']).next()?;
    Some((run, number(count)?))
}
