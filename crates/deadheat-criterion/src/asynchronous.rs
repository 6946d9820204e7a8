//! Executors for async benchmarks, and timing loops for async functions. The loops read the clock
//! inside the future, so that entering and leaving the executor is not timed.

use std::hint::black_box;
use std::marker::PhantomData;

use crate::serving::{BatchSize, serve, serve_batches, timed_itself};
use crate::settings::{Measurement, WallTime};

/// An async executor, which runs a future to its end.
pub trait AsyncExecutor {
    /// Runs `future` to its end on this thread.
    fn block_on<T>(&self, future: impl Future<Output = T>) -> T;
}

/// An executor that parks its thread until the future is woken. It does not support timers and
/// sockets.
#[cfg(feature = "async_futures")]
#[derive(Clone, Copy, Debug)]
pub struct FuturesExecutor;

#[cfg(feature = "async_futures")]
impl AsyncExecutor for FuturesExecutor {
    fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        use std::task::{Context, Poll};

        let waker = std::sync::Arc::new(Unpark(std::thread::current())).into();
        let mut context = Context::from_waker(&waker);
        let mut future = std::pin::pin!(future);
        loop {
            match future.as_mut().poll(&mut context) {
                Poll::Ready(output) => return output,
                // If the future was woken before this call, `park` returns at once.
                Poll::Pending => std::thread::park(),
            }
        }
    }
}

#[cfg(feature = "async_futures")]
struct Unpark(std::thread::Thread);

#[cfg(feature = "async_futures")]
impl std::task::Wake for Unpark {
    fn wake(self: std::sync::Arc<Self>) {
        self.0.unpark();
    }
}

/// The executor of smol.
#[cfg(feature = "async_smol")]
#[derive(Clone, Copy, Debug)]
pub struct SmolExecutor;

#[cfg(feature = "async_smol")]
impl AsyncExecutor for SmolExecutor {
    fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        async_io::block_on(future)
    }
}

/// The executor of async-std, which builds on smol's executor.
#[cfg(feature = "async_std")]
#[derive(Clone, Copy, Debug)]
pub struct AsyncStdExecutor;

#[cfg(feature = "async_std")]
impl AsyncExecutor for AsyncStdExecutor {
    fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        async_io::block_on(future)
    }
}

#[cfg(feature = "async_tokio")]
mod of_tokio {
    use super::AsyncExecutor;
    use tokio::runtime::{Handle, Runtime};

    impl AsyncExecutor for Runtime {
        fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
            Runtime::block_on(self, future)
        }
    }

    impl AsyncExecutor for &Runtime {
        fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
            Runtime::block_on(self, future)
        }
    }

    impl AsyncExecutor for Handle {
        fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
            Handle::block_on(self, future)
        }
    }

    impl AsyncExecutor for &Handle {
        fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
            Handle::block_on(self, future)
        }
    }
}

#[cfg(all(test, feature = "async_futures"))]
mod tests {
    use super::*;

    #[test]
    fn a_future_that_is_woken_by_another_thread_comes_to_its_end() {
        let mut thread = None;
        let value = FuturesExecutor.block_on(std::future::poll_fn(|context| {
            if thread.is_some() {
                return std::task::Poll::Ready(7);
            }
            let waker = context.waker().clone();
            thread = Some(std::thread::spawn(move || waker.wake()));
            std::task::Poll::Pending
        }));
        assert_eq!(value, 7);
    }
}

/// The timing loops for async functions. The executor `A` runs the functions.
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

    /// Times async calls until their results are ready, and the drop of the results.
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

    /// Uses the time that `routine` measures itself and returns as the wall time of a sample.
    /// `routine` makes the number of calls that it gets as its argument.
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

    /// Times each async call separately, with its own input from `setup`.
    pub fn iter_with_setup<I, O, S, R, F>(&mut self, setup: S, routine: R)
    where
        S: FnMut() -> I,
        R: FnMut(I) -> F,
        F: Future<Output = O>,
    {
        self.iter_batched(setup, routine, BatchSize::PerIteration);
    }

    /// Times async calls, but not the drop of their results.
    pub fn iter_with_large_drop<O, R, F>(&mut self, mut routine: R)
    where
        R: FnMut() -> F,
        F: Future<Output = O>,
    {
        self.iter_batched(|| (), |()| routine(), BatchSize::SmallInput);
    }

    /// Times async calls that consume an input from `setup`. All inputs of a sample, up to 4,096,
    /// are made before its first call.
    pub fn iter_with_large_setup<I, O, S, R, F>(&mut self, setup: S, routine: R)
    where
        S: FnMut() -> I,
        R: FnMut(I) -> F,
        F: Future<Output = O>,
    {
        self.iter_batched(setup, routine, BatchSize::NumBatches(1));
    }

    /// Times async calls that consume an input from `setup`, but not the drop of their results.
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

    /// Times async calls that modify an input from `setup`, but not the drop of inputs and results.
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
