//! The contents of a file with results of any tool.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;

use deadheat_format::limits::{
    Allowance, most_benchmarks, most_bytes_of_names, most_memory_of_results,
};
use deadheat_model::{Metric, ResultFacts};

use crate::identity::Identity;

/// The results of one file or folder.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Results {
    /// The path of the file as the user named it, `-` for standard input.
    pub source: String,
    /// The tool that wrote the file, with its version if the file has it, such as "pyperf 2.6.0".
    pub tool: String,
    /// Facts about the machine and the build.
    pub facts: ResultFacts,
    /// The benchmarks in the order of the file, with distinct names.
    pub benchmarks: Vec<ResultBenchmark>,
    /// Parts of the file that could not be read and belong to no benchmark, each with its place and
    /// the reason.
    pub unread: Vec<String>,
    /// True if the processes of a benchmark were started independently, such as the forks of JMH,
    /// and runs of Go whose output was appended to one file.
    pub processes_stand_alone: bool,
    /// The number of benchmarks with each name so far, by name.
    names: HashMap<String, u32>,
    /// The total length of the names and parameters of all benchmarks, in bytes.
    pub(crate) bytes_of_names: u64,
    /// The estimated memory of all benchmarks pushed so far, in bytes.
    memory_pushed: u64,
    /// The limits on the results; `None` until the first benchmark is added.
    limits: Option<Limits>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Limits {
    bytes_of_names: u64,
    benchmarks: u64,
    memory: u64,
}

impl Limits {
    /// Returns the limits that the user set. A setting that cannot be read gives a limit of 0, and
    /// reading the file reports the error.
    fn of_the_user() -> Self {
        Self {
            bytes_of_names: most_bytes_of_names().unwrap_or(0),
            benchmarks: most_benchmarks().unwrap_or(0),
            memory: most_memory_of_results().unwrap_or(0),
        }
    }
}

impl Results {
    /// Returns results of this file and tool, without benchmarks.
    pub fn new(source: impl Into<String>, tool: impl Into<String>) -> Self {
        Self {
            source: source.into(),
            tool: tool.into(),
            ..Self::default()
        }
    }

    /// Returns the estimated memory in bytes for the results, including the copies that an analysis
    /// makes.
    pub fn memory(&self) -> u64 {
        self.benchmarks.iter().map(ResultBenchmark::memory).sum()
    }

    /// Fails if the results of this file alone need more memory than a command may use for all
    /// results; `push` has then left out benchmarks.
    pub(crate) fn refuse_too_large(&self) -> io::Result<()> {
        Allowance::of_results()?.take(self.memory_pushed)
    }

    /// Adds a benchmark. A second benchmark of the same name becomes `name #2`, so that the
    /// benchmarks of two files with the same repeated names are still compared.
    ///
    /// Ignores the benchmark if the file [exceeds a limit](Self::are_full).
    pub fn push(&mut self, benchmark: ResultBenchmark) {
        self.bytes_of_names += benchmark.bytes_of_names();
        self.memory_pushed += benchmark.memory();
        self.limits.get_or_insert_with(Limits::of_the_user);
        if !self.are_full() {
            self.add(benchmark);
        }
    }

    fn add(&mut self, mut benchmark: ResultBenchmark) {
        let mut name = benchmark.name.clone();
        while self.names.contains_key(&name) {
            // The number counts up from one benchmark to the next. Each of ten thousand equal names
            // would otherwise try all numbers, where a file also has a benchmark of each number.
            let times = self.names.entry(benchmark.name.clone()).or_insert(1);
            *times += 1;
            name = format!("{} #{times}", benchmark.name);
        }
        self.names.insert(name.clone(), 1);
        benchmark.repeated |= name != benchmark.name;
        benchmark.name = name;
        self.benchmarks.push(benchmark);
    }

    /// Returns true if the file has too many benchmarks, or if they or their names need too much
    /// memory. Such a file is refused after it was read.
    pub(crate) fn are_full(&self) -> bool {
        self.limits.is_some_and(|most| {
            self.bytes_of_names > most.bytes_of_names
                || self.benchmarks.len() as u64 > most.benchmarks
                || self.memory_pushed > most.memory
        })
    }

