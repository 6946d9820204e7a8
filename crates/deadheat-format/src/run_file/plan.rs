//! The plan as it is read from a run file. These types belong to the schema: the
//! memory types may change without them.

use std::time::Duration;

use deadheat_model as model;
use serde::Deserialize;

use super::command::CommandLine;
use super::program::{GoogleBenchmark, Worker};
use deadheat_model::metric_of_column;

/// Everything of a plan but its seed, which stands beside it.
#[derive(Debug, Deserialize)]
pub(super) struct Plan {
    design: Design,
    benchmarks: Vec<Benchmark>,
}

#[derive(Debug, Deserialize)]
struct Design {
    margin: f64,
    alpha: f64,
    looks: Looks,
    blocks_per_replicate: u32,
    #[serde(default)]
    warmup: u32,
    #[serde(default)]
    budget_ns: Option<u64>,
    /// A column name.
    judged: String,
    #[serde(default)]
    pinning: Pinning,
}

#[derive(Debug, Deserialize)]
struct Looks {
    at: Vec<u32>,
    levels: Vec<f64>,
    weights: Vec<f64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Pinning {
    #[default]
    Inherit,
    Auto,
    Cores(Vec<u32>),
}

#[derive(Debug, Deserialize)]
struct Benchmark {
    name: String,
    /// Pairs, not a map: their order is the order declared.
    #[serde(default)]
    parameters: Vec<(String, String)>,
    contenders: Vec<Contender>,
    /// Whether the last contender is a second copy of the baseline.
    #[serde(default)]
    control: bool,
    /// Absent where the number of the design holds.
    #[serde(default)]
    blocks_per_replicate: Option<u32>,
    #[serde(default)]
    throughput: Option<Throughput>,
    /// Absent but for a benchmark raced once more as the user linked it.
    #[serde(default)]
    own_link: Option<OwnLink>,
    /// Names of columns of this benchmark alone.
    #[serde(default)]
    counters: Vec<String>,
    /// Absent where all is as the design has it.
    #[serde(default)]
    rules: BenchmarkOverrides,
}

/// What is decided for one benchmark otherwise than for all.
#[derive(Debug, Default, Deserialize)]
struct BenchmarkOverrides {
    #[serde(default)]
    margin: Option<f64>,
    /// Comes with its looks.
    #[serde(default)]
    alpha: Option<f64>,
    #[serde(default)]
    looks: Option<Looks>,
    /// A column name.
    #[serde(default)]
    judged: Option<String>,
    #[serde(default)]
    budget_ns: Option<u64>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
struct OwnLink {
    of: usize,
    replicates: u32,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Throughput {
    Bytes(u64),
    Items(u64),
}

#[derive(Debug, Deserialize)]
struct Contender {
    name: String,
    /// What is launched. A recording has neither this nor one of those below.
    #[serde(default)]
    command: Option<CommandLine>,
    /// What is called in a worker process of the program that raced.
    #[serde(default)]
    function: Option<Function>,
    /// What is called in a worker process of another program.
    #[serde(default)]
    worker: Option<Worker>,
    #[serde(default)]
    google_benchmark: Option<GoogleBenchmark>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
struct Function {
    iterations: u64,
    #[serde(default = "one")]
    threads: u32,
}

fn one() -> u32 {
    1
}

impl Plan {
    /// `Err` says in words what does not hold.
    pub(super) fn into_model(self, seed: u64) -> Result<model::Plan, String> {
        let design = self.design;
        Ok(model::Plan {
            design: model::Design {
                margin: design.margin,
                alpha: design.alpha,
                looks: design.looks.into_model(),
                blocks_per_replicate: design.blocks_per_replicate,
                warmup: design.warmup,
                budget: design.budget_ns.map(Duration::from_nanos),
                judged: metric_of_column(&design.judged),
                pinning: match design.pinning {
                    Pinning::Inherit => model::Pinning::Inherit,
                    Pinning::Auto => model::Pinning::Auto,
                    Pinning::Cores(cores) => model::Pinning::Cores(cores),
                },
            },
            seed,
            benchmarks: self
                .benchmarks
                .into_iter()
                .map(Benchmark::into_model)
                .collect::<Result<_, _>>()?,
        })
    }
}

impl Benchmark {
    fn into_model(self) -> Result<model::Benchmark, String> {
        let rules = self.rules.into_model(&self.name)?;
        Ok(model::Benchmark {
            name: self.name,
            parameters: self.parameters,
            contenders: self
                .contenders
                .into_iter()
                .map(Contender::into_model)
                .collect::<Result<_, _>>()?,
            control: self.control,
            blocks_per_replicate: self.blocks_per_replicate,
            throughput: self.throughput.map(|throughput| match throughput {
                Throughput::Bytes(bytes) => model::Throughput::Bytes(bytes),
                Throughput::Items(items) => model::Throughput::Items(items),
            }),
            saved: None,
            own_link: self.own_link.map(|own_link| model::OwnLink {
                of: own_link.of,
                replicates: own_link.replicates,
            }),
            counters: self.counters.iter().map(|c| metric_of_column(c)).collect(),
            overrides: rules,
        })
    }
}

impl Looks {
    fn into_model(self) -> model::Looks {
        model::Looks {
            at: self.at,
            levels: self.levels,
            weights: self.weights,
        }
    }
}

impl BenchmarkOverrides {
    fn into_model(self, benchmark: &str) -> Result<model::BenchmarkOverrides, String> {
        let level = match (self.alpha, self.looks) {
            (None, None) => None,
            (Some(alpha), Some(looks)) => Some(model::LevelOverride {
                alpha,
                looks: looks.into_model(),
            }),
            _ => {
                return Err(format!(
                    "the rules of benchmark '{benchmark}' have one of alpha and looks without \
                     the other"
                ));
            }
        };
        Ok(model::BenchmarkOverrides {
            margin: self.margin,
            level,
            judged: self.judged.map(|judged| metric_of_column(&judged)),
            budget: self.budget_ns.map(Duration::from_nanos),
        })
    }
}

impl Contender {
    fn into_model(self) -> Result<model::Contender, String> {
        let command = self.command.map(CommandLine::into_model).transpose()?;
        let command = command.map(|command| model::Workload::Command(Box::new(command)));
        let function = self.function.map(Function::into_model);
        let function = function.map(model::Workload::Function);
        let worker = self.worker.map(Worker::into_model).transpose()?;
        let worker = worker.map(|worker| model::Workload::Worker(Box::new(worker)));
        let google = self.google_benchmark.map(GoogleBenchmark::into_model);
        let google = google.transpose()?;
        let google = google.map(|google| model::Workload::GoogleBenchmark(Box::new(google)));
        let mut all = [command, function, worker, google].into_iter().flatten();
        let workload = all.next().unwrap_or(model::Workload::Recording);
        match all.next() {
            None => Ok(model::Contender {
                name: self.name,
                workload,
            }),
            Some(_) => Err(format!(
                "contender '{}' is more than one of command, function, worker and \
                 google_benchmark",
                self.name
            )),
        }
    }
}

impl Function {
    fn into_model(self) -> model::FunctionCalls {
        model::FunctionCalls {
            iterations: self.iterations,
            threads: self.threads,
        }
    }
}
