//! What a program says that it can race.

use deadheat_model::{Metric, Throughput};

/// What kind of program it is, and what it holds.
#[cfg(feature = "commands")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Inspected {
    /// It speaks the worker protocol.
    Worker(WorkerListing),
    /// It is a Google Benchmark executable with benchmarks of these names.
    GoogleBenchmark(Vec<String>),
}

/// What a worker says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkerListing {
    /// Name and version, for people.
    pub worker: String,
    /// The metrics of its samples, in column order.
    pub metrics: Vec<Metric>,
    /// Its benchmarks, no two of the same name.
    pub benchmarks: Vec<ListedBenchmark>,
}

/// A benchmark as a worker lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedBenchmark {
    /// Its name.
    pub name: String,
    /// The names of its contenders, the baseline first; at least one.
    pub contenders: Vec<String>,
    /// Names and values of its parameters.
    pub parameters: Vec<(String, String)>,
    /// What one iteration gets done.
    pub throughput: Option<Throughput>,
    /// Threads that call each contender at the same time.
    pub threads: u32,
    /// Whether it is left out unless somebody asks for it.
    pub ignored: bool,
}
