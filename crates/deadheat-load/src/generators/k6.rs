//! Reads the end-of-test summary of k6: the text, the JSON of `--summary-export`, and the JSON of
//! the data that `handleSummary` gets.

use deadheat::parts::model::Json;

use super::generator::Generator;
use super::json::{self, field, fields, find_object};
use super::report::{Report, successful};
use super::text::{duration, number, percentile};
use super::words::CliOption;

pub(super) const K6: Generator = Generator {
    name: "k6",
    programs: &["k6"],
    about: "scripted load, closed loop unless the command line contains arrival-rate; reads \
            http_reqs (iterations without HTTP requests), failed requests and checks, and latencies, \
            from text or JSON",
    expected: "k6's end-of-test summary with `http_reqs` or `iterations` on standard output",
    is_open: |arguments| arguments.iter().any(|word| word.contains("arrival-rate")),
    missing,
    latencies,
    reader: |stdout, _| read_json(stdout).or_else(|| read_text(stdout)),
};

const STATISTICS: CliOption = CliOption {
    short: None,
    long: "summary-trend-stats",
    flags: "",
};

const ALL_STATISTICS: &str = "--summary-trend-stats=avg,min,med,max,p(90),p(95),p(99),p(99.9)";

/// Requests the percentiles above `p(95)`, which k6 leaves out by default.
fn missing(arguments: &[String]) -> (usize, Vec<&'static str>) {
    let run = arguments.iter().position(|word| word == "run");
    match run.filter(|_| !STATISTICS.is_in(arguments)) {
        Some(run) => (run + 1, vec![ALL_STATISTICS]),
        None => (0, Vec::new()),
    }
}

fn latencies(arguments: &[String]) -> &'static [&'static str] {
    let is_own = arguments.iter().any(|word| word == ALL_STATISTICS);
    if is_own || !missing(arguments).1.is_empty() {
        &["mean", "p50", "p90", "p99"]
    } else {
        &[]
    }
}

/// The metrics of k6 that a report is made of.
#[derive(Default)]
struct Metrics {
    requests: Option<Counter>,
    iterations: Option<Counter>,
    failed: Option<f64>,
    failed_checks: Option<f64>,
    dropped: Option<f64>,
    request_times: Vec<(String, f64)>,
    iteration_times: Vec<(String, f64)>,
}

#[derive(Clone, Copy)]
struct Counter {
    count: f64,
    rate: f64,
}

impl Metrics {
    /// A script without HTTP requests is counted by its iterations.
    fn into_report(self) -> Option<Report> {
        let (counter, times, failed) = match self.requests {
            Some(requests) => (requests, self.request_times, self.failed.unwrap_or(0.0)),
            None => (self.iterations?, self.iteration_times, 0.0),
        };
        let requests = f64::max(counter.count - failed, 0.0);
        let rate = successful(counter.rate, requests, counter.count);
        let mut report = Report::new(Some(requests), rate);
        report.add_errors(Some(failed), "http_req_failed");
        report.add_errors(self.failed_checks, "checks_failed");
        report.add_errors(self.dropped, "dropped_iterations");
        for (name, value) in times {
            report.add_latency(&name, Some(value));
        }
        Some(report)
    }
}

fn read_text(stdout: &str) -> Option<Report> {
    let mut metrics = Metrics::default();
    for line in stdout.lines() {
        // A line of a metric with a threshold begins with its result.
        let line = line.trim_start().trim_start_matches(['✓', '✗', ' ']);
        let Some((name, value)) = line.split_once(':') else {
            continue;
        };
        let words: Vec<&str> = value.split_whitespace().take(MOST_WORDS).collect();
        match name.trim_end_matches('.') {
            "http_reqs" => set(&mut metrics.requests, counter(&words)),
            "iterations" => set(&mut metrics.iterations, counter(&words)),
            "http_req_failed" => set(&mut metrics.failed, rate_count(&words, true)),
            "checks" => set(&mut metrics.failed_checks, rate_count(&words, false)),
            "checks_failed" => set(&mut metrics.failed_checks, rate_count(&words, true)),
            "dropped_iterations" => {
                set(&mut metrics.dropped, counter(&words).map(|it| it.count));
            }
            "http_req_duration" => set_times(&mut metrics.request_times, &words),
            "iteration_duration" => set_times(&mut metrics.iteration_times, &words),
            _ => {}
        }
    }
    metrics.into_report()
}

/// Maximum number of words after the name of a metric.
const MOST_WORDS: usize = 64;

/// Keeps the first value: the totals precede the figures of single scenarios and groups.
fn set<T>(place: &mut Option<T>, value: Option<T>) {
    if place.is_none() {
        *place = value;
    }
}

