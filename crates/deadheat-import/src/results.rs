//! The contents of a file of saved results, whichever tool wrote it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};

use deadheat_model::{Metric, ResultFacts};

use crate::identity::Identity;

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
    /// Parts of the file that could not be read and belong to no benchmark above, each with its
    /// place and the reason.
    pub unread: Vec<String>,
    /// True if each process of a benchmark was started by itself, as forks of JMH are and runs of Go
    /// whose output was appended to one file.
    pub processes_stand_alone: bool,
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
        benchmark.repeated |= name != benchmark.name;
        benchmark.name = name;
        self.benchmarks.push(benchmark);
    }

    /// Gives the benchmarks other names, by their identities; where there is none the name stays.
    pub(crate) fn rename(&mut self, name: impl Fn(&Identity) -> Option<String>) {
        self.names.clear();
        for mut benchmark in std::mem::take(&mut self.benchmarks) {
            let identity = Some(&benchmark.identity).filter(|identity| !identity.is_empty());
            if let Some(name) = identity.and_then(&name) {
                benchmark.name = name;
                benchmark.repeated = false;
            }
            self.push(benchmark);
        }
    }

    /// A digest of what was recorded: the tool, the date and all benchmarks with their values, but not
    /// the name or the layout of the file.
    pub fn digest(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (&self.tool, &self.facts.date).hash(&mut hasher);
        for benchmark in &self.benchmarks {
            benchmark.digest().hash(&mut hasher);
        }
        hasher.finish()
    }

    /// Splits a file whose processes were started by themselves into one recording for each process,
    /// of which neither date nor time of writing is known.
    pub fn into_recordings(mut self) -> Vec<Results> {
        let processes = self.benchmarks.iter().flat_map(|one| &one.processes);
        let count = processes.max().map_or(1, |last| last + 1);
        if !self.processes_stand_alone || count < 2 {
            return vec![self];
        }
        let benchmarks = std::mem::take(&mut self.benchmarks);
        let recording = |number| {
            let mut part = Results::new(&self.source, &self.tool);
            part.facts = ResultFacts {
                digest: self.facts.digest.map(|digest| digest_of(&(digest, number))),
                moment: None,
                modified: None,
                ..self.facts.clone()
            };
            part
        };
        let mut parts: Vec<Results> = (0..count).map(recording).collect();
        for mut benchmark in benchmarks {
            let width = benchmark.metrics.len();
            let processes = std::mem::take(&mut benchmark.processes);
            let values = std::mem::take(&mut benchmark.values);
            let mut rows_of: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
            for (row, process) in processes.iter().enumerate() {
                rows_of.entry(*process).or_default().push(row);
            }
            if rows_of.is_empty() {
                // What failed has no rows, and is told once.
                rows_of.insert(0, Vec::new());
            }
            for (process, rows) in rows_of {
                let part = &mut parts[process as usize];
                let of_row = |row: &usize| &values[row * width..(row + 1) * width];
                part.push(ResultBenchmark {
                    processes: vec![0; rows.len()],
                    values: rows.iter().flat_map(of_row).copied().collect(),
                    ..benchmark.clone()
                });
            }
        }
        parts
    }
}

fn digest_of(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// One benchmark of a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResultBenchmark {
    /// Its name, by which it is looked for in other files.
    pub name: String,
    /// What tells it apart from others, of which the name shows a part.
    pub identity: Identity,
    /// True if another benchmark of its file has the same name, so that only its place tells it apart.
    pub repeated: bool,
    /// Its label beside its name.
    pub label: Option<String>,
    /// Threads it ran on, where that is told.
    pub threads: Option<u32>,
    /// Parameter values that are not part of the name, in the order declared.
    pub parameters: Vec<(String, String)>,
    /// Its state.
    pub state: ResultState,
    /// How its launches ended, where the file says so.
    pub exits: ExitCodes,
    /// The metrics measured; the first is judged unless the user says otherwise.
    pub metrics: Vec<Metric>,
    /// For each row the process it came from, numbered from 0: rows of one process are not
    /// independent.
    pub processes: Vec<u32>,
    /// Rows × metrics, row by row. Values are per iteration, in the unit of their metric, finite
    /// and not negative.
    pub values: Vec<f64>,
}

/// The exit codes of the launches of a benchmark, each once; `None` is a launch that a signal killed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExitCodes(pub BTreeSet<Option<i64>>);

impl ExitCodes {
    /// Returns true if some launch did not exit with code 0.
    pub fn any_failed(&self) -> bool {
        self.0.iter().any(|code| *code != Some(0))
    }

    /// Returns true if no launch came to its end: a signal killed it, or a shell could not start
    /// the program, which it reports as 126 or 127.
    pub fn none_ran(&self) -> bool {
        let lost = |code: &Option<i64>| matches!(code, None | Some(126 | 127));
        !self.0.is_empty() && self.0.iter().all(lost)
    }
}

