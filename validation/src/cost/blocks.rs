//! Contenders, run block by block as a race runs them.

use std::time::Instant;

use deadheat::parts::model::{Benchmark, BlockRecord, Contender, Design, Plan, Workload};
use deadheat_engine::{Contenders, Schedule};
use deadheat_testing::runs::{design, one_look};

pub struct Blocks<'p, C> {
    contenders: C,
    schedule: Schedule<'p>,
    record: BlockRecord,
}

impl<'p, C: Contenders> Blocks<'p, C> {
    pub fn new(plan: &'p Plan, contenders: C) -> Self {
        Self { contenders, schedule: Schedule::new(plan), record: BlockRecord::default() }
    }

    /// Runs one block, unprimed; how many seconds that takes.
    pub fn run(&mut self, replicate: u32, index: u32) -> f64 {
        let mut block = self.schedule.block(0, replicate, index, None);
        block.prime = None;
        self.record.samples.clear();
        self.record.values.clear();
        let began = Instant::now();
        let ran = self.contenders.run(&block, &mut self.record);
        let took = began.elapsed().as_secs_f64();
        ran.unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(self.record.samples.len(), block.slots.len(), "all samples");
        took
    }
}

/// A plan of so many replicates that does the same thing over and over: one
/// contender for each of these.
pub fn plan(
    benchmark: &str,
    contenders: &[(&str, Workload)],
    replicates: u32,
    blocks: u32,
) -> Plan {
    let contender = |(name, workload): &(&str, Workload)| Contender {
        name: (*name).to_owned(),
        workload: workload.clone(),
    };
    Plan {
        design: Design { blocks_per_replicate: blocks, ..design(one_look(replicates)) },
        seed: 1,
        benchmarks: vec![Benchmark {
            name: benchmark.to_owned(),
            contenders: contenders.iter().map(contender).collect(),
            ..Benchmark::default()
        }],
    }
}
