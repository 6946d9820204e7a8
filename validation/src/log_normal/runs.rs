//! The routines that `log_normal` measures, each by itself: a bench target
//! like anybody's, of benchmarks without a candidate.

use deadheat_validation::routines::chase::{LANES, Ring, STEPS, name};
use deadheat_validation::routines::compute::{Base64, Transcoding};

fn main() {
    deadheat::main(|suite| {
        for (name, times) in [("base64", 1), ("base64, 1,000 times", 1_000)] {
            suite
                .benchmark(name)
                .input(|_| Base64::default())
                .baseline("encode", move |work| work.encode(times));
        }
        suite
            .benchmark("UTF-8 to UTF-16")
            .input(|_| Transcoding::default())
            .baseline("transcode", Transcoding::to_utf_16);
        for lanes in LANES {
            suite
                .benchmark(name(lanes))
                .input(|_| Ring::of_this_process())
                .baseline("walk", move |ring| ring.walk(lanes, STEPS));
        }
    });
}
