//! Samples functions of every kind in this process with the counting allocator installed, and tests
//! what a sample includes.

use std::cell::RefCell;
use std::hint::black_box;
use std::pin::pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};

use deadheat_engine::{
    AsyncExecutor, Asynchronous, ByReference, ByValue, ComparesOutputs, Concurrent,
    CountingAllocator, Disagreement, FunctionBenchmark, Gauge, Reading, SampleClock, pilot,
};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator::system();

const ITERATIONS: u64 = 100;

fn gauge() -> Gauge {
    Gauge::new(SampleClock::choose().0)
}

fn sample(mut benchmark: impl FunctionBenchmark) -> Reading {
    benchmark.prepare(7);
    benchmark.sample(0, ITERATIONS, &gauge())
}

/// Returns a benchmark of one function that takes its input by reference.
fn looking<I: 'static, O: 'static>(
    make: fn(u64) -> I,
    call: fn(&I) -> O,
) -> ByReference<'static, I, O> {
    let mut benchmark = ByReference::new(make);
    benchmark.add(call);
    benchmark
}

/// Polls a future on this thread until it is ready; no future of these tests blocks.
struct Eager;

impl AsyncExecutor for Eager {
    fn block_on<F: Future>(&mut self, future: F) -> F::Output {
        let mut future = pin!(future);
        let mut context = Context::from_waker(Waker::noop());
        loop {
            if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
                return output;
            }
        }
    }
}

/// A future that is ready at the second poll.
async fn one_detour() {
    let mut asked = false;
    std::future::poll_fn(|context| {
        context.waker().wake_by_ref();
        match std::mem::replace(&mut asked, true) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    })
    .await;
}

fn nothing() -> (u64, u64) {
    (0, 0)
}

fn heap(reading: Reading) -> (u64, u64) {
    (reading.allocations, reading.allocated_bytes)
}

#[test]
fn a_function_that_allocates_nothing_shows_nothing() {
    let plain = looking(|seed| seed, |seed| seed ^ 1);
    assert_eq!(heap(sample(plain)), nothing());
    let mut kept = looking(|seed| seed, |seed| seed ^ 1);
    kept.check_with(u64::eq);
    assert_eq!(heap(sample(kept)), nothing(), "outputs kept to be compared");
    let owning = looking(|_| (), |()| String::new());
    assert_eq!(
        heap(sample(owning)),
        nothing(),
        "outputs kept to be dropped"
    );
    let empty = looking(|_| (), |()| ());
    assert_eq!(heap(sample(empty)), nothing(), "an empty function");
}

#[test]
fn neither_making_nor_dropping_an_input_is_in_a_sample() {
    let looked_at = looking(|_| vec![vec![1u8; 100]; 50], |input| input.len());
    assert_eq!(heap(sample(looked_at)), nothing());
    let mut used_up = ByValue::new(|seed| vec![seed; 100]);
    used_up.add(|input| input);
    assert_eq!(heap(sample(used_up)), nothing());
}

#[test]
fn what_a_function_allocates_is_shown_exactly() {
    // Each call allocates three boxes of 40 bytes and drops two of them.
    let boxes = looking(
        |_| (),
        |()| {
            drop(black_box((Box::new([1u8; 40]), Box::new([2u8; 40]))));
            black_box(Box::new([3u8; 40]))
        },
    );
    assert_eq!(heap(sample(boxes)), (3 * ITERATIONS, 3 * 40 * ITERATIONS));
    let mut by_value = ByValue::new(|seed| seed);
    by_value.add(|seed| black_box(Box::new(seed)));
    assert_eq!(heap(sample(by_value)), (ITERATIONS, 8 * ITERATIONS));
    let mut detour = Asynchronous::new(|| Eager, |seed| seed);
    detour.add(async |seed: &u64| {
        one_detour().await;
        black_box(Box::new(*seed))
    });
    assert_eq!(heap(sample(detour)), (ITERATIONS, 8 * ITERATIONS));
}

#[test]
fn an_async_function_runs_on_the_one_executor_and_costs_no_memory() {
    let started = Rc::new(RefCell::new(0));
    let count = Rc::clone(&started);
    let start = move || {
        *count.borrow_mut() += 1;
        Eager
    };
    let mut benchmark = Asynchronous::new(start, |seed| seed);
    benchmark.add(async |seed: &u64| {
        one_detour().await;
        seed ^ 1
    });
    benchmark.add(async |seed: &u64| seed ^ 1);
    benchmark.check_with(u64::eq);
    let gauge = gauge();
    assert_eq!(*started.borrow(), 0, "it is started when it is needed");
    for seed in 0..3 {
        benchmark.prepare(seed);
        for contender in [0, 1, 1, 0] {
            let reading = benchmark.sample(contender, ITERATIONS, &gauge);
            assert_eq!(heap(reading), nothing());
        }
        assert_eq!(benchmark.check(), Ok(()));
    }
    assert_eq!(*started.borrow(), 1);
}

