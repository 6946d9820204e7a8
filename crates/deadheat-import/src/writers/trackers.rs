//! Writes files for tools that compare or track benchmarks from commit to commit: a run in the
//! format of Google Benchmark, for `compare.py` and other scripts, and an analysis as one value per
//! benchmark with its interval.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};
use std::path::Path;

use deadheat_model::{
    Analysis, Benchmark, Better, Comparison, ContenderId, Day, Ending, Json, Metric, Object,
    Processes, Run, Samples, Side, Throughput, Workload,
};

use super::{mean, median, standard_deviation, write_json};
use deadheat_format::{
    FormatError, benchmark_names, cannot_write, distinct_names, ensure_wall_times, time_of_day,
    with_parameters,
};

/// The side of a run to write to a file of Google Benchmark, whose rows have no sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GoogleSide {
    /// The baselines.
    Baseline,
    /// The candidates, or the only contender of a benchmark without candidates.
    Candidate,
}

impl GoogleSide {
    fn contenders(self, benchmark: &Benchmark) -> Vec<ContenderId> {
        match self {
            GoogleSide::Candidate if benchmark.rivals() > 1 => benchmark.candidates().collect(),
            _ => vec![ContenderId::BASELINE],
        }
    }
}

/// Writes one side of a run in the JSON of Google Benchmark, schema 1: a row for every sample, with
/// times in nanoseconds per iteration, then mean, median, standard deviation and coefficient of
/// variation. Benchmarks have the same names on both sides, so that `compare.py` matches them; with
/// several candidates, the names are `benchmark/candidate`.
///
/// Without recorded CPU time, `cpu_time` repeats the wall time, because readers require it; the
/// context records this. Reruns of benchmarks are left out.
///
/// `name` is the name of the file in errors.
pub fn write_google_benchmark(
    run: &Run,
    side: GoogleSide,
    mut out: impl Write,
    name: impl AsRef<Path>,
) -> Result<(), FormatError> {
    let file = name.as_ref();
    ensure_wall_times(run, file)?;
    let report = Object::new()
        .with("context", context(run))
        .with("benchmarks", Json::List(Vec::new()));
    write_report(run, side, &Json::from(report), &mut out).map_err(cannot_write(file))
}

/// Writes a report with an empty list of rows, and inserts the rows one by one, because a long run
/// has many.
fn write_report(run: &Run, side: GoogleSide, report: &Json, out: &mut dyn Write) -> io::Result<()> {
    let report = format!("{report:#}\n");
    let (begin, end) = report.rsplit_once("[]").expect("the list is empty");
    out.write_all(begin.as_bytes())?;
    let mut written = 0;
    rows(run, side, &mut |row| {
        let sign = if written == 0 { '[' } else { ',' };
        written += 1;
        let row = format!("{:#}", Json::from(row)).replace('\n', "\n    ");
        write!(out, "{sign}\n    {row}")
    })?;
    out.write_all(if written == 0 { b"[]" } else { b"\n  ]" })?;
    out.write_all(end.as_bytes())?;
    out.flush()
}

fn context(run: &Run) -> Object {
    let environment = &run.header.environment;
    let governor = environment.governor.as_deref();
    Object::new()
        .with_some("date", run.header.started_at.map(iso_date))
        .with_some("num_cpus", environment.cores)
        .with_some(
            "cpu_scaling_enabled",
            governor.map(|governor| governor != "performance"),
        )
        // Readers expect the list, but deadheat does not determine the caches.
        .with("caches", Json::List(Vec::new()))
        .with_some("library_version", library_version(run))
        .with_some(
            "library_build_type",
            environment.debug_build.then_some("debug"),
        )
        // A field that only deadheat writes.
        .with_some(
            "cpu_time",
            (!has_cpu_time(run)).then_some("not measured, repeats real_time"),
        )
        .with("json_schema_version", 1)
}

/// Formats a time as `2024-02-29T12:34:56+00:00`.
fn iso_date(seconds: u64) -> String {
    let (hour, minute, second) = time_of_day(seconds);
    let day = Day::of_unix_seconds(seconds);
    format!("{day}T{hour:02}:{minute:02}:{second:02}+00:00")
}

