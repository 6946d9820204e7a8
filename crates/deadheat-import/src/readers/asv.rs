//! Reads the JSON of asv, which holds a value for each benchmark and combination of parameters at
//! one commit, and optionally the samples.

use std::collections::HashMap;

use crate::results::{ResultBenchmark, ResultState, Results};
use deadheat_model::{Better, Metric, ResultFacts, Unit};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::json::{Number, Text, from_json, lenient, text_of};
use super::rows::{Rows, summarised};
use deadheat_format::FileProblem;
use deadheat_format::limits::{most_benchmarks, refuse_large_names};

#[derive(Deserialize)]
struct WireFile {
    /// Names of the items in a benchmark's list. In files of version 1, each benchmark is an
    /// object, and not a list.
    #[serde(default)]
    result_columns: Vec<String>,
    results: Map<String, Value>,
    #[serde(default)]
    python: Text,
    /// Facts about the machine.
    #[serde(default, deserialize_with = "lenient")]
    params: Map<String, Value>,
}

/// Reads the results of a commit. All samples count as rows of one process: asv launches several
/// processes per benchmark, but does not record which sample came from which.
pub(super) fn read(text: &[u8]) -> Result<Results, FileProblem> {
    let most = FEW_COMBINATIONS + text.len();
    let wire: WireFile = from_json(text)?;
    let mut results = Results::new("", "asv");
    let text = |key: &str| wire.params.get(key)?.as_str().map(str::to_owned);
    results.facts = ResultFacts {
        host: text("machine"),
        system: text("os"),
        cpu: text("cpu"),
        cores: text("num_cpu").and_then(|cores| cores.parse().ok()),
        runtime: wire
            .python
            .0
            .as_ref()
            .map(|version| format!("Python {version}")),
        ..ResultFacts::default()
    };
    let columns = wire.result_columns.iter().enumerate().rev();
    let columns = columns.map(|(place, name)| (&**name, place)).collect();
    // Limits the combinations of parameters in the whole file: each has a result or a parameter in
    // the text, so a valid file cannot have more.
    let mut left = most;
    for (name, value) in &wire.results {
        let entry = Entry {
            columns: &columns,
            value,
        };
        let room = most_benchmarks().map_err(FileProblem::CannotRead)?;
        let combinations = entry.combinations(left.min(room as usize))?;
        left -= combinations.len().min(left);
        for (index, combination) in combinations.iter().enumerate() {
            let name = match &combination[..] {
                [] => name.clone(),
                values => format!("{name}({})", values.join(", ")),
            };
            results.push(entry.benchmark(name, index));
            if results.are_full() {
                return Ok(results);
            }
        }
    }
    Ok(results)
}

/// Number of combinations of parameters that is allowed even in a short file.
const FEW_COMBINATIONS: usize = 10_000;

/// The entry of a file for one benchmark name.
struct Entry<'a> {
    columns: &'a HashMap<&'a str, usize>,
    value: &'a Value,
}

impl<'a> Entry<'a> {
    fn column(&self, name: &str) -> Option<&'a Value> {
        match self.value {
            Value::Array(values) => values.get(*self.columns.get(name)?),
            Value::Object(fields) => fields.get(name),
            value => Some(value).filter(|_| name == "result"),
        }
    }

    /// Returns all combinations of the parameter values; the last parameter changes fastest.
    ///
    /// # Errors
    ///
    /// There are more than `most`: 12 parameters of 10 values each have 10^12.
    fn combinations(&self, most: usize) -> Result<Vec<Vec<String>>, FileProblem> {
        let mut all = vec![Vec::new()];
        let parameters = self.column("params").and_then(Value::as_array);
        for values in parameters.into_iter().flatten().filter_map(Value::as_array) {
            if all.len().saturating_mul(values.len()) > most {
                let problem = format!("the parameters have more than {most} combinations");
                return Err(FileProblem::at("params", problem));
            }
            let texts: Vec<String> = values.iter().map(text_of).collect();
            let bytes: usize = texts.iter().map(String::len).sum();
            let copies = (all.len() as u64).saturating_mul(bytes as u64);
            refuse_large_names(copies).map_err(FileProblem::CannotRead)?;
            let longer = |combination: &Vec<String>| {
                let with = |text: &String| [&combination[..], std::slice::from_ref(text)].concat();
                texts.iter().map(with).collect::<Vec<_>>()
            };
            all = all.iter().flat_map(longer).collect();
        }
        Ok(all)
    }

    fn benchmark(&self, name: String, index: usize) -> ResultBenchmark {
        let of_combination = |column: &str| match self.column(column)? {
            Value::Array(values) => values.get(index),
            value => Some(value).filter(|value| !value.is_null()),
        };
        let (metric, factor) = metric(&name);
        let mut read = ResultBenchmark {
            name,
            ..ResultBenchmark::default()
        };
        let number = |value: &Value| Number(value.as_f64()).optional(factor);
        let samples = of_combination("samples").and_then(Value::as_array);
        let samples: Vec<f64> = samples.into_iter().flatten().filter_map(number).collect();
        let result = of_combination("result").filter(|value| !value.is_null());
        let mut rows = Rows::default();
        for value in &samples {
            rows.begin(0);
            rows.set(&metric, *value);
        }
        match result.map(number) {
            None => {
                read.state = ResultState::Failed("asv wrote no result for it".to_owned());
                return read;
            }
            _ if rows.len() > 0 => {}
            Some(Some(value)) => {
                rows.begin(0);
                rows.set(&metric, value);
                read.state = summarised("median");
            }
            Some(None) => {
                read.state = ResultState::Skipped("its result is not a number".to_owned());
            }
        }
        rows.give_to(&mut read);
        read
    }
}

