//! The kinds of functions that can be timed: by reference, by value, async, and called by several
//! threads at once.

use std::any::Any;
use std::hint::{black_box, spin_loop};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use super::{ComparesOutputs, Disagreement, FunctionBenchmark, Outputs, Room};
use crate::clock::{Ended, Gauge, Reading};

/// A function of an input. `batch` is compiled for the function's concrete type, so that the call
/// can be inlined.
trait Call<I, O> {
    fn batch(&mut self, input: &I, iterations: u64, room: Room<'_, O>, gauge: &Gauge) -> Reading;
}

impl<I, O, F: FnMut(&I) -> O> Call<I, O> for F {
    fn batch(&mut self, input: &I, iterations: u64, room: Room<'_, O>, gauge: &Gauge) -> Reading {
        gauge.around(|| room.fill(iterations, || self(black_box(input))))
    }
}

/// A benchmark whose contenders share one input per block.
pub struct ByReference<'a, I, O> {
    make: Box<dyn FnMut(u64) -> I + 'a>,
    input: Option<I>,
    renews_input: bool,
    contenders: Vec<Box<dyn Call<I, O> + 'a>>,
    outputs: Outputs<O>,
}

impl<'a, I: 'a, O: 'a> ByReference<'a, I, O> {
    /// Creates a benchmark whose inputs `make` derives from a seed.
    pub fn new(make: impl FnMut(u64) -> I + 'a) -> Self {
        Self {
            make: Box::new(make),
            input: None,
            renews_input: true,
            contenders: Vec::new(),
            outputs: Outputs::new(),
        }
    }

    /// Uses the same input for all blocks, so that caches and branch predictors know the input
    /// after the first block.
    pub fn without_renewal(mut self) -> Self {
        self.renews_input = false;
        self
    }

    /// Adds a contender; the first is the baseline.
    pub fn add(&mut self, call: impl FnMut(&I) -> O + 'a) {
        self.contenders.push(Box::new(call));
    }
}

impl<I, O> ComparesOutputs for ByReference<'_, I, O> {
    type Output = O;

    fn check_with(&mut self, equal: fn(&O, &O) -> bool) {
        self.outputs.check_with(equal);
    }
}

impl<I, O> FunctionBenchmark for ByReference<'_, I, O> {
    fn contenders(&self) -> usize {
        self.contenders.len()
    }

    fn renews_input(&self) -> bool {
        self.renews_input
    }

    fn prepare(&mut self, seed: u64) {
        // Drops the old input first, so that the new one can reuse its memory.
        self.input = None;
        self.outputs.forget();
        self.input = Some((self.make)(seed));
    }

    fn sample(&mut self, contender: usize, iterations: u64, gauge: &Gauge) -> Reading {
        let input = self.input.as_ref().expect("prepare comes before sample");
        let room = self.outputs.make_room(iterations);
        let reading = self.contenders[contender].batch(input, iterations, room, gauge);
        self.outputs.finish(contender);
        reading
    }

    fn check(&self) -> Result<(), Disagreement> {
        self.outputs.check()
    }
}

trait Consume<I, O> {
    fn batch(&mut self, inputs: &mut Vec<I>, room: Room<'_, O>, gauge: &Gauge) -> Reading;
}

impl<I, O, F: FnMut(I) -> O> Consume<I, O> for F {
    fn batch(&mut self, inputs: &mut Vec<I>, room: Room<'_, O>, gauge: &Gauge) -> Reading {
        let inputs = inputs.drain(..);
        gauge.around(|| room.fill_from(inputs, self))
    }
}

/// A benchmark whose every call consumes an input. All inputs of a block are made from one seed and
/// are equal.
pub struct ByValue<I, O> {
    make: Box<dyn FnMut(u64) -> I>,
    seed: u64,
    inputs: Vec<I>,
    contenders: Vec<Box<dyn Consume<I, O>>>,
    outputs: Outputs<O>,
}

/// The maximum number of inputs per sample, because all inputs of a sample are made before its
/// timed section.
const MOST_INPUTS: u64 = 1 << 12;

impl<I: 'static, O: 'static> ByValue<I, O> {
    /// Creates a benchmark whose inputs `make` derives from a seed.
    pub fn new(make: impl FnMut(u64) -> I + 'static) -> Self {
        Self {
            make: Box::new(make),
            seed: 0,
            inputs: Vec::new(),
            contenders: Vec::new(),
            outputs: Outputs::new(),
        }
    }

