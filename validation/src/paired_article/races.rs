//! The pairs that `paired_article` races with deadheat: those of the article, and the one with a
//! known difference the other way round. A bench target like anybody's.

use deadheat_examples::utf8::{LENGTH, std, std_4925, std_5000, std_count, std_count_rev, text};

type Count = fn(&str) -> usize;

/// One closure for all: a closure of each side would be compiled into a loop
/// of each side, and the linker would put them into two places.
fn on_text(count: Count) -> impl Fn(&String) -> usize {
    move |text| count(text)
}

const PAIRS: [[(&str, Count); 2]; 7] = [
    [("std", std), ("std", std)],
    [("std_count", std_count), ("std_count", std_count)],
    [("std_count_rev", std_count_rev), ("std_count_rev", std_count_rev)],
    [("std_5000", std_5000), ("std_4925", std_4925)],
    [("std_count", std_count), ("std_count_rev", std_count_rev)],
    [("std", std), ("std_count", std_count)],
    [("std_4925", std_4925), ("std_5000", std_5000)],
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
