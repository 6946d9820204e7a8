//! A bench target with its own `main`, for users who do not use criterion's macros.

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
