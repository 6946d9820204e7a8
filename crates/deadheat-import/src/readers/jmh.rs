//! Reads the JSON of the Java Microbenchmark Harness (JMH).

use std::collections::BTreeMap;

use crate::identity::{Identity, QualifierPlace, QualifierShown};
use crate::results::{ResultBenchmark, ResultState, Results};
use deadheat_model::{Better, Metric, ResultFacts, Unit};
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::json::{Number, Text, from_json_entries, lenient};
use super::rows::{Rows, fail_unless, summarised, tool};
use deadheat_format::FileProblem;

/// Maximum number of calls that are kept per iteration in sample mode. If there are more, this
/// number is taken at even steps of their sorted order.
const CALLS_OF_ITERATION: usize = 1_000;
/// Maximum number of calls that are kept per benchmark in sample mode; at least one call per
/// iteration is kept in any case.
const CALLS_OF_BENCHMARK: usize = 100_000;

/// Reads the file that JMH writes with `-rf json`. Each fork is a process.
pub(super) fn read(text: &[u8]) -> Result<Results, FileProblem> {
    let (entries, broken) = from_json_entries::<Vec<Entry>, Entry>(text, "")?;
    let version = entries
        .iter()
        .find_map(|entry| entry.jmh_version.0.as_ref());
    let mut results = Results::new("", tool("JMH", version));
    results.facts = ResultFacts {
        runtime: entries.first().and_then(Entry::runtime),
        ..ResultFacts::default()
    };
    results.processes_stand_alone = true;
    if entries.is_empty() && broken.is_empty() {
        // Any tool may write an empty list.
        results.tool.clear();
    }
    for (index, entry) in entries.iter().enumerate() {
        let mut read = ResultBenchmark {
            identity: entry.identity(),
            threads: entry
                .threads
                .and_then(|threads| u32::try_from(threads).ok()),
            ..ResultBenchmark::default()
        };
        let filled = entry.fill(&mut read);
        fail_unless(&mut read, filled, &format!("[{index}].primaryMetric."));
        results.push(read);
    }
    for entry in broken {
        entry.give_to_named(&mut results, |entry| {
            entry
                .get("benchmark")?
                .as_str()
                .map(|full| Identity::new(short(full)))
        });
    }
    Ok(results)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    #[serde(default)]
    jmh_version: Text,
    benchmark: String,
    mode: String,
    #[serde(default, deserialize_with = "lenient")]
    threads: Option<i64>,
    #[serde(default)]
    jdk_version: Text,
    #[serde(default)]
    vm_name: Text,
    #[serde(default)]
    vm_version: Text,
    #[serde(default, deserialize_with = "lenient")]
    params: BTreeMap<String, Text>,
    primary_metric: Primary,
    #[serde(default, deserialize_with = "lenient")]
    secondary_metrics: BTreeMap<String, Secondary>,
}

/// The metric that the benchmark mode measures.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Primary {
    score: Option<Lenient>,
    score_unit: String,
    /// The scores, by fork and iteration.
    #[serde(default)]
    raw_data: Vec<Vec<Number>>,
    /// Times of single calls, by fork and iteration: each time with the number of calls that took
    /// it.
    #[serde(default)]
    raw_data_histogram: Vec<Vec<Vec<(Number, Number)>>>,
}

/// A metric that a profiler or the benchmark itself counted.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Secondary {
    #[serde(default, deserialize_with = "lenient")]
    score_unit: String,
    #[serde(default, deserialize_with = "lenient")]
    raw_data: Vec<Vec<Lenient>>,
}

/// A number that may be missing: JMH writes `"NaN"` if there is none.
#[derive(Deserialize)]
#[serde(untagged)]
enum Lenient {
    Number(f64),
    Other(IgnoredAny),
}

impl Lenient {
    fn value(&self, factor: f64) -> Option<f64> {
        match self {
            Lenient::Number(value) => Number(Some(*value)).optional(factor),
            Lenient::Other(_) => None,
        }
    }
}

