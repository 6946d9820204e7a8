//! What a coordinator and its workers say to each other, over pipes of their
//! own. How it is written stands in `wire.rs`.

use crate::function::Pilot;

/// The version both sides must speak.
pub(crate) const PROTOCOL: u32 = 1;

/// What the coordinator asks.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Request {
    /// Get a benchmark ready; once per process.
    Prepare {
        benchmark: String,
        /// The clock as the coordinator measured it.
        clock: String,
        /// What reading the CPU clock shows of itself, in nanoseconds.
        cpu_overhead_ns: f64,
        /// Bytes of the heap to hold.
        heap_bytes: usize,
        /// Bytes to move the stack by.
        stack_bytes: usize,
    },
    /// Find out how many calls make a sample.
    Calibrate { seed: u64 },
    /// Call every contender once on the input of this seed.
    Smoke { seed: u64 },
    /// Call the contenders in this order until they are warm.
    WarmUp {
        seed: u64,
        order: Vec<usize>,
        iterations: u64,
    },
    /// Run one block on the input of this seed.
    Block {
        seed: u64,
        iterations: u64,
        /// Who runs before the first slot, unrecorded.
        prime: Option<usize>,
        slots: Vec<usize>,
    },
    /// The replicate is over.
    Bye,
}

/// What a worker answers; the first line comes unasked.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Reply {
    /// The worker is there.
    Hello { protocol: u32 },
    /// The benchmark is ready, and so many values come with every sample.
    Prepared { values: usize },
    /// What the pilot found.
    Calibrated(Pilot),
    /// Every contender was called and nothing happened.
    Sound,
    /// The contenders are warm.
    Warm { rounds: u64 },
    /// The values of all slots, one slot after the other.
    Block { values: Vec<f64> },
    /// The benchmark cannot go on.
    Failed {
        contender: Option<usize>,
        problem: Problem,
    },
}

/// Why a worker cannot go on.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Problem {
    /// There is no such benchmark in this program.
    Unknown,
    /// The request makes no sense here.
    OutOfTurn,
    /// The code panicked, with this message.
    Panicked(String),
    /// A candidate does not agree with the baseline.
    OutputDiffers,
    /// A contender does not agree with itself.
    OutputVaries,
}
