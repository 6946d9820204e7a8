//! Tests the instruments that time functions, in this process with the counting allocator
//! installed. The clocks are real, so the tests only check directions.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout};
use std::cell::RefCell;
use std::hint::black_box;
use std::sync::mpsc;
use std::time::Duration;

use deadheat_engine::{
    Allocations, ClockCheck, ClockSource, CountingAllocator, SampleClock, ThreadUsage,
    allocations_of_this_thread,
};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator::system();

fn asked_for(work: impl FnOnce()) -> Allocations {
    let before = allocations_of_this_thread().expect("the allocator is installed");
    work();
    allocations_of_this_thread()
        .expect("the allocator is installed")
        .since(&before)
}

/// Returns the clock that this machine chooses, and the clock of the operating system.
fn clocks() -> [SampleClock; 2] {
    [SampleClock::choose().0, SampleClock::os()]
}

#[test]
fn the_clock_goes_forward_and_a_sleep_takes_about_its_time() {
    for clock in clocks() {
        let start = clock.start();
        std::thread::sleep(Duration::from_millis(2));
        let stop = clock.stop();
        let slept = clock.ns_between(start, stop);
        assert!(slept > 1e6 && slept < 60e9, "{clock:?}: {slept} ns");
        assert_eq!(clock.ns_between(stop, start), 0.0);
    }
}

#[test]
fn a_clock_knows_its_own_limits() {
    for clock in clocks() {
        assert!(clock.ns_per_tick() > 0.0 && clock.ns_per_tick() < 1e6);
        assert!(clock.resolution_ns() > 0.0 && clock.resolution_ns() < 1e9);
        assert!(clock.overhead_ns() >= 0.0 && clock.overhead_ns() < 1e9);
    }
    assert_eq!(SampleClock::os().ns_per_tick(), 1.0);
    assert_eq!(SampleClock::os().source(), ClockSource::Os);
}

#[test]
fn a_reason_is_given_exactly_when_the_counter_of_the_processor_is_not_used() {
    let (clock, reason) = SampleClock::choose();
    assert_eq!(reason.is_some(), clock.source() == ClockSource::Os);
    assert!(["tsc", "cntvct", "os"].contains(&clock.source().name()));
}

#[test]
fn a_clock_handed_on_in_words_is_the_same_clock() {
    for clock in clocks() {
        let words = clock.to_words();
        assert!(!words.contains(char::is_whitespace));
        assert_eq!(SampleClock::from_words(&words), Some(clock));
    }
}

#[test]
fn words_that_describe_no_clock_are_refused() {
    let one = format!("{:016x}", 1_f64.to_bits());
    let zero = format!("{:016x}", 0_f64.to_bits());
    let nan = format!("{:016x}", f64::NAN.to_bits());
    assert!(SampleClock::from_words(&format!("os:{one}:{one}:{zero}")).is_some());
    for words in [
        String::new(),
        "os".to_owned(),
        format!("os:{one}:{one}"),
        format!("os:{one}:{one}:{zero}:{one}"),
        format!("os:{zero}:{one}:{one}"),
        format!("os:{one}:{zero}:{one}"),
        format!("os:{one}:{one}:{nan}"),
        format!("os:1.0:{one}:{one}"),
        format!("sundial:{one}:{one}:{one}"),
    ] {
        assert_eq!(SampleClock::from_words(&words), None, "{words:?}");
    }
}

#[test]
fn the_clock_agrees_with_the_operating_system_over_a_life() {
    for clock in clocks() {
        let check = ClockCheck::start(&clock);
        std::thread::sleep(Duration::from_millis(20));
        assert!(check.disagreement() < 0.05, "{clock:?}");
    }
}

#[test]
#[cfg(target_arch = "x86_64")]
fn a_clock_that_is_off_by_half_disagrees_with_the_operating_system() {
    let half = format!("{:016x}", 0.5_f64.to_bits());
    let wrong = SampleClock::from_words(&format!("tsc-fenced:{half}:{half}:{half}")).unwrap();
    let (right, reason) = SampleClock::choose();
    if reason.is_some() || (right.ns_per_tick() / 0.5 - 1.0).abs() < 0.1 {
        return deadheat_testing::skip!("no clock here could be taken for another");
    }
    let check = ClockCheck::start(&wrong);
    std::thread::sleep(Duration::from_millis(20));
    assert!(check.disagreement() > 0.05);
}

