//! Chains of steps, each of which needs the one before: PERCENT says how many
//! per cent more of them.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};

fn steps(criterion: &mut Criterion) {
    let percent = std::env::var("PERCENT").map_or(0, |text| text.parse().expect("a number"));
    let steps = 100 * (100 + percent);
    criterion.bench_function("multiplying", |bencher| {
        bencher.iter(|| {
            let mut bits = black_box(1_u64);
            for _ in 0..steps {
                bits = (bits ^ (bits >> 31)).wrapping_mul(0x6a09_e667_f3bc_c909);
            }
            bits
        });
    });
    criterion.bench_function("shifting", |bencher| {
        bencher.iter(|| {
            let mut bits = black_box(1_u64);
            for _ in 0..steps {
                bits ^= bits << 13;
                bits ^= bits >> 7;
                bits ^= bits << 17;
            }
            bits
        });
    });
}

criterion_group!(benches, steps);
criterion_main!(benches);
