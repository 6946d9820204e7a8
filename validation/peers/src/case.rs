//! The two sides of a race.

use std::hint::black_box;

use deadheat_examples::busy_work::{STEPS_FOR_25_MICROSECONDS, mixing, with_percent};

use crate::twins::{self, RANDOM, Words};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    /// One function with itself: one address by design.
    Same,
    /// Two copies of one function, at two addresses.
    Copies,
    /// One function with itself doing exactly 1 % more.
    More,
}

type Function = extern "C" fn(&Words, u64) -> u64;

/// A function and how much of its work is asked for. Both sides of every race
/// are of this one type, so that they share the loop a tool puts around them
/// and differ in nothing but these two numbers.
#[derive(Clone, Copy, Debug)]
pub struct Work {
    function: Function,
    amount: u64,
}

impl Case {
    pub fn of_environment() -> Self {
        let name = std::env::var("PEERS_CASE").unwrap_or_default();
        Self::named(&name).unwrap_or_else(|| panic!("PEERS_CASE={name}: same, copies or more"))
    }

    fn named(name: &str) -> Option<Self> {
        match name {
            "same" => Some(Self::Same),
            "copies" => Some(Self::Copies),
            "more" => Some(Self::More),
            _ => None,
        }
    }

    pub fn sides(self) -> [Work; 2] {
        let [first, second] = match self {
            Self::Same => [steps(0.0), steps(0.0)],
            Self::More => [steps(0.0), steps(1.0)],
            Self::Copies => [copy(twins::one), copy(twins::two)],
        };
        let two = first.function as usize != second.function as usize;
        assert_eq!(two, self == Self::Copies, "{self:?}: folded, or not one");
        [first, second]
    }
}

impl Work {
    #[inline(always)]
    pub fn run(self) -> u64 {
        (black_box(self.function))(&RANDOM, black_box(self.amount))
    }
}

fn copy(function: Function) -> Work {
    Work {
        function,
        amount: twins::WORDS_FOR_25_MICROSECONDS,
    }
}

fn steps(percent: f64) -> Work {
    Work {
        function: mix,
        amount: u64::from(with_percent(STEPS_FOR_25_MICROSECONDS, percent)),
    }
}

extern "C" fn mix(_: &Words, steps: u64) -> u64 {
    mixing(steps as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_are_what_their_case_says() {
        let [first, second] = Case::More.sides();
        assert_eq!(first.amount * 101, second.amount * 100);
        let [first, second] = Case::Same.sides();
        assert_eq!((first.amount, first.run()), (second.amount, second.run()));
        let [first, second] = Case::Copies.sides();
        assert_eq!((first.amount, first.run()), (second.amount, second.run()));
        assert_eq!(Case::named("other"), None);
    }
}
