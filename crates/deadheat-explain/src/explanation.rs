//! The answer of `deadheat explain`: two profiles side by side, and their meaning next to a change of
//! time.

use deadheat::parts::model::{Interval, LeftOut, Verdict};

use crate::profile::ProfileUnit;

/// All pairs of a call of `deadheat explain`.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// The version of deadheat.
    pub tool_version: String,
    /// The profiler and its version, such as `valgrind-3.19.0`.
    pub counter: String,
    /// The unit of all counts.
    pub unit: ProfileUnit,
    /// The run file of the race that `wall` of the pairs comes from.
    pub run: Option<String>,
    /// A pair for each candidate of each benchmark.
    pub pairs: Vec<ExplainedPair>,
    /// Benchmarks that the user may miss.
    pub left_out: Vec<LeftOut>,
}

/// The profiles of a baseline and a candidate, side by side.
#[derive(Clone, Debug, PartialEq)]
pub struct ExplainedPair {
    /// The benchmark.
    pub benchmark: String,
    /// The names of baseline and candidate.
    pub names: [String; 2],
    /// What was counted.
    pub counted: Counted,
    /// The whole counts of both sides.
    pub totals: [u64; 2],
    /// The change of wall time that a race found.
    pub wall: Option<WallChange>,
    /// The meaning of `totals` and `wall` together.
    pub finding: Finding,
    /// The functions that a side executed, with the greatest difference first.
    pub functions: Vec<FunctionChange>,
    /// The call trees of both sides, as paths from the root.
    pub stacks: Vec<StackChange>,
}

/// The part of a program's life that was counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// One whole execution of a command, with all processes that it started.
    Command,
    /// One sample of a function, after a first call on the same input.
    Sample {
        /// Calls in the sample.
        iterations: u64,
    },
    /// The function of a benchmark in an executable of a harness, set-up included.
    BenchmarkFunction {
        /// The requested iterations.
        iterations: u64,
    },
    /// A whole worker process.
    Worker {
        /// The calls in all samples.
        iterations: u64,
    },
    /// A whole launch of an executable of a harness, because perf samples whole processes or no function
    /// has the name of the benchmark.
    Launch {
        /// The requested iterations.
        iterations: u64,
    },
}

impl Counted {
    /// The name in files.
    pub fn key(self) -> &'static str {
        match self {
            Self::Command => "command",
            Self::Sample { .. } => "sample",
            Self::BenchmarkFunction { .. } => "benchmark_function",
            Self::Worker { .. } => "worker",
            Self::Launch { .. } => "launch",
        }
    }

    /// The counted iterations; `None` for a command.
    pub fn iterations(self) -> Option<u64> {
        match self {
            Self::Command => None,
            Self::Sample { iterations }
            | Self::BenchmarkFunction { iterations }
            | Self::Worker { iterations }
            | Self::Launch { iterations } => Some(iterations),
        }
    }
}

/// The change of wall time that a race found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WallChange {
    /// The relative change of the candidate from the baseline.
    pub change: f64,
    /// The interval of the change.
    pub interval: Option<Interval>,
    /// The verdict of the race.
    pub verdict: Verdict,
}

/// The meaning of a change of counts next to a change of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finding {
    /// The counts of both sides are equal, and their times were not measured.
    SameWork,
    /// One side has higher counts, and the times were not measured.
    OtherWork,
    /// The work accounts for the change of time.
    Work,
    /// The work accounts for a part of the change of time.
    PartlyWork,
    /// Time changed, and the work hardly changed.
    NotWork,
    /// Time and work changed in opposite directions.
    AgainstWork,
    /// Time changed, and there are too few samples to tell whether the work changed.
    Unclear,
    /// The work changed, but no change of time is proven.
    NotSeenInTime,
    /// No change is proven.
    Nothing,
}

impl Finding {
    /// The name in files.
    pub fn key(self) -> &'static str {
        match self {
            Self::SameWork => "same_work",
            Self::OtherWork => "other_work",
            Self::Work => "work",
            Self::PartlyWork => "partly_work",
            Self::NotWork => "not_work",
            Self::AgainstWork => "against_work",
            Self::Unclear => "unclear",
            Self::NotSeenInTime => "not_seen_in_time",
            Self::Nothing => "nothing",
        }
    }
}

/// A function on both sides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionChange {
    /// The function.
    pub function: String,
    /// The counts of the function itself, with code that was inlined into it.
    pub own: [u64; 2],
    /// `own` and the counts of all calls below it.
    pub inclusive: [u64; 2],
    /// The part of `own` that was inlined from other files, with the greatest difference first.
    pub inlined: Vec<(String, [u64; 2])>,
}

impl FunctionChange {
    /// The change of `own` from baseline to candidate.
    pub fn difference(&self) -> i128 {
        i128::from(self.own[1]) - i128::from(self.own[0])
    }
}

/// A path of calls on both sides, with the counts of its last function alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StackChange {
    /// Functions, with the outermost first.
    pub frames: Vec<String>,
    /// The counts of baseline and candidate.
    pub counts: [u64; 2],
}
