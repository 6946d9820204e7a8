//! A run as hyperfine 1.x writes its results, for scripts made for those.

use std::io::{self, Write};
use std::path::Path;

use deadheat_model::{Benchmark, ContenderId, Metric, Nanoseconds, Run, Samples, Workload};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::error::{FormatError, cannot_write, create_folder_of};
use crate::replace::replace;

/// Writes a run in the shape of hyperfine's `--export-json`, replacing what
/// the file held: one result per benchmark and contender, times in seconds per
/// iteration, memory in bytes. What was not recorded is `null` or left out.
///
/// What was raced once more as the user linked it is left out too: a script
/// that looks for a command finds one result of it.
pub fn write_hyperfine(run: &Run, path: impl AsRef<Path>) -> Result<(), FormatError> {
    let path = path.as_ref();
    create_folder_of(path)?;
    replace(path, |out| write_hyperfine_to(run, out, path))
}

/// Writes hyperfine's JSON anywhere; `name` stands for the file in errors.
pub fn write_hyperfine_to(
    run: &Run,
    mut out: impl Write,
    name: impl AsRef<Path>,
) -> Result<(), FormatError> {
    let file = name.as_ref();
    if !run.header.records(&Metric::Wall) {
        return Err(FormatError::NoWallTimes {
            file: file.to_owned(),
        });
    }
    let mut results = Vec::new();
    let raced = run.header.plan.benchmarks.iter().zip(&run.benchmarks);
    for (benchmark, samples) in raced.filter(|(benchmark, _)| benchmark.own_link.is_none()) {
        for index in 0..benchmark.rivals() {
            let own = OwnSamples {
                samples,
                contender: ContenderId(index as u8),
            };
            results.extend(Outcome::of(&command(benchmark, index), benchmark, &own));
        }
    }
    serde_json::to_writer_pretty(&mut out, &Results { results })
        .map_err(io::Error::from)
        .and_then(|()| out.write_all(b"\n"))
        .and_then(|()| out.flush())
        .map_err(cannot_write(file))
}

/// What stands for the command: the name of the contender, which for anything
/// but commands tells too little without its benchmark.
fn command(benchmark: &Benchmark, index: usize) -> String {
    let contender = &benchmark.contenders[index];
    match contender.workload {
        Workload::Command(_) | Workload::Recording => contender.name.clone(),
        Workload::Function(_) | Workload::Worker(_) | Workload::GoogleBenchmark(_) => {
            format!("{}/{}", benchmark.name, contender.name)
        }
    }
}

#[derive(Serialize)]
struct Results {
    results: Vec<Outcome>,
}

/// The order of the fields is hyperfine's.
#[derive(Serialize)]
struct Outcome {
    command: String,
    mean: f64,
    stddev: Option<f64>,
    median: f64,
    user: Option<f64>,
    system: Option<f64>,
    min: f64,
    max: f64,
    times: Vec<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    memory_usage_byte: Option<Vec<u64>>,
    exit_codes: Vec<Option<i32>>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    parameters: Map<String, Value>,
}

impl Outcome {
    /// `None` when the contender never ran.
    fn of(command: &str, benchmark: &Benchmark, own: &OwnSamples<'_>) -> Option<Self> {
        let times = own.seconds(&Metric::Wall)?;
        let mean = mean(&times)?;
        Some(Outcome {
            command: command.to_owned(),
            mean,
            stddev: standard_deviation(&times, mean),
            median: median(&times)?,
            user: own.seconds(&Metric::User).and_then(|t| self::mean(&t)),
            system: own.seconds(&Metric::System).and_then(|t| self::mean(&t)),
            min: times.iter().copied().reduce(f64::min)?,
            max: times.iter().copied().reduce(f64::max)?,
            times,
            memory_usage_byte: own
                .values(&Metric::PeakRss)
                .map(|bytes| bytes.map(|(_, bytes)| bytes as u64).collect()),
            exit_codes: own.all().map(|(_, sample)| sample.exit_code).collect(),
            parameters: benchmark
                .parameters
                .iter()
                .map(|(name, value)| (name.clone(), Value::from(value.as_str())))
                .collect(),
        })
    }
}

/// The samples of one contender.
struct OwnSamples<'a> {
    samples: &'a Samples,
    contender: ContenderId,
}

impl<'a> OwnSamples<'a> {
    fn all(&self) -> impl Iterator<Item = (usize, &'a deadheat_model::Sample)> + use<'a> {
        let contender = self.contender;
        let all = self.samples.samples().iter().enumerate();
        all.filter(move |(_, sample)| sample.contender == contender)
    }

    /// Whole samples and their iterations; `None` when it was not recorded.
    fn values(&self, metric: &Metric) -> Option<impl Iterator<Item = (u64, f64)> + use<'a>> {
        let column = self.samples.column(metric)?;
        Some(
            self.all()
                .map(|(at, sample)| (sample.iterations, column[at])),
        )
    }

    /// Seconds per iteration; `None` when the metric was not recorded.
    fn seconds(&self, metric: &Metric) -> Option<Vec<f64>> {
        let per_iteration =
            |(iterations, ns): (u64, f64)| Nanoseconds(ns / iterations as f64).seconds();
        Some(self.values(metric)?.map(per_iteration).collect())
    }
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let upper = *sorted.get(sorted.len() / 2)?;
    Some(match sorted.len() % 2 {
        1 => upper,
        _ => (sorted[sorted.len() / 2 - 1] + upper) / 2.0,
    })
}

/// Of a sample, so divided by one less than its size.
fn standard_deviation(values: &[f64], mean: f64) -> Option<f64> {
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (values.len() > 1).then(|| (squares / (values.len() - 1) as f64).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_an_even_number_lies_between_the_middle_two() {
        assert_eq!(median(&[4.0, 1.0, 3.0, 2.0]), Some(2.5));
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[]), None);
    }

    #[test]
    fn a_single_time_has_no_standard_deviation() {
        assert_eq!(standard_deviation(&[2.0], 2.0), None);
        assert_eq!(standard_deviation(&[1.0, 3.0], 2.0), Some(2f64.sqrt()));
    }
}
