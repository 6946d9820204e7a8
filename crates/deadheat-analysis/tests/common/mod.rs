//! Recordings made by hand.

use deadheat_analysis::fixed_look;
use deadheat_model::{BlockRecord, Origin, Run, RunHeader, Workload};
use deadheat_testing::runs::{self, benchmark, design, header, sample};

/// A block: its replicate, who ran in each slot, and how long.
pub type Block = (u32, Vec<(u8, f64)>);

/// A recording of such blocks, one benchmark of so many contenders.
pub fn run(origin: Origin, contenders: usize, blocks: &[Block]) -> Run {
    let names = (0..contenders).map(|index| format!("c{index}"));
    let contenders = runs::contenders(names, &Workload::Recording);
    let benchmarks = vec![benchmark("b", contenders)];
    let mut run = Run::new(RunHeader {
        tool_version: String::new(),
        origin,
        tick_ns: None,
        ..header(design(fixed_look(1, 0.05).unwrap()), 0, benchmarks)
    });
    for (index, (replicate, slots)) in blocks.iter().enumerate() {
        let record = BlockRecord {
            replicate: *replicate,
            index: index as u32,
            samples: slots.iter().map(|slot| sample(slot.0)).collect(),
            values: slots.iter().map(|slot| slot.1).collect(),
            ..BlockRecord::default()
        };
        run.benchmarks[0].push(&record).unwrap();
    }
    run
}
