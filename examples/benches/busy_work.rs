//! Differences that are known exactly: the same work, and so many percent
//! more of it. At 0 % a function is raced against itself.

use deadheat_examples::busy_work::{
    ROUNDS_FOR_20_MILLISECONDS, ROUNDS_FOR_100_MICROSECONDS, STEPS_FOR_25_MICROSECONDS, mixing,
    sha256, with_percent,
};

const PERCENTS: [f64; 6] = [0.0, 0.1, 1.0, 2.0, 5.0, 10.0];

fn main() {
    deadheat::main(|suite| {
        suite.sweep("mixing", "percent", PERCENTS, |benchmark, percent| {
            let steps = STEPS_FOR_25_MICROSECONDS;
            let more = with_percent(steps, percent);
            benchmark
                .baseline("25 µs", move || mixing(steps))
                .candidate("more", move || mixing(more));
        });
        suite.sweep("sha256", "percent", PERCENTS, |benchmark, percent| {
            let rounds = ROUNDS_FOR_100_MICROSECONDS;
            let more = with_percent(rounds, percent);
            benchmark
                .baseline("100 µs", move || sha256(rounds))
                .candidate("more", move || sha256(more));
        });
        // These take a while: `cargo bench … -- --ignored`.
        suite.sweep("sha256 slow", "percent", PERCENTS, |benchmark, percent| {
            let rounds = ROUNDS_FOR_20_MILLISECONDS;
            let more = with_percent(rounds, percent);
            benchmark
                .ignored()
                .baseline("20 ms", move || sha256(rounds))
                .candidate("more", move || sha256(more));
        });
    });
}