fn has_cpu_time(run: &Run) -> bool {
    let both = [Metric::User, Metric::System];
    (0..run.header.plan.benchmarks.len()).all(|benchmark| {
        let metrics = run.header.metrics_of(benchmark);
        metrics.contains(&Metric::Cpu) || both.iter().all(|metric| metrics.contains(metric))
    })
}

fn rows(
    run: &Run,
    side: GoogleSide,
    take: &mut dyn FnMut(Object) -> io::Result<()>,
) -> io::Result<()> {
    let benchmarks = &run.header.plan.benchmarks;
    let names = benchmark_names(benchmarks);
    let mut sources = Vec::new();
    for (index, (benchmark, name)) in benchmarks.iter().zip(&names).enumerate() {
        if benchmark.rerun.is_some() {
            continue;
        }
        let contenders = side.contenders(benchmark);
        for &contender in &contenders {
            let name = match &contenders[..] {
                [_] => name.clone(),
                _ => format!("{name}/{}", benchmark.contenders[contender.index()].name),
            };
            sources.push((name, index, contender));
        }
    }
    let first_failures = run.first_failures();
    // All names together, because a name with a contender may equal that of another benchmark.
    let distinct = distinct_names(sources.iter().map(|(name, ..)| name.clone()), " #");
    for (name, (_, index, contender)) in distinct.into_iter().zip(sources) {
        let source = Source {
            name,
            index,
            benchmark: &benchmarks[index],
            contender,
        };
        match first_failures.get(&index) {
            Some(failure) => take(source.failed(&failure.message))?,
            None => source.measured(run.samples_by_themselves(index), take)?,
        }
    }
    Ok(())
}

/// A contender of a benchmark, with the name of its rows.
struct Source<'a> {
    name: String,
    index: usize,
    benchmark: &'a Benchmark,
    contender: ContenderId,
}

impl Source<'_> {
    fn failed(&self, message: &str) -> Object {
        let row = self.row(&self.name, "iteration", 1, Some(0));
        let row = row
            .with("error_occurred", true)
            .with("error_message", message);
        self.timed(row, 0, (0.0, 0.0), &BTreeMap::new())
    }

    /// Calls `take` with a row for every sample, then with the aggregates.
    fn measured(
        &self,
        samples: &Samples,
        take: &mut dyn FnMut(Object) -> io::Result<()>,
    ) -> io::Result<()> {
        let repetitions = repetitions(samples, self.contender);
        let count = repetitions.len();
        for (at, repetition) in repetitions.iter().enumerate() {
            let row = self.row(&self.name, "iteration", count, Some(at));
            let counters = counters(self.benchmark, samples, repetition);
            take(self.timed(row, repetition.iterations, repetition.times, &counters))?;
        }
        for (name, unit, times) in aggregates(&repetitions) {
            let row = self.row(&format!("{}_{name}", self.name), "aggregate", count, None);
            let row = row
                .with("aggregate_name", name)
                .with("aggregate_unit", unit);
            take(self.timed(row, count as u64, times, &BTreeMap::new()))?;
        }
        Ok(())
    }

    fn row(&self, name: &str, run_type: &str, repetitions: usize, at: Option<usize>) -> Object {
        Object::new()
            .with("name", name)
            .with("family_index", self.index)
            .with(
                "per_family_instance_index",
                self.contender.index().saturating_sub(1),
            )
            .with("run_name", &self.name)
            .with("run_type", run_type)
            .with("repetitions", repetitions)
            .with_some("repetition_index", at)
            .with("threads", threads(self.benchmark, self.contender))
    }

    fn timed(
        &self,
        row: Object,
        iterations: u64,
        (real, cpu): (f64, f64),
        counters: &BTreeMap<&str, f64>,
    ) -> Object {
        let mut row = row
            .with("iterations", iterations)
            .with("real_time", real)
            .with("cpu_time", cpu)
            .with("time_unit", "ns");
        for (name, value) in counters {
            row.push((*name).to_owned().into(), Json::Number(*value));
        }
        let saved = self.benchmark.saved.as_ref();
        row.with_some("label", saved.and_then(|saved| saved.label.as_ref()))
    }
}