/// Returns the metric of a benchmark, which asv determines by the prefix of its name, and the
/// factor to the metric's unit.
fn metric(name: &str) -> (Metric, f64) {
    let name = name.split('(').next().unwrap_or_default();
    let own = name.rsplit('.').next().unwrap_or_default().to_lowercase();
    if own.starts_with("time") {
        (Metric::Wall, 1e9)
    } else if own.starts_with("peakmem") {
        (Metric::PeakRss, 1.0)
    } else if own.starts_with("mem") {
        (Metric::foreign("memory", Unit::Bytes, Better::Less), 1.0)
    } else {
        (
            Metric::foreign("tracked", Unit::Count, Better::Unknown),
            1.0,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"{"commit_hash": "0", "env_name": "e", "python": "3.12",
        "params": {"machine": "m", "num_cpu": "4", "ram": 7},
        "result_columns": ["result", "params", "version", "samples"],
        "results": {
            "bench.Suite.time_sort": [[0.5, null, NaN, 0.25], [["1", "2"], ["'a'", "'b'"]], "v",
                [[0.5, 0.5, 0.75], null, null, null]],
            "bench.peakmem_load": [[4096], [], "v"],
            "bench.time_gone": [null, [], "v"],
            "bench.track_size": [7, [], "v"]
        }, "version": 2}"#;

    #[test]
    fn every_combination_of_parameters_is_a_benchmark() {
        let results = read(FILE.as_bytes()).unwrap();
        let find = |name: &str| {
            let mut of_name = results.benchmarks.iter().filter(|one| one.name == name);
            of_name
                .next()
                .unwrap_or_else(|| panic!("{name}: {results:#?}"))
        };
        let sampled = find("bench.Suite.time_sort(1, 'a')");
        assert_eq!(sampled.values, [0.5e9, 0.5e9, 0.75e9]);
        assert_eq!(
            (&sampled.metrics[..], &sampled.state),
            (&[Metric::Wall][..], &ResultState::Measured)
        );
        assert!(matches!(
            find("bench.Suite.time_sort(1, 'b')").state,
            ResultState::Failed(_)
        ));
        assert!(matches!(
            find("bench.Suite.time_sort(2, 'a')").state,
            ResultState::Skipped(_)
        ));
        let summed = find("bench.Suite.time_sort(2, 'b')");
        assert_eq!(
            (summed.values[0], &summed.state),
            (0.25e9, &summarised("median"))
        );
        assert_eq!(find("bench.peakmem_load").metrics, [Metric::PeakRss]);
        assert!(matches!(
            find("bench.time_gone").state,
            ResultState::Failed(_)
        ));
        assert_eq!(find("bench.track_size").values, [7.0]);
        assert_eq!(results.facts.host.as_deref(), Some("m"));
        assert_eq!(results.facts.cores, Some(4));
    }

    #[test]
    fn files_of_version_1_hold_objects_or_plain_numbers() {
        let text = r#"{"commit_hash": "0", "results": {"a.time_x": 0.5,
            "a.time_y": {"params": [["1", "2"]], "result": [0.5, 0.25]}}, "version": 1}"#;
        let results = read(text.as_bytes()).unwrap();
        let names: Vec<&str> = results
            .benchmarks
            .iter()
            .map(|one| one.name.as_str())
            .collect();
        assert_eq!(names, ["a.time_x", "a.time_y(1)", "a.time_y(2)"]);
        assert_eq!(results.benchmarks[2].values, [0.25e9]);
    }
}
