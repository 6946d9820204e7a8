//! The speed-up of chases through memory when several go on at once: the same number of loads in
//! one lane and in many.

use deadheat_examples::pointer_chasing::{MOST_LANES, Ring, chase};

/// Places in the ring: half a megabyte, more than the nearest cache holds.
const SIZE: usize = 1 << 16;

fn main() {
    deadheat::main(|suite| {
        let lanes = [1, 2, 4, 8, 16, MOST_LANES];
        suite.sweep("chase", "lanes", lanes, |benchmark, lanes| {
            benchmark
                .items(SIZE as u64)
                .input(|seed| Ring::new(seed, SIZE))
                .baseline("one lane", |ring| chase(ring, 1, SIZE))
                .candidate("lanes", move |ring| chase(ring, lanes, SIZE));
        });
    });
}
