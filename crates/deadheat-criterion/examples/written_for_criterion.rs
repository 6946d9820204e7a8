//! A bench target as criterion's users write it: every way to name a benchmark, to time it and to
//! configure it. The tests list and race it.

// Users write in their manifest: criterion = { package = "deadheat-criterion", … }
extern crate deadheat_criterion as criterion;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use criterion::async_executor::{AsyncStdExecutor, FuturesExecutor, SmolExecutor};
use criterion::measurement::{Measurement, WallTime};
use criterion::profiler::ExternalProfiler;
use criterion::{
    AxisScale, BatchSize, Bencher, BenchmarkGroup, BenchmarkId, Criterion, PlotConfiguration,
    SamplingMode, Throughput, black_box, criterion_group, criterion_main,
};

fn sum(numbers: &[u64]) -> u64 {
    numbers
        .iter()
        .fold(0, |sum, number| sum.wrapping_add(*number))
}

fn sum_twice(numbers: &[u64]) -> u64 {
    sum(numbers).wrapping_add(black_box(sum(black_box(numbers))))
}

/// A value that prints when it is dropped, for the test that workers drop what was set up.
struct Cleared;

impl Drop for Cleared {
    fn drop(&mut self) {
        eprintln!("cleared away");
    }
}

/// Benchmarks that borrow local variables of this function, and print.
fn plain(c: &mut Criterion) {
    let _cleared = Cleared;
    println!("{{\"not\":\"the protocol\"}}");
    let numbers: Vec<u64> = (0..1_000).collect();
    c.bench_function("sum", |b| b.iter(|| sum(black_box(&numbers))));
    c.bench_with_input(
        BenchmarkId::new("sum of", 10),
        &numbers[..10],
        |b, numbers| {
            b.iter(|| sum(black_box(numbers)));
        },
    );
    let mut calls = 0_u64;
    c.bench_function("counter", |b| {
        b.iter(|| {
            calls += 1;
            calls
        });
    });
    println!("{calls} calls");
}

fn of_any<M: Measurement>(group: &mut BenchmarkGroup<'_, M>, size: usize) {
    let numbers: Vec<u64> = (0..size as u64).collect();
    group.throughput(Throughput::Elements(size as u64));
    group.bench_with_input(BenchmarkId::new("once", size), &numbers, |b, numbers| {
        b.iter(|| sum(black_box(numbers)));
    });
    group.bench_with_input(BenchmarkId::new("twice", size), &numbers, |b, numbers| {
        b.iter(|| sum_twice(black_box(numbers)));
    });
}

fn grouped(c: &mut Criterion<WallTime>) {
    let mut group = c.benchmark_group("grouped");
    group
        .sample_size(10)
        .sampling_mode(SamplingMode::Flat)
        .plot_config(PlotConfiguration::default().summary_scale(AxisScale::Logarithmic));
    for size in [1_000, 2_000] {
        of_any(&mut group, size);
    }
    group.finish();
    let mut group = c.benchmark_group("parameters");
    for (size, throughput) in [
        (1, Throughput::Bytes(8)),
        (2, Throughput::BytesDecimal(16)),
        (3, Throughput::Bits(192)),
        (
            4,
            Throughput::ElementsAndBytes {
                elements: 4,
                bytes: 32,
            },
        ),
    ] {
        group.throughput(throughput);
        group.bench_function(BenchmarkId::from_parameter(size), |b| {
            b.iter(|| black_box(size))
        });
    }
}

fn own_loop(bencher: &mut Bencher<'_, WallTime>) {
    bencher.iter_custom(|iterations| {
        let begun = Instant::now();
        for call in 0..iterations {
            black_box(sum(&[call, 1]));
        }
        begun.elapsed()
    });
}

fn loops(c: &mut Criterion) {
    let mut group = c.benchmark_group("loops");
    let text = || String::from("a dead heat");
    group.bench_function("batched", |b| {
        b.iter_batched(text, |text| text + "!", BatchSize::SmallInput);
    });
    group.bench_function(String::from("batched large"), |b| {
        b.iter_batched(text, String::into_bytes, BatchSize::LargeInput);
    });
    group.bench_function("batched by one", |b| {
        b.iter_batched(text, |text| text.len(), BatchSize::PerIteration);
    });
    group.bench_function("batched ref", |b| {
        b.iter_batched_ref(text, |text| text.push('!'), BatchSize::NumBatches(3));
    });
    group.bench_function("large drop", |b| {
        b.iter_with_large_drop(|| vec![1_u8; 1 << 10])
    });
    group.bench_function("setup", |b| {
        b.iter_with_setup(BTreeMap::<u8, u8>::new, |map| map.len())
    });
    group.bench_function("custom", own_loop);
    group.finish();
}

async fn awaited(value: u64) -> u64 {
    black_box(value)
}

fn asynchronous(c: &mut Criterion) {
    c.bench_function("async futures", |b| {
        b.to_async(FuturesExecutor).iter(|| awaited(7))
    });
    c.bench_function("async smol", |b| {
        b.to_async(SmolExecutor)
            .iter_batched(|| 7, awaited, BatchSize::SmallInput);
    });
    c.bench_function("async std", |b| {
        b.to_async(AsyncStdExecutor)
            .iter_custom(async |iterations| {
                let begun = Instant::now();
                for _ in 0..iterations {
                    awaited(7).await;
                }
                begun.elapsed()
            });
    });
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    c.bench_function("async tokio", |b| b.to_async(&runtime).iter(|| awaited(7)));
    c.bench_function("async tokio handle", |b| {
        b.to_async(runtime.handle()).iter_batched_ref(
            || 7,
            |value| awaited(*value),
            BatchSize::NumIterations(8),
        );
    });
}

/// Benchmarks that fail in several ways, for the tests of the messages.
fn failing(c: &mut Criterion) {
    c.bench_function("panics", |b| b.iter(|| panic!("it broke")));
    c.bench_function("panics before", |_| panic!("its setup broke"));
    c.bench_function("never iterates", |_| {});
    c.bench_function("sum", |b| b.iter(|| 1));
}

fn quick() -> Criterion {
    Criterion::default()
        .sample_size(10)
        .measurement_time(Duration::from_millis(10))
        .with_profiler(ExternalProfiler)
        .without_plots()
}

criterion_group!(simple, plain, grouped, loops, asynchronous,);
criterion_group! {
    name = configured;
    config = quick();
    targets = failing
}
criterion_main!(simple, configured);