    /// Renames the benchmarks by their identities. A benchmark keeps its name if `name` returns
    /// `None`.
    pub(crate) fn rename(&mut self, name: impl Fn(&Identity) -> Option<String>) {
        self.names.clear();
        self.bytes_of_names = 0;
        for mut benchmark in std::mem::take(&mut self.benchmarks) {
            let identity = Some(&benchmark.identity).filter(|identity| !identity.is_empty());
            if let Some(name) = identity.and_then(&name) {
                benchmark.name = name;
                benchmark.repeated = false;
            }
            self.bytes_of_names += benchmark.bytes_of_names();
            self.add(benchmark);
        }
    }

    /// Returns a digest of the tool, the date and all benchmarks with their values. The name and
    /// the layout of the file do not count.
    pub fn digest(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (&self.tool, &self.facts.date).hash(&mut hasher);
        for benchmark in &self.benchmarks {
            benchmark.digest().hash(&mut hasher);
        }
        hasher.finish()
    }

    /// Splits a file with independently started processes into one recording per process. The date
    /// and the modification time of each recording are unknown.
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
                // A failed benchmark has no rows and is reported once.
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

/// A benchmark in a file of results.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResultBenchmark {
    /// The name, by which the benchmark is found in other files.
    pub name: String,
    /// The full identity, of which the name shows a part.
    pub identity: Identity,
    /// True if another benchmark of the file has the same name, so that only their order
    /// distinguishes them.
    pub repeated: bool,
    /// A label in addition to the name.
    pub label: Option<String>,
    /// The number of threads that the benchmark used, if it is known.
    pub threads: Option<u32>,
    /// Parameter values that are not part of the name, in the order declared.
    pub parameters: Vec<(String, String)>,
    /// The outcome of the benchmark.
    pub state: ResultState,
    /// The distinct exit codes of the benchmark's launches, if the file has exit codes.
    pub exits: ExitCodes,
    /// The measured metrics. The first one is judged unless the user chooses another.
    pub metrics: Vec<Metric>,
    /// The process of each row, numbered from 0. Rows of one process are not independent.
    pub processes: Vec<u32>,
    /// The values, row by row, one per metric: per iteration, in the unit of the metric, finite and
    /// not negative.
    pub values: Vec<f64>,
}

/// The distinct exit codes of the launches of a benchmark; `None` for a launch that a signal
/// killed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExitCodes(pub BTreeSet<Option<i64>>);

impl ExitCodes {
    /// Returns true if some launch did not exit with code 0.
    pub fn any_failed(&self) -> bool {
        self.0.iter().any(|code| *code != Some(0))
    }

    /// Returns true if all launches failed to run to their end: a signal killed them, or a shell
    /// could not start the program, which it reports as 126 or 127.
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
    fn bytes_of_names(&self) -> u64 {
        let qualifiers = self.identity.qualifiers.iter();
        let qualifiers = qualifiers.map(|one| one.key.len() + one.value.len());
        let parameters = self
            .parameters
            .iter()
            .map(|(key, value)| key.len() + value.len());
        let rest: usize = qualifiers.chain(parameters).sum();
        (self.name.len() + self.identity.base.len() + rest) as u64
    }

    /// Returns the estimated memory in bytes, as [`Results::memory`] does.
    pub(crate) fn memory(&self) -> u64 {
        const BENCHMARK: u64 = 512;
        // Bytes per value. With 16, `compare` of two files of 40 kB took 4.4 GB; the limit is 2
        // GiB.
        const VALUE: u64 = 32;
        const COPIES_OF_NAMES: u64 = 3;
        let values = self.values.len() + self.processes.len();
        BENCHMARK + COPIES_OF_NAMES * self.bytes_of_names() + VALUE * values as u64
    }

    /// Returns a digest of the name, label, state, processes, metrics and values.
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

/// The outcome of a benchmark.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum ResultState {
    /// The values are single measurements.
    #[default]
    Measured,
    /// Only a summary is available, in a single row.
    Summarised {
        /// The statistic, such as "median" or "mean".
        statistic: String,
    },
    /// The benchmark failed, with this message.
    Failed(String),
    /// The benchmark was skipped, with this message.
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
