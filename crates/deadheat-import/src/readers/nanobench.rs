//! Reads the JSON that nanobench writes with its template `json()`: benchmarks with their epochs.

use crate::results::{ResultBenchmark, ResultState, Results};
use deadheat_model::{Better, Metric, Unit};
use serde::Deserialize;

use super::json::{Number, Text, from_json_entries, lenient};
use super::rows::{Rows, fail_unless, summarised};
use deadheat_format::FileProblem;

#[derive(Deserialize)]
struct WireFile {
    results: Vec<WireResult>,
}

#[derive(Deserialize)]
struct WireResult {
    #[serde(default)]
    title: Text,
    name: String,
    /// Units of work per iteration.
    #[serde(default, deserialize_with = "lenient")]
    batch: Number,
    #[serde(rename = "median(elapsed)", default, deserialize_with = "lenient")]
    median: Number,
    #[serde(default)]
    measurements: Vec<WireEpoch>,
}

/// The measurements of an epoch, per iteration: seconds and counts.
#[derive(Deserialize)]
struct WireEpoch {
    elapsed: Number,
    #[serde(default, deserialize_with = "lenient")]
    instructions: Number,
    #[serde(default, deserialize_with = "lenient")]
    cpucycles: Number,
    #[serde(default, deserialize_with = "lenient")]
    branchmisses: Number,
    #[serde(default, deserialize_with = "lenient")]
    pagefaults: Number,
    #[serde(default, deserialize_with = "lenient")]
    contextswitches: Number,
}

/// Reads all benchmarks. Each epoch is a row; all epochs of a file are of one process.
pub(super) fn read(text: &[u8]) -> Result<Results, FileProblem> {
    let (wire, broken) = from_json_entries::<WireFile, WireResult>(text, "results")?;
    let mut results = Results::new("", "nanobench");
    for (index, result) in wire.results.iter().enumerate() {
        let name = match &result.title.0 {
            // `benchmark` is nanobench's default title.
            Some(title) if title != "benchmark" => format!("{title}/{}", result.name),
            _ => result.name.clone(),
        };
        let mut read = ResultBenchmark {
            name,
            ..ResultBenchmark::default()
        };
        let filled = result.rows().map(|(rows, state)| {
            rows.give_to(&mut read);
            read.state = state;
        });
        fail_unless(&mut read, filled, &format!("results[{index}]."));
        results.push(read);
    }
    for entry in broken {
        entry.give_to(&mut results, &["name"]);
    }
    Ok(results)
}

impl WireResult {
    /// Returns a row for each epoch, with values per unit of work, as nanobench prints them.
    fn rows(&self) -> Result<(Rows, ResultState), FileProblem> {
        let batch = self.batch.0.filter(|batch| *batch > 0.0).unwrap_or(1.0);
        // If nanobench cannot read a counter, it writes 0 for all epochs.
        let mut seen = [false; 5];
        for one in &self.measurements {
            for (seen, (_, count)) in seen.iter_mut().zip(one.counts()) {
                *seen |= count.0.is_some_and(|count| count > 0.0);
            }
        }
        let mut rows = Rows::default();
        for (epoch, one) in self.measurements.iter().enumerate() {
            rows.begin(0);
            let at = || format!("measurements[{epoch}].elapsed");
            rows.set(&Metric::Wall, one.elapsed.measured(1e9 / batch, at)?);
            for ((metric, count), seen) in one.counts().into_iter().zip(seen) {
                if let Some(count) = count.optional(1.0 / batch).filter(|_| seen) {
                    rows.set(&metric, count);
                }
            }
        }
        if rows.len() > 0 {
            return Ok((rows, ResultState::Measured));
        }
        rows.begin(0);
        let at = || "median(elapsed)".to_owned();
        rows.set(&Metric::Wall, self.median.measured(1e9 / batch, at)?);
        Ok((rows, summarised("median")))
    }
}

impl WireEpoch {
    fn counts(&self) -> [(Metric, Number); 5] {
        let own = |name| Metric::foreign(name, Unit::Count, Better::Less);
        [
            (Metric::Instructions, self.instructions),
            (Metric::Cycles, self.cpucycles),
            (Metric::BranchMisses, self.branchmisses),
            (own("page-faults"), self.pagefaults),
            (own("context-switches"), self.contextswitches),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_epoch_is_a_row_of_what_a_unit_of_work_takes() {
        let text = r#"{"results": [
            {"title": "t", "name": "copy", "unit": "op", "batch": 2, "median(elapsed)": 1e-08,
             "measurements": [
                {"iterations": 100, "elapsed": 1e-08, "pagefaults": 0, "instructions": 63.5},
                {"iterations": 90, "elapsed": 2e-08, "pagefaults": 0, "instructions": 64.5}]},
            {"title": "u", "name": "move", "batch": "x", "median(elapsed)": 2e-08, "measurements": []},
            {"title": "u", "name": "bad", "measurements": [{"elapsed": -1}]},
            {"title": "u", "name": "torn", "measurements": [{"iterations": 1}]}]}"#;
        let results = read(text.as_bytes()).unwrap();
        let [copy, moved, bad, torn] = &results.benchmarks[..] else {
            panic!("{results:#?}");
        };
        assert_eq!(copy.name, "t/copy");
        assert_eq!(copy.metrics, [Metric::Wall, Metric::Instructions]);
        assert_eq!(copy.values, [5.0, 31.75, 10.0, 32.25]);
        assert_eq!(
            (moved.values[0], &moved.state),
            (20.0, &summarised("median"))
        );
        let why = "results[2].measurements[0].elapsed: -1 is negative";
        assert_eq!(bad.state, ResultState::Failed(why.to_owned()));
        assert!(matches!(&torn.state, ResultState::Failed(why) if why.contains("'elapsed'")));
    }
}
