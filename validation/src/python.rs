//! Environments of Python, made if need be, and the comparison that pyperf makes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::programs::text_of;
use crate::told::{Call, Told, percent};

pub fn environment(base: &str, folder: &Path, packages: &[String]) -> Result<PathBuf, String> {
    let python = folder.join("bin/python");
    // Written last, so half an environment is made anew.
    let stamp = folder.join("packages");
    let wanted = packages.join("\n");
    if fs::read_to_string(&stamp).is_ok_and(|made| made == wanted) {
        return Ok(python);
    }
    eprintln!("installing {} ...", packages.join(", "));
    let mut make = Command::new(base);
    text_of(make.args(["-m", "venv", "--clear"]).arg(folder), &[0])?;
    let mut install = Command::new(&python);
    install.args(["-m", "pip", "install", "--quiet"]);
    text_of(install.args(packages), &[0])?;
    fs::write(&stamp, wanted).map_err(|error| format!("{}: {error}", stamp.display()))?;
    Ok(python)
}

/// The answer of `pyperf compare_to` about two of its files. It rounds the ratio to two places, so that
/// comes from the means.
pub fn compared(python: &Path, files: &[PathBuf; 2]) -> Result<Told, String> {
    let mut command = Command::new(python);
    command.args(["-m", "pyperf", "compare_to"]).args(files);
    let said = text_of(&mut command, &[0])?;
    let mut means = [0.0; 2];
    for (mean, file) in means.iter_mut().zip(files) {
        let text = fs::read(file).map_err(|error| format!("{}: {error}", file.display()))?;
        let answer: Value = serde_json::from_slice(&text).map_err(|error| error.to_string())?;
        *mean = mean_of(&answer).ok_or_else(|| format!("{}: no values", file.display()))?;
    }
    read(&said, means)
}

fn read(said: &str, [one, two]: [f64; 2]) -> Result<Told, String> {
    let called = if said.contains("x slower") {
        Call::Slower
    } else if said.contains("x faster") {
        Call::Faster
    } else if said.contains("not significant") || said.contains("no change") {
        Call::Neither
    } else {
        return Err(format!("no word of a change in: {said}"));
    };
    Ok(Told { called: Some(called), percent: Some(percent(two / one)), ..Told::default() })
}

fn mean_of(answer: &Value) -> Option<f64> {
    let runs = answer["benchmarks"][0]["runs"].as_array()?;
    let values = runs.iter().filter_map(|run| run["values"].as_array());
    let values: Vec<f64> = values.flatten().filter_map(Value::as_f64).collect();
    let count = values.len() as f64;
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn its_own_comparison_decides() {
        let line =
            "Mean +- std dev: [one] 20.0 ms +- 0.2 ms -> [two] 20.2 ms +- 0.1 ms: 1.01x slower\n";
        let told = read(line, [0.020, 0.0202]).unwrap();
        assert_eq!(told.called, Some(Call::Slower));
        assert!((told.percent.unwrap() - 1.0).abs() < 1e-9);
        let hidden = "Benchmark hidden because not significant (1): command\n";
        let even = read(hidden, [1.0, 1.0]).unwrap();
        assert_eq!(even.called, Some(Call::Neither));
        assert!(read("", [1.0, 1.0]).is_err());
    }

    #[test]
    fn the_run_that_calibrates_has_no_values() {
        let answer = json!({"benchmarks": [{"runs": [
            {"warmups": [[1, 0.5]]}, {"values": [1.0, 2.0]}, {"values": [6.0]}]}]});
        assert_eq!(mean_of(&answer), Some(3.0));
        assert_eq!(mean_of(&json!({})), None);
    }
}
