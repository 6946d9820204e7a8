//! A contender that starts threads in the middle of a race. The test does not check times.

use std::hint::black_box;
use std::thread;

use deadheat::Compare;

fn work(rounds: u64) -> u64 {
    (0..black_box(rounds)).fold(1, |sum, round| {
        black_box(sum ^ round).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    })
}

#[test]
fn threads_that_a_contender_starts_in_the_middle_are_told_and_its_waiting_counts() {
    let mut calls = 0;
    let analysis = Compare::new().seed(7).names("alone", "helped").run(
        || work(100_000),
        || {
            calls += 1;
            if calls > 300 {
                thread::spawn(|| work(100_000)).join().unwrap()
            } else {
                work(100_000)
            }
        },
    );
    let comparison = &analysis.comparisons[0];
    let told = (comparison.warnings.iter()).any(|warning| {
        // A container may hide the scheduling delay.
        let codes = ["waiting-of-its-own", "waiting-unread"];
        codes.contains(&warning.code())
    });
    let waiting = comparison.aspects.waiting.as_ref().unwrap();
    assert!(told || calls <= 300, "{:?}", comparison.warnings);
    assert!(calls <= 300 || !waiting.taken_out);
}
