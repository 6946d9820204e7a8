//! Programs that hold benchmarks, as they are read from a run file.

use deadheat_model as model;
use serde::Deserialize;

use super::command::FilePath;

#[derive(Debug, Deserialize)]
struct Program {
    executable: FilePath,
    #[serde(default)]
    arguments: Vec<String>,
}

impl Program {
    fn into_model(self) -> Result<model::Program, String> {
        Ok(model::Program {
            executable: self.executable.into_path()?,
            arguments: self.arguments,
        })
    }
}

/// A function of a program that speaks the worker protocol.
#[derive(Debug, Deserialize)]
pub(super) struct Worker {
    program: Program,
    #[serde(default)]
    process: usize,
    benchmark: String,
    contender: String,
    iterations: u64,
    #[serde(default = "one")]
    threads: u32,
}

/// A benchmark of a Google Benchmark executable.
#[derive(Debug, Deserialize)]
pub(super) struct GoogleBenchmark {
    program: Program,
    benchmark: String,
    length: Length,
    repetitions: u32,
    #[serde(default = "one")]
    threads: u32,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Length {
    Iterations(u64),
    Seconds(f64),
    Own,
}

fn one() -> u32 {
    1
}

impl Worker {
    /// `Err` says in words what does not hold.
    pub(super) fn into_model(self) -> Result<model::WorkerCalls, String> {
        Ok(model::WorkerCalls {
            program: self.program.into_model()?,
            process: self.process,
            benchmark: self.benchmark,
            contender: self.contender,
            calls: model::FunctionCalls {
                iterations: self.iterations,
                threads: self.threads,
            },
        })
    }
}

impl GoogleBenchmark {
    /// `Err` says in words what does not hold.
    pub(super) fn into_model(self) -> Result<model::GoogleBenchmarkCalls, String> {
        Ok(model::GoogleBenchmarkCalls {
            program: self.program.into_model()?,
            benchmark: self.benchmark,
            length: match self.length {
                Length::Iterations(iterations) => model::RepetitionLength::Iterations(iterations),
                Length::Seconds(seconds) => model::RepetitionLength::Seconds(seconds),
                Length::Own => model::RepetitionLength::Own,
            },
            repetitions: self.repetitions,
            threads: self.threads,
        })
    }
}