/// Names of the fields of a row, which a counter must not have.
const FIELDS: [&str; 19] = [
    "name",
    "family_index",
    "per_family_instance_index",
    "run_name",
    "run_type",
    "repetitions",
    "repetition_index",
    "threads",
    "aggregate_name",
    "aggregate_unit",
    "error_occurred",
    "error_message",
    "skipped",
    "skip_message",
    "iterations",
    "real_time",
    "cpu_time",
    "time_unit",
    "label",
];

fn threads(benchmark: &Benchmark, contender: ContenderId) -> u32 {
    let saved = benchmark.saved.as_ref().and_then(|saved| saved.threads);
    let workload = &benchmark.contenders[contender.index()].workload;
    saved.unwrap_or_else(|| match workload {
        Workload::Harness(calls) => calls.threads,
        other => other.calls().map_or(1, |calls| calls.threads),
    })
}

/// A sample, with times in nanoseconds per iteration.
#[derive(Debug)]
struct Repetition {
    /// Index of the sample in its benchmark.
    at: usize,
    iterations: u64,
    /// Real and CPU time.
    times: (f64, f64),
}

fn repetitions(samples: &Samples, contender: ContenderId) -> Vec<Repetition> {
    let column = |metric: &Metric| samples.column(metric);
    let Some(wall) = column(&Metric::Wall) else {
        return Vec::new();
    };
    let (cpu, user, system) = (
        column(&Metric::Cpu),
        column(&Metric::User),
        column(&Metric::System),
    );
    let all = samples.samples().iter().enumerate();
    let own = all.filter(|(_, sample)| sample.contender == contender);
    own.map(|(at, sample)| {
        let each = |value: f64| value / sample.iterations as f64;
        let real = each(wall[at]);
        let cpu = match (cpu, user, system) {
            (Some(cpu), ..) => each(cpu[at]),
            (None, Some(user), Some(system)) => each(user[at] + system[at]),
            _ => real,
        };
        Repetition {
            at,
            iterations: sample.iterations,
            times: (real, cpu),
        }
    })
    .collect()
}

/// Returns the rates and counters of a sample by name.
fn counters<'a>(
    benchmark: &'a Benchmark,
    samples: &'a Samples,
    repetition: &Repetition,
) -> BTreeMap<&'a str, f64> {
    let mut all = BTreeMap::new();
    let (name, amount) = match benchmark.throughput {
        Some(Throughput::Bytes(bytes)) => ("bytes_per_second", bytes),
        Some(Throughput::Items(items)) => ("items_per_second", items),
        None => ("", 0),
    };
    let rate = amount as f64 * 1e9 / repetition.times.0;
    if !name.is_empty() && rate.is_finite() {
        all.insert(name, rate);
    }
    // In a recording, the times are among the counters.
    let times = [Metric::Wall, Metric::Cpu, Metric::User, Metric::System];
    let of_tools = |metric: &&Metric| matches!(metric, Metric::Custom(_) | Metric::Foreign(_));
    let shared = samples.metrics().iter().filter(of_tools);
    let own = benchmark.counters.iter();
    for metric in own.chain(shared).filter(|metric| !times.contains(metric)) {
        // A counter may have the same name as a field of the row; it is left out.
        if let (Some(column), false) = (samples.column(metric), FIELDS.contains(&metric.name())) {
            let value = column[repetition.at];
            let calls = if metric.adds_up() {
                repetition.iterations
            } else {
                1
            };
            all.insert(metric.name(), value / calls as f64);
        }
    }
    all
}

/// Returns the aggregates of two or more repetitions, as Google Benchmark computes them: name,
/// unit, and real and CPU time.
fn aggregates(repetitions: &[Repetition]) -> Vec<(&'static str, &'static str, (f64, f64))> {
    let statistics = |time: fn(&Repetition) -> f64| {
        let mut times: Vec<f64> = repetitions.iter().map(time).collect();
        times.sort_by(f64::total_cmp);
        let mean = mean(&times);
        let deviation = standard_deviation(&times, mean)?;
        // If the mean is 0, all times are 0 and do not vary.
        let variation = if mean == 0.0 { 0.0 } else { deviation / mean };
        Some([mean, median(&times), deviation, variation])
    };
    let both = statistics(|one| one.times.0).zip(statistics(|one| one.times.1));
    let Some((real, cpu)) = both else {
        return Vec::new();
    };
    let kinds = [
        ("mean", "time"),
        ("median", "time"),
        ("stddev", "time"),
        ("cv", "percentage"),
    ];
    let all = kinds.into_iter().zip(real.into_iter().zip(cpu));
    // Sums of absurdly long times overflow; only a recording can contain such times.
    all.filter(|(_, (real, cpu))| real.is_finite() && cpu.is_finite())
        .map(|((name, unit), times)| (name, unit, times))
        .collect()
}

