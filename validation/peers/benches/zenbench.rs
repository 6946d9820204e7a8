//! Two benchmarks of one group.

use deadheat_validation_peers::Case;
use zenbench::prelude::*;

fn races(suite: &mut Suite) {
    let [baseline, candidate] = Case::of_environment().sides();
    suite.group("work", |group| {
        group.bench("baseline", move |bencher| bencher.iter(|| baseline.run()));
        group.bench("candidate", move |bencher| bencher.iter(|| candidate.run()));
    });
}

zenbench::main!(races);