impl fmt::Display for ExitCodes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let codes: Vec<String> = self.0.iter().flatten().map(i64::to_string).collect();
        let word = match codes.len() {
            0 => return f.write_str("killed by a signal"),
            1 => "exit code",
            _ => "exit codes",
        };
        write!(f, "{word} {}", codes.join(", "))?;
        match self.0.contains(&None) {
            true => f.write_str(" or killed by a signal"),
            false => Ok(()),
        }
    }
}

impl ResultBenchmark {
    /// A digest of what was recorded of it.
    pub fn digest(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (&self.name, &self.label, &self.state, &self.processes).hash(&mut hasher);
        for metric in &self.metrics {
            metric.name().hash(&mut hasher);
        }
        for value in &self.values {
            value.to_bits().hash(&mut hasher);
        }
        hasher.finish()
    }
}

/// The state of a benchmark.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
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
    fn exit_codes_read_as_words() {
        let codes = |codes: &[Option<i64>]| ExitCodes(codes.iter().copied().collect());
        for (exits, words, failed, none_ran) in [
            (codes(&[Some(0)]), "exit code 0", false, false),
            (codes(&[Some(3), Some(3)]), "exit code 3", true, false),
            (
                codes(&[Some(0), Some(127)]),
                "exit codes 0, 127",
                true,
                false,
            ),
            (
                codes(&[Some(126), Some(127)]),
                "exit codes 126, 127",
                true,
                true,
            ),
            (codes(&[None]), "killed by a signal", true, true),
            (
                codes(&[None, Some(1)]),
                "exit code 1 or killed by a signal",
                true,
                false,
            ),
        ] {
            assert_eq!(exits.to_string(), words);
            assert_eq!(
                (exits.any_failed(), exits.none_ran()),
                (failed, none_ran),
                "{words}"
            );
        }
        assert!(!ExitCodes::default().none_ran());
    }

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
        let repeated = results.benchmarks.iter().map(|one| one.repeated);
        let repeated: Vec<bool> = repeated.collect();
        assert_eq!(repeated, [false, false, true, true, true]);
    }

    /// Two rows a process, in three processes, and what failed.
    fn appended() -> Results {
        let mut results = Results::new("a.txt", "x");
        results.push(ResultBenchmark {
            name: "a".to_owned(),
            metrics: vec![Metric::Wall, Metric::Cpu],
            processes: vec![0, 0, 1, 1, 2, 2],
            values: (0..12).map(f64::from).collect(),
            ..ResultBenchmark::default()
        });
        results.push(ResultBenchmark {
            name: "once".to_owned(),
            metrics: vec![Metric::Wall],
            processes: vec![0],
            values: vec![7.0],
            ..ResultBenchmark::default()
        });
        results.push(ResultBenchmark {
            name: "broken".to_owned(),
            state: ResultState::Failed("why".to_owned()),
            ..ResultBenchmark::default()
        });
        results.processes_stand_alone = true;
        results.facts.modified = Some(5.0);
        results.facts.digest = Some(results.digest());
        results
    }

    #[test]
    fn processes_that_stand_alone_become_recordings() {
        let parts = appended().into_recordings();
        let names = |part: &Results| -> Vec<String> {
            part.benchmarks.iter().map(|one| one.name.clone()).collect()
        };
        assert_eq!(parts.len(), 3);
        assert_eq!(names(&parts[0]), ["a", "once", "broken"]);
        assert_eq!(names(&parts[1]), ["a"]);
        assert_eq!(parts[1].benchmarks[0].values, [4.0, 5.0, 6.0, 7.0]);
        assert_eq!(parts[2].benchmarks[0].processes, [0, 0]);
        assert!(parts.iter().all(|part| part.source == "a.txt"));
        assert!(parts.iter().all(|part| part.facts.modified.is_none()));
        let digests: Vec<Option<u64>> = parts.iter().map(|part| part.facts.digest).collect();
        assert!(digests[0] != digests[1] && digests[1] != digests[2]);
        let together = Results {
            processes_stand_alone: false,
            ..appended()
        };
        assert_eq!(together.clone().into_recordings(), [together]);
    }

    #[test]
    fn a_digest_is_of_what_was_recorded() {
        let results = appended();
        let digest = results.digest();
        let renamed = Results {
            source: "b.txt".to_owned(),
            ..results.clone()
        };
        assert_eq!(renamed.digest(), digest);
        let mut later = results.clone();
        later.facts.date = Some("2026-03-01".to_owned());
        let mut other = results;
        other.benchmarks[0].values[3] += 1e-9;
        assert!(later.digest() != digest && other.digest() != digest);
    }
}
