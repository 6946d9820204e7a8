//! The work between the last sample and the answer. The project measures its own history with this
//! file, by racing each commit against the ones before (docs/history.md, examples/history).
//!
//! It calls only functions that commits of a long period have in common, because older commits are
//! built with it too.

use deadheat::parts::analysis::{Options, PlannedRule, analyse, planned_looks};
use deadheat::parts::model::{Analysis, BlockRecord, Decision, Design, Run, StoppingRule};
use deadheat::parts::report::{TextOptions, to_json, to_text};
use deadheat_testing::runs::{benchmark, contenders, design, function, header, sample};

/// The maximum number of replicates, the number of replicates in the data (a look of the plan), and
/// the blocks of each.
const MOST: u32 = 40;
const REPLICATES: u32 = 31;
const BLOCKS: u32 = 25;

/// Returns the data of a race of two equal functions, before its end: no look has ended it.
fn race(seed: u64) -> Run {
    let looks = planned_looks(0, MOST, 0.05).expect("looks of a race");
    let both = contenders(["old", "new"], &function(100));
    let design = Design {
        blocks_per_replicate: BLOCKS,
        ..design(looks)
    };
    let mut run = Run::new(header(design, seed, vec![benchmark("own", both)]));
    let mut state = seed;
    let mut scatter = || {
        // Steele, Lea and Flood 2014: one step of SplitMix64.
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) as f64 / u64::MAX as f64
    };
    for replicate in 0..REPLICATES {
        for index in 0..BLOCKS {
            let order = if scatter() < 0.5 {
                [0, 1, 1, 0]
            } else {
                [1, 0, 0, 1]
            };
            let record = BlockRecord {
                replicate,
                index,
                samples: order.map(sample).to_vec(),
                values: order.map(|_| 25_000.0 * (1.0 + 0.03 * scatter())).to_vec(),
                ..BlockRecord::default()
            };
            run.benchmarks[0]
                .push(&record)
                .expect("a block of the plan");
        }
    }
    run
}

fn answer(seed: u64) -> Analysis {
    analyse(&race(seed), Options::default())
}

fn main() {
    deadheat::main(|suite| {
        suite
            .benchmark("analyse a race")
            .input(race)
            .baseline("analyse", |run| analyse(run, Options::default()));
        suite
            .benchmark("decide after 31 replicates")
            .input(race)
            .baseline("decide", |run| {
                let mut rule = PlannedRule::new(&run.header);
                rule.decide(0, &run.benchmarks[0]) == Decision::Stop
            });
        suite
            .benchmark("answer as JSON")
            .input(answer)
            .baseline("to_json", to_json);
        suite
            .benchmark("answer as text")
            .input(answer)
            .baseline("to_text", |answer| to_text(answer, &TextOptions::default()));
    });
}
