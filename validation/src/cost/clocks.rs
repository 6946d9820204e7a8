//! The cost of reading a clock.
#![allow(unsafe_code)]

use deadheat::parts::engine::SampleClock;
use deadheat_validation::prelude::*;

use crate::in_turns::InTurns;

const READINGS: u32 = 2_000;

pub fn section(shop: &Workshop) -> Section {
    let rounds = shop.count(201, 11);
    let clock = SampleClock::choose().0;
    let system = |which: libc::clockid_t| each(move || gettime(which));
    let mut ways =
        InTurns::beside("`clock_gettime(CLOCK_MONOTONIC)`", system(libc::CLOCK_MONOTONIC))
            .theirs("`std::time::Instant::now`", each(Instant::now))
            .theirs(
                "`clock_gettime(CLOCK_THREAD_CPUTIME_ID)`",
                system(libc::CLOCK_THREAD_CPUTIME_ID),
            );
    #[cfg(target_arch = "x86_64")]
    {
        ways = ways.theirs("`rdtsc`, which other instructions may pass", each(rdtsc));
    }
    let measured = ways
        .ours("deadheat, before the work: `SampleClock::start`", each(move || clock.start()))
        .ours("deadheat, after it: `SampleClock::stop`", each(move || clock.stop()))
        .run(rounds);
    let text = format!(
        "## Reading a clock\n\n\
         Each method reads its clock {READINGS} times in a row. The methods take turns, and the \
         times are median (range) over {rounds} rounds. The ratio of a method is its time divided \
         by the time of the first method in the table, in the same round. deadheat's clock on this \
         machine is `{}`. deadheat reads the clock so that no instruction of the measured work can \
         move across the reading. A clock instruction by itself, such as `rdtsc`, does not prevent this.\n\n\
         {}",
        clock.source().name(),
        measured.table("reading", "ns", 2),
    );
    Section { text, bars: Vec::new() }
}

/// Nanoseconds that one of many readings in a row takes.
fn each<T>(read: impl Fn() -> T) -> impl FnMut() -> f64 {
    move || {
        let began = Instant::now();
        for _ in 0..READINGS {
            black_box(read());
        }
        began.elapsed().as_nanos() as f64 / f64::from(READINGS)
    }
}

pub fn gettime(clock: libc::clockid_t) -> libc::timespec {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is valid for writes.
    unsafe { libc::clock_gettime(clock, &mut time) };
    time
}

#[cfg(target_arch = "x86_64")]
fn rdtsc() -> u64 {
    // SAFETY: every x86-64 processor has the instruction.
    unsafe { std::arch::x86_64::_rdtsc() }
}
