//! The functions that are raced: the same in the suite and in the process
//! that measures them beside it.

use deadheat_examples::busy_work::{
    STEPS_FOR_20_MILLISECONDS, STEPS_FOR_25_MICROSECONDS, mixing, with_percent,
};

/// Races of a function against one that does 1 % more.
pub const RACES_OF_ONE_PERCENT: usize = 100;

/// The race of a function against one that does 0.1 % more.
pub const ONE_THOUSANDTH: &str = "0.1 % more";

/// The race of a long function against one that does some percent more; 0 is the same.
pub fn long(percent: u32) -> String {
    format!("{percent} % more of 20 ms")
}

/// The percentages that it is raced with.
pub const LONG_PERCENTS: [u32; 4] = [0, 1, 2, 5];

/// The functions of the article that branch on every byte of a text.
pub const BRANCHY: [&str; 2] = ["std_count", "std_count_rev"];

/// The name of a race of one of them with itself.
pub fn branchy(function: &str, number: usize) -> String {
    format!("branchy/{function}/{number:02}")
}

/// Names under which a function meets itself.
pub const RACES_WITH_ITSELF: usize = 20;

/// The name of a race for 1 %.
pub fn one_percent(number: usize) -> String {
    format!("1 % more/{number:02}")
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
    /// As in the races for 1 % and 0.1 %.
    TwentyFiveMicroseconds,
    /// 720,000 steps.
    Millisecond,
    /// 720 million steps.
    Second,
}

impl Size {
    /// All of them, ascending.
    pub const ALL: [Self; 6] = [
        Self::Nanosecond,
        Self::TwentyNanoseconds,
        Self::Microsecond,
        Self::TwentyFiveMicroseconds,
        Self::Millisecond,
        Self::Second,
    ];

    /// How long it takes, in words.
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

    /// How long it takes, in nanoseconds, roughly.
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

    /// The name of a race with itself.
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

/// Somebody who calls functions, whatever their type.
pub trait Visitor {
    /// What comes of it.
    type Answer;

    /// Is given the function.
    fn visit<F: Fn(&u64) -> u64 + Copy + 'static>(self, call: F) -> Self::Answer;
}

/// The function of about 25 µs and some percent more, as one type whatever
/// the percentage: contenders then differ in their steps and in nothing else.
pub fn steps(percent: f64) -> impl Fn(&u64) -> u64 + Copy + 'static {
    mixing_of(with_percent(STEPS_FOR_25_MICROSECONDS, percent))
}

/// The same of about 20 ms.
pub fn long_steps(percent: f64) -> impl Fn(&u64) -> u64 + Copy + 'static {
    mixing_of(with_percent(STEPS_FOR_20_MILLISECONDS, percent))
}

fn mixing_of(steps: u32) -> impl Fn(&u64) -> u64 + Copy + 'static {
    move |_| mixing(steps)
}

#[inline(always)]
fn four_multiplications(number: &u64) -> u64 {
    (0..4).fold(*number, |state, _| {
        (state ^ (state >> 31)).wrapping_mul(0x6A09_E667_F3BC_C909)
    })
}
