//! The functions that are raced: the same in the suite and in the process
//! that measures them beside it.

use std::cell::RefCell;
use std::hash::{BuildHasher as _, RandomState};
use std::hint::black_box;

use deadheat_examples::busy_work::{
    STEPS_FOR_20_MILLISECONDS, STEPS_FOR_25_MICROSECONDS, mixing, with_percent,
};
use deadheat_examples::random::SplitMix64;

/// Races of a function against one that does 1% more.
pub const RACES_OF_ONE_PERCENT: usize = 100;

/// The race of a function against one that does 0.1% more.
pub const ONE_THOUSANDTH: &str = "0.1% more";

/// The race of rounds against one round more in 10,000.
pub const ONE_TEN_THOUSANDTH: &str = "0.01% more";

pub const ROUNDS_WITH_THEMSELVES: &str = "0.00% more";

/// The race of a long function against one that does some percent more; 0 is the same.
pub fn long(percent: u32) -> String {
    format!("{percent}% more of 20 ms")
}

/// The percentages that it is raced with.
pub const LONG_PERCENTS: [u32; 4] = [0, 1, 2, 5];

/// The functions of the article that branch on every byte of a text.
pub const BRANCHY: [&str; 2] = ["std_count", "std_count_rev"];

pub fn branchy(function: &str, number: usize) -> String {
    format!("branchy/{function}/{number:02}")
}

pub const RACES_WITH_ITSELF: usize = 20;

pub const GATED: usize = 10;

/// The race of a function of such a suite against one that does 2% more.
pub const TWO_PERCENT: &str = "gate/2% more";

pub fn gated(number: usize) -> String {
    format!("gate/itself/{number:02}")
}

/// An unchanged function of such a suite: from 1 µs for the first to some 50 µs for the last.
pub fn of_the_gate(number: usize) -> impl Fn(&u64) -> u64 + Copy + 'static {
    let steps = 720 + 3_600 * number as u32;
    move |_| mixing(steps)
}

/// The race of a function with a tail against one whose slow calls have a tenth more to do beside what
/// all calls do.
pub const LONGER_TAIL: &str = "tail/10% longer";

pub fn tailed(number: usize) -> String {
    format!("tail/itself/{number:02}")
}

/// Steps of a call of a function with a tail that is not slow: some 5 µs.
const STEPS_BEFORE_THE_TAIL: u32 = 3_600;
/// The share of its calls that are slow, drawn anew in every call.
const SLOW_CALLS: f64 = 0.3;
/// A slow call does between so many times and one time more of its steps, evenly drawn, beside them.
const LEAST_OF_A_SLOW_CALL: f64 = 0.5;

/// A function with a tail, whose slow calls do some percent more beside what all calls do. One type
/// whatever their number, as [`steps`].
pub fn with_tail(percent: f64) -> impl Fn(&u64) -> u64 + Copy + 'static {
    thread_local! {
        // From the system: processes that draw the same calls would not be independent.
        static RANDOM: RefCell<SplitMix64> =
            RefCell::new(SplitMix64::new(RandomState::new().hash_one(0)));
    }
    let longer = (1.0 + percent / 100.0) * f64::from(STEPS_BEFORE_THE_TAIL);
    move |_| {
        let bits = RANDOM.with_borrow_mut(SplitMix64::bits);
        let share = (bits >> 11) as f64 / (1_u64 << 53) as f64;
        let slow =
            (share < SLOW_CALLS).then(|| longer * (LEAST_OF_A_SLOW_CALL + share / SLOW_CALLS));
        mixing(STEPS_BEFORE_THE_TAIL + slow.unwrap_or(0.0) as u32)
    }
}

/// The true change of a quantile within the slow calls of the function with a tail where these do so many
/// percent more, in percent.
pub fn change_of_the_tail(quantile: f64, percent: f64) -> f64 {
    let place = LEAST_OF_A_SLOW_CALL + 1.0 - (1.0 - quantile) / SLOW_CALLS;
    place * percent / (1.0 + place)
}

pub fn one_percent(number: usize) -> String {
    format!("1% more/{number:02}")
}

/// A function that takes about as long as its name says. A step of `mixing`
/// takes 1.25 to 2 ns; of calls in a row the processor works on several at a
/// time, so that short ones take less than their steps would alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// Four multiplications, small enough to be inlined.
    Nanosecond,
    /// 40 steps.
    TwentyNanoseconds,
    /// 720 steps.
    Microsecond,
    /// As in the races for 1% and 0.1%.
    TwentyFiveMicroseconds,
    /// 720,000 steps.
    Millisecond,
    /// 720 million steps.
    Second,
}

