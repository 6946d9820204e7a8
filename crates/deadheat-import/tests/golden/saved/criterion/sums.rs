use criterion::{criterion_group, criterion_main, BenchmarkId, Criterion, Throughput};
use saved::{bytes, sum};

/// With SLOWER=1 every size of `sum` is half as large again; the other benchmarks stay.
fn scale(n: u64) -> u64 {
    if std::env::var_os("SLOWER").is_some() { n + n / 2 } else { n }
}

fn benches(c: &mut Criterion) {
    c.bench_function("plain", |b| b.iter(|| sum(scale(100))));
    c.bench_function("with spaces/and slashes: <odd>", |b| b.iter(|| sum(100)));
    c.bench_function("größe ∑ 和", |b| b.iter(|| sum(100)));

    let mut group = c.benchmark_group("sum");
    for n in [64_u64, 256] {
        group.throughput(Throughput::Elements(n));
        group.bench_with_input(BenchmarkId::new("fold", n), &n, |b, n| b.iter(|| sum(scale(*n))));
    }
    group.finish();

    let mut group = c.benchmark_group("bytes/hash");
    let data = vec![7_u8; 1024];
    group.throughput(Throughput::Bytes(1024));
    group.bench_with_input(BenchmarkId::from_parameter(1024), &data, |b, data| b.iter(|| bytes(data)));
    group.finish();

    // The flat sampling of slow benchmarks: the same number of iterations in each sample.
    let mut group = c.benchmark_group("flat");
    group.sampling_mode(criterion::SamplingMode::Flat);
    group.bench_function("slow", |b| b.iter(|| sum(20_000)));
    group.finish();
}

criterion_group!(all, benches);
criterion_main!(all);
