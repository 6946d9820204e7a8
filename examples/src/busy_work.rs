//! Work whose amount can be set exactly, so that one knows by how much a contender is slower.
//!
//! [`mixing`] counts in steps and [`sha256`] in rounds. Both are a single chain, each link of which needs the one before: time grows in
//! proportion to effort. The efforts named here are multiples of 1,000, of which even 0.1 % is a whole number.
//!
//! Times are rough: a step is 5 cycles on processors that multiply in 3, a round about 190 with SHA instructions and three to four times
//! that without. At 3.6 GHz, 1.4 and 52 nanoseconds were measured.

use std::hint::black_box;

use sha2::{Digest, Sha256};

/// Steps of [`mixing`] that take about 25 µs: 21 at 3.6 GHz, 30 at 2.5 GHz.
pub const STEPS_FOR_25_MICROSECONDS: u32 = 15_000;

/// Steps of [`mixing`] that take about 20 ms: 14 to 17 at 3.6 GHz, 24 at 2.5 GHz.
pub const STEPS_FOR_20_MILLISECONDS: u32 = 12_000_000;

/// Rounds of [`sha256`] that take about 100 µs where the processor has SHA instructions.
pub const ROUNDS_FOR_100_MICROSECONDS: u32 = 2_000;

/// Rounds of [`sha256`] that take about 20 ms where the processor has SHA instructions.
pub const ROUNDS_FOR_20_MILLISECONDS: u32 = 400_000;

/// Mixes the bits of one number for `steps` steps, in registers alone.
#[inline(never)]
pub fn mixing(steps: u32) -> u64 {
    // An odd number with its bits well spread: the fractional part of the square root of 2.
    const FACTOR: u64 = 0x6A09_E667_F3BC_C909;
    // Unknown to the compiler: it could otherwise see that equal calls have equal answers and call once for many.
    let mut state: u64 = black_box(1);
    for _ in 0..steps {
        state = (state ^ (state >> 31)).wrapping_mul(FACTOR);
    }
    state
}

/// Hashes a block of 32 bytes, then its hash, and so on for `rounds` rounds, starting from zeros.
#[inline(never)]
pub fn sha256(rounds: u32) -> [u8; 32] {
    // Unknown to the compiler, as in `mixing`.
    let mut block = black_box([0; 32]);
    for _ in 0..rounds {
        block = Sha256::digest(block).into();
    }
    block
}

/// An effort and some percent of it, exactly.
///
/// # Panics
///
/// If that is not a whole number of steps or rounds from 0 to `u32::MAX`: a race for 1 % must not be run with 0.9 %.
pub fn with_percent(base: u32, percent: f64) -> u32 {
    // Percentages such as 0.1 have no exact double, so whole numbers are missed by a rounding error; by no more than that.
    const ROUNDING: f64 = 1e-6;
    let exact = f64::from(base) * (1.0 + percent / 100.0);
    let whole = exact.round();
    assert!(
        (exact - whole).abs() < ROUNDING && (0.0..=f64::from(u32::MAX)).contains(&whole),
        "{base} and {percent} % of it is no whole effort"
    );
    whole as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn named_efforts_grow_by_exactly_what_is_asked() {
        for base in [
            STEPS_FOR_25_MICROSECONDS,
            STEPS_FOR_20_MILLISECONDS,
            ROUNDS_FOR_100_MICROSECONDS,
            ROUNDS_FOR_20_MILLISECONDS,
        ] {
            assert_eq!(base % 1_000, 0);
            for (percent, thousandths) in [
                (0.0, 0),
                (0.1, 1),
                (0.5, 5),
                (1.0, 10),
                (2.0, 20),
                (5.0, 50),
                (10.0, 100),
                (-1.0, -10),
            ] {
                let grown = with_percent(base, percent);
                assert_eq!(
                    i64::from(grown),
                    i64::from(base) + i64::from(base) / 1_000 * thousandths,
                    "{percent} %"
                );
            }
        }
    }

    #[test]
    fn an_effort_may_be_lost_altogether_but_no_more_than_that() {
        assert_eq!(with_percent(1_000, -100.0), 0);
        assert_eq!(with_percent(u32::MAX, 0.0), u32::MAX);
    }

    #[test]
    #[should_panic(expected = "150 and 1 % of it is no whole effort")]
    fn a_percentage_that_would_need_half_a_step_is_refused() {
        with_percent(150, 1.0);
    }

    #[test]
    #[should_panic(expected = "no whole effort")]
    fn an_effort_below_nought_is_refused() {
        with_percent(1_000, -101.0);
    }

    #[test]
    #[should_panic(expected = "no whole effort")]
    fn an_effort_too_large_to_count_is_refused() {
        with_percent(4_000_000_000, 10.0);
    }

    #[test]
    #[should_panic(expected = "no whole effort")]
    fn a_percentage_that_is_no_number_is_refused() {
        with_percent(1_000, f64::NAN);
    }

    #[test]
    fn mixing_takes_every_step() {
        let mut seen = std::collections::BTreeSet::new();
        for steps in 0..1_000 {
            assert!(seen.insert(mixing(steps)), "{steps} steps change nothing");
        }
        assert_eq!(mixing(0), 1);
        assert_eq!(mixing(1), 0x6A09_E667_F3BC_C909);
    }

    #[test]
    fn hashing_starts_from_zeros_and_goes_on_from_its_own_hash() {
        assert_eq!(sha256(0), [0; 32]);
        // The published digest of 32 zero bytes.
        let first = sha256(1);
        let hex: String = first.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(
            hex,
            "66687aadf862bd776c8fc18b8e9f8e20089714856ee233b3902a591d0d5f2925"
        );
        let second: [u8; 32] = Sha256::digest(first).into();
        assert_eq!(sha256(2), second);
    }
}
