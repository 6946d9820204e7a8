//! Recordings made by hand.

use deadheat_analysis::fixed_look;
use deadheat_model::{
    Benchmark, BlockRecord, Contender, ContenderId, Design, Environment, Flags, Metric, Origin,
    Plan, Run, RunHeader, Sample, Workload,
};

/// A block: its replicate, who ran in each slot, and how long.
pub type Block = (u32, Vec<(u8, f64)>);

/// A recording of such blocks, one benchmark of so many contenders.
pub fn run(origin: Origin, contenders: usize, blocks: &[Block]) -> Run {
    let contender = |index: usize| Contender {
        name: format!("c{index}"),
        workload: Workload::Recording,
    };
    let mut run = Run::new(RunHeader {
        command: Vec::new(),
        tool_version: String::new(),
        started_at: None,
        origin,
        plan: Plan {
            design: Design {
                looks: fixed_look(1, 0.05).unwrap(),
                ..Design::default()
            },
            seed: 0,
            benchmarks: vec![Benchmark {
                name: "b".to_owned(),
                parameters: vec![],
                contenders: (0..contenders).map(contender).collect(),
                ..Benchmark::default()
            }],
        },
        environment: Environment::default(),
        metrics: vec![Metric::Wall],
        tick_ns: None,
        left_out: Vec::new(),
    });
    for (index, (replicate, slots)) in blocks.iter().enumerate() {
        let sample = |(contender, _): &(u8, f64)| Sample {
            contender: ContenderId(*contender),
            flags: Flags::NONE,
            exit_code: None,
            iterations: 1,
        };
        let record = BlockRecord {
            replicate: *replicate,
            index: index as u32,
            samples: slots.iter().map(sample).collect(),
            values: slots.iter().map(|slot| slot.1).collect(),
            ..BlockRecord::default()
        };
        run.benchmarks[0].push(&record).unwrap();
    }
    run
}
