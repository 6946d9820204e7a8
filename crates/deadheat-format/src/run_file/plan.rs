//! The plan as it is read from a run file. These types belong to the schema: the
//! memory types may change without them.

use std::time::Duration;

use deadheat_model as model;
use serde::Deserialize;

use super::command::CommandLine;
use crate::column::metric_of_column;

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
    /// Absent where the number of the design holds.
    #[serde(default)]
    blocks_per_replicate: Option<u32>,
    #[serde(default)]
    throughput: Option<Throughput>,
    /// Absent but for a benchmark raced once more as the user linked it.
    #[serde(default)]
    own_link: Option<OwnLink>,
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
    /// What is launched. A recording has neither this nor a function.
    #[serde(default)]
    command: Option<CommandLine>,
    /// What is called in a worker process.
    #[serde(default)]
    function: Option<Function>,
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
                looks: model::Looks {
                    at: design.looks.at,
                    levels: design.looks.levels,
                    weights: design.looks.weights,
                },
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
        let contender = |contender: Contender| {
            let workload = match (contender.command, contender.function) {
                (Some(_), Some(_)) => {
                    return Err(format!(
                        "contender '{}' is a command and a function",
                        contender.name
                    ));
                }
                (Some(command), None) => model::Workload::Command(Box::new(command.into_model()?)),
                (None, Some(function)) => model::Workload::Function(function.into_model()),
                (None, None) => model::Workload::Recording,
            };
            Ok(model::Contender {
                name: contender.name,
                workload,
            })
        };
        Ok(model::Benchmark {
            name: self.name,
            parameters: self.parameters,
            contenders: self
                .contenders
                .into_iter()
                .map(contender)
                .collect::<Result<_, _>>()?,
            blocks_per_replicate: self.blocks_per_replicate,
            throughput: self.throughput.map(|throughput| match throughput {
                Throughput::Bytes(bytes) => model::Throughput::Bytes(bytes),
                Throughput::Items(items) => model::Throughput::Items(items),
            }),
            own_link: self.own_link.map(|own_link| model::OwnLink {
                of: own_link.of,
                replicates: own_link.replicates,
            }),
        })
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
