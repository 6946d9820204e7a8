//! A command that takes about 20 ms, and so many per cent more.

use std::hint::black_box;

use deadheat_examples::busy_work::{STEPS_FOR_20_MILLISECONDS, mixing, with_percent};

fn main() {
    let percent = std::env::args().nth(1).and_then(|word| word.parse().ok());
    let percent: f64 = percent.expect("how many per cent more");
    black_box(mixing(with_percent(STEPS_FOR_20_MILLISECONDS, percent)));
}
