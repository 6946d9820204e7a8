//! Where things come to lie in the memory of a worker process, drawn per
//! replicate: a lucky alignment must not belong to one side for good.

use std::hint::black_box;

/// Bytes of the stack one step takes.
const STEP: usize = 64;

/// Runs `body` with the stack moved down by about `bytes`.
#[inline(never)]
pub(crate) fn with_stack_offset<T>(bytes: usize, body: impl FnOnce() -> T) -> T {
    let mut step = [0u8; STEP];
    black_box(&mut step);
    let result = match bytes.checked_sub(STEP) {
        Some(left) => with_boxed_offset(left, Box::new(body)),
        None => body(),
    };
    // The step must outlive the call, or it would be no step.
    black_box(&step);
    result
}

/// Boxed, for a closure around a closure would be another type at every step.
fn with_boxed_offset<T>(bytes: usize, body: Box<dyn FnOnce() -> T + '_>) -> T {
    let mut step = [0u8; STEP];
    black_box(&mut step);
    let result = match bytes.checked_sub(STEP) {
        Some(left) => with_boxed_offset(left, body),
        None => body(),
    };
    black_box(&step);
    result
}

/// A piece of the heap that is held until the end of the process, so that
/// what is allocated after it lies elsewhere.
pub(crate) fn hold_heap(bytes: usize) -> Vec<u8> {
    black_box(vec![1; bytes])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stack_moves_by_at_least_what_was_asked() {
        let address = |bytes| {
            with_stack_offset(bytes, || {
                let here = 0u8;
                black_box(&raw const here) as usize
            })
        };
        let (near, far) = (address(0), address(4_000));
        assert!(near - far >= 3_900, "{near:x} {far:x}");
    }

    #[test]
    fn the_answer_of_the_body_comes_back() {
        assert_eq!(with_stack_offset(1_000, || 7), 7);
    }
}
