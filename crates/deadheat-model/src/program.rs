//! Programs of the user that hold benchmarks, as workloads: workers, which
//! are asked over pipes, and Google Benchmark executables, which are launched.

use std::path::PathBuf;

use crate::plan::FunctionCalls;

/// An executable and what it is told, as it is started for every replicate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// The executable, or a script that names its interpreter.
    pub executable: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
}

/// A function of a program that speaks the worker protocol.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkerCalls {
    /// Who is started.
    pub program: Program,
    /// The process of the replicate that calls it: contenders of a benchmark
    /// with the same number share one, which has this program.
    pub process: usize,
    /// The benchmark, by which the program knows it.
    pub benchmark: String,
    /// The contender, by which the program knows it.
    pub contender: String,
    /// How it is called.
    pub calls: FunctionCalls,
}

/// A benchmark of a Google Benchmark executable.
#[derive(Clone, Debug, PartialEq)]
pub struct GoogleBenchmarkCalls {
    /// Who is launched.
    pub program: Program,
    /// The benchmark, by which the program knows it.
    pub benchmark: String,
    /// How long each repetition is.
    pub length: RepetitionLength,
    /// Repetitions in a launch, each a sample.
    pub repetitions: u32,
    /// Threads that the benchmark runs on.
    pub threads: u32,
}

/// How long a repetition of Google Benchmark is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RepetitionLength {
    /// So many iterations, whatever they take.
    Iterations(u64),
    /// As many iterations as take at least so many seconds, which the
    /// executable finds anew in every launch: releases before 1.8 know no
    /// other way.
    Seconds(f64),
    /// As the source of the benchmark says.
    Own,
}