impl Size {
    pub const ALL: [Self; 6] = [
        Self::Nanosecond,
        Self::TwentyNanoseconds,
        Self::Microsecond,
        Self::TwentyFiveMicroseconds,
        Self::Millisecond,
        Self::Second,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Nanosecond => "1 ns",
            Self::TwentyNanoseconds => "20 ns",
            Self::Microsecond => "1 µs",
            Self::TwentyFiveMicroseconds => "25 µs",
            Self::Millisecond => "1 ms",
            Self::Second => "1 s",
        }
    }

    /// The time it takes, in nanoseconds, roughly.
    pub fn ns(self) -> f64 {
        match self {
            Self::Nanosecond => 1.0,
            Self::TwentyNanoseconds => 20.0,
            Self::Microsecond => 1e3,
            Self::TwentyFiveMicroseconds => 25e3,
            Self::Millisecond => 1e6,
            Self::Second => 1e9,
        }
    }

    pub fn with_itself(self, number: usize) -> String {
        format!("itself/{}/{number:02}", self.name())
    }

    /// Hands the function to whoever wants to call it. A visitor, because a
    /// few multiplications behind a pointer would be timed with the pointer.
    pub fn hand_to<V: Visitor>(self, visitor: V) -> V::Answer {
        match self {
            Self::Nanosecond => visitor.visit(four_multiplications),
            Self::TwentyNanoseconds => visitor.visit(|_| mixing(40)),
            Self::Microsecond => visitor.visit(|_| mixing(720)),
            Self::TwentyFiveMicroseconds => visitor.visit(|_| mixing(STEPS_FOR_25_MICROSECONDS)),
            Self::Millisecond => visitor.visit(|_| mixing(720_000)),
            Self::Second => visitor.visit(|_| mixing(720_000_000)),
        }
    }
}

pub trait Visitor {
    type Answer;

    fn visit<F: Fn(&u64) -> u64 + Copy + 'static>(self, call: F) -> Self::Answer;
}

/// The function of about 25 µs and some percent more, as one type whatever
/// the percentage: contenders then differ in their steps and in nothing else.
pub fn steps(percent: f64) -> impl Fn(&u64) -> u64 + Copy + 'static {
    mixing_of(with_percent(STEPS_FOR_25_MICROSECONDS, percent))
}

pub fn long_steps(percent: f64) -> impl Fn(&u64) -> u64 + Copy + 'static {
    mixing_of(with_percent(STEPS_FOR_20_MILLISECONDS, percent))
}

fn mixing_of(steps: u32) -> impl Fn(&u64) -> u64 + Copy + 'static {
    move |_| mixing(steps)
}

/// A function of about 25 µs, of 10,000 rounds and some more: each is 0.01%,
/// exactly. One type whatever their number, as [`steps`].
///
/// A compiler makes one turn of several steps of a plain loop, and does the rest
/// in a second loop: two steps more of 20,000 cost the misprediction of that
/// one, too, which is more than 0.01%. Here the counter is unknown to it in
/// every round, so that all rounds are alike; what that takes passes beside the
/// two multiplications.
pub fn rounds(more: u32) -> impl Fn(&u64) -> u64 + Copy + 'static {
    const ROUNDS: u32 = 10_000;
    move |_| {
        let mut left = ROUNDS + more;
        let mut state = black_box(1_u64);
        while left > 0 {
            for _ in 0..2 {
                state = (state ^ (state >> 31)).wrapping_mul(0x6A09_E667_F3BC_C909);
            }
            left = black_box(left - 1);
        }
        state
    }
}

#[inline(always)]
fn four_multiplications(number: &u64) -> u64 {
    (0..4).fold(*number, |state, _| (state ^ (state >> 31)).wrapping_mul(0x6A09_E667_F3BC_C909))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_change_of_a_tail_is_that_of_its_slow_calls_alone() {
        // At 90% a slow call does 1 + 7/6 of the steps, of which a tenth of 7/6 is added.
        assert!((change_of_the_tail(0.9, 10.0) - 35.0 / 6.5).abs() < 1e-9);
        assert!((change_of_the_tail(1.0, 10.0) - 6.0).abs() < 1e-9);
    }

    #[test]
    fn a_round_more_is_a_ten_thousandth() {
        // Two steps a round.
        assert_eq!(rounds(0)(&0), mixing(20_000));
        assert_eq!(rounds(1)(&0), mixing(20_002));
    }
}
