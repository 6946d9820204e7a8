//! Two benchmarks of one program.

use deadheat_validation_peers::Case;

fn main() {
    divan::main();
}

#[divan::bench]
fn baseline(bencher: divan::Bencher) {
    let side = Case::of_environment().sides()[0];
    bencher.bench(|| side.run());
}

#[divan::bench]
fn candidate(bencher: divan::Bencher) {
    let side = Case::of_environment().sides()[1];
    bencher.bench(|| side.run());
}
