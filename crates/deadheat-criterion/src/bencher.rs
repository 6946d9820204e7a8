//! The timing loops. The first loop that a benchmark function calls serves all samples of this
//! worker process, until the coordinator ends the process. The code between the clock readings is
//! the same as in criterion.

use std::hint::black_box;

#[cfg(feature = "async")]
use crate::asynchronous::{AsyncBencher, AsyncExecutor};
use crate::serving::{BatchSize, serve, serve_batches, timed_itself};
use crate::settings::{Measurement, WallTime};

/// The timing loops that a benchmark function can call.
pub struct Bencher<'a, M: Measurement = WallTime> {
    pub(crate) measurement: &'a M,
}

impl<'a, M: Measurement> Bencher<'a, M> {
    /// Times calls and the drop of their results.
    #[inline(never)]
    pub fn iter<O, R>(&mut self, mut routine: R)
    where
        R: FnMut() -> O,
    {
        serve(|iterations, gauge| {
            gauge.around(|| {
                for _ in 0..iterations {
                    black_box(routine());
                }
            })
        });
    }

    /// Uses the time that `routine` measures itself and returns as the wall time of a sample.
    /// `routine` makes the number of calls that it gets as its argument. CPU time and the other
    /// metrics cover everything that `routine` does.
    #[inline(never)]
    pub fn iter_custom<R>(&mut self, mut routine: R)
    where
        R: FnMut(u64) -> M::Value,
    {
        serve(|iterations, gauge| {
            let mut value = None;
            let reading = gauge.around(|| value = Some(routine(iterations)));
            let value = value.expect("it was called");
            timed_itself(self.measurement, reading, &value)
        });
    }

    /// Times each call separately, with its own input from `setup`.
    pub fn iter_with_setup<I, O, S, R>(&mut self, setup: S, routine: R)
    where
        S: FnMut() -> I,
        R: FnMut(I) -> O,
    {
        self.iter_batched(setup, routine, BatchSize::PerIteration);
    }

    /// Times calls, but not the drop of their results.
    pub fn iter_with_large_drop<O, R>(&mut self, mut routine: R)
    where
        R: FnMut() -> O,
    {
        self.iter_batched(|| (), |()| routine(), BatchSize::SmallInput);
    }

    /// Times calls that consume an input from `setup`, but not the drop of their results.
    #[inline(never)]
    pub fn iter_batched<I, O, S, R>(&mut self, setup: S, mut routine: R, size: BatchSize)
    where
        S: FnMut() -> I,
        R: FnMut(I) -> O,
    {
        serve_batches(setup, size, |inputs, outputs, gauge| {
            let inputs = inputs.drain(..);
            gauge.around(|| outputs.extend(inputs.map(&mut routine)))
        });
    }

    /// Times calls that modify an input from `setup`, but not the drop of inputs and results.
    #[inline(never)]
    pub fn iter_batched_ref<I, O, S, R>(&mut self, setup: S, mut routine: R, size: BatchSize)
    where
        S: FnMut() -> I,
        R: FnMut(&mut I) -> O,
    {
        serve_batches(setup, size, |inputs, outputs, gauge| {
            gauge.around(|| outputs.extend(inputs.iter_mut().map(&mut routine)))
        });
    }

    /// Returns the timing loops for async functions; `runner` executes the functions.
    #[cfg(feature = "async")]
    pub fn to_async<'b, A: AsyncExecutor>(&'b mut self, runner: A) -> AsyncBencher<'a, 'b, A, M> {
        AsyncBencher::new(self.measurement, runner)
    }
}
