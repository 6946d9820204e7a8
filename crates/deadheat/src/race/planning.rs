//! From what the pilots found to a frozen plan.

use deadheat_analysis::planned_blocks;
use deadheat_engine::{Piloted, least_warm_up_rounds};
use deadheat_model::Benchmark;

/// What a block costs beside its samples, in nanoseconds: handing over,
/// writing the record, reading the counters.
const BLOCK_OVERHEAD_NS: f64 = 50_000.0;
/// Where processes take turns, the blocks of a replicate take at least so many
/// times as long as starting its processes took in the pilot. As much again goes
/// into warming them up and seeing the last ones off: at 9, a fifth of the time
/// of a race lay between its replicates.
const BLOCKS_TO_START: f64 = 18.0;
/// Blocks in a replicate at most.
const MOST_BLOCKS: u32 = 200;

/// Fills in what the pilot found; a benchmark whose pilot failed is planned all
/// the same, so that it has a place in the run.
pub(super) fn complete(benchmark: &mut Benchmark, piloted: Option<&Piloted>, blocks: Option<u32>) {
    for contender in &mut benchmark.contenders {
        if let (Some(calls), Some(piloted)) = (contender.workload.calls_mut(), piloted) {
            calls.iterations = piloted.pilot.iterations;
        }
    }
    let turns = benchmark.processes_per_replicate() > Some(1);
    let contenders = benchmark.contenders.len();
    let found = piloted.map(|piloted| blocks_that_fit(piloted, contenders, turns));
    benchmark.blocks_per_replicate = blocks.or(found);
}

/// Blocks in a replicate that make the most of the time.
fn blocks_that_fit(piloted: &Piloted, contenders: usize, taking_turns: bool) -> u32 {
    let pilot = &piloted.pilot;
    // A control called in the same process is the baseline once more.
    let copy = pilot
        .call_ns
        .first()
        .filter(|_| pilot.call_ns.len() < contenders);
    let call_ns = pilot.call_ns.iter().chain(copy);
    let round_ns: f64 = call_ns.sum::<f64>() * pilot.iterations as f64;
    // Each once to prime it, then two of each in ABBA, or one of each in a row
    // of more.
    let rounds = if contenders == 2 { 3.0 } else { 2.0 };
    let samples_ns = pilot.block_cost_ns.unwrap_or(round_ns * rounds);
    let block_ns = samples_ns + BLOCK_OVERHEAD_NS;
    // Of functions that warm up in one round, that round primes the first block.
    let rounds = match (least_warm_up_rounds(round_ns), taking_turns) {
        (1, false) => 0,
        (rounds, _) => rounds,
    };
    let process_ns = piloted.process_ns + f64::from(rounds) * round_ns;
    let fitting = planned_blocks(process_ns, block_ns, &pilot.blocks_ns);
    if taking_turns {
        let starting = piloted.process_ns / block_ns * BLOCKS_TO_START;
        fitting.max((starting as u32).min(MOST_BLOCKS))
    } else {
        fitting
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadheat_engine::Pilot;

    fn piloted(call_ns: f64, iterations: u64) -> Piloted {
        Piloted {
            pilot: Pilot {
                iterations,
                most_iterations: None,
                call_ns: vec![call_ns; 2],
                blocks_ns: Vec::new(),
                block_cost_ns: None,
            },
            process_ns: 3e6,
        }
    }

    #[test]
    fn short_functions_get_many_blocks_and_slow_ones_few() {
        let short = blocks_that_fit(&piloted(1.0, 20_000), 2, false);
        let long = blocks_that_fit(&piloted(1e7, 1), 2, false);
        let slow = blocks_that_fit(&piloted(1e9, 1), 2, false);
        assert!(short >= 10, "{short}");
        assert!((2..5).contains(&long), "{long}");
        assert_eq!(slow, 1);
    }

    #[test]
    fn starting_processes_that_take_turns_is_a_small_part_of_a_replicate() {
        let short = piloted(200_000.0, 1);
        let alone = blocks_that_fit(&short, 2, false);
        let turns = blocks_that_fit(&short, 2, true);
        assert!(alone < turns && turns <= MOST_BLOCKS, "{alone} {turns}");
        assert_eq!(blocks_that_fit(&piloted(1e9, 1), 2, true), 1);
    }
}
