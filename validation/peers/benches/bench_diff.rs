//! The answer printed by a user of this library: its ratio of medians, and what Welch's test of it
//! says.

use std::hint::black_box;

use bench_diff::stats_types::AltHyp;
use bench_diff::{LatencyUnit, bench_diff};
use deadheat_validation_peers::Case;

/// As in the tables of its documentation for such short functions.
const EXECUTIONS: usize = 2_000;

const ALPHA: f64 = 0.05;

fn main() {
    let [baseline, candidate] = Case::of_environment().sides();
    let out = bench_diff(
        LatencyUnit::Nano,
        || {
            black_box(baseline.run());
        },
        || {
            black_box(candidate.run());
        },
        EXECUTIONS,
    );
    // Of the first function to the second.
    let ratio = out.ratio_medians_f1_f2();
    let interval = out.welch_ratio_ci(ALPHA);
    let test = out.welch_ln_test(AltHyp::Ne, ALPHA);
    println!("{ratio} {} {} {}", interval.0, interval.1, test.p());
}
