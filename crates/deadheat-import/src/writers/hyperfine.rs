//! Writes a run in the format of hyperfine 1.x, for scripts that read it.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use deadheat_model::{Benchmark, ContenderId, Json, Metric, Object, Run, Samples, Workload};

use super::write_json;
use deadheat_format::{FormatError, ensure_wall_times};

/// Writes a run in the format of hyperfine's `--export-json`: one result per benchmark and
/// contender, times in seconds per iteration, memory in bytes. Quantities that were not recorded
/// are `null` or left out.
///
/// Leaves out reruns of benchmarks, so that a script finds one result per command.
///
/// `name` is the name of the file in errors.
pub fn write_hyperfine(
    run: &Run,
    out: impl Write,
    name: impl AsRef<Path>,
) -> Result<(), FormatError> {
    let file = name.as_ref();
    ensure_wall_times(run, file)?;
    let mut results = Vec::new();
    let planned = run.header.plan.benchmarks.iter().enumerate();
    let planned = planned.filter(|(_, benchmark)| benchmark.rerun.is_none());
    let is_only = planned.clone().count() == 1;
    for (place, benchmark) in planned {
        let samples = run.samples_by_themselves(place);
        for index in 0..benchmark.rivals() {
            let own = OwnSamples {
                samples,
                contender: ContenderId(index as u8),
            };
            let command = command(benchmark, index, is_only);
            results.extend(outcome(&command, benchmark, &own).map(Json::from));
        }
    }
    write_json(out, &Json::tagged("results", results), file)
}

/// Returns the text for `command`: the name of the contender, with the name of its benchmark unless
/// the contender is a command or the only benchmark's recording.
fn command(benchmark: &Benchmark, index: usize, is_only: bool) -> String {
    let contender = &benchmark.contenders[index];
    match contender.workload {
        Workload::Command(_) => contender.name.clone(),
        Workload::Recording if is_only => contender.name.clone(),
        Workload::Recording
        | Workload::Function(_)
        | Workload::Worker(_)
        | Workload::Harness(_) => {
            format!("{}/{}", benchmark.name, contender.name)
        }
    }
}

/// Returns a result with its fields in the order of hyperfine; `None` if the contender has no
/// samples.
fn outcome(command: &str, benchmark: &Benchmark, own: &OwnSamples<'_>) -> Option<Object> {
    let times = own
        .seconds(&Metric::Wall)
        .filter(|times| !times.is_empty())?;
    let mean = super::mean(&times);
    let mean_of = |metric| own.seconds(metric).map(|times| super::mean(&times));
    let memory = own.values(&Metric::PeakRss);
    let memory = memory.map(|bytes| bytes.map(|(_, bytes)| bytes as u64).collect::<Json>());
    let exit_codes = || own.all().map(|(_, sample)| sample.exit_code);
    // In hyperfine's files, a code that is null means that a signal killed the command.
    let has_codes = exit_codes().any(|code| code.is_some());
    let parameters: BTreeMap<&String, &String> = benchmark
        .parameters
        .iter()
        .map(|(name, value)| (name, value))
        .collect();
    let mut named = Object::new();
    for (name, value) in &parameters {
        named.push((*name).clone().into(), Json::from(*value));
    }
    let outcome = Object::new()
        .with("command", command)
        .with("mean", mean)
        .with("stddev", super::standard_deviation(&times, mean))
        .with("median", super::median(&times))
        .with("user", mean_of(&Metric::User))
        .with("system", mean_of(&Metric::System))
        .with("min", times.iter().copied().reduce(f64::min)?)
        .with("max", times.iter().copied().reduce(f64::max)?)
        .with("times", times.iter().copied().collect::<Json>())
        .with_some("memory_usage_byte", memory)
        .with_some(
            "exit_codes",
            has_codes.then(|| exit_codes().collect::<Json>()),
        )
        .with_some("parameters", (!parameters.is_empty()).then_some(named));
    Some(outcome)
}

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

    /// Returns the iterations and the total of each sample; `None` if the metric was not recorded.
    fn values(&self, metric: &Metric) -> Option<impl Iterator<Item = (u64, f64)> + use<'a>> {
        let column = self.samples.column(metric)?;
        Some(
            self.all()
                .map(|(at, sample)| (sample.iterations, column[at])),
        )
    }

    /// Returns the seconds per iteration of each sample; `None` if the metric was not recorded.
    fn seconds(&self, metric: &Metric) -> Option<Vec<f64>> {
        let per_iteration = |(iterations, ns): (u64, f64)| ns / iterations as f64 / 1e9;
        Some(self.values(metric)?.map(per_iteration).collect())
    }
}
