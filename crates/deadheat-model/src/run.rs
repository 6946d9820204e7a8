//! One full execution of a plan.

use crate::environment::Environment;
use crate::metric::Metric;
use crate::plan::Plan;
use crate::samples::Samples;

/// Where the samples come from, which decides how they may be judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// deadheat measured them under a frozen plan.
    Race,
    /// Read from a file that says which block each sample belongs to.
    PairedRecording,
    /// Read from a file that does not.
    UnpairedRecording,
}

/// What is known before the first sample.
#[derive(Clone, Debug, PartialEq)]
pub struct RunHeader {
    /// Version of deadheat that measured.
    pub tool_version: String,
    /// Seconds since 1970-01-01 UTC, when known.
    pub started_at: Option<u64>,
    /// Where the samples come from.
    pub origin: Origin,
    /// The frozen plan.
    pub plan: Plan,
    /// The machine.
    pub environment: Environment,
    /// The metrics of every sample, in column order.
    pub metrics: Vec<Metric>,
    /// Resolution of the wall clock in nanoseconds, when known.
    pub tick_ns: Option<f64>,
}

/// Why no further block was run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EndReason {
    /// Every benchmark came to its verdict or to its last replicate.
    Finished,
    /// The time budget was used up.
    Budget,
    /// A signal, by number.
    Interrupted(i32),
    /// A contender or a hook failed.
    Failed(String),
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunEnd {
    /// Why it ended.
    pub reason: EndReason,
    /// Processes launched in all, discarded ones included.
    pub launches: u64,
    /// Nanoseconds from the start of the run.
    pub elapsed_ns: u64,
}

/// A run and everything measured in it.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// What was known before the first sample.
    pub header: RunHeader,
    /// Samples of each benchmark, parallel to the plan's benchmarks.
    pub benchmarks: Vec<Samples>,
    /// Whether the run was taken up again after it had stopped once.
    pub resumed: bool,
    /// How it ended; `None` when deadheat was killed or the file was cut.
    pub end: Option<RunEnd>,
    /// Nanoseconds from the start to the end of the last completed block.
    pub elapsed_ns: u64,
    /// Processes launched, discarded ones included, as far as recorded.
    pub launches: u64,
}

impl Run {
    /// A run that has not measured anything yet.
    pub fn new(header: RunHeader) -> Self {
        let benchmarks = header
            .plan
            .benchmarks
            .iter()
            .map(|_| Samples::new(header.metrics.clone()))
            .collect();
        Self {
            header,
            benchmarks,
            resumed: false,
            end: None,
            elapsed_ns: 0,
            launches: 0,
        }
    }

    /// Whether the run was stopped by something its plan does not know, so
    /// that only a rule valid at any time may judge it.
    pub fn left_its_plan(&self) -> bool {
        let by_plan = matches!(
            self.end,
            Some(RunEnd {
                reason: EndReason::Finished | EndReason::Budget,
                ..
            })
        );
        self.header.origin == Origin::Race && (self.resumed || !by_plan)
    }
}
