//! Async functions: `async |&input| output`, driven by any executor.

use std::hint::black_box;

use super::benchmark::{ComparesOutputs, Disagreement, FunctionBenchmark};
use super::gauge::{Gauge, Reading};
use super::outputs::{Outputs, Room};

/// Something that runs a future to its end: the runtime of the async
/// functions, made once per worker process and entered outside the timed
/// region.
pub trait AsyncExecutor {
    /// Runs `future` to its end on this thread.
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
        // The clock is read inside the future: entering and leaving the
        // runtime is not what is compared.
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
    /// A benchmark on the executor that `start` makes, when it first runs.
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