    /// Adds a contender; the first is the baseline.
    pub fn add(&mut self, call: impl FnMut(I) -> O + 'static) {
        self.contenders.push(Box::new(call));
    }
}

impl<I, O> ComparesOutputs for ByValue<I, O> {
    type Output = O;

    fn check_with(&mut self, equal: fn(&O, &O) -> bool) {
        self.outputs.check_with(equal);
    }
}

impl<I, O> FunctionBenchmark for ByValue<I, O> {
    fn contenders(&self) -> usize {
        self.contenders.len()
    }

    fn most_iterations(&self) -> u64 {
        MOST_INPUTS
    }

    fn prepare(&mut self, seed: u64) {
        self.outputs.forget();
        self.seed = seed;
    }

    fn sample(&mut self, contender: usize, iterations: u64, gauge: &Gauge) -> Reading {
        let (make, seed) = (&mut self.make, self.seed);
        self.inputs.extend((0..iterations).map(|_| make(seed)));
        let room = self.outputs.make_room(iterations);
        let reading = self.contenders[contender].batch(&mut self.inputs, room, gauge);
        self.outputs.finish(contender);
        reading
    }

    fn check(&self) -> Result<(), Disagreement> {
        self.outputs.check()
    }
}

/// A runtime for async functions. Each worker process makes it once and enters it outside of the
/// timed section.
pub trait AsyncExecutor {
    /// Runs `future` to completion on this thread.
    fn block_on<F: Future>(&mut self, future: F) -> F::Output;
}

trait AsyncCall<E, I, O> {
    fn batch(
        &mut self,
        executor: &mut E,
        input: &I,
        iterations: u64,
        outputs: &mut Outputs<O>,
        gauge: &Gauge,
    ) -> Reading;
}

impl<E: AsyncExecutor, I, O, F: AsyncFnMut(&I) -> O> AsyncCall<E, I, O> for F {
    fn batch(
        &mut self,
        executor: &mut E,
        input: &I,
        iterations: u64,
        outputs: &mut Outputs<O>,
        gauge: &Gauge,
    ) -> Reading {
        let room: Room<'_, O> = outputs.make_room(iterations);
        // The clock is read inside the future, because the cost of entering and leaving the runtime
        // must not be timed.
        executor.block_on(async {
            let begun = gauge.begin();
            match room.into_batch() {
                Some(batch) => {
                    for _ in 0..iterations {
                        batch.push(black_box(self(black_box(input)).await));
                    }
                }
                None => {
                    for _ in 0..iterations {
                        black_box(self(black_box(input)).await);
                    }
                }
            }
            gauge.end(begun).reading
        })
    }
}

/// A benchmark of async functions that share one input per block.
pub struct Asynchronous<E, I, O> {
    start: Box<dyn FnMut() -> E>,
    executor: Option<E>,
    make: Box<dyn FnMut(u64) -> I>,
    input: Option<I>,
    contenders: Vec<Box<dyn AsyncCall<E, I, O>>>,
    outputs: Outputs<O>,
}

impl<E: AsyncExecutor + 'static, I: 'static, O: 'static> Asynchronous<E, I, O> {
    /// Creates a benchmark on the executor that `start` makes at the first use.
    pub fn new(start: impl FnMut() -> E + 'static, make: impl FnMut(u64) -> I + 'static) -> Self {
        Self {
            start: Box::new(start),
            executor: None,
            make: Box::new(make),
            input: None,
            contenders: Vec::new(),
            outputs: Outputs::new(),
        }
    }

