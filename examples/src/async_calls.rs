//! The same sum with every number awaited: from a future that lies where it is made, from one in a box, and from one that is ready only
//! when it is asked a second time.

use std::future::poll_fn;
use std::hint::black_box;
use std::pin::Pin;
use std::task::Poll;

/// Awaits each number where its future lies.
#[inline(never)]
pub async fn sum_direct(numbers: &[u64]) -> u64 {
    let mut sum: u64 = 0;
    for number in numbers {
        sum = sum.wrapping_add(answer(*number).await);
    }
    sum
}

/// Awaits each number in a box of its own, of a type that the caller does not know: what a trait with async functions often comes to.
#[inline(never)]
pub async fn sum_boxed(numbers: &[u64]) -> u64 {
    let mut sum: u64 = 0;
    for number in numbers {
        // Unknown to the compiler, which would otherwise do without the box.
        let boxed: Pin<Box<dyn Future<Output = u64>>> = black_box(Box::pin(answer(*number)));
        sum = sum.wrapping_add(boxed.await);
    }
    sum
}

/// Awaits each number from a future that gives way to others once.
#[inline(never)]
pub async fn sum_yielding(numbers: &[u64]) -> u64 {
    let mut sum: u64 = 0;
    for number in numbers {
        give_way().await;
        sum = sum.wrapping_add(answer(*number).await);
    }
    sum
}

/// A number, ready at once.
async fn answer(number: u64) -> u64 {
    number
}

/// Not ready the first time it is asked.
async fn give_way() {
    let mut asked = false;
    poll_fn(|context| {
        if asked {
            return Poll::Ready(());
        }
        asked = true;
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Waker};

    use super::*;

    /// The output of a future, and how often it had to be asked.
    fn driven<F: Future>(future: F) -> (F::Output, u32) {
        let mut future = pin!(future);
        let mut context = Context::from_waker(Waker::noop());
        for times in 1.. {
            if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
                return (output, times);
            }
        }
        unreachable!("asked for ever")
    }

    #[test]
    fn all_three_have_the_same_answer() {
        let numbers = [3, u64::MAX, 40];
        assert_eq!(driven(sum_direct(&numbers)), (42, 1));
        assert_eq!(driven(sum_boxed(&numbers)), (42, 1));
        assert_eq!(driven(sum_yielding(&numbers)).0, 42);
    }

    #[test]
    fn a_sum_that_gives_way_is_asked_once_more_for_every_number() {
        for length in [0, 1, 7] {
            let numbers = vec![1; length];
            assert_eq!(driven(sum_yielding(&numbers)).1 as usize, length + 1);
        }
    }
}
