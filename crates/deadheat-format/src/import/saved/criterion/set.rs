//! The results of one benchmark: what it is, its samples, its estimates.

use std::path::{Path, PathBuf};

use deadheat_model::{Better, Metric, ResultBenchmark, ResultState, Unit};
use serde::Deserialize;
use serde_json::Value;

use super::super::json::{Number, from_json, without_mark};
use super::super::rows::Rows;
use crate::error::FormatError;

/// The files of a set, by name, with their texts where they are there.
pub(super) struct Texts {
    pub(super) benchmark: (PathBuf, Option<Vec<u8>>),
    pub(super) sample: (PathBuf, Option<Vec<u8>>),
    pub(super) estimates: (PathBuf, Option<Vec<u8>>),
}

/// What `benchmark.json` says.
#[derive(Debug, Deserialize)]
pub(super) struct Id {
    #[serde(default)]
    pub(super) group_id: String,
    pub(super) function_id: Option<String>,
    pub(super) value_str: Option<String>,
    pub(super) full_id: String,
    throughput: Option<Value>,
}

/// Nanoseconds that so many iterations took, since 0.3.
#[derive(Deserialize)]
struct Sample {
    iters: Vec<Number>,
    times: Vec<Number>,
}

#[derive(Deserialize)]
struct Estimates {
    // With a capital before 0.3.
    #[serde(alias = "Median")]
    median: Estimate,
}

#[derive(Deserialize)]
struct Estimate {
    point_estimate: Number,
}

/// Reads the results of one benchmark from the texts of its files; `folder`
/// stands for the set in errors. Without samples the median of the estimates is
/// all there is; without either the benchmark was never measured to its end.
pub fn read_criterion_set(
    folder: &Path,
    benchmark: &[u8],
    sample: Option<&[u8]>,
    estimates: Option<&[u8]>,
) -> Result<ResultBenchmark, FormatError> {
    let text = |name: &str, text: Option<&[u8]>| (folder.join(name), text.map(<[u8]>::to_vec));
    let texts = Texts {
        benchmark: text("benchmark.json", Some(benchmark)),
        sample: text("sample.json", sample),
        estimates: text("estimates.json", estimates),
    };
    read(&texts).map(|(_, benchmark)| benchmark)
}

pub(super) fn read(texts: &Texts) -> Result<(Id, ResultBenchmark), FormatError> {
    let (file, text) = &texts.benchmark;
    let id: Id = from_json(file, text.as_deref().unwrap_or_default())?;
    let mut benchmark = ResultBenchmark {
        name: id.full_id.clone(),
        ..ResultBenchmark::default()
    };
    let rates = Rates::of(id.throughput.as_ref());
    let mut rows = Rows::default();
    match (&texts.sample, &texts.estimates) {
        ((file, Some(text)), _) => {
            for nanoseconds in samples(file, text)? {
                rates.add_row(&mut rows, nanoseconds);
            }
        }
        (_, (file, Some(text))) => {
            let estimates: Estimates = from_json(file, text)?;
            let place = || "median.point_estimate".to_owned();
            let median = estimates.median.point_estimate.measured(1.0, file, place)?;
            rates.add_row(&mut rows, median);
            benchmark.state = ResultState::Summarised {
                statistic: "median".to_owned(),
            };
        }
        _ => {
            let problem = "criterion left neither sample.json nor estimates.json";
            benchmark.state = ResultState::Failed(problem.to_owned());
        }
    }
    rows.give_to(&mut benchmark);
    Ok((id, benchmark))
}

/// Nanoseconds per iteration of each sample.
fn samples(file: &Path, text: &[u8]) -> Result<Vec<f64>, FormatError> {
    // Before 0.3 it was a list of the two lists.
    let old = without_mark(text).trim_ascii_start().starts_with(b"[");
    let (Sample { iters, times }, [iters_at, times_at]) = match old {
        true => {
            let (iters, times) = from_json(file, text)?;
            (Sample { iters, times }, ["[0]", "[1]"])
        }
        false => (from_json(file, text)?, ["iters", "times"]),
    };
    let wrong = |place: String, problem: String| FormatError::Saved {
        file: file.to_owned(),
        place,
        problem,
    };
    if iters.len() != times.len() {
        let (iters, times) = (iters.len(), times.len());
        let problem = format!("there are {times} times of {iters} numbers of iterations");
        return Err(wrong(times_at.to_owned(), problem));
    }
    if times.is_empty() {
        return Err(wrong(
            times_at.to_owned(),
            "there are no samples".to_owned(),
        ));
    }
    let mut samples = Vec::with_capacity(times.len());
    for (at, (iters, time)) in iters.into_iter().zip(times).enumerate() {
        let iterations_at = || format!("{iters_at}[{at}]");
        let iterations = iters.measured(1.0, file, iterations_at)?;
        let time = time.measured(1.0, file, || format!("{times_at}[{at}]"))?;
        let each = time / iterations;
        if !each.is_finite() {
            let problem = format!("{iterations} iterations cannot have taken {time} ns");
            return Err(wrong(iterations_at(), problem));
        }
        samples.push(each);
    }
    Ok(samples)
}

/// What one iteration gets done, as rates.
#[derive(Default)]
struct Rates(Vec<(Metric, f64)>);

impl Rates {
    /// From the throughput that a group was given, of which there are more
    /// kinds with every release; those that are unknown are passed over.
    fn of(throughput: Option<&Value>) -> Rates {
        let mut rates = Rates::default();
        for (kind, amount) in throughput.and_then(Value::as_object).into_iter().flatten() {
            match kind.as_str() {
                "Bytes" | "BytesDecimal" => rates.bytes(amount.as_f64()),
                "Bits" => rates.bytes(amount.as_f64().map(|bits| bits / 8.0)),
                "Elements" => rates.elements(amount.as_f64()),
                "ElementsAndBytes" => {
                    rates.elements(amount.get("elements").and_then(Value::as_f64));
                    rates.bytes(amount.get("bytes").and_then(Value::as_f64));
                }
                _ => {}
            }
        }
        rates
    }

    fn bytes(&mut self, amount: Option<f64>) {
        let metric = Metric::foreign("bytes_per_second", Unit::BytesPerSecond, Better::More);
        self.0.extend(amount.map(|amount| (metric, amount)));
    }

    fn elements(&mut self, amount: Option<f64>) {
        let metric = Metric::foreign("elements_per_second", Unit::PerSecond, Better::More);
        self.0.extend(amount.map(|amount| (metric, amount)));
    }

    /// A row of the time, and of the rates that it makes. All were taken in one
    /// process.
    fn add_row(&self, rows: &mut Rows, nanoseconds: f64) {
        rows.begin(0);
        rows.set(Metric::Wall, nanoseconds);
        for (metric, amount) in &self.0 {
            let rate = amount * 1e9 / nanoseconds;
            if rate.is_finite() && rate >= 0.0 {
                rows.set(metric.clone(), rate);
            }
        }
    }
}
