//! The tools that race functions: the commands for each, and the reading of its answer.

use deadheat_validation::prelude::*;
use deadheat_validation::python::compared;

use crate::cell::{Case, Cell, Tool};
use crate::setting::Setting;

/// The change, in percent, from which on tools without a test are held to call a side: half of
/// what is to be found, which is the kindest to them.
pub const THRESHOLD: f64 = 0.5;

pub fn race(cell: Cell, repeat: usize, setting: &Setting) -> Result<Value, String> {
    let modules = ["itself", cell.case.module()];
    let told = match cell.tool {
        Tool::Deadheat => return by_deadheat(cell, setting),
        Tool::PytestBenchmark => by_pytest_benchmark(cell, repeat, modules, setting)?,
        Tool::Timeit => {
            let mut times = [0.0; 2];
            for (time, module) in times.iter_mut().zip(modules) {
                let mut python = setting.tool();
                *time = timed(&mut python, module, cell.subject, repeat)?;
            }
            by_threshold(times)
        }
        Tool::Pyperf => by_pyperf(cell, repeat, modules, setting)?,
        Tool::Bench | Tool::Suite | Tool::Starts | Tool::Cost => {
            unreachable!("{cell:?} races no functions")
        }
    };
    Ok(told.into_row())
}

/// The time of the function that hangs on the hash seed, under this one; 0 would be none.
pub fn under_hash_seed(cell: Cell, seed: usize, setting: &Setting) -> Result<Value, String> {
    let mut python = setting.tool();
    python.env("PYTHONHASHSEED", seed.to_string());
    let ns = timed(&mut python, "itself", cell.subject, 0)?;
    Ok(json!({"ns": short(ns)}))
}

fn by_deadheat(cell: Cell, setting: &Setting) -> Result<Value, String> {
    let mut python = setting.tool();
    python.args(["race.py", cell.subject, cell.case.module()]);
    let said: Value = serde_json::from_str(&text_of(&mut python, &[0])?)
        .map_err(|error| format!("no JSON: {error}"))?;
    let races = Race::all(&said["answer"])?;
    let race = races.first().ok_or("an answer without a race")?;
    let mut row = Told::of_race(race)?.into_row();
    row["verdict"] = json!(race.verdict);
    row["replicates"] = json!(race.replicates);
    row["ns"] = json!(short(race.baseline_ns));
    row["in_race"] = json!(short(said["seconds"].as_f64().ok_or("no seconds")?));
    if cell.subject == "sines" {
        row["numpy"] = json!(setting.version_of("numpy"));
    }
    Ok(row)
}

fn by_pytest_benchmark(
    cell: Cell,
    repeat: usize,
    modules: [&str; 2],
    setting: &Setting,
) -> Result<Told, String> {
    let mut medians = [0.0; 2];
    for (median, module) in medians.iter_mut().zip(modules) {
        let file = setting.workshop.scratched("pytest.json");
        let mut python = setting.tool();
        python.args(["-m", "pytest", "-q", "test_subject.py"]);
        python.arg("--benchmark-json").arg(&file);
        python.env("SUBJECT_MODULE", module);
        python.env("SUBJECT", cell.subject);
        python.env("SUBJECT_SEED", repeat.to_string());
        text_of(&mut python, &[0])?;
        *median = median_of(&json_of(&file)?)?;
    }
    Ok(by_threshold(medians))
}

fn by_pyperf(
    cell: Cell,
    repeat: usize,
    modules: [&str; 2],
    setting: &Setting,
) -> Result<Told, String> {
    let files = ["one.json", "two.json"].map(|name| setting.workshop.scratched(name));
    for (file, module) in files.iter().zip(modules) {
        // It writes over nothing.
        let _ = fs::remove_file(file);
        let mut python = setting.tool();
        python.args(["pyperf_subject.py", module, cell.subject]);
        python.arg(repeat.to_string()).arg("-o").arg(file);
        text_of(&mut python, &[0])?;
    }
    compared(setting.tools(), &files)
}

