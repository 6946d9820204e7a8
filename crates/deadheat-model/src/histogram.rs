//! Wall times counted by size, for tools that read histograms.

use crate::schedule::ContenderId;

/// What a whole step of a histogram stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HistogramUnit {
    /// What tools take for granted.
    Nanoseconds,
    /// Where whole nanoseconds would lose digits.
    Picoseconds,
}

impl HistogramUnit {
    /// The name used in files.
    pub fn name(self) -> &'static str {
        match self {
            HistogramUnit::Nanoseconds => "nanoseconds",
            HistogramUnit::Picoseconds => "picoseconds",
        }
    }

    /// How many of it make a millisecond.
    pub fn per_millisecond(self) -> u64 {
        match self {
            HistogramUnit::Nanoseconds => 1_000_000,
            HistogramUnit::Picoseconds => 1_000_000_000,
        }
    }
}

/// High dynamic range histograms of the wall times of a run, all of one shape,
/// so that they can be laid over each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histograms {
    /// Of the values of all of them.
    pub unit: HistogramUnit,
    /// Decimal digits to which values are told apart, 1 to 5.
    pub significant_digits: u8,
    /// The largest value they have a bucket for, at least 2 and below 2⁶³. The
    /// smallest told apart from 0 is 1.
    pub highest: u64,
    /// One per contender that ran, in the order of the plan.
    pub contenders: Vec<ContenderHistogram>,
}

/// How often a contender took how long, one count per sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContenderHistogram {
    /// The benchmark, as an index into the plan.
    pub benchmark: usize,
    /// The contender.
    pub contender: ContenderId,
    /// The largest value that was counted.
    pub largest: u64,
    /// The count of every bucket, the lowest first, up to the highest bucket
    /// that holds something.
    pub counts: Vec<u64>,
}