    /// Adds a contender; the first is the baseline.
    pub fn add(&mut self, call: impl AsyncFnMut(&I) -> O + 'static) {
        self.contenders.push(Box::new(call));
    }
}

impl<E, I, O> ComparesOutputs for Asynchronous<E, I, O> {
    type Output = O;

    fn check_with(&mut self, equal: fn(&O, &O) -> bool) {
        self.outputs.check_with(equal);
    }
}

impl<E, I, O> FunctionBenchmark for Asynchronous<E, I, O> {
    fn contenders(&self) -> usize {
        self.contenders.len()
    }

    fn prepare(&mut self, seed: u64) {
        self.executor.get_or_insert_with(&mut self.start);
        self.input = None;
        self.outputs.forget();
        self.input = Some((self.make)(seed));
    }

    fn sample(&mut self, contender: usize, iterations: u64, gauge: &Gauge) -> Reading {
        let input = self.input.as_ref().expect("prepare comes before sample");
        let executor = self.executor.as_mut().expect("prepare starts the executor");
        let outputs = &mut self.outputs;
        let reading = self.contenders[contender].batch(executor, input, iterations, outputs, gauge);
        outputs.finish(contender);
        reading
    }

    fn check(&self) -> Result<(), Disagreement> {
        self.outputs.check()
    }
}

/// The number of spins at the barrier before the thread yields. With fewer cores than threads, the
/// last thread to arrive may need this core.
const SPINS: u32 = 1_000;

trait SharedCall<I, O>: Send + Sync {
    fn batch(
        &self,
        input: &I,
        iterations: u64,
        gauge: &Gauge,
        start: &Barrier,
        answer: bool,
    ) -> (Ended, Option<O>);
}

impl<I, O, F: Fn(&I) -> O + Send + Sync> SharedCall<I, O> for F {
    fn batch(
        &self,
        input: &I,
        iterations: u64,
        gauge: &Gauge,
        start: &Barrier,
        answer: bool,
    ) -> (Ended, Option<O>) {
        let mut outputs = if answer {
            Outputs::keeping()
        } else {
            Outputs::new()
        };
        let room = outputs.make_room(iterations);
        start.wait();
        let begun = gauge.begin();
        room.fill(iterations, || self(black_box(input)));
        let ended = gauge.end(begun);
        (ended, outputs.into_last().filter(|_| answer))
    }
}

/// A barrier that releases all threads once the last has arrived.
struct Barrier {
    arrived: AtomicUsize,
    threads: usize,
}

impl Barrier {
    fn wait(&self) {
        self.arrived.fetch_add(1, Ordering::SeqCst);
        let mut spins = 0;
        while self.arrived.load(Ordering::SeqCst) < self.threads {
            spins += 1;
            if spins < SPINS {
                spin_loop();
            } else {
                thread::yield_now();
            }
        }
    }
}

struct Job<I, O> {
    call: Arc<dyn SharedCall<I, O>>,
    input: Arc<I>,
    iterations: u64,
    gauge: Gauge,
    start: Arc<Barrier>,
    /// True if the last output is requested. Otherwise outputs that need no drop are not stored,
    /// because storing them would be part of the timed section.
    answer: bool,
}

type Outcome<O> = Result<(Ended, Option<O>), Box<dyn Any + Send>>;

/// Threads that each wait for a job, started once per process.
struct Crew<I, O> {
    jobs: Vec<Sender<Job<I, O>>>,
    outcomes: Receiver<Outcome<O>>,
}

