//! Five ways to count the characters of a text, in the pairs of the article
//! on paired benchmarking: three of a function with itself, three of two. The
//! benchmarks are named after their pairs, so that `--format paired` prints
//! the table of that article.

use deadheat_examples::utf8::{LENGTH, std, std_4925, std_5000, std_count, std_count_rev, text};

type Count = fn(&str) -> usize;

/// One closure for all: a closure of each side would be compiled into a loop
/// of each side, and the linker would put them into two places.
fn on_text(count: Count) -> impl Fn(&String) -> usize {
    move |text| count(text)
}

const PAIRS: [[(&str, Count); 2]; 6] = [
    [("std", std), ("std", std)],
    [("std_count", std_count), ("std_count", std_count)],
    [
        ("std_count_rev", std_count_rev),
        ("std_count_rev", std_count_rev),
    ],
    [("std_5000", std_5000), ("std_4925", std_4925)],
    [("std_count", std_count), ("std_count_rev", std_count_rev)],
    [("std", std), ("std_count", std_count)],
];

fn main() {
    deadheat::main(|suite| {
        for [(baseline, count), (candidate, other)] in PAIRS {
            suite
                .benchmark(format!("{baseline} / {candidate}"))
                .items(LENGTH as u64)
                .input(|seed| text(seed, LENGTH))
                .baseline(baseline, on_text(count))
                .candidate(candidate, on_text(other));
        }
    });
}
