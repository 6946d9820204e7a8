//! The workload of a contender: a command, a function in a worker process, or a program that holds
//! benchmarks.

use std::path::PathBuf;

use crate::command::CommandLine;

/// The workload of a contender when its turn comes.
#[derive(Clone, Debug, PartialEq)]
pub enum Workload {
    /// A process is launched.
    Command(Box<CommandLine>),
    /// A function of the program that races is called inside a worker process.
    Function(FunctionCalls),
    /// A function of another program is called inside a worker process.
    Worker(Box<WorkerCalls>),
    /// An executable of a harness that knows nothing of deadheat is launched.
    Harness(Box<HarnessCalls>),
    /// Nothing: its samples were read from a file.
    Recording,
}

impl Workload {
    /// The calls of a function, when this is one.
    pub fn calls(&self) -> Option<FunctionCalls> {
        match self {
            Workload::Function(calls) => Some(*calls),
            Workload::Worker(worker) => Some(worker.calls),
            Workload::Command(_) | Workload::Harness(_) | Workload::Recording => None,
        }
    }

    /// The same, to be changed.
    pub fn calls_mut(&mut self) -> Option<&mut FunctionCalls> {
        match self {
            Workload::Function(calls) => Some(calls),
            Workload::Worker(worker) => Some(&mut worker.calls),
            Workload::Command(_) | Workload::Harness(_) | Workload::Recording => None,
        }
    }
}

/// The calls of a function in each slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FunctionCalls {
    /// Calls in a sample by each thread, the same for all contenders of a benchmark.
    pub iterations: u64,
    /// Threads that call it at the same time.
    pub threads: u32,
}

impl Default for FunctionCalls {
    /// One call by one thread.
    fn default() -> Self {
        Self {
            iterations: 1,
            threads: 1,
        }
    }
}

/// An executable and what it is told, as it is started for every replicate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// The executable, or a script that names its interpreter.
    pub executable: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// The folder in which it runs; that of deadheat when `None`.
    pub directory: Option<PathBuf>,
}

/// A function of a program that speaks the worker protocol.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkerCalls {
    /// The program that is started.
    pub program: Program,
    /// The process of the replicate that calls it: contenders of a benchmark with the same number
    /// share one, which has this program.
    pub process: usize,
    /// The benchmark, by which the program knows it.
    pub benchmark: String,
    /// The contender, by which the program knows it.
    pub contender: String,
    /// Its calls.
    pub calls: FunctionCalls,
}

/// A harness whose executables are raced as they are, launch by launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Harness {
    /// Google Benchmark, of C++.
    #[default]
    GoogleBenchmark,
    /// criterion, of Rust.
    Criterion,
    /// divan, of Rust.
    Divan,
    /// The test executables of Go, which hold benchmarks too.
    Go,
    /// JMH, of Java.
    Jmh,
    /// pyperf, of Python.
    Pyperf,
}

impl Harness {
    /// All of them, in the order in which programs are asked.
    pub const ALL: [Self; 6] = [
        Self::GoogleBenchmark,
        Self::Criterion,
        Self::Divan,
        Self::Go,
        Self::Jmh,
        Self::Pyperf,
    ];

    /// The name of the harness, for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::GoogleBenchmark => "Google Benchmark",
            Self::Criterion => "criterion",
            Self::Divan => "divan",
            Self::Go => "Go",
            Self::Jmh => "JMH",
            Self::Pyperf => "pyperf",
        }
    }

    /// The word for it in files and options.
    pub fn key(self) -> &'static str {
        match self {
            Self::GoogleBenchmark => "google_benchmark",
            Self::Criterion => "criterion",
            Self::Divan => "divan",
            Self::Go => "go",
            Self::Jmh => "jmh",
            Self::Pyperf => "pyperf",
        }
    }
}

/// A benchmark of an executable of a harness.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HarnessCalls {
    /// The harness.
    pub harness: Harness,
    /// The program that is launched.
    pub program: Program,
    /// The benchmark, by which the program knows it.
    pub benchmark: String,
    /// The length of each repetition.
    pub length: RepetitionLength,
    /// Repetitions at the beginning of a launch that are not counted, as what is called then is
    /// still warming up.
    pub warm_up: u32,
    /// Repetitions in a launch behind these, each a sample.
    pub repetitions: u32,
    /// Threads that the benchmark runs on.
    pub threads: u32,
}

/// The length of a repetition in a launch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum RepetitionLength {
    /// So many iterations, whatever they take.
    Iterations(u64),
    /// As many iterations as take at least so many seconds, which the executable finds anew in
    /// every launch: criterion and Google Benchmark before 1.8 know no other way.
    Seconds(f64),
    /// As the source of the benchmark says.
    #[default]
    Own,
}
