//! The timing loops of async functions. The clock is read inside of the future, so that entering
//! and leaving the executor is not timed.

use std::hint::black_box;
use std::marker::PhantomData;

use crate::executors::AsyncExecutor;
use crate::measure::{Measurement, WallTime};
use crate::serving::{BatchSize, serve, serve_batches, timed_itself};

/// The timer of async functions, which an executor runs.
pub struct AsyncBencher<'a, 'b, A: AsyncExecutor, M: Measurement = WallTime> {
    measurement: &'a M,
    runner: A,
    bencher: PhantomData<&'b mut ()>,
}

impl<'a, A: AsyncExecutor, M: Measurement> AsyncBencher<'a, '_, A, M> {
    pub(crate) fn new(measurement: &'a M, runner: A) -> Self {
        Self {
            measurement,
            runner,
            bencher: PhantomData,
        }
    }

    /// Times calls until what they return is ready, and the dropping of that.
    #[inline(never)]
    pub fn iter<O, R, F>(&mut self, mut routine: R)
    where
        R: FnMut() -> F,
        F: Future<Output = O>,
    {
        let runner = &self.runner;
        serve(|iterations, gauge| {
            runner.block_on(async {
                let begun = gauge.begin();
                for _ in 0..iterations {
                    black_box(routine().await);
                }
                gauge.end(begun).reading
            })
        });
    }

    /// Takes the time that `routine` returns for so many calls.
    #[inline(never)]
    pub fn iter_custom<R, F>(&mut self, mut routine: R)
    where
        R: FnMut(u64) -> F,
        F: Future<Output = M::Value>,
    {
        let runner = &self.runner;
        let measurement = self.measurement;
        serve(|iterations, gauge| {
            runner.block_on(async {
                let begun = gauge.begin();
                let value = routine(iterations).await;
                timed_itself(measurement, gauge.end(begun).reading, &value)
            })
        });
    }

    /// Times calls with an input of their own each, one by one.
    pub fn iter_with_setup<I, O, S, R, F>(&mut self, setup: S, routine: R)
    where
        S: FnMut() -> I,
        R: FnMut(I) -> F,
        F: Future<Output = O>,
    {
        self.iter_batched(setup, routine, BatchSize::PerIteration);
    }

    /// Times calls, and not the dropping of what they return.
    pub fn iter_with_large_drop<O, R, F>(&mut self, mut routine: R)
    where
        R: FnMut() -> F,
        F: Future<Output = O>,
    {
        self.iter_batched(|| (), |()| routine(), BatchSize::SmallInput);
    }

    /// Times calls with an input of their own each, a few of them there at once.
    pub fn iter_with_large_setup<I, O, S, R, F>(&mut self, setup: S, routine: R)
    where
        S: FnMut() -> I,
        R: FnMut(I) -> F,
        F: Future<Output = O>,
    {
        self.iter_batched(setup, routine, BatchSize::NumBatches(1));
    }

    /// Times calls that use up an input that `setup` makes, and not the dropping of what they
    /// return.
    #[inline(never)]
    pub fn iter_batched<I, O, S, R, F>(&mut self, setup: S, mut routine: R, size: BatchSize)
    where
        S: FnMut() -> I,
        R: FnMut(I) -> F,
        F: Future<Output = O>,
    {
        let runner = &self.runner;
        serve_batches(setup, size, |inputs, outputs, gauge| {
            runner.block_on(async {
                let inputs = inputs.drain(..);
                let begun = gauge.begin();
                for input in inputs {
                    outputs.push(routine(input).await);
                }
                gauge.end(begun).reading
            })
        });
    }

    /// Times calls that change an input that `setup` makes, and not the dropping of either.
    #[inline(never)]
    pub fn iter_batched_ref<I, O, S, R, F>(&mut self, setup: S, mut routine: R, size: BatchSize)
    where
        S: FnMut() -> I,
        R: FnMut(&mut I) -> F,
        F: Future<Output = O>,
    {
        let runner = &self.runner;
        serve_batches(setup, size, |inputs, outputs, gauge| {
            runner.block_on(async {
                let begun = gauge.begin();
                for input in inputs.iter_mut() {
                    outputs.push(routine(input).await);
                }
                gauge.end(begun).reading
            })
        });
    }
}
