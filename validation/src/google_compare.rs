//! Google Benchmark's `compare.py`, called as its manual says.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::Value;

use crate::programs::{text, told};

pub const COMPARE: &str = "/usr/share/benchmark/compare.py";

/// Below this p-value it paints a row as different, unless told otherwise.
pub const ALPHA: f64 = 0.05;

#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub name: String,
    /// The change of the median time of the repetitions, in percent.
    pub percent: f64,
    pub p: f64,
}

pub struct Compared {
    /// From launch to end, in seconds.
    pub seconds: f64,
    /// The benchmarks, in its order.
    pub rows: Vec<Row>,
}

pub fn version() -> Result<String, String> {
    let runs = silent(Command::new("python3").args([COMPARE, "--help"])).status();
    if !runs.is_ok_and(|status| status.success()) {
        return Err(format!(
            "it does not run here: it needs {COMPARE} (Debian's libbenchmark-tools) and a python3 \
             on the PATH that has numpy and scipy"
        ));
    }
    let scipy = "import platform, scipy; print(f'scipy {scipy.__version__}, Python {platform.python_version()}')";
    let debian = ["-W", "-f=${Version}", "libbenchmark-tools"];
    Ok(format!(
        "libbenchmark-tools {}, {}",
        told(Command::new("dpkg-query").args(debian)),
        told(Command::new("python3").args(["-c", scipy])),
    ))
}

pub fn compared(old: &Path, new: &Path, dump: &Path, arguments: &[String]) -> Compared {
    let mut command = Command::new("python3");
    let words = ["--no-color", "-d", text(dump), "benchmarks", text(old)];
    command.arg(COMPARE).args(words).arg(new).args(arguments);
    let began = Instant::now();
    let status = silent(&mut command).status();
    let seconds = began.elapsed().as_secs_f64();
    assert!(status.is_ok_and(|status| status.success()), "{command:?} failed");
    let dumped = std::fs::read(dump).unwrap_or_else(|error| panic!("{}: {error}", dump.display()));
    let answer: Value = serde_json::from_slice(&dumped).expect("a dump in JSON");
    let rows = rows(&answer).unwrap_or_else(|problem| panic!("{}: {problem}", dump.display()));
    Compared { seconds, rows }
}

fn rows(dump: &Value) -> Result<Vec<Row>, String> {
    let all = dump.as_array().ok_or("no list of benchmarks")?;
    let tested = all.iter().filter_map(|row| {
        let p = row["utest"]["time_pvalue"].as_f64()?;
        Some((row["name"].as_str()?, p))
    });
    let median_of = |name: &str| {
        let is_it = |row: &&Value| {
            row["aggregate_name"] == "median"
                && row["name"].as_str().and_then(|n| n.strip_suffix("_median")) == Some(name)
        };
        all.iter().find(is_it)?["measurements"][0]["time"].as_f64()
    };
    let row = |(name, p): (&str, f64)| {
        let change = median_of(name).ok_or_else(|| format!("{name} has no median"))?;
        Ok(Row { name: name.to_owned(), percent: change * 100.0, p })
    };
    tested.map(row).collect()
}

fn silent(command: &mut Command) -> &mut Command {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_dump_is_read_by_its_tests_and_medians() {
        let change = |time: f64| json!([{"time": time, "cpu": 9.0}]);
        let dump = json!([
            {"name": "Sum/64", "run_type": "iteration", "aggregate_name": "", "measurements": change(9.0),
             "utest": {"time_pvalue": 0.04, "cpu_pvalue": 0.9}},
            {"name": "Sum/64_mean", "aggregate_name": "mean", "measurements": change(8.0), "utest": {}},
            {"name": "Sum/64_median", "aggregate_name": "median", "measurements": change(-0.25), "utest": {}},
            {"name": "OVERALL_GEOMEAN", "aggregate_name": "geomean", "measurements": change(7.0), "utest": {}},
        ]);
        let read = rows(&dump).unwrap();
        let expected = Row { name: "Sum/64".to_owned(), percent: -25.0, p: 0.04 };
        assert_eq!(read, [expected]);
    }

    #[test]
    fn a_test_without_a_median_is_named() {
        let dump = json!([{"name": "Sum", "utest": {"time_pvalue": 0.5}, "measurements": []}]);
        assert_eq!(rows(&dump).unwrap_err(), "Sum has no median");
        assert!(rows(&json!({})).is_err());
    }
}
