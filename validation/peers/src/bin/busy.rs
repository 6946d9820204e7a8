//! A command that takes about 20 ms, or a multiple, and some percent more: `busy PERCENT [TIMES]`.

use std::hint::black_box;

use deadheat_examples::busy_work::{STEPS_FOR_20_MILLISECONDS, mixing, with_percent};

fn main() {
    let percent = std::env::args().nth(1).and_then(|word| word.parse().ok());
    let percent: f64 = percent.expect("how many per cent more");
    let times = std::env::args()
        .nth(2)
        .map_or(1, |word| word.parse().expect("a number of times 20 ms"));
    let steps = with_percent(STEPS_FOR_20_MILLISECONDS * times, percent);
    black_box(mixing(steps));
}
