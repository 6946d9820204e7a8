//! The timing loops. The first that a benchmark function calls serves its worker until that is told
//! to leave; what is between the readings of the clock is what criterion has there.

use std::hint::black_box;

#[cfg(feature = "async")]
use crate::asynchronous::{AsyncBencher, AsyncExecutor};
use crate::serving::{BatchSize, serve, serve_batches, timed_itself};
use crate::settings::{Measurement, WallTime};

/// The timer that a benchmark function is given.
pub struct Bencher<'a, M: Measurement = WallTime> {
    pub(crate) measurement: &'a M,
}

impl<'a, M: Measurement> Bencher<'a, M> {
    /// Times calls, and the dropping of what they return.
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

    /// Takes the time that `routine` returns for so many calls. CPU time and what else is measured
    /// are those of all that it does.
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

    /// Times calls with an input of their own each, one by one.
    pub fn iter_with_setup<I, O, S, R>(&mut self, setup: S, routine: R)
    where
        S: FnMut() -> I,
        R: FnMut(I) -> O,
    {
        self.iter_batched(setup, routine, BatchSize::PerIteration);
    }

    /// Times calls, and not the dropping of what they return.
    pub fn iter_with_large_drop<O, R>(&mut self, mut routine: R)
    where
        R: FnMut() -> O,
    {
        self.iter_batched(|| (), |()| routine(), BatchSize::SmallInput);
    }

    /// Times calls that use up an input that `setup` makes, and not the dropping of what they
    /// return.
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

    /// Times calls that change an input that `setup` makes, and not the dropping of either.
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

    /// The same loops for async functions, on this executor.
    #[cfg(feature = "async")]
    pub fn to_async<'b, A: AsyncExecutor>(&'b mut self, runner: A) -> AsyncBencher<'a, 'b, A, M> {
        AsyncBencher::new(self.measurement, runner)
    }
}
