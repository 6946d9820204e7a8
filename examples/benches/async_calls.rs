//! The cost of awaiting: a future in its place, one in a box, and one that is not ready at first.
//! The executor is a dozen lines; a real one fits as well.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use deadheat::AsyncExecutor;
use deadheat_examples::async_calls::{sum_boxed, sum_direct, sum_yielding};

/// Numbers that are awaited one after the other.
const LENGTH: u64 = 1_000;

/// Polls until the future is done: nothing here waits for the world outside.
struct Spinning;

impl AsyncExecutor for Spinning {
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

fn main() {
    deadheat::main(|suite| {
        suite
            .benchmark("await")
            .items(LENGTH)
            .executor(|| Spinning)
            .input(|seed| (0..LENGTH).map(|i| i ^ seed).collect::<Vec<u64>>())
            .baseline("direct", async |numbers| sum_direct(numbers).await)
            .candidate("boxed", async |numbers| sum_boxed(numbers).await)
            .candidate("yielding", async |numbers| sum_yielding(numbers).await)
            .check_outputs();
    });
}
