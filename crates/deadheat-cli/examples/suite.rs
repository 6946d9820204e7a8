//! A suite for the tests of `deadheat bench`: one benchmark that is as fast in
//! every build, one with several contenders, one that a worker in Python has as
//! well, and one that is ignored.

use std::hint::black_box;

/// Rounds of work that no compiler can shorten.
fn work(rounds: u64) -> u64 {
    (0..rounds).fold(0, |sum, round| black_box(sum ^ round))
}

fn main() {
    deadheat::main(|suite| {
        // An argument makes another build of it.
        let slow = std::env::args().any(|argument| argument == "--slow");
        let rounds = if slow { 2_000 } else { 1_000 };
        suite
            .benchmark("work")
            .baseline("work", move || work(rounds));
        suite
            .benchmark("several")
            .baseline("few", || work(200))
            .candidate("many", || work(400));
        suite.benchmark("sort").baseline("sort", || {
            let mut numbers: Vec<u64> = (0..200).map(|n| n * 7919 % 211).collect();
            numbers.sort_unstable();
            numbers
        });
        suite
            .benchmark("broken")
            .ignored()
            .baseline("panics", || -> u64 { panic!("out of cheese") });
    });
}
