//! The examples of docs/functions.md, so that they are compiled and called.
//! Some differ by nothing but their spelling, and some by more than one would
//! think.

use std::hint::black_box;
use std::sync::{Mutex, RwLock};

#[global_allocator]
static ALLOCATOR: deadheat::CountingAllocator = deadheat::CountingAllocator::system();

fn main() {
    deadheat::main(|suite| {
        suite
            .benchmark("sum of a thousand")
            .input(|seed| (0..1_000).map(|i| i + seed % 1_000).collect::<Vec<u64>>())
            .baseline("forwards", |numbers| numbers.iter().sum::<u64>())
            .candidate("backwards", |numbers| numbers.iter().rev().sum::<u64>());

        suite
            .benchmark("empty strings")
            .baseline("new", String::new)
            .candidate("from", || String::from(black_box("")));

        suite
            .benchmark("sort")
            .input_per_call(|seed| {
                let step = 1 + seed % 1_008;
                (0..1_000).map(|i| i * step % 1_009).collect::<Vec<u64>>()
            })
            .baseline("stable", |mut numbers| {
                numbers.sort();
                numbers
            })
            .candidate("unstable", |mut numbers| {
                numbers.sort_unstable();
                numbers
            })
            .check_outputs();

        suite
            .benchmark("count")
            .bytes(4_096)
            .input(|seed| vec![seed as u8; 4_096])
            .baseline("filter", |bytes| {
                bytes.iter().filter(|byte| **byte == 7).count()
            })
            .candidate("sum", |bytes| {
                bytes
                    .iter()
                    .map(|byte| usize::from(*byte == 7))
                    .sum::<usize>()
            })
            .check_outputs();

        suite.sweep("sum", "length", [100, 10_000], |benchmark, length| {
            benchmark
                .input(move |seed| (0..length).map(|i| i + seed % length).collect::<Vec<u64>>())
                .baseline("forwards", |numbers| numbers.iter().sum::<u64>())
                .candidate("backwards", |numbers| numbers.iter().rev().sum::<u64>());
        });

        suite
            .benchmark("read under contention")
            .threads(2)
            .input(|seed| (Mutex::new(seed), RwLock::new(seed)))
            .baseline("Mutex", |locks| *locks.0.lock().unwrap())
            .candidate("RwLock", |locks| *locks.1.read().unwrap());
    });
}
