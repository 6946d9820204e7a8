//! Evidence about the functions without a benchmarking tool.
//!
//! ```text
//! evidence calls FUNCTION N        calls it N times, for an instruction counter
//! evidence new FIRST SECOND N      times both on N texts they have not met
//! evidence known FIRST SECOND N    times both on N texts they know by heart
//! ```

use std::env::args;
use std::hint::black_box;
use std::time::Instant;

use deadheat_examples::random::SplitMix64;
use deadheat_examples::utf8::{LENGTH, text};
use deadheat_validation_articles::{Count, function};

fn main() {
    let words: Vec<String> = args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let number = |word: &str| word.parse().expect("a number of calls");
    match words[..] {
        ["calls", name, calls] => call(function(name), number(calls)),
        ["new", first, second, pairs] => {
            told(new_texts(
                [function(first), function(second)],
                number(pairs),
            ));
        }
        ["known", first, second, texts] => {
            told(known_texts(
                [function(first), function(second)],
                number(texts),
            ));
        }
        _ => panic!("calls FUNCTION N, new FIRST SECOND N, or known FIRST SECOND N"),
    }
}

fn call(count: Count, calls: u64) {
    let texts: Vec<String> = (1..=8).map(|seed| text(seed, LENGTH)).collect();
    for call in 0..calls {
        black_box(count(black_box(&texts[call as usize % texts.len()])));
    }
}

/// Both functions on a text that is new for every pair, in an order drawn for
/// every pair, after a call of each that is not timed.
fn new_texts(functions: [Count; 2], pairs: u64) -> [Vec<f64>; 2] {
    let mut random = SplitMix64::new(pairs);
    let mut times: [Vec<f64>; 2] = Default::default();
    for seed in 0..pairs {
        let text = text(seed, LENGTH);
        let order = drawn(&mut random);
        for side in order {
            black_box(functions[side](black_box(&text)));
        }
        for side in order {
            times[side].push(timed(functions[side], &text));
        }
    }
    times
}

/// Both functions on texts that they know by heart: each by itself, after as
/// many calls on the same text as are timed then. One time per text, the
/// median of its calls.
fn known_texts(functions: [Count; 2], texts: u64) -> [Vec<f64>; 2] {
    const CALLS: usize = 200;
    let mut random = SplitMix64::new(texts);
    let mut times: [Vec<f64>; 2] = Default::default();
    for seed in 0..texts {
        let text = text(seed, LENGTH);
        for side in drawn(&mut random) {
            for _ in 0..CALLS {
                black_box(functions[side](black_box(&text)));
            }
            let mut calls: Vec<f64> = (0..CALLS).map(|_| timed(functions[side], &text)).collect();
            times[side].push(median(&mut calls));
        }
    }
    times
}

fn drawn(random: &mut SplitMix64) -> [usize; 2] {
    match random.below(2) {
        0 => [0, 1],
        _ => [1, 0],
    }
}

fn timed(count: Count, text: &str) -> f64 {
    let start = Instant::now();
    black_box(count(black_box(text)));
    start.elapsed().as_nanos() as f64
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_unstable_by(f64::total_cmp);
    times[times.len() / 2]
}

/// A line: both medians in nanoseconds, and in how many pairs the second took
/// less.
fn told(mut times: [Vec<f64>; 2]) {
    let pairs = times[0].iter().zip(&times[1]);
    let wins = pairs.filter(|(first, second)| second < first).count();
    let [first, second] = &mut times;
    println!("{} {} {wins}", median(first), median(second));
}