/// Writes the median of each candidate in the JSON of Bencher's `json` adapter. Wall time is the
/// measure `latency`, in nanoseconds per iteration; the measure of any other metric has the
/// metric's name.
///
/// The lower and upper values are the confidence interval of the comparison, applied to the median.
/// They are left out if the interval is missing.
///
/// `name` is the name of the file in errors.
pub fn write_bmf(
    analysis: &Analysis,
    out: impl Write,
    name: impl AsRef<Path>,
) -> Result<(), FormatError> {
    let mut benchmarks = Object::new();
    for (comparison, name) in analysis.comparisons.iter().zip(names(analysis)) {
        let measure = match &comparison.terms.metric {
            Metric::Wall => "latency",
            other => other.name(),
        };
        let interval = interval(comparison);
        let values = Object::new()
            .with("value", side(comparison).median)
            .with_some("lower_value", interval.map(|(low, _)| low))
            .with_some("upper_value", interval.map(|(_, high)| high));
        let mut measures = Object::new();
        measures.push(measure.to_owned().into(), values.into());
        benchmarks.push(name.into(), measures.into());
    }
    write_json(out, &benchmarks.into(), name.as_ref())
}

/// Writes the median of each candidate, per iteration and in the unit of its metric. `range` is the
/// confidence interval of the comparison, applied to the median; `extra` describes the comparison.
///
/// Leaves out metrics for which less is not better, because the format assumes that it is.
///
/// `name` is the name of the file in errors.
pub fn write_smaller_is_better(
    analysis: &Analysis,
    out: impl Write,
    name: impl AsRef<Path>,
) -> Result<(), FormatError> {
    let all = analysis.comparisons.iter().zip(names(analysis));
    let smaller = all.filter(|(comparison, _)| comparison.terms.metric.better() == Better::Less);
    let row = |(comparison, name): (&Comparison, String)| {
        let range = interval(comparison).map(|(low, high)| {
            let confidence = percent(comparison.coverage());
            format!("{} to {} at {confidence}%", short(low), short(high))
        });
        Object::new()
            .with("name", name)
            .with("unit", comparison.terms.metric.unit().name())
            .with("value", side(comparison).median)
            .with_some("range", range)
            .with("extra", extra(comparison))
    };
    write_json(out, &smaller.map(row).collect::<Json>(), name.as_ref())
}

/// Returns the tool that measured: deadheat, or the tool of saved results if it is the same in all
/// files.
fn library_version(run: &Run) -> Option<String> {
    if !run.header.tool_version.is_empty() {
        return Some(format!("deadheat {}", run.header.tool_version));
    }
    let mut files = run.sides.iter().flat_map(|side| &side.files);
    let first = files.next().filter(|file| !file.tool.is_empty())?;
    files
        .all(|file| file.tool == first.tool)
        .then(|| first.tool.clone())
}

/// Returns the candidate, or the only contender.
fn side(comparison: &Comparison) -> &Side {
    let candidate = comparison.candidate.as_ref();
    candidate.unwrap_or(&comparison.baseline)
}

/// Returns the confidence interval of a comparison, applied to the median of the candidate, in the
/// unit of the metric. The baseline counts as exact.
fn interval(comparison: &Comparison) -> Option<(f64, f64)> {
    let candidate = comparison.candidate.as_ref()?;
    let estimate = comparison.estimate.as_ref()?;
    let interval = estimate.interval?;
    let end = |end: f64| candidate.median * (end - estimate.effect.0).exp();
    let (low, high) = (end(interval.low.0), end(interval.high.0));
    high.is_finite().then_some((low, high))
}

