//! Tests a deadline. Its signal is recorded for the whole process, so this test has a separate
//! process.

use std::time::Duration;

use deadheat_engine::{Deadline, Interrupts};
use nix::sys::signal::Signal;

#[test]
fn only_the_signal_of_the_timer_after_its_time_counts() {
    let interrupts = Interrupts::install().unwrap();
    let late = Deadline::start(Duration::from_secs(3600), &interrupts).unwrap();
    assert!(
        !late.sent(Signal::SIGALRM as i32),
        "another process sent it"
    );
    let over = Deadline::start(Duration::from_nanos(0), &interrupts).unwrap();
    assert!(!over.sent(Signal::SIGINT as i32));
    assert!(over.sent(Signal::SIGALRM as i32));
}
