//! Reads the output of redis-benchmark: the reports, the lines of `-q`, and the rows of `--csv`.

use super::generator::{Generator, is_closed, nothing_missing};
use super::report::Report;
use super::text::{first_number, lines, number, scaled};
use super::words::CliOption;

pub(super) const REDIS_BENCHMARK: Generator = Generator {
    name: "redis-benchmark",
    programs: &["redis-benchmark", "valkey-benchmark"],
    about: "Redis and Valkey, closed loop; reads the rate over all tests, the latencies if \
            there is a single test, and the number of requests (not printed with --csv or -q)",
    expected: "a row of --csv or `requests per second` of redis-benchmark",
    is_open: is_closed,
    missing: nothing_missing,
    latencies,
    reader: read,
};

const fn flag(short: Option<char>, long: &'static str) -> CliOption {
    CliOption {
        short,
        long,
        flags: "",
    }
}

const SINGLE_TESTS: [&str; 12] = [
    "get", "hset", "incr", "lpop", "lpush", "mset", "rpop", "rpush", "sadd", "set", "spop", "zadd",
];

/// Redis 6.2 and later print latencies; with `-q`, only the median.
fn latencies(arguments: &[String]) -> &'static [&'static str] {
    let tests = flag(Some('t'), "t").value(arguments);
    let is_single = tests.is_some_and(|test| SINGLE_TESTS.contains(&&*test.to_lowercase()));
    if is_single && !flag(Some('q'), "q").is_in(arguments) {
        &["mean", "p50", "p99"]
    } else {
        &[]
    }
}

/// The result of one test, such as `GET`.
#[derive(Default)]
struct Test {
    requests: Option<f64>,
    rate: f64,
    latencies: Vec<(String, f64)>,
}

fn read(stdout: &str, stderr: &str) -> Option<Report> {
    let mut tests: Vec<Test> = Vec::new();
    let mut requests = None;
    let mut columns: Vec<&str> = Vec::new();
    for line in lines(stdout).map(str::trim) {
        if let Some(cells) = cells(line) {
            match cells[..] {
                ["test", ..] => columns = cells,
                [_, .., _] => tests.extend(row(&columns, &cells)),
                _ => {}
            }
        } else if let Some((count, _)) = line.split_once(" requests completed in ") {
            requests = first_number(count);
        } else if let Some((before, after)) = line.rsplit_once(" requests per second") {
            let rate = before.rsplit(' ').next().and_then(number);
            let median = after.strip_prefix(", p50=").map(str::split_whitespace);
            let median = median.and_then(|mut words| scaled(words.next()?, 6));
            tests.extend(rate.map(|rate| {
                Test {
                    requests: requests.take(),
                    rate,
                    latencies: median
                        .map(|it| ("p50".to_owned(), it))
                        .into_iter()
                        .collect(),
                }
            }));
        } else if line.starts_with("avg ") {
            columns = line.split_whitespace().collect();
        } else if columns.first() == Some(&"avg") {
            if let Some(test) = tests.last_mut() {
                test.latencies = milliseconds(&columns, line.split_whitespace());
            }
            columns.clear();
        }
    }
    let mut report = total(&tests)?;
    if let [only] = &tests[..] {
        for (name, value) in &only.latencies {
            report.add_latency(name, Some(*value));
        }
    }
    for line in lines(stderr).chain(lines(stdout)).map(str::trim) {
        if line.starts_with("Error from server") || line.starts_with("Error: ") {
            report.add_errors(Some(1.0), line);
        }
    }
    Some(report)
}

/// Splits a row of `--csv`, whose cells are all quoted.
fn cells(line: &str) -> Option<Vec<&str>> {
    let row = line.strip_prefix('"')?.strip_suffix('"')?;
    Some(row.split("\",\"").collect())
}

/// Reads a row of `--csv`. Before Redis 6.2, rows lack a header and have only the rate.
fn row(columns: &[&str], cells: &[&str]) -> Option<Test> {
    let columns = if let ["test", values @ ..] = columns {
        values
    } else {
        &["rps"]
    };
    // The name of a test can contain the separator.
    let (_, values) = cells.split_at_checked(cells.len().checked_sub(columns.len())?)?;
    let rate = columns.iter().position(|column| *column == "rps")?;
    Some(Test {
        requests: None,
        rate: number(values[rate])?,
        latencies: milliseconds(columns, values.iter().copied()),
    })
}

/// Pairs columns such as `p99_latency_ms` or `p99` with their values in milliseconds.
fn milliseconds<'a>(columns: &[&str], values: impl Iterator<Item = &'a str>) -> Vec<(String, f64)> {
    let named = columns.iter().zip(values).filter_map(|(column, value)| {
        let name = match column.trim_end_matches("_latency_ms") {
            "avg" => "mean",
            name @ ("min" | "max") => name,
            name if name.strip_prefix('p').and_then(number).is_some() => name,
            _ => return None,
        };
        Some((name.to_owned(), scaled(value, 6)?))
    });
    named.collect()
}

/// Adds up the tests: the rate is all requests over the time of all tests. If the
/// numbers of requests are not printed, they are assumed to be equal.
fn total(tests: &[Test]) -> Option<Report> {
    if let [only] = tests {
        return Some(Report::new(only.requests, only.rate));
    }
    let counts: Option<Vec<f64>> = tests.iter().map(|test| test.requests).collect();
    let requests = counts.as_ref().map(|counts| counts.iter().sum::<f64>());
    let counts = counts.unwrap_or_else(|| vec![1.0; tests.len()]);
    let parts = counts
        .iter()
        .zip(tests)
        .map(|(count, test)| count / test.rate);
    let seconds: f64 = parts.sum();
    let rate = counts.iter().sum::<f64>() / seconds;
    let is_usable = rate.is_finite() && requests.is_none_or(f64::is_finite);
    is_usable.then(|| Report::new(requests, rate))
}
