//! Functions of which `builds` races two copies of one program, or one with more work: a bench
//! target like anybody's. An argument says how many per cent more.

use deadheat::suite::Benchmark;
use deadheat_validation::workloads::{Size, Visitor, long_steps, steps};

struct Alone<'s>(Benchmark<'s>);

impl Visitor for Alone<'_> {
    type Answer = ();

    fn visit<F: Fn(&u64) -> u64 + Copy + 'static>(self, call: F) {
        self.0.input(|seed| seed).baseline("function", call);
    }
}

fn main() {
    let percent = std::env::args().nth(1).and_then(|word| word.parse().ok());
    let percent = percent.unwrap_or(0.0);
    deadheat::main(|suite| {
        suite.benchmark("steps").input(|seed| seed).baseline("function", steps(percent));
        let sizes = Size::ALL.into_iter().filter(|size| size.ns() < 1e9);
        for size in sizes {
            size.hand_to(Alone(suite.benchmark(size.name())));
        }
        let numbers = |seed: u64| {
            let mixed = (0..1_000u64).map(|i| mixing_of(seed ^ i));
            mixed.collect::<Vec<u64>>()
        };
        suite.benchmark("sort").input(numbers).baseline("function", |numbers| {
            let mut sorted = numbers.clone();
            sorted.sort_unstable();
            sorted[0]
        });
        suite.benchmark("odd sum").input(numbers).baseline("function", |numbers| {
            let odd = numbers.iter().filter(|number| **number % 2 == 1);
            odd.fold(0u64, |sum, number| sum.wrapping_add(*number))
        });
        suite.benchmark("text").input(numbers).baseline("function", |numbers| {
            let texts: Vec<String> = numbers[..50].iter().map(u64::to_string).collect();
            texts.concat().len()
        });
        // For races that are long of themselves.
        suite
            .benchmark("long steps")
            .ignored()
            .input(|seed| seed)
            .baseline("function", long_steps(percent));
        // Nothing to speak of: what is left is the cost of taking turns.
        suite.benchmark("nothing").ignored().baseline("function", || ());
    });
}

fn mixing_of(number: u64) -> u64 {
    let mixed = number.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9)
}
