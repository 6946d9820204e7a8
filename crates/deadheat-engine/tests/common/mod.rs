//! What the tests of the loop race.

use deadheat_model::{Benchmark, Design, Environment, Looks, Metric, Origin, Plan, Run, RunHeader};

/// A run of these benchmarks with one look, after so many replicates of so
/// many blocks.
pub fn run(look: u32, blocks_per_replicate: u32, benchmarks: Vec<Benchmark>) -> Run {
    Run::new(RunHeader {
        command: Vec::new(),
        tool_version: "test".to_owned(),
        started_at: None,
        origin: Origin::Race,
        plan: Plan {
            design: Design {
                looks: Looks {
                    at: vec![look],
                    levels: vec![0.05],
                    weights: vec![1.0],
                },
                blocks_per_replicate,
                ..Design::default()
            },
            seed: 1,
            benchmarks,
        },
        environment: Environment::default(),
        metrics: vec![Metric::Wall],
        tick_ns: None,
        left_out: Vec::new(),
    })
}