impl Entry {
    fn runtime(&self) -> Option<String> {
        let version = self.vm_version.0.as_ref().or(self.jdk_version.0.as_ref());
        match (&self.vm_name.0, version) {
            (Some(name), Some(version)) => Some(format!("{name} {version}")),
            (Some(name), None) => Some(name.clone()),
            (None, version) => version.map(|version| format!("Java {version}")),
        }
    }

    /// Identifies the entry by class, method, package, mode, parameters and threads.
    fn identity(&self) -> Identity {
        let full = self.benchmark.as_str();
        let base = short(full);
        let package = full[..full.len() - base.len()].trim_end_matches('.');
        let mut identity = Identity::new(base);
        let differs = QualifierShown::IfSideDiffers;
        if !package.is_empty() {
            identity = identity.with("package", package, QualifierPlace::Package, differs);
        }
        identity = identity.with("mode", &*self.mode, QualifierPlace::Mode, differs);
        for (key, value) in &self.params {
            let (place, shown) = (QualifierPlace::Parameter, QualifierShown::Always);
            if let Some(value) = &value.0 {
                identity = identity.with(key.clone(), &**value, place, shown);
            }
        }
        match self.threads {
            Some(threads) => identity.with(
                "threads",
                threads.to_string(),
                QualifierPlace::Setting,
                differs,
            ),
            None => identity,
        }
    }

    fn fill(&self, benchmark: &mut ResultBenchmark) -> Result<(), FileProblem> {
        let primary = &self.primary_metric;
        let (metric, factor) = primary_metric(&primary.score_unit).ok_or_else(|| {
            let problem = format!(
                "the unit '{}' is unknown; deadheat knows ops/T and T/op, \
                 T being ns, us, ms, s, min, hr or day",
                primary.score_unit
            );
            FileProblem::at("scoreUnit", problem)
        })?;
        let mut rows = Rows::default();
        if !primary.raw_data_histogram.is_empty() {
            primary.single_calls(&metric, factor, &mut rows)?;
        } else {
            self.iterations(&metric, factor, &mut rows)?;
        }
        if rows.len() == 0 {
            match primary.score.as_ref().and_then(|score| score.value(factor)) {
                Some(score) => {
                    rows.begin(0);
                    rows.set(&metric, score);
                    benchmark.state = summarised("mean");
                }
                None => {
                    benchmark.state = ResultState::Failed("JMH wrote no score for it".to_owned())
                }
            }
        }
        rows.give_to(benchmark);
        Ok(())
    }

    /// Adds a row for every iteration, with the secondary metrics that have a value for each
    /// iteration.
    fn iterations(&self, metric: &Metric, factor: f64, rows: &mut Rows) -> Result<(), FileProblem> {
        let forks = &self.primary_metric.raw_data;
        let secondary: Vec<(Metric, f64, &Secondary)> = self
            .secondary_metrics
            .iter()
            .filter(|(_, secondary)| secondary.has_shape_of(forks))
            .map(|(name, secondary)| {
                let (metric, factor) = counted(name, &secondary.score_unit);
                (metric, factor, secondary)
            })
            .collect();
        for (fork, iterations) in forks.iter().enumerate() {
            for (iteration, value) in iterations.iter().enumerate() {
                let at = || format!("rawData[{fork}][{iteration}]");
                let value = value.measured(factor, at)?;
                rows.begin(fork as u32);
                rows.set(metric, value);
                for (metric, factor, secondary) in &secondary {
                    let value = secondary.raw_data[fork][iteration].value(*factor);
                    if let Some(value) = value {
                        rows.set(metric, value);
                    }
                }
            }
        }
        Ok(())
    }
}

impl Secondary {
    /// Returns true if the metric has a value for each iteration of the primary metric. Metrics of
    /// occasional events, such as pauses, do not.
    fn has_shape_of(&self, forks: &[Vec<Number>]) -> bool {
        let own = self.raw_data.iter().map(Vec::len);
        own.eq(forks.iter().map(Vec::len))
    }
}