/// Nanoseconds of a call, the best of what `python -m timeit` repeats.
fn timed(python: &mut Command, module: &str, name: &str, seed: usize) -> Result<f64, String> {
    let before = format!("from {module} import {name}, INPUTS; given = INPUTS['{name}']({seed})");
    // In five digits instead of three, which would be too few for its threshold.
    python.args(["-m", "timeit", "-vvv", "-s", &before]);
    best_of(&text_of(python.arg(format!("{name}(given)")), &[0])?)
}

fn json_of(file: &Path) -> Result<Value, String> {
    let text = fs::read(file).map_err(|error| format!("{}: {error}", file.display()))?;
    serde_json::from_slice(&text).map_err(|error| format!("{}: {error}", file.display()))
}

fn median_of(answer: &Value) -> Result<f64, String> {
    match answer["benchmarks"].as_array().map(Vec::as_slice) {
        Some([only]) => {
            let median = only["stats"]["median"].as_f64();
            median.ok_or_else(|| "pytest-benchmark: no median".to_owned())
        }
        _ => Err("pytest-benchmark: not one benchmark".to_owned()),
    }
}

/// `20000 loops, best of 5: 14.204 usec per loop`, in nanoseconds.
fn best_of(said: &str) -> Result<f64, String> {
    let words = said.lines().find_map(|line| line.split_once(" best of 5: "));
    let mut words = words.map_or("", |(_, rest)| rest).split_whitespace();
    let number = words.next().and_then(|word| word.parse::<f64>().ok());
    let unit = match words.next() {
        Some("nsec") => 1.0,
        Some("usec") => 1e3,
        Some("msec") => 1e6,
        Some("sec") => 1e9,
        _ => return Err(format!("timeit: no best of five in: {said}")),
    };
    number.map(|number| number * unit).ok_or_else(|| format!("timeit: no number in: {said}"))
}

fn by_threshold([one, other]: [f64; 2]) -> Told {
    let change = percent(other / one);
    Told {
        called: Some(Call::of(change.abs() > THRESHOLD, change)),
        percent: Some(change),
        ..Told::default()
    }
}

pub fn version(tool: Tool, setting: &Setting) -> String {
    match tool {
        Tool::PytestBenchmark | Tool::Pyperf => setting.version_of(tool.key()),
        Tool::Timeit => setting.python.clone(),
        Tool::Deadheat | Tool::Bench | Tool::Suite | Tool::Starts | Tool::Cost => {
            setting.workshop.version()
        }
    }
}

/// The true change of a race, in percent.
pub fn truth(case: Case) -> f64 {
    if case == Case::More { 1.0 } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_of_timeit_is_read_in_every_unit() {
        let said = "1 loop -> 7.9e-06 secs\n\nraw times: 41.023 msec, 39.9 msec\n\n\
                    20000 loops, best of 5: 14.204 usec per loop\n";
        assert_eq!(best_of(said), Ok(14_204.0));
        assert_eq!(best_of("1 loop, best of 5: 1.5 sec per loop"), Ok(1.5e9));
        assert_eq!(best_of("5 loops, best of 5: 88.25 nsec per loop"), Ok(88.25));
        assert!(best_of("Traceback").unwrap_err().starts_with("timeit: no best"));
    }

    #[test]
    fn the_median_of_pytest_benchmark_is_that_of_its_only_benchmark() {
        let one = json!({"name": "test_subject", "stats": {"median": 2.5e-5, "mean": 3e-5}});
        assert_eq!(median_of(&json!({"benchmarks": [one]})), Ok(2.5e-5));
        assert!(median_of(&json!({"benchmarks": [one, one]})).is_err());
        assert!(median_of(&json!({"benchmarks": [{"stats": {}}]})).is_err());
        assert!(median_of(&json!({})).is_err());
    }

    #[test]
    fn a_tool_without_a_test_calls_from_half_a_percent_on() {
        let called = |other: f64| by_threshold([100.0, other]).called;
        assert_eq!(called(100.4), Some(Call::Neither));
        assert_eq!(called(100.6), Some(Call::Slower));
        assert_eq!(called(99.4), Some(Call::Faster));
    }
}