/// Returns names that stay the same while the code changes: those of the benchmarks. Commands have
/// no benchmark name, so their text is used. With several candidates, the name of the candidate is
/// added.
fn names(analysis: &Analysis) -> Vec<String> {
    let commands =
        analysis.processes == Processes::Launches && analysis.ending != Ending::Recording;
    let mut candidates = HashMap::new();
    for it in &analysis.comparisons {
        *candidates
            .entry((&it.benchmark, &it.details.parameters))
            .or_insert(0) += 1;
    }
    let plain = |it: &Comparison| match candidates[&(&it.benchmark, &it.details.parameters)] {
        _ if commands => side(it).name.clone(),
        1 => it.benchmark.clone(),
        _ => format!("{}/{}", it.benchmark, side(it).name),
    };
    let mut uses = HashMap::new();
    for it in &analysis.comparisons {
        *uses.entry(plain(it)).or_insert(0) += 1;
    }
    let full = analysis.comparisons.iter().map(|it| {
        let name = plain(it);
        if uses[&name] == 1 || it.details.parameters.is_empty() {
            return name;
        }
        with_parameters(&name, &it.details.parameters)
    });
    distinct_names(full, " #")
}

/// Returns the text that a chart shows for a point: one fact per line.
fn extra(comparison: &Comparison) -> String {
    let side = side(comparison);
    let mut lines = vec![
        format!("metric: {}", comparison.terms.metric),
        format!("contender: {}", side.name),
        format!("samples: {}", side.samples),
    ];
    if comparison.candidate.is_some() {
        let baseline = &comparison.baseline;
        let unit = comparison.terms.metric.unit().name();
        let median = short(baseline.median);
        lines.push(format!("baseline: {} at {median} {unit}", baseline.name));
    }
    if let Some(estimate) = &comparison.estimate {
        let change = |change: f64| format!("{:+.2}%", change * 100.0);
        let mut line = format!("change: {}", change(estimate.effect.change()));
        if let Some(interval) = estimate.interval {
            let (low, high) = (interval.low.change(), interval.high.change());
            line += &format!(" ({} to {})", change(low), change(high));
        }
        lines.push(line);
    }
    if let Some(verdict) = comparison.verdict {
        let provisional = if comparison.evidence.provisional {
            " (provisional)"
        } else {
            ""
        };
        lines.push(format!("verdict: {}{provisional}", verdict.name()));
    }
    lines.join("\n")
}

/// Formats a number with six significant digits.
fn short(value: f64) -> String {
    let rounded: f64 = format!("{value:.5e}").parse().unwrap_or(value);
    rounded.to_string()
}

/// Converts a confidence level to percent: 0.95 to 95, 0.9884 to 98.84.
fn percent(confidence: f64) -> f64 {
    (confidence * 1e4).round() / 1e2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_iso_8601() {
        assert_eq!(iso_date(951_782_399), "2000-02-28T23:59:59+00:00");
        assert_eq!(iso_date(253_402_300_800), "10000-01-01T00:00:00+00:00");
    }

    fn repetition(real_time: f64) -> Repetition {
        Repetition {
            at: 0,
            iterations: 1,
            times: (real_time, 0.0),
        }
    }

    #[test]
    fn aggregates_are_those_of_a_sample() {
        let all = aggregates(&[1.0, 2.0, 6.0].map(repetition));
        let real: Vec<f64> = all.iter().map(|(.., times)| times.0).collect();
        let deviation = 7f64.sqrt();
        assert_eq!(real, [3.0, 2.0, deviation, deviation / 3.0]);
        assert!(all.iter().all(|(.., times)| times.1 == 0.0));
    }

    #[test]
    fn a_sum_that_overflows_is_left_out() {
        let all = aggregates(&[1e308, 1.2e308].map(repetition));
        let names: Vec<&str> = all.iter().map(|(name, ..)| *name).collect();
        assert_eq!(names, ["median"]);
    }

    #[test]
    fn one_repetition_has_no_aggregates() {
        assert_eq!(aggregates(&[repetition(1.0)]), []);
    }

    #[test]
    fn numbers_for_people_have_six_digits() {
        assert_eq!(short(1234567.8), "1234570");
        assert_eq!(short(0.000123456789), "0.000123457");
        assert_eq!(short(0.0), "0");
        assert_eq!(short(12.5), "12.5");
    }

    #[test]
    fn a_confidence_is_told_in_percent() {
        assert_eq!(percent(0.95).to_string(), "95");
        assert_eq!(percent(0.98841).to_string(), "98.84");
    }
}