/// Parses `500 3706.58/s`.
fn counter(words: &[&str]) -> Option<Counter> {
    let [count, rate, ..] = words else {
        return None;
    };
    Some(Counter {
        count: number(count)?,
        rate: number(rate.strip_suffix("/s")?)?,
    })
}

/// Parses `30.55% 2503 out of 8192`, or `30.55% ✓ 2503 ✗ 5689` before k6 1.0, and returns the count
/// of true or of false values.
fn rate_count(words: &[&str], of_true: bool) -> Option<f64> {
    let (yes, no) = match words {
        [_, yes, "out", "of", all, ..] => {
            let (yes, all) = (number(yes)?, number(all)?);
            (yes, f64::max(all - yes, 0.0))
        }
        [_, "✓", yes, "✗", no, ..] => (number(yes)?, number(no)?),
        _ => return None,
    };
    Some(if of_true { yes } else { no })
}

fn set_times(times: &mut Vec<(String, f64)>, words: &[&str]) {
    if times.is_empty() {
        let statistics = words.iter().filter_map(|word| word.split_once('='));
        times.extend(statistics.filter_map(|(key, value)| Some((name(key)?, duration(value)?))));
    }
}

/// Returns the name of the latency for a statistic such as `med`, `p(99)` or `p99`.
fn name(statistic: &str) -> Option<String> {
    match statistic {
        "avg" => Some("mean".to_owned()),
        "med" => Some("p50".to_owned()),
        "min" | "max" => Some(statistic.to_owned()),
        _ => {
            let percent = statistic.strip_prefix('p')?;
            percentile(percent.trim_start_matches('(').trim_end_matches(')'))
        }
    }
}

fn read_json(stdout: &str) -> Option<Report> {
    let is_summary = |root: &Json| Summary::of(root).counts_anything();
    let root = find_object(stdout, is_summary)?;
    Summary::of(&root).metrics().into_report()
}

/// The JSON of a summary. With `--new-machine-readable-summary`, the metrics are lists below
/// `results`, and their rates are missing.
struct Summary<'a> {
    by_name: Option<&'a Json>,
    lists: Vec<&'a [Json]>,
    seconds: Option<f64>,
}

impl<'a> Summary<'a> {
    fn of(root: &'a Json) -> Summary<'a> {
        let results = field(root, "results");
        let checks = results.and_then(|results| field(results, "checks"));
        let seconds = field(root, "config").and_then(|config| field(config, "duration"));
        Summary {
            by_name: field(root, "metrics"),
            lists: [results, checks]
                .into_iter()
                .filter_map(|part| field(part?, "metrics")?.as_list())
                .collect(),
            seconds: seconds.and_then(json::number),
        }
    }

    fn counts_anything(&self) -> bool {
        ["http_reqs", "iterations"]
            .iter()
            .any(|name| self.values(name).is_some())
    }

    fn values(&self, name: &str) -> Option<&'a Json> {
        let by_name = self.by_name.and_then(|metrics| field(metrics, name));
        let metric = by_name.or_else(|| {
            let mut metrics = self.lists.iter().copied().flatten();
            metrics.find(|metric| field(metric, "name").and_then(Json::as_text) == Some(name))
        })?;
        Some(field(metric, "values").unwrap_or(metric))
    }

    fn number(&self, metric: &str, keys: &[&str]) -> Option<f64> {
        let values = self.values(metric)?;
        json::number(keys.iter().find_map(|key| field(values, key))?)
    }

    fn counter(&self, metric: &str) -> Option<Counter> {
        let count = self.number(metric, &["count"])?;
        let seconds = self.seconds.filter(|seconds| *seconds > 0.0);
        let rate = self.number(metric, &["rate"]);
        let rate = rate.or_else(|| Some(count / seconds?))?;
        rate.is_finite().then_some(Counter { count, rate })
    }

    /// Reads milliseconds as nanoseconds.
    fn times(&self, metric: &str) -> Vec<(String, f64)> {
        let times = fields(self.values(metric))
            .filter_map(|(key, value)| Some((name(key)?, json::scaled(value, 6)?)));
        times.collect()
    }

    fn metrics(&self) -> Metrics {
        let failed_checks = self.number("checks", &["fails"]);
        Metrics {
            requests: self.counter("http_reqs"),
            iterations: self.counter("iterations"),
            failed: self.number("http_req_failed", &["passes", "matches"]),
            failed_checks: failed_checks.or_else(|| self.number("checks_failed", &["matches"])),
            dropped: self.number("dropped_iterations", &["count"]),
            request_times: self.times("http_req_duration"),
            iteration_times: self.times("iteration_duration"),
        }
    }
}
