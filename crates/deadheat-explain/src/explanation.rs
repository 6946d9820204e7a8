//! The result of `deadheat explain`: two profiles side by side, and what their difference means for
//! a change of time.

use deadheat::parts::model::{Interval, LeftOut, Verdict};

use crate::profile::ProfileUnit;

/// The result of one call of `deadheat explain`.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// The version of deadheat.
    pub tool_version: String,
    /// The profiler and its version, such as `valgrind-3.19.0`.
    pub counter: String,
    /// The unit of all counts.
    pub unit: ProfileUnit,
    /// The run file of the race that measured the changes of wall time in `pairs`; `None` if no
    /// race measured them.
    pub run: Option<String>,
    /// A pair for each candidate of each benchmark.
    pub pairs: Vec<ExplainedPair>,
    /// Benchmarks that were not explained, with the reasons.
    pub left_out: Vec<LeftOut>,
}

/// The profiles of a baseline and a candidate, side by side.
#[derive(Clone, Debug, PartialEq)]
pub struct ExplainedPair {
    /// The name of the benchmark.
    pub benchmark: String,
    /// The names of baseline and candidate.
    pub names: [String; 2],
    /// The part of the execution that was counted.
    pub counted: Counted,
    /// The total counts of the baseline and of the candidate.
    pub totals: [u64; 2],
    /// The change of wall time that a recorded race measured, if there is one.
    pub wall: Option<WallChange>,
    /// The conclusion from `totals` and `wall`.
    pub finding: Finding,
    /// The functions that at least one side executed, the largest difference first.
    pub functions: Vec<FunctionChange>,
    /// The call trees of both sides, as paths from the root.
    pub stacks: Vec<StackChange>,
}

/// The part of a program's execution that was counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// One whole execution of a command, with all processes that it started.
    Command,
    /// One sample of a function, after a first call on the same input.
    Sample {
        /// The number of calls in the sample.
        iterations: u64,
    },
    /// The function of a benchmark in an executable of a harness, including its set-up.
    BenchmarkFunction {
        /// The number of iterations that the launch was asked to run.
        iterations: u64,
    },
    /// A whole worker process.
    Worker {
        /// The number of calls in all samples.
        iterations: u64,
    },
    /// A whole launch of an executable of a harness. perf samples only whole processes, and
    /// callgrind may find no function with the name of the benchmark.
    Launch {
        /// The number of iterations that the launch was asked to run.
        iterations: u64,
    },
}

impl Counted {
    /// Returns the name of this variant in JSON.
    pub fn key(self) -> &'static str {
        match self {
            Self::Command => "command",
            Self::Sample { .. } => "sample",
            Self::BenchmarkFunction { .. } => "benchmark_function",
            Self::Worker { .. } => "worker",
            Self::Launch { .. } => "launch",
        }
    }

    /// Returns the number of counted iterations; `None` for a command.
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

/// The change of wall time that a race measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WallChange {
    /// The change relative to the baseline: 0.01 is 1% longer.
    pub change: f64,
    /// The confidence interval of the change.
    pub interval: Option<Interval>,
    /// The verdict of the race.
    pub verdict: Verdict,
}

/// The conclusion from the counts and the times of both sides: whether the work explains a change
/// of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finding {
    /// The counts of both sides are equal, and their times were not measured.
    SameWork,
    /// The counts differ, and the times were not measured.
    OtherWork,
    /// The change of work explains the change of time.
    Work,
    /// The change of work explains a part of the change of time.
    PartlyWork,
    /// The time changed, but the work hardly changed.
    NotWork,
    /// The time and the work changed in opposite directions.
    AgainstWork,
    /// The time changed, but there are too few samples to show whether the work changed.
    Unclear,
    /// The work changed, but the race proved no change of time.
    NotSeenInTime,
    /// Neither a change of work nor a change of time is proven.
    Nothing,
}

impl Finding {
    /// Returns the name of this variant in JSON.
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

/// The counts of a function on both sides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionChange {
    /// The name of the function.
    pub function: String,
    /// The counts of the function itself, including code that was inlined into it.
    pub own: [u64; 2],
    /// The counts of the function and of all calls that it makes, directly or indirectly.
    pub inclusive: [u64; 2],
    /// The counts of code that was inlined into the function from other files, file by file, the
    /// largest difference first.
    pub inlined: Vec<(String, [u64; 2])>,
}

impl FunctionChange {
    /// Returns the change of `own` from baseline to candidate.
    pub fn difference(&self) -> i128 {
        i128::from(self.own[1]) - i128::from(self.own[0])
    }
}

/// A path of calls on both sides, with only the counts of its last function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StackChange {
    /// The functions, the outermost first.
    pub frames: Vec<String>,
    /// The counts of the last function of the path, for the baseline and the candidate.
    pub counts: [u64; 2],
}