#[test]
fn taking_a_sample_allocates_nothing() {
    for clock in clocks() {
        let asked = asked_for(|| {
            let before = ThreadUsage::before();
            let start = clock.start();
            let stop = clock.stop();
            let used = ThreadUsage::after().since(&before);
            black_box((clock.ns_between(start, stop), used));
        });
        assert_eq!(asked, Allocations::default());
    }
    assert_eq!(asked_for(|| {}), Allocations::default());
}

#[test]
fn measuring_the_overhead_of_the_cpu_clock_allocates_nothing() {
    let asked = asked_for(|| {
        black_box(ThreadUsage::cpu_overhead_ns());
    });
    assert_eq!(asked, Allocations::default());
}

#[test]
fn every_request_counts_one_and_its_bytes() {
    let boxed = asked_for(|| drop(black_box(Box::new([1_u8; 100]))));
    assert_eq!((boxed.count, boxed.bytes), (1, 100));
    let zeroed = asked_for(|| drop(black_box(vec![0_u64; 16])));
    assert_eq!((zeroed.count, zeroed.bytes), (1, 128));
}

#[test]
fn a_change_of_size_counts_one_and_only_its_growth() {
    let mut memory = Vec::<u8>::with_capacity(black_box(64));
    let grown = asked_for(|| memory.reserve_exact(black_box(100)));
    assert_eq!((grown.count, grown.bytes), (1, 36));
    memory.extend_from_slice(&[1; 10]);
    let shrunk = asked_for(|| memory.shrink_to_fit());
    assert_eq!((shrunk.count, shrunk.bytes), (1, 0));
    assert_eq!(black_box(&memory).len(), 10);
}

#[test]
fn what_other_threads_ask_for_is_not_ours() {
    let (go, wait) = mpsc::sync_channel::<()>(1);
    let (done, finished) = mpsc::sync_channel::<u64>(1);
    let other = std::thread::spawn(move || {
        wait.recv().unwrap();
        let theirs = asked_for(|| drop(black_box(vec![1_u8; 1000])));
        done.send(theirs.bytes).unwrap();
    });
    // The first use of a channel may allocate; this test checks that the 1,000 bytes of the other
    // thread do not count as ours.
    let ours = asked_for(|| {
        go.send(()).unwrap();
        assert_eq!(finished.recv().unwrap(), 1000);
    });
    other.join().unwrap();
    assert!(ours.bytes < 1000, "{ours:?}");
}

#[test]
fn counting_goes_on_while_a_thread_is_taken_down() {
    struct AllocatesAtTheEnd(mpsc::SyncSender<Allocations>);
    impl Drop for AllocatesAtTheEnd {
        fn drop(&mut self) {
            let asked = asked_for(|| drop(black_box(Box::new(7_u32))));
            self.0.send(asked).unwrap();
        }
    }
    thread_local! {
        static AT_THE_END: RefCell<Option<AllocatesAtTheEnd>> = const { RefCell::new(None) };
    }
    let (tell, told) = mpsc::sync_channel(1);
    std::thread::spawn(move || {
        AT_THE_END.with(|end| *end.borrow_mut() = Some(AllocatesAtTheEnd(tell)));
    })
    .join()
    .unwrap();
    let asked = told.recv().unwrap();
    assert_eq!((asked.count, asked.bytes), (1, 4));
}

#[test]
fn another_allocator_can_stand_behind_the_counting_one() {
    let counting = CountingAllocator::new(CountingAllocator::system());
    let layout = Layout::new::<[u64; 4]>();
    let asked = asked_for(|| {
        // SAFETY: the layout is not empty, and the memory is deallocated with the layout it was
        // allocated with.
        unsafe {
            let memory = counting.alloc(layout);
            assert!(!memory.is_null());
            counting.dealloc(memory, layout);
        }
    });
    // Both allocators count.
    assert_eq!((asked.count, asked.bytes), (2, 64));
}