#[test]
fn threads_share_an_input_and_their_readings_add_up() {
    static CALLS: AtomicU64 = AtomicU64::new(0);
    let mut benchmark = Concurrent::new(4, |seed| seed);
    benchmark.add(|seed| {
        CALLS.fetch_add(1, Ordering::Relaxed);
        black_box(Box::new(*seed))
    });
    assert_eq!(benchmark.threads(), 4);
    let reading = sample(benchmark);
    assert_eq!(CALLS.load(Ordering::Relaxed), 4 * ITERATIONS);
    assert_eq!(heap(reading), (4 * ITERATIONS, 4 * 8 * ITERATIONS));
    assert!(reading.wall_ns > 0.0);

    let mut idle = Concurrent::new(4, |seed| seed);
    idle.add(|seed| seed ^ 1);
    assert_eq!(heap(sample(idle)), nothing());
}

#[test]
fn a_panic_in_one_thread_is_the_panic_of_the_sample() {
    static CALLS: AtomicU64 = AtomicU64::new(0);
    let mut benchmark = Concurrent::new(3, |seed| seed);
    benchmark.add(|_| assert_ne!(CALLS.fetch_add(1, Ordering::Relaxed), 4, "the fifth call"));
    let sampled = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| sample(benchmark)));
    let told = sampled.unwrap_err();
    let told = told.downcast_ref::<String>().expect("a text");
    assert!(told.contains("the fifth call"), "{told}");
}

#[test]
fn every_call_by_value_has_an_input_of_its_own_from_the_same_seed() {
    let seen = Rc::new(RefCell::new(Vec::new()));
    let noted = Rc::clone(&seen);
    let mut benchmark = ByValue::new(|seed| vec![seed]);
    benchmark.add(move |mut input: Vec<u64>| {
        input.push(1);
        noted.borrow_mut().push(input.clone());
        input
    });
    let gauge = gauge();
    benchmark.prepare(3);
    benchmark.sample(0, 2, &gauge);
    benchmark.prepare(4);
    benchmark.sample(0, 1, &gauge);
    assert_eq!(*seen.borrow(), [[3, 1], [3, 1], [4, 1]]);
    assert!(benchmark.most_iterations() < u64::MAX);
}

#[test]
fn a_block_has_one_input_and_the_next_another() {
    let seen = Rc::new(RefCell::new(Vec::new()));
    let made = Rc::clone(&seen);
    let mut benchmark = ByReference::new(move |seed| {
        made.borrow_mut().push(seed);
        seed
    });
    benchmark.add(|seed| *seed);
    let gauge = gauge();
    for seed in [5, 6] {
        benchmark.prepare(seed);
        benchmark.sample(0, 3, &gauge);
        benchmark.sample(0, 3, &gauge);
    }
    assert_eq!(*seen.borrow(), [5, 6]);
}

/// Returns the result of comparing the outputs of one block in ABBA order.
fn checked(mut benchmark: impl FunctionBenchmark) -> Result<(), Disagreement> {
    let gauge = gauge();
    benchmark.prepare(7);
    for contender in [0, 1, 1, 0] {
        benchmark.sample(contender, 2, &gauge);
    }
    benchmark.check()
}

#[test]
fn disagreements_are_found_in_every_kind_of_benchmark() {
    let with_baseline = Err(Disagreement::WithBaseline { candidate: 1 });
    let mut looking = ByReference::new(|seed| seed);
    looking.add(|seed| seed + 1);
    looking.add(|seed| seed + 2);
    looking.check_with(u64::eq);
    assert_eq!(checked(looking), with_baseline);

    let mut using_up = ByValue::new(|seed| vec![seed]);
    using_up.add(|input| input);
    using_up.add(|input| [input, vec![1]].concat());
    using_up.check_with(Vec::eq);
    assert_eq!(checked(using_up), with_baseline);

    let mut crew = Concurrent::new(2, |seed| seed);
    crew.add(|seed| seed + 1);
    crew.add(|seed| seed + 2);
    crew.check_with(u64::eq);
    assert_eq!(checked(crew), with_baseline);

    let mut waiting = Asynchronous::new(|| Eager, |seed| seed);
    waiting.add(async |seed: &u64| seed + 1);
    waiting.add(async |seed: &u64| seed + 2);
    waiting.check_with(u64::eq);
    assert_eq!(checked(waiting), with_baseline);
}

#[test]
fn threads_that_answer_differently_contradict_themselves() {
    static CALLS: AtomicU64 = AtomicU64::new(0);
    let mut crew = Concurrent::new(2, |_| ());
    crew.add(|()| CALLS.fetch_add(1, Ordering::Relaxed));
    crew.check_with(u64::eq);
    crew.prepare(1);
    crew.sample(0, 1, &gauge());
    let found = crew.check();
    assert_eq!(found, Err(Disagreement::WithItself { contender: 0 }));
}

#[test]
fn without_a_wish_to_check_anything_agrees() {
    let mut looking = ByReference::new(|seed| seed);
    looking.add(|seed| seed + 1);
    looking.add(|seed| seed + 2);
    assert_eq!(checked(looking), Ok(()));
}

#[test]
fn a_pilot_finds_more_calls_for_a_shorter_function() {
    let work = |steps: u64| (0..steps).fold(0, |sum: u64, step| black_box(sum ^ step));
    let calls = |steps| {
        let mut benchmark = ByReference::new(|_| ());
        benchmark.add(move |()| work(steps));
        pilot(&mut benchmark, 1, 0.0, &gauge()).iterations
    };
    let (short, long) = (calls(10), calls(1_000_000));
    assert!(short > 10 * long, "{short} {long}");
    // The calibration run also ends for an empty function.
    assert!(calls(0) > short / 10);
}
