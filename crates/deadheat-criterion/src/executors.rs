//! Executors that async benchmarks run on.

/// Something that runs a future to its end.
pub trait AsyncExecutor {
    /// Runs `future` to its end on this thread.
    fn block_on<T>(&self, future: impl Future<Output = T>) -> T;
}

/// An executor that sleeps until it is woken, and knows nothing of timers and sockets.
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
                // Woken before it sleeps, it does not sleep.
                Poll::Pending => std::thread::park(),
            }
        }
    }
}

/// Wakes a thread.
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

/// The executor of async-std, which rests on smol's.
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
