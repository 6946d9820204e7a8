//! A run as Google Benchmark writes its results, for `compare.py` and other
//! scripts made for it.

use std::io::{self, Write};
use std::path::Path;

use deadheat_model::{Benchmark, ContenderId, Metric, Run, Samples, Throughput, Workload};
use serde_json::{Map, Value};

use super::google_benchmark_row::{Context, Repetition, Report, Row, RowKind, aggregates};
use super::names::{benchmark_names, told_apart};
use crate::default_path::time_stamp;
use crate::error::{FormatError, cannot_write, create_folder_of};
use crate::replace::replace;

/// Whose samples go into a file of Google Benchmark: its rows know no sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GoogleSide {
    /// The baselines.
    Baseline,
    /// The candidates; of a contender that ran alone, that one.
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

/// Writes one side of a run in the JSON of Google Benchmark, schema 1,
/// replacing what the file held: a row for every sample, times in nanoseconds
/// per iteration, then the mean, median, standard deviation and coefficient of
/// variation. Benchmarks are named as they are, so that both sides of a run
/// meet in `compare.py`; of several candidates each is `benchmark/candidate`.
///
/// Where no CPU time was recorded `cpu_time` repeats the wall time, which the
/// context says, since readers take it for granted. What was raced once more as
/// the user linked it is left out.
pub fn write_google_benchmark(
    run: &Run,
    side: GoogleSide,
    path: impl AsRef<Path>,
) -> Result<(), FormatError> {
    let path = path.as_ref();
    create_folder_of(path)?;
    replace(path, |out| write_google_benchmark_to(run, side, out, path))
}

/// Writes the same anywhere; `name` stands for the file in errors.
pub fn write_google_benchmark_to(
    run: &Run,
    side: GoogleSide,
    mut out: impl Write,
    name: impl AsRef<Path>,
) -> Result<(), FormatError> {
    let file = name.as_ref();
    if !run.header.records(&Metric::Wall) {
        return Err(FormatError::NoWallTimes {
            file: file.to_owned(),
        });
    }
    let report = Report {
        context: context(run),
        benchmarks: rows(run, side),
    };
    serde_json::to_writer_pretty(&mut out, &report)
        .map_err(io::Error::from)
        .and_then(|()| out.write_all(b"\n"))
        .and_then(|()| out.flush())
        .map_err(cannot_write(file))
}

fn context(run: &Run) -> Context {
    let environment = &run.header.environment;
    let governor = environment.governor.as_deref();
    Context {
        date: run.header.started_at.map(iso_date),
        num_cpus: environment.cores,
        cpu_scaling_enabled: governor.map(|governor| governor != "performance"),
        caches: [],
        library_version: format!("deadheat {}", run.header.tool_version),
        library_build_type: environment.debug_build.then_some("debug"),
        cpu_time: (!has_cpu_time(run)).then_some("not measured, repeats real_time"),
        json_schema_version: 1,
    }
}

/// `2024-02-29T12:34:56+00:00`.
fn iso_date(seconds: u64) -> String {
    let stamp = time_stamp(seconds);
    let (date, time) = stamp.split_once('-').unwrap_or((&stamp, ""));
    // A year may have more than four digits.
    let (year, day) = date.split_at(date.len() - 4);
    format!(
        "{year}-{}-{}T{}:{}:{}+00:00",
        &day[..2],
        &day[2..],
        &time[..2],
        &time[2..4],
        &time[4..]
    )
}

/// Whether every benchmark has one.
fn has_cpu_time(run: &Run) -> bool {
    let both = [Metric::User, Metric::System];
    (0..run.header.plan.benchmarks.len()).all(|benchmark| {
        let metrics = run.header.metrics_of(benchmark);
        metrics.contains(&Metric::Cpu) || both.iter().all(|metric| metrics.contains(metric))
    })
}

