//! The runs that the tests of the main loop race.

use deadheat_model::{Benchmark, Design, Run, RunHeader};
use deadheat_testing::runs::{design, header, one_look};

/// Returns a run of these benchmarks with one look after `look` replicates of
/// `blocks_per_replicate` blocks.
pub fn run(look: u32, blocks_per_replicate: u32, benchmarks: Vec<Benchmark>) -> Run {
    let design = Design {
        blocks_per_replicate,
        ..design(one_look(look))
    };
    Run::new(RunHeader {
        tick_ns: None,
        ..header(design, 1, benchmarks)
    })
}
