//! A suite of divan, with names and benchmarks of the kinds that suites have.

use deadheat_suites::chain;
use std::hint::black_box;

fn main() {
    divan::main();
}

#[divan::bench]
fn plain() -> u64 {
    chain(black_box(1000))
}

#[divan::bench(name = "odd/name with \"quotes\" (and) [a-z]* $'")]
fn odd() -> u64 {
    chain(black_box(500))
}

#[divan::bench(args = [100, 1000])]
fn sized(steps: u64) -> u64 {
    chain(black_box(steps))
}

#[divan::bench(threads = [1, 2])]
fn several() -> u64 {
    chain(black_box(1000))
}

#[divan::bench]
fn panics() {
    panic!("out of luck")
}