fn rows(run: &Run, side: GoogleSide) -> Vec<Row> {
    let benchmarks = &run.header.plan.benchmarks;
    let names = benchmark_names(benchmarks);
    let mut sources = Vec::new();
    for (index, (benchmark, name)) in benchmarks.iter().zip(&names).enumerate() {
        if benchmark.own_link.is_some() {
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
    // In one go: a name with a contender may be that of another benchmark.
    let distinct = told_apart(sources.iter().map(|(name, ..)| name.clone()), " #");
    let mut rows = Vec::new();
    for (name, (_, index, contender)) in distinct.into_iter().zip(sources) {
        let benchmark = &benchmarks[index];
        let row = |kind| Row {
            name: name.clone(),
            family_index: index,
            per_family_instance_index: contender.index().saturating_sub(1),
            run_name: name.clone(),
            threads: threads(benchmark, contender),
            label: benchmark
                .saved
                .as_ref()
                .and_then(|saved| saved.label.clone()),
            kind,
        };
        let failure = run
            .failures
            .iter()
            .find(|failure| failure.benchmark == index);
        if let Some(failure) = failure {
            rows.push(row(RowKind::Error(failure.message.clone())));
            continue;
        }
        let repetitions = repetitions(benchmark, &run.benchmarks[index], contender);
        let count = repetitions.len();
        let aggregates = aggregates(&repetitions);
        for (at, repetition) in repetitions.into_iter().enumerate() {
            rows.push(row(RowKind::Iteration {
                repetitions: count,
                at,
                repetition,
            }));
        }
        for aggregate in aggregates {
            rows.push(Row {
                name: format!("{name}_{}", aggregate.name),
                ..row(RowKind::Aggregate {
                    repetitions: count,
                    aggregate,
                })
            });
        }
    }
    rows
}

fn threads(benchmark: &Benchmark, contender: ContenderId) -> u32 {
    let told = benchmark.saved.as_ref().and_then(|saved| saved.threads);
    let workload = &benchmark.contenders[contender.index()].workload;
    told.unwrap_or_else(|| match workload {
        Workload::GoogleBenchmark(calls) => calls.threads,
        other => other.calls().map_or(1, |calls| calls.threads),
    })
}

/// Every sample of a contender, per iteration.
fn repetitions(
    benchmark: &Benchmark,
    samples: &Samples,
    contender: ContenderId,
) -> Vec<Repetition> {
    let column = |metric: &Metric| samples.column(metric);
    let Some(wall) = column(&Metric::Wall) else {
        return Vec::new();
    };
    let (cpu, user, system) = (
        column(&Metric::Cpu),
        column(&Metric::User),
        column(&Metric::System),
    );
    let of_contender = |(at, sample): (usize, &deadheat_model::Sample)| {
        if sample.contender != contender {
            return None;
        }
        let each = |value: f64| value / sample.iterations as f64;
        let real_time = each(wall[at]);
        let cpu_time = match (cpu, user, system) {
            (Some(cpu), ..) => each(cpu[at]),
            (None, Some(user), Some(system)) => each(user[at] + system[at]),
            _ => real_time,
        };
        Some(Repetition {
            iterations: sample.iterations,
            real_time,
            cpu_time,
            counters: counters(benchmark, samples, at, real_time),
        })
    };
    samples
        .samples()
        .iter()
        .enumerate()
        .filter_map(of_contender)
        .collect()
}

/// The rates and counters of a sample.
fn counters(benchmark: &Benchmark, samples: &Samples, at: usize, wall: f64) -> Map<String, Value> {
    let mut all = Map::new();
    let (name, amount) = match benchmark.throughput {
        Some(Throughput::Bytes(bytes)) => ("bytes_per_second", bytes),
        Some(Throughput::Items(items)) => ("items_per_second", items),
        None => ("", 0),
    };
    let rate = amount as f64 * 1e9 / wall;
    if !name.is_empty() && rate.is_finite() {
        all.insert(name.to_owned(), Value::from(rate));
    }
    // A recording has its times among them.
    let times = [Metric::Wall, Metric::Cpu, Metric::User, Metric::System];
    let own = benchmark.counters.iter();
    for metric in own.filter(|metric| !times.contains(metric)) {
        // Nothing keeps a counter from being called like a field of its row.
        if let (Some(column), false) = (samples.column(metric), Row::is_field(metric.name())) {
            all.insert(metric.name().to_owned(), Value::from(column[at]));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_iso_8601() {
        assert_eq!(iso_date(951_782_399), "2000-02-28T23:59:59+00:00");
        assert_eq!(iso_date(253_402_300_800), "10000-01-01T00:00:00+00:00");
    }
}
