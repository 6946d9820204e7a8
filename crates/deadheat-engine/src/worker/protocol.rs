//! What a coordinator and its workers say to each other, over pipes of their
//! own. How it is written stands in `wire.rs`; `docs/protocol.md` explains it
//! to those who write a worker in another language.

use deadheat_model::Metric;

use super::listing::ListedBenchmark;
use crate::function::Pilot;

/// The version both sides must speak.
pub(crate) const PROTOCOL: u32 = 2;

/// Seeds lie below this: every reader of JSON has such an integer exactly.
pub(crate) const SEEDS: u64 = 1 << 53;

/// What the coordinator asks.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Request {
    /// Name the benchmarks.
    List,
    /// Get a benchmark ready; once per process.
    Prepare {
        benchmark: String,
        /// The only contender wanted, which is number 0 from then on.
        contender: Option<String>,
        /// The clock as the coordinator measured it.
        clock: String,
        /// What reading the CPU clock shows of itself, in nanoseconds.
        cpu_overhead_ns: f64,
        /// Bytes of the heap to hold.
        heap_bytes: usize,
        /// Bytes to move the stack by.
        stack_bytes: usize,
    },
    /// Find out how many calls make a sample, which should last this long.
    Calibrate { seed: u64, least_ns: f64 },
    /// Call every contender once on the input of this seed.
    Smoke { seed: u64 },
    /// Call the contenders in this order until they are warm, in the first round
    /// on the input of this seed.
    WarmUp {
        seed: u64,
        order: Vec<usize>,
        iterations: u64,
    },
    /// Run one block.
    Block(BlockRequest),
    /// The replicate is over.
    Bye,
}

/// One block on the input of one seed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BlockRequest {
    pub(crate) seed: u64,
    /// Calls in a recorded sample.
    pub(crate) iterations: u64,
    /// Who runs when; `None` is somebody in the other process.
    pub(crate) turns: Vec<Option<usize>>,
    /// So many of the first turns are not recorded.
    pub(crate) unrecorded: usize,
    /// Calls in each of them.
    pub(crate) unrecorded_iterations: u64,
}

/// What a worker answers; the first line comes unasked.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Reply {
    /// The worker is there.
    Hello {
        protocol: u32,
        /// Who it is, for people.
        worker: String,
        /// The columns of its samples.
        metrics: Vec<Metric>,
    },
    /// What it can race.
    Listed(Vec<ListedBenchmark>),
    /// The benchmark is ready.
    Prepared {
        /// Whether every block has an input of its own.
        renews_input: bool,
    },
    /// What the pilot found.
    Calibrated(Pilot),
    /// Every contender was called and nothing happened.
    Sound,
    /// The contenders are warm.
    Warm {
        rounds: u64,
        /// The seed of the input that lies ready for a block, and that every
        /// contender has met.
        ready: Option<u64>,
    },
    /// The values of all recorded turns of this process, one after the other.
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
    /// There is no such benchmark or contender in this program.
    Unknown,
    /// The request makes no sense here.
    OutOfTurn,
    /// The code panicked, with this message.
    Panicked(String),
    /// A candidate does not agree with the baseline.
    OutputDiffers,
    /// A contender does not agree with itself.
    OutputVaries,
    /// The process on the other end of the baton is gone.
    PeerGone,
}
