//! Reads the JSON that nvbench writes with `--json` and `--jsonbin`: states of benchmarks with
//! their summaries, and files with their samples.

use std::collections::HashMap;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use crate::identity::{Identity, QualifierPlace, QualifierShown};
use crate::results::{ResultBenchmark, ResultState, Results};
use deadheat_model::Metric;
use serde::Deserialize;

use super::json::from_json_entries;
use super::rows::{Rows, summarised, tool};
use deadheat_format::FileProblem;
use deadheat_format::content::open_plain;
use deadheat_format::limits::Allowance;

/// Maximum number of samples of a state; a file with more is not read.
const MOST_SAMPLES: usize = 1 << 24;

/// Memory of a sample in bytes: its value and its process.
const MEMORY_OF_SAMPLE: u64 = 16;
/// Size of a sample in a file, in bytes: a little-endian float, in seconds.
const WIDTH: usize = 4;

#[derive(Deserialize)]
struct WireFile {
    #[serde(default)]
    meta: WireMeta,
    #[serde(default)]
    devices: Option<Vec<WireDevice>>,
    benchmarks: Vec<WireBenchmark>,
}

#[derive(Default, Deserialize)]
struct WireMeta {
    #[serde(default)]
    version: WireVersions,
}

#[derive(Default, Deserialize)]
struct WireVersions {
    nvbench: Option<WireVersion>,
}

#[derive(Deserialize)]
struct WireVersion {
    string: Option<String>,
}

#[derive(Deserialize)]
struct WireDevice {
    id: i64,
    name: String,
}

#[derive(Deserialize)]
struct WireBenchmark {
    name: String,
    #[serde(default)]
    states: Option<Vec<WireState>>,
}

#[derive(Deserialize)]
struct WireState {
    #[serde(default)]
    device: Option<i64>,
    #[serde(default)]
    axis_values: Option<Vec<WireValue>>,
    #[serde(default)]
    summaries: Option<Vec<WireSummary>>,
    #[serde(default)]
    is_skipped: bool,
    #[serde(default)]
    skip_reason: Option<String>,
}

#[derive(Deserialize)]
struct WireSummary {
    tag: String,
    #[serde(default)]
    data: Option<Vec<WireValue>>,
}

/// A named value; numbers are stored as text, too.
#[derive(Deserialize)]
struct WireValue {
    name: String,
    value: String,
}

/// Reads all states, each as a benchmark. Looks for files with samples in `folder`, the folder of
/// the JSON. A state whose file is missing has only the summary of its times.
pub(super) fn read(text: &[u8], folder: &Path) -> Result<Results, FileProblem> {
    let (wire, broken) = from_json_entries::<WireFile, WireBenchmark>(text, "benchmarks")?;
    let version = wire.meta.version.nvbench.and_then(|one| one.string);
    let mut results = Results::new("", tool("nvbench", version));
    let devices = wire.devices.unwrap_or_default();
    let devices = devices.iter().rev().map(|one| (one.id, one)).collect();
    let mut memory = Allowance::of_memory().map_err(FileProblem::CannotRead)?;
    for benchmark in &wire.benchmarks {
        for state in benchmark.states.iter().flatten() {
            let mut read = ResultBenchmark {
                identity: state.identity(&benchmark.name, &devices),
                parameters: state.parameters(),
                ..ResultBenchmark::default()
            };
            match state.rows(folder) {
                Ok((rows, kept, missing)) => {
                    // Many states may refer to the same file.
                    let held = memory.take(MEMORY_OF_SAMPLE * rows.len() as u64);
                    held.map_err(FileProblem::CannotRead)?;
                    rows.give_to(&mut read);
                    read.state = kept;
                    results.unread.extend(missing);
                }
                Err(kept) => read.state = kept,
            }
            results.push(read);
        }
    }
    for entry in broken {
        entry.give_to(&mut results, &["name"]);
    }
    Ok(results)
}

impl WireState {
    fn parameters(&self) -> Vec<(String, String)> {
        let axes = self.axis_values.iter().flatten();
        axes.map(|axis| (axis.name.clone(), axis.value.clone()))
            .collect()
    }

