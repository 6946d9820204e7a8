//! Runs made up from a seed, for what is done with runs.

use std::path::Path;

use deadheat::parts::model::{
    Benchmark, BlockRecord, Design, EndReason, Looks, Metric, RecordSink, RunEnd, RunHeader,
    Sample, Throughput,
};
use deadheat_examples::random::SplitMix64;
use deadheat_format::RunFileWriter;
use deadheat_testing::runs::{self, benchmark, contenders, design, function, sample};

/// Replicates of each benchmark.
pub const REPLICATES: u32 = 40;

/// A finished race of so many benchmarks, whose candidates are faster, slower
/// or neither, with layouts that differ from replicate to replicate and a few
/// disturbed samples.
#[derive(Clone, Copy, Debug)]
pub struct MadeRun {
    benchmarks: usize,
    blocks: u32,
}

impl MadeRun {
    /// So many benchmarks, of so many blocks of four samples in each
    /// replicate.
    pub fn new(benchmarks: usize, blocks: u32) -> Self {
        Self { benchmarks, blocks }
    }

    pub fn samples(self) -> usize {
        self.benchmarks * (REPLICATES * self.blocks * 4) as usize
    }

    pub fn write(self, path: &Path) {
        let mut writer = RunFileWriter::create(path, &self.header()).expect("a run file");
        let mut elapsed_ns = 0;
        self.for_each_block(|block| {
            elapsed_ns = block.elapsed_ns;
            writer.block(block).expect("the run can be written");
        });
        let end = RunEnd {
            reason: EndReason::Finished,
            launches: u64::from(REPLICATES) * self.benchmarks as u64,
            elapsed_ns,
        };
        writer.end(&end).expect("the run can be written");
    }

    pub fn for_each_block(self, mut each: impl FnMut(&BlockRecord)) {
        let mut random = SplitMix64::new(8);
        let (mut elapsed, changes) = (0.0, [0.0, 0.0, 0.0, 0.003, -0.02, 0.05]);
        for benchmark in 0..self.benchmarks {
            let effect = 1.0 + changes[random.index_below(changes.len())];
            let base = 1e4 * (1.0 + 19.0 * uniform(&mut random));
            for replicate in 0..REPLICATES {
                let layout = [0.004 * normal(&mut random), 0.004 * normal(&mut random)];
                for index in 0..self.blocks {
                    let order = [[0, 1, 1, 0], [1, 0, 0, 1]][random.index_below(2)];
                    let mut block = BlockRecord {
                        benchmark,
                        replicate,
                        index,
                        primed: true,
                        ..BlockRecord::default()
                    };
                    for contender in order {
                        let side = usize::from(contender);
                        let disturbed = if uniform(&mut random) < 0.005 { 1.3 } else { 1.0 };
                        let noise = (layout[side] + 0.01 * normal(&mut random)).exp();
                        let wall = base * [1.0, effect][side] * noise * disturbed;
                        elapsed += wall;
                        block.samples.push(Sample { iterations: 10, ..sample(contender) });
                        let cpu = (wall * 1.004).round();
                        block.values.extend([wall, cpu, 0.0, 0.0, 0.0, 0.0, 0.0]);
                    }
                    block.elapsed_ns = elapsed as u64;
                    each(&block);
                }
            }
        }
    }

    pub fn header(self) -> RunHeader {
        let benchmark = |index: usize| Benchmark {
            blocks_per_replicate: Some(self.blocks),
            throughput: Some(Throughput::Items(5_000)),
            ..benchmark(
                format!("group{}/bench_{index}", index / 20),
                contenders(["old", "new"], &function(10)),
            )
        };
        let looks: Looks =
            deadheat::parts::analysis::planned_looks(0, REPLICATES, 0.05).expect("looks");
        let design = Design { blocks_per_replicate: self.blocks, ..design(looks) };
        RunHeader {
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            metrics: vec![
                Metric::Wall,
                Metric::Cpu,
                Metric::MinorFaults,
                Metric::MajorFaults,
                Metric::VoluntarySwitches,
                Metric::InvoluntarySwitches,
                Metric::Allocations,
            ],
            ..runs::header(design, 8, (0..self.benchmarks).map(benchmark).collect())
        }
    }
}

pub fn uniform(random: &mut SplitMix64) -> f64 {
    (random.bits() >> 11) as f64 / (1_u64 << 53) as f64
}

pub fn normal(random: &mut SplitMix64) -> f64 {
    let (first, second) = (1.0 - uniform(random), uniform(random));
    (-2.0 * first.ln()).sqrt() * (std::f64::consts::TAU * second).cos()
}
