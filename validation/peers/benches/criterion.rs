//! One side at a time, as criterion compares: a benchmark is measured, its
//! code is changed, and it is measured again under the same name.

use criterion::{Criterion, criterion_group, criterion_main};
use deadheat_validation_peers::Case;

fn work(criterion: &mut Criterion) {
    let second = std::env::var("PEERS_SIDE").is_ok_and(|side| side == "candidate");
    let side = Case::of_environment().sides()[usize::from(second)];
    criterion.bench_function("work", |bencher| bencher.iter(|| side.run()));
}

criterion_group!(benches, work);
criterion_main!(benches);