impl Primary {
    /// Adds a row for every call, or for a subset if there are too many.
    fn single_calls(
        &self,
        metric: &Metric,
        factor: f64,
        rows: &mut Rows,
    ) -> Result<(), FileProblem> {
        let forks = &self.raw_data_histogram;
        let iterations: usize = forks.iter().map(Vec::len).sum();
        let most = (CALLS_OF_BENCHMARK / iterations.max(1)).clamp(1, CALLS_OF_ITERATION);
        for (fork, iterations) in forks.iter().enumerate() {
            for (iteration, bins) in iterations.iter().enumerate() {
                let mut calls = Vec::with_capacity(bins.len());
                for (bin, (time, count)) in bins.iter().enumerate() {
                    let at = |part| format!("rawDataHistogram[{fork}][{iteration}][{bin}][{part}]");
                    let time = time.measured(factor, || at(0))?;
                    let count = count.measured(1.0, || at(1))?;
                    calls.push((time, count.floor()));
                }
                for time in spread(calls, most) {
                    rows.begin(fork as u32);
                    rows.set(metric, time);
                }
            }
        }
        Ok(())
    }
}

/// Returns every value as often as it occurred. If that is more than `most`, takes `most` values at
/// even steps of their sorted order, which keeps the distribution.
fn spread(mut calls: Vec<(f64, f64)>, most: usize) -> Vec<f64> {
    calls.sort_by(|a, b| a.0.total_cmp(&b.0));
    let total: f64 = calls.iter().map(|(_, count)| count).sum();
    if !total.is_finite() {
        return Vec::new();
    }
    let kept = total.min(most as f64) as usize;
    let mut values = Vec::with_capacity(kept);
    let (mut seen, mut bins) = (0.0, calls.into_iter());
    let mut bin = bins.next();
    for step in 0..kept {
        let rank = (step as f64 + 0.5) / kept as f64 * total;
        while let Some((value, count)) = bin {
            if rank < seen + count {
                values.push(value);
                break;
            }
            seen += count;
            bin = bins.next();
        }
    }
    values
}

/// Returns class and method without the packages, which by convention begin with a lower-case
/// letter. If no class can be recognised, returns the last two names.
fn short(full: &str) -> &str {
    let mut begin = 0;
    for part in full.split('.') {
        if part.starts_with(char::is_uppercase) && begin + part.len() < full.len() {
            return &full[begin..];
        }
        begin += part.len() + 1;
    }
    let mut dots = full.rmatch_indices('.').map(|(at, _)| at + 1);
    dots.nth(1).map_or(full, |at| &full[at..])
}

fn nanoseconds(unit: &str) -> Option<f64> {
    Some(match unit {
        "ns" => 1.0,
        "us" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        "min" => 60e9,
        "hr" => 3_600e9,
        "day" => 86_400e9,
        _ => return None,
    })
}

/// Returns the primary metric for this unit, and the factor to deadheat's unit.
fn primary_metric(unit: &str) -> Option<(Metric, f64)> {
    match unit.split_once('/')? {
        ("ops", time) => Some((
            Metric::foreign("ops/s", Unit::PerSecond, Better::More),
            1e9 / nanoseconds(time)?,
        )),
        (time, "op") => Some((Metric::Wall, nanoseconds(time)?)),
        _ => None,
    }
}