    /// Returns the identity with the axes; names show the device only if a file has several.
    fn identity(&self, name: &str, devices: &HashMap<i64, &WireDevice>) -> Identity {
        let device = self.device.and_then(|id| devices.get(&id));
        let identity = Identity::new(name);
        let mut identity = match (device, self.device) {
            (Some(device), Some(id)) => identity.with(
                "device",
                format!("{} ({id})", device.name),
                QualifierPlace::Setting,
                QualifierShown::IfFileDiffers,
            ),
            _ => identity,
        };
        for (axis, value) in self.parameters() {
            let (place, shown) = (QualifierPlace::Parameter, QualifierShown::IfSideDiffers);
            identity = identity.with(axis, value, place, shown);
        }
        identity
    }

    /// Returns the rows, their state and, if samples could not be read, the reason. An error is the
    /// state of a benchmark without rows.
    fn rows(&self, folder: &Path) -> Result<(Rows, ResultState, Option<String>), ResultState> {
        if self.is_skipped {
            let reason = self.skip_reason.clone().unwrap_or_default();
            return Err(ResultState::Skipped(reason));
        }
        let mut missing = None;
        for (tag, metric) in [
            ("nv/json/bin:nv/cold/sample_times", Metric::Gpu),
            ("nv/json/bin:nv/cpu_only/sample_times", Metric::Wall),
        ] {
            let Some(file) = self.text(tag, "filename") else {
                continue;
            };
            match samples(folder, file) {
                Ok(times) => {
                    let mut rows = Rows::default();
                    for time in times {
                        rows.begin(0);
                        rows.set(&metric, time);
                    }
                    return Ok((rows, ResultState::Measured, None));
                }
                Err(problem) => missing = Some(format!("the samples in '{file}': {problem}")),
            }
        }
        let (rows, kept) = self.summary()?;
        Ok((rows, kept, missing))
    }

    /// Returns the medians of the times, or the means if the medians are missing.
    fn summary(&self) -> Result<(Rows, ResultState), ResultState> {
        let mut rows = Rows::default();
        rows.begin(0);
        for statistic in ["median", "mean"] {
            let mut found = false;
            for (kind, metric) in [
                ("cold/time/gpu", Metric::Gpu),
                ("cold/time/cpu", Metric::Wall),
                ("cpu_only/time/cpu", Metric::Wall),
            ] {
                let tag = format!("nv/{kind}/{statistic}");
                if let Some(seconds) = self.number(&tag).filter(|time| *time >= 0.0) {
                    rows.set(&metric, seconds * 1e9);
                    found = true;
                }
            }
            if found {
                return Ok((rows, summarised(statistic)));
            }
        }
        Err(ResultState::Failed("it has no times".to_owned()))
    }

    fn text(&self, tag: &str, name: &str) -> Option<&str> {
        let mut all = self.summaries.iter().flatten();
        let summary = all.find(|summary| summary.tag == tag)?;
        let mut data = summary.data.iter().flatten();
        Some(&data.find(|one| one.name == name)?.value)
    }

    fn number(&self, tag: &str) -> Option<f64> {
        let number: f64 = self.text(tag, "value")?.parse().ok()?;
        number.is_finite().then_some(number)
    }
}

/// Reads the samples in a file and returns nanoseconds.
fn samples(folder: &Path, file: &str) -> Result<Vec<f64>, String> {
    let mut bytes = Vec::new();
    let mut path = folder.to_owned();
    for part in &within(file) {
        path.push(part);
        // A link could lead to any file of the user, whose bytes the report would then contain.
        if path.is_symlink() {
            return Err(format!("{} is a symbolic link", path.display()));
        }
    }
    let opened = open_plain(&path);
    let limit = (MOST_SAMPLES * WIDTH + 1) as u64;
    opened
        .and_then(|file| file.take(limit).read_to_end(&mut bytes))
        .map_err(|error| error.to_string())?;
    if bytes.is_empty() || bytes.len() % WIDTH != 0 || bytes.len() as u64 == limit {
        return Err(format!("{} bytes are not samples", bytes.len()));
    }
    let seconds = bytes
        .chunks_exact(WIDTH)
        .map(|bytes| f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]));
    let times: Vec<f64> = seconds.map(|seconds| f64::from(seconds) * 1e9).collect();
    match times
        .iter()
        .position(|time| !time.is_finite() || *time < 0.0)
    {
        Some(at) => Err(format!("sample {} is not a time", at + 1)),
        None => Ok(times),
    }
}

