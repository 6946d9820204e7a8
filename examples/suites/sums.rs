//! The work that the suites time: a chain of arithmetic, and as slow again by half where the feature `slower`
//! is on.

use std::hint::black_box;

/// Takes so many steps, each of which waits for the last.
pub fn chain(steps: u64) -> u64 {
    let steps = if cfg!(feature = "slower") {
        steps + steps / 2
    } else {
        steps
    };
    (0..steps).fold(1, |sum, step| {
        black_box(sum ^ step).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    })
}
