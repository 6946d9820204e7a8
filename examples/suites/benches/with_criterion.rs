//! A suite of criterion, with names and benchmarks of the kinds that suites have.

use criterion::{criterion_group, criterion_main, BenchmarkId, Criterion};
use deadheat_suites::chain;
use std::hint::black_box;

fn sums(criterion: &mut Criterion) {
    criterion.bench_function("plain", |b| b.iter(|| chain(black_box(1000))));
    criterion.bench_function("odd/name with \"quotes\" (and) [a-z]* $'", |b| {
        b.iter(|| chain(black_box(500)))
    });
    let mut group = criterion.benchmark_group("sized");
    for steps in [100, 1000] {
        group.bench_with_input(BenchmarkId::new("chain", steps), &steps, |b, steps| {
            b.iter(|| chain(black_box(*steps)))
        });
    }
    group.sample_size(20);
    group.bench_function("twenty samples", |b| b.iter(|| chain(black_box(200))));
    group.finish();
    criterion.bench_function("panics", |b| b.iter(|| panic!("out of luck")));
    for _ in 0..2 {
        criterion.bench_function("twice", |b| b.iter(|| chain(black_box(100))));
    }
    if !cfg!(feature = "slower") {
        criterion.bench_function("gone", |b| b.iter(|| chain(black_box(100))));
    }
}

criterion_group!(suite, sums);
criterion_main!(suite);
