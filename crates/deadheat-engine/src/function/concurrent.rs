//! Functions that several threads call at the same time: contention.

use std::any::Any;
use std::hint::{black_box, spin_loop};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use super::benchmark::{ComparesOutputs, Disagreement, FunctionBenchmark, Outputs};
use super::gauge::{Ended, Gauge, Reading};

/// Spins at the barrier before the core is offered to others: on a machine
/// with fewer cores than threads the last to arrive may need this one.
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

/// Lets all threads go once the last has arrived.
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
    /// True if the last output is asked for: keeping outputs that need no
    /// dropping would be timed with them.
    answer: bool,
}

type Outcome<O> = Result<(Ended, Option<O>), Box<dyn Any + Send>>;

/// Threads that wait for a job each, made once per process.
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

/// A benchmark whose contenders are called by several threads at once, which
/// share one input per block.
pub struct Concurrent<I, O> {
    threads: u32,
    make: Box<dyn FnMut(u64) -> I>,
    input: Option<Arc<I>>,
    contenders: Vec<Arc<dyn SharedCall<I, O>>>,
    crew: Option<Crew<I, O>>,
    outputs: Outputs<O>,
}

impl<I: Send + Sync + 'static, O: Send + 'static> Concurrent<I, O> {
    /// A benchmark for so many threads, at least 1.
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
        // From the first call of any thread to the end of the last: a thread
        // that the others kept waiting counts in full.
        Reading {
            wall_ns: gauge.clock().ns_between(whole.start, whole.stop),
            ..whole.reading
        }
    }

    fn check(&self) -> Result<(), Disagreement> {
        self.outputs.check()
    }
}
