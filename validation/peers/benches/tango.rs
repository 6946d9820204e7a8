//! Two benchmarks of one program, to be told apart by what stands before their name.

use deadheat_validation_peers::Case;
use tango_bench::{IntoBenchmarks, benchmark_fn, tango_benchmarks};

fn races() -> impl IntoBenchmarks {
    let [baseline, candidate] = Case::of_environment().sides();
    [
        benchmark_fn("baseline/work", move |bencher| {
            bencher.iter(move || baseline.run())
        }),
        benchmark_fn("candidate/work", move |bencher| {
            bencher.iter(move || candidate.run())
        }),
    ]
}

tango_benchmarks!(races());
