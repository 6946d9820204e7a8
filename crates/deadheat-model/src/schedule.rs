//! The order of one block: which contender runs when.

use crate::named::named;

/// The place of a contender in its benchmark; 0 is the baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContenderId(pub u8);

impl ContenderId {
    /// The contender all others are compared against.
    pub const BASELINE: ContenderId = ContenderId(0);

    /// The role this contender plays.
    pub fn role(self) -> Role {
        if self == Self::BASELINE {
            Role::Baseline
        } else {
            Role::Candidate
        }
    }

    /// The position in the benchmark's list of contenders.
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

named! {
    /// The role of a contender in the race.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Role: name(self) {
        /// Compared against.
        Baseline = "baseline",
        /// Judged.
        Candidate = "candidate",
    }
}

/// A scheduled place for one sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// The contender that runs.
    pub contender: ContenderId,
    /// Bytes added to the environment of the process, 0–4095. It moves the stack, so that no
    /// contender owns a lucky alignment.
    pub padding: u16,
}

/// Slots run without a pause between them: ABBA or BAAB for two contenders, a Williams row for
/// three or more, a single slot for a contender alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Index of the benchmark in the plan.
    pub benchmark: usize,
    /// The replicate this block belongs to, counted from 0.
    pub replicate: u32,
    /// The place of the block in its replicate, counted from 0.
    pub index: u32,
    /// Run once and thrown away before the first slot, when the contender of the first slot is not
    /// the one that ran last. Without it the first slot would be the only one whose predecessor is
    /// decided by the last block.
    pub prime: Option<Slot>,
    /// The slots in the order they run.
    pub slots: Vec<Slot>,
}
