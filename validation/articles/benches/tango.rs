//! The pairs as tango compares two functions of one executable: under one name after two prefixes,
//! which `--strip-baseline` and `--strip-candidate` take off.

use std::hint::black_box;

use deadheat_examples::utf8::{LENGTH, text};
use deadheat_validation_articles::FUNCTIONS;
use tango_bench::{Benchmark, benchmark_fn, tango_benchmarks};

/// Every pair there could be of the five: which of them are compared is said
/// on the command line.
fn pairs() -> Vec<Benchmark> {
    let mut all = Vec::new();
    for (first, baseline) in FUNCTIONS {
        for (second, candidate) in FUNCTIONS {
            for (side, count) in [("baseline", baseline), ("candidate", candidate)] {
                let name = format!("{side}/{first}-{second}");
                all.push(benchmark_fn(name, move |bencher| {
                    let text = text(bencher.seed, LENGTH);
                    bencher.iter(move || count(black_box(&text)))
                }));
            }
        }
    }
    all
}

tango_benchmarks!(pairs());
