//! Functions as criterion measures them, one after the other.
//!
//! `DEADHEAT_BENCHMARKS` says which and in which order, as `ID=FUNCTION` between commas: where a
//! user would edit the function between two runs, it gets another function here under the same ID,
//! so that not even the link differs. `DEADHEAT_TEXT` is the seed of the text.

use std::env::var;
use std::hint::black_box;

use criterion::Criterion;
use deadheat_examples::utf8::{LENGTH, text};
use deadheat_validation_articles::function;

fn main() {
    let asked = var("DEADHEAT_BENCHMARKS").expect("DEADHEAT_BENCHMARKS names functions");
    let seed = var("DEADHEAT_TEXT").map_or(1, |seed| seed.parse().expect("a seed is a number"));
    let text = text(seed, LENGTH);
    let mut criterion = Criterion::default().configure_from_args();
    for one in asked.split(',') {
        let (id, name) = one.split_once('=').expect("ID=FUNCTION");
        let count = function(name);
        criterion.bench_function(id, |bencher| bencher.iter(|| count(black_box(&text))));
    }
    criterion.final_summary();
}