/// Returns the path of a file with samples, below the folder of its JSON. Only the last two
/// components of `file` count, because older releases write it relative to their working folder.
fn within(file: &str) -> PathBuf {
    let parts = Path::new(file).components().filter_map(|part| match part {
        Component::Normal(part) => Some(part),
        _ => None,
    });
    let mut last: Vec<_> = parts.rev().take(2).collect();
    last.reverse();
    last.iter().collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn read_alone(text: &str) -> Results {
        read(text.as_bytes(), Path::new("nowhere")).unwrap()
    }

    #[test]
    fn a_state_without_samples_has_the_summary_of_its_times() {
        let results = read_alone(
            r#"{"meta": {"version": {"nvbench": {"string": "0.1.0"}}}, "devices": null,
            "benchmarks": [{"name": "copy", "states": [
              {"axis_values": [{"name": "Size", "type": "int64", "value": "256"}], "summaries": [
                {"tag": "nv/cold/time/gpu/mean", "data": [{"name": "value", "value": "0.002"}]},
                {"tag": "nv/cold/time/gpu/median", "data": [{"name": "value", "value": "0.001"}]}]},
              {"is_skipped": true, "skip_reason": "too large", "summaries": null},
              {"summaries": [{"tag": "nv/cold/time/gpu/mean", "data": [{"name": "value", "value": "inf"}]}]}
            ]}]}"#,
        );
        let [copy, skipped, failed] = &results.benchmarks[..] else {
            panic!("{results:#?}");
        };
        assert_eq!(results.tool, "nvbench 0.1.0");
        assert_eq!(copy.metrics, [Metric::Gpu]);
        assert_eq!(
            (&copy.values[..], &copy.state),
            (&[1e6][..], &summarised("median"))
        );
        assert_eq!(copy.parameters, [("Size".to_owned(), "256".to_owned())]);
        assert_eq!(skipped.state, ResultState::Skipped("too large".to_owned()));
        assert!(matches!(failed.state, ResultState::Failed(_)));
    }

    #[test]
    fn a_file_of_samples_is_looked_for_next_to_its_json_and_nowhere_else() {
        for (file, path) in [
            ("new.json-bin/0.bin", "new.json-bin/0.bin"),
            ("/home/u/runs/new.json-bin/0.bin", "new.json-bin/0.bin"),
            ("../../etc/passwd", "etc/passwd"),
            ("0.bin", "0.bin"),
        ] {
            assert_eq!(within(file), Path::new(path), "{file}");
        }
    }

    #[test]
    fn a_link_in_place_of_samples_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let secret = folder.path().join("secret");
        fs::write(&secret, 1.0_f32.to_le_bytes()).unwrap();
        let results = folder.path().join("results");
        fs::create_dir_all(results.join("a.json-bin")).unwrap();
        let file = results.join("a.json-bin/0.bin");
        std::os::unix::fs::symlink(&secret, &file).unwrap();
        std::os::unix::fs::symlink(folder.path(), results.join("b.json-bin")).unwrap();
        for name in ["a.json-bin/0.bin", "b.json-bin/secret"] {
            let problem = samples(&results, name).unwrap_err();
            assert!(problem.contains("is a symbolic link"), "{problem}");
        }
        fs::remove_file(&file).unwrap();
        fs::copy(&secret, &file).unwrap();
        assert_eq!(samples(&results, "a.json-bin/0.bin"), Ok(vec![1e9]));
    }

    #[test]
    fn a_missing_file_of_samples_is_told_and_the_summary_read() {
        let results = read_alone(
            r#"{"benchmarks": [{"name": "copy", "states": [{"summaries": [
                {"tag": "nv/json/bin:nv/cold/sample_times",
                 "data": [{"name": "filename", "value": "a.json-bin/0.bin"}]},
                {"tag": "nv/cold/time/gpu/mean", "data": [{"name": "value", "value": "3e-6"}]}]}]}]}"#,
        );
        assert_eq!(results.benchmarks[0].values, [3e-6 * 1e9]);
        assert!(results.unread[0].starts_with("the samples in 'a.json-bin/0.bin': "));
    }
}