/// Returns a secondary metric and the factor to deadheat's unit. Before JMH 1.30, the names began
/// with a middle dot.
fn counted(name: &str, unit: &str) -> (Metric, f64) {
    let name = name.trim_start_matches('·');
    let own = |unit, better| Metric::foreign(name, unit, better);
    match (name, unit) {
        ("gc.alloc.rate.norm", "B/op") => return (Metric::AllocatedBytes, 1.0),
        (_, "B/op") => return (own(Unit::Bytes, Better::Less), 1.0),
        (_, "#/op") => return (own(Unit::Count, Better::Less), 1.0),
        // The profiler's MB are 1024 × 1024 bytes.
        (_, "MB/sec") => {
            let mebibyte = 1_048_576.0;
            return (own(Unit::BytesPerSecond, Better::Unknown), mebibyte);
        }
        ("gc.count", _) => return (own(Unit::Count, Better::Less), 1.0),
        _ => {}
    }
    if let Some((metric, factor)) = primary_metric(unit) {
        let better = metric.better();
        return (own(metric.unit(), better), factor);
    }
    match nanoseconds(unit) {
        Some(factor) => (own(Unit::Nanoseconds, Better::Less), factor),
        None if matches!(unit, "" | "#" | "counts" | "---") => {
            (own(Unit::Count, Better::Unknown), 1.0)
        }
        // An unknown unit becomes part of the name.
        None => {
            let name = format!("{name} ({unit})");
            (
                Metric::foreign(
                    name,
                    Unit::of_rate(unit).unwrap_or(Unit::Count),
                    Better::Unknown,
                ),
                1.0,
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lose_their_packages() {
        for (full, expected) in [
            ("org.example.Sorting.sort", "Sorting.sort"),
            ("org.example.Outer.Inner.sort", "Outer.Inner.sort"),
            ("org.example.sorting.sort", "sorting.sort"),
            ("org.Example", "org.Example"),
            ("Sorting.sort", "Sorting.sort"),
            ("sort", "sort"),
            ("", ""),
            ("..", "."),
        ] {
            assert_eq!(short(full), expected, "{full}");
        }
    }

    #[test]
    fn few_calls_are_all_kept_and_many_keep_their_distribution() {
        assert_eq!(
            spread(vec![(2.0, 1.0), (1.0, 3.0)], 10),
            [1.0, 1.0, 1.0, 2.0]
        );
        assert_eq!(
            spread(vec![(2.0, 2.5e8), (1.0, 7.5e8)], 4),
            [1.0, 1.0, 1.0, 2.0]
        );
        assert!(spread(vec![(1.0, 0.0)], 4).is_empty());
        assert_eq!(spread(vec![(1.0, 1e300), (2.0, 1e300)], 2), [1.0, 2.0]);
        assert!(spread(vec![(1.0, f64::MAX), (2.0, f64::MAX)], 2).is_empty());
    }

    #[test]
    fn every_unit_of_time_is_known() {
        for (unit, factor) in [
            ("ns", 1e9),
            ("us", 1e6),
            ("ms", 1e3),
            ("s", 1.0),
            ("min", 1.0 / 60.0),
        ] {
            let (metric, per_second) = primary_metric(&format!("ops/{unit}")).unwrap();
            assert_eq!((metric.name(), per_second), ("ops/s", factor));
        }
        for (unit, factor) in [
            ("ns", 1.0),
            ("us", 1e3),
            ("ms", 1e6),
            ("s", 1e9),
            ("day", 86_400e9),
        ] {
            assert_eq!(
                primary_metric(&format!("{unit}/op")),
                Some((Metric::Wall, factor))
            );
        }
        for unit in ["", "ns", "ops/", "/op", "ops/week", "B/op", "ops/op"] {
            assert_eq!(primary_metric(unit), None, "{unit}");
        }
    }

    #[test]
    fn a_secondary_metric_says_which_way_it_improves() {
        for (name, unit, expected, better, factor) in [
            (
                "·gc.alloc.rate",
                "MB/sec",
                Unit::BytesPerSecond,
                Better::Unknown,
                1_048_576.0,
            ),
            ("gc.time", "ms", Unit::Nanoseconds, Better::Less, 1e6),
            ("gc.count", "counts", Unit::Count, Better::Less, 1.0),
            ("instructions", "#/op", Unit::Count, Better::Less, 1.0),
            ("IPC", "insns/clk", Unit::Count, Better::Unknown, 1.0),
            ("pages", "ops/ms", Unit::PerSecond, Better::More, 1e3),
            ("take", "us/op", Unit::Nanoseconds, Better::Less, 1e3),
        ] {
            let (metric, scale) = counted(name, unit);
            assert_eq!(
                (metric.unit(), metric.better(), scale),
                (expected, better, factor),
                "{name}"
            );
            assert!(metric.name().starts_with(name.trim_start_matches('·')));
        }
        let allocated = counted("·gc.alloc.rate.norm", "B/op");
        assert_eq!(allocated, (Metric::AllocatedBytes, 1.0));
    }
}
