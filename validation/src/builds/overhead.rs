//! The share of a race of two builds that is not spent in samples.

use std::fs;

use deadheat_validation::bars::{Bar, Section, plain_spread};

use crate::{Setting, text};

/// Percent of the time that may go elsewhere.
const BAR: f64 = 25.0;

pub fn section(setting: &Setting) -> Section {
    let copy = setting.shop.scratched("copy");
    fs::copy(&setting.copies, &copy).expect("a copy");
    let races = setting.shop.count(6, 2);
    let (mut outside, mut seconds, mut lengths) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..races {
        let words = [text(&setting.copies), text(&copy), "--placement", "own"];
        let raced = setting.shop.race(&words);
        outside.push(100.0 * (1.0 - raced.in_samples / raced.seconds));
        seconds.push(raced.seconds);
        lengths.push(raced.in_samples / raced.samples as f64 * 1e6);
    }
    let shown = plain_spread(&outside, 1);
    Section {
        text: format!(
            "## Time outside the samples\n\n\
             A suite of nine functions in Rust, from 1 ns to 1 ms, raced against a copy of its program {races} times, \
             at the defaults. Of the time of the whole process, from start to exit, {shown} % is not spent in recorded \
             samples: median (range). It is spent on pilots, on starting two processes per replicate and warming them up, on \
             handing over, on making inputs and on what is thrown away to prime a block. A suite takes {} s, a sample lasts \
             {} µs.\n\n",
            plain_spread(&seconds, 2),
            plain_spread(&lengths, 0),
        ),
        bars: vec![Bar::at_most(
            "time not spent in samples, whole suite, median",
            deadheat_validation::process::median(outside),
            BAR,
            1,
            "%",
        )],
    }
}
