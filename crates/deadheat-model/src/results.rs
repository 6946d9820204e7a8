//! The contents of a file of saved results, whichever tool wrote it.

use std::collections::HashMap;

use crate::metric::Metric;

/// The results of one file, or of one folder, of any tool.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Results {
    /// The file as it was named, `-` for standard input.
    pub source: String,
    /// The tool that wrote it, with the version where the file says so: "pyperf 2.6.0".
    pub tool: String,
    /// Facts about the machine and the build.
    pub facts: ResultFacts,
    /// The benchmarks in the order of the file, no two of one name.
    pub benchmarks: Vec<ResultBenchmark>,
    /// Number of times each name was asked for.
    names: HashMap<String, u32>,
}

impl Results {
    /// No benchmarks yet, of this file, written by this tool.
    pub fn new(source: impl Into<String>, tool: impl Into<String>) -> Self {
        Self {
            source: source.into(),
            tool: tool.into(),
            ..Self::default()
        }
    }

    /// Adds a benchmark. A second one of the same name becomes `name #2`: two files that repeat a
    /// name in the same order still meet.
    pub fn push(&mut self, mut benchmark: ResultBenchmark) {
        let mut name = benchmark.name.clone();
        while let Some(times) = self.names.get_mut(&name) {
            // Counted on, so that a thousand of one name are not searched through for each.
            *times += 1;
            name = format!("{} #{times}", benchmark.name);
        }
        self.names.insert(name.clone(), 1);
        benchmark.name = name;
        self.benchmarks.push(benchmark);
    }
}

/// Facts that a file tells of where its values come from; what it does not say is `None`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResultFacts {
    /// Name of the machine.
    pub host: Option<String>,
    /// Operating system.
    pub system: Option<String>,
    /// Processor model.
    pub cpu: Option<String>,
    /// Logical cores.
    pub cores: Option<u32>,
    /// Language runtime and its version.
    pub runtime: Option<String>,
    /// When it was measured, as written there.
    pub date: Option<String>,
    /// The same in seconds from a moment that is the same for all files, where that can be told.
    pub moment: Option<f64>,
    /// When the file was written last, in seconds since 1970; of a pipe nobody knows.
    pub modified: Option<f64>,
    /// True if the frequency of the processor was being scaled.
    pub cpu_scaling: Option<bool>,
    /// True if something measured, or the library that measured it, was a debug build.
    pub debug_build: Option<bool>,
}

/// A file that values were read from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResultSource {
    /// As it was named.
    pub source: String,
    /// The tool that wrote it.
    pub tool: String,
    /// Facts it tells of the machine and the build.
    pub facts: ResultFacts,
}

/// One side of a comparison of saved results.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResultSide {
    /// The contender's name.
    pub name: String,
    /// Where its values were read from.
    pub files: Vec<ResultSource>,
}

/// One benchmark of a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResultBenchmark {
    /// Its name, by which it is looked for in other files.
    pub name: String,
    /// Its label beside its name.
    pub label: Option<String>,
    /// Threads it ran on, where that is told.
    pub threads: Option<u32>,
    /// Parameter values that are not part of the name, in the order declared.
    pub parameters: Vec<(String, String)>,
    /// Its state.
    pub state: ResultState,
    /// The metrics measured; the first is judged unless the user says otherwise.
    pub metrics: Vec<Metric>,
    /// For each row the process it came from, numbered from 0: rows of one process are not
    /// independent.
    pub processes: Vec<u32>,
    /// Rows × metrics, row by row. Values are per iteration, in the unit of their metric, finite
    /// and not negative.
    pub values: Vec<f64>,
}

/// The state of a benchmark.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ResultState {
    /// Its values were measured one by one.
    #[default]
    Measured,
    /// Only a summary was kept, in a single row.
    Summarised {
        /// Which: "median", "mean".
        statistic: String,
    },
    /// It failed, in these words.
    Failed(String),
    /// It says of itself that it does not run, in these words.
    Skipped(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_comes_again_is_numbered() {
        let mut results = Results::new("a.json", "x");
        for name in ["a", "b", "a", "a #2", "a"] {
            results.push(ResultBenchmark {
                name: name.to_owned(),
                ..ResultBenchmark::default()
            });
        }
        let names: Vec<&str> = results.benchmarks.iter().map(|b| b.name.as_str()).collect();
        assert_eq!(names, ["a", "b", "a #2", "a #2 #2", "a #3"]);
    }
}