impl<I: Send + Sync + 'static, O: Send + 'static> Crew<I, O> {
    fn start(threads: u32) -> Self {
        let (done, outcomes) = channel();
        let jobs = (0..threads)
            .map(|_| {
                let (jobs, todo) = channel::<Job<I, O>>();
                let done = done.clone();
                thread::spawn(move || {
                    for job in todo {
                        let batch = AssertUnwindSafe(|| {
                            job.call.batch(
                                &job.input,
                                job.iterations,
                                &job.gauge,
                                &job.start,
                                job.answer,
                            )
                        });
                        let outcome = catch_unwind(batch);
                        drop(job);
                        if done.send(outcome).is_err() {
                            return;
                        }
                    }
                });
                jobs
            })
            .collect();
        Self { jobs, outcomes }
    }
}

/// A benchmark whose contenders are called by several threads at once. The threads share one input
/// per block.
pub struct Concurrent<I, O> {
    threads: u32,
    make: Box<dyn FnMut(u64) -> I>,
    input: Option<Arc<I>>,
    contenders: Vec<Arc<dyn SharedCall<I, O>>>,
    crew: Option<Crew<I, O>>,
    outputs: Outputs<O>,
}

impl<I: Send + Sync + 'static, O: Send + 'static> Concurrent<I, O> {
    /// Creates a benchmark for `threads` threads, at least 1.
    pub fn new(threads: u32, make: impl FnMut(u64) -> I + 'static) -> Self {
        Self {
            threads: threads.max(1),
            make: Box::new(make),
            input: None,
            contenders: Vec::new(),
            crew: None,
            outputs: Outputs::new(),
        }
    }

    /// Adds a contender; the first is the baseline.
    pub fn add(&mut self, call: impl Fn(&I) -> O + Send + Sync + 'static) {
        self.contenders.push(Arc::new(call));
    }
}

impl<I, O> ComparesOutputs for Concurrent<I, O> {
    type Output = O;

    fn check_with(&mut self, equal: fn(&O, &O) -> bool) {
        self.outputs.check_with(equal);
    }
}

impl<I: Send + Sync + 'static, O: Send + 'static> FunctionBenchmark for Concurrent<I, O> {
    fn contenders(&self) -> usize {
        self.contenders.len()
    }

    fn threads(&self) -> u32 {
        self.threads
    }

    fn prepare(&mut self, seed: u64) {
        self.input = None;
        self.outputs.forget();
        self.input = Some(Arc::new((self.make)(seed)));
        let threads = self.threads;
        self.crew.get_or_insert_with(|| Crew::start(threads));
    }

    fn sample(&mut self, contender: usize, iterations: u64, gauge: &Gauge) -> Reading {
        let input = self.input.as_ref().expect("prepare comes before sample");
        let crew = self.crew.as_ref().expect("prepare starts the crew");
        let start = Arc::new(Barrier {
            arrived: AtomicUsize::new(0),
            threads: crew.jobs.len(),
        });
        for jobs in &crew.jobs {
            let job = Job {
                call: Arc::clone(&self.contenders[contender]),
                input: Arc::clone(input),
                iterations,
                gauge: *gauge,
                start: Arc::clone(&start),
                answer: self.outputs.are_checked(),
            };
            jobs.send(job).expect("the crew lives as long as its boss");
        }
        let mut whole: Option<Ended> = None;
        for _ in &crew.jobs {
            let outcome = crew.outcomes.recv().expect("every job ends");
            let (ended, answer) = outcome.unwrap_or_else(|panic| resume_unwind(panic));
            if let Some(answer) = answer {
                self.outputs.answer(contender, answer);
            }
            whole = Some(match whole {
                None => ended,
                Some(whole) => Ended {
                    reading: whole.reading.beside(ended.reading),
                    start: whole.start.min(ended.start),
                    stop: whole.stop.max(ended.stop),
                },
            });
        }
        let whole = whole.expect("a crew has at least one thread");
        // The time from the first call of any thread to the end of the last one, so that time in
        // which threads wait for each other counts.
        Reading {
            wall_ns: gauge.clock().ns_between(whole.start, whole.stop),
            ..whole.reading
        }
    }

    fn check(&self) -> Result<(), Disagreement> {
        self.outputs.check()
    }
}
