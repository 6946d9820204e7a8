//! A `main` of one's own, as benchmarks of criterion's have it that do without its macros.

extern crate deadheat_criterion as criterion;

use criterion::{Criterion, black_box};

fn main() {
    let mut criterion = Criterion::default()
        .configure_from_args()
        .with_filter("sum");
    let numbers: Vec<u64> = (0..100).collect();
    criterion.bench_function("sum", |b| {
        b.iter(|| black_box(&numbers).iter().sum::<u64>())
    });
    criterion.final_summary();
}
