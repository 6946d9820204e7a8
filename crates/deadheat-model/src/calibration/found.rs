//! What a machine showed when things raced against themselves and against
//! known differences.

use super::kind::RaceKind;
use super::machine::Machine;
use super::share::Promise;
use super::share::Share;
use super::share::Tally;
use crate::estimate::Interval;
use crate::units::LogRatio;
use crate::verdict::Verdict;

/// One race of a calibration, judged.
#[derive(Clone, Debug, PartialEq)]
pub struct CalibrationRace {
    /// What raced.
    pub kind: RaceKind,
    /// By how much more work the candidate has, 0.01 for 1 %; 0 where a thing
    /// raced against itself.
    pub change: f64,
    /// The verdict.
    pub verdict: Verdict,
    /// The estimate.
    pub effect: LogRatio,
    /// Its interval.
    pub interval: Option<Interval>,
    /// Variance that one replicate adds to the estimate, in squared log-ratio
    /// units: between processes, and of blocks within.
    pub variances: Option<(f64, f64)>,
    /// Blocks in a replicate.
    pub blocks_per_replicate: u32,
    /// Replicates it took.
    pub replicates: u32,
    /// Seconds from its first block to its last.
    pub seconds: f64,
    /// Median time of the baseline in nanoseconds.
    pub baseline_ns: f64,
}

/// What remains when nothing differs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NoiseFloor {
    /// The 95th percentile of the sizes of the estimates.
    pub estimate: LogRatio,
    /// The median half width of the intervals.
    pub half_width: Option<LogRatio>,
    /// Standard deviation between the processes of replicates; `None` where a
    /// block is a process of its own.
    pub process: Option<LogRatio>,
    /// Standard deviation of blocks within one.
    pub block: Option<LogRatio>,
}

/// What a replicate takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReplicateCost {
    /// Seconds, the mean over all races, with everything between its samples.
    pub seconds: f64,
    /// Blocks in it, the median over all races.
    pub blocks: u32,
}

/// An effect that is found with 80 % power after so many replicates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Found {
    /// Replicates of the last look.
    pub replicates: u32,
    /// The effect.
    pub effect: LogRatio,
}

/// What a budget finds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Detectable {
    /// The budget.
    pub budget_seconds: f64,
    /// With as many replicates at most as by default; `None` when the budget
    /// ends before the first look.
    pub at_defaults: Option<Found>,
    /// With as many replicates at most as the budget buys.
    pub at_most: Option<Found>,
}

/// Races of a difference that is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KnownDifference {
    /// The difference of work, 0.01 for 1 %.
    pub change: f64,
    /// The verdicts.
    pub calls: Tally,
    /// Intervals on the right side of zero.
    pub right: Share,
    /// Intervals on the wrong side of it.
    pub wrong: u64,
    /// Intervals that hold the truth; `None` where that is not known exactly.
    pub covered: Option<Share>,
    /// The median estimate.
    pub estimate: Option<LogRatio>,
}

/// What was found about one kind of race.
#[derive(Clone, Debug, PartialEq)]
pub struct CalibratedKind {
    /// The kind.
    pub kind: RaceKind,
    /// Why it was not raced, or no further.
    pub problem: Option<String>,
    /// Races of things against themselves that were planned.
    pub planned: u64,
    /// Median time of what raced against itself, in nanoseconds.
    pub baseline_ns: Option<f64>,
    /// How races of things against themselves ended.
    pub calls: Tally,
    /// Those of them called faster or slower.
    pub false_calls: Share,
    /// Whether these are no more than were accepted.
    pub promise: Promise,
    /// What remains when nothing differs.
    pub noise: Option<NoiseFloor>,
    /// What a replicate takes.
    pub cost: Option<ReplicateCost>,
    /// What budgets find.
    pub detectable: Vec<Detectable>,
    /// Races of known differences, the smallest first.
    pub known: Vec<KnownDifference>,
    /// Intervals of these that hold the truth; `None` where that is not known
    /// exactly.
    pub coverage: Option<Share>,
    /// Whether these are as many as promised.
    pub coverage_promise: Option<Promise>,
}

/// How a calibration ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CalibrationEnd {
    /// Everything planned was raced.
    Finished,
    /// The budget was used up.
    Budget,
    /// A signal, by number.
    Interrupted(i32),
}

/// A machine, calibrated.
#[derive(Clone, Debug, PartialEq)]
pub struct Calibration {
    /// Version of deadheat that raced.
    pub tool_version: String,
    /// Seconds since 1970-01-01 UTC when it began, when known.
    pub started_at: Option<u64>,
    /// The machine.
    pub machine: Machine,
    /// The source of every random choice.
    pub seed: u64,
    /// Chance of a wrong verdict that was accepted.
    pub alpha: f64,
    /// Smallest relative change worth acting on.
    pub margin: f64,
    /// Replicates of a race at most.
    pub max_replicates: u32,
    /// Whether fewer races were planned than a full calibration has.
    pub quick: bool,
    /// Whether deadheat was built with debug assertions.
    pub debug_build: bool,
    /// What was found, kind by kind.
    pub kinds: Vec<CalibratedKind>,
    /// What it took.
    pub elapsed_seconds: f64,
    /// How it ended.
    pub ending: CalibrationEnd,
}

impl Calibration {
    /// Why it says nothing of this machine under this version of deadheat, in
    /// words; empty when it does. Another major version may race otherwise.
    pub fn outdated(&self, machine: &Machine, version: &str) -> Vec<&'static str> {
        let major = |version: &str| version.split('.').next().map(str::to_owned);
        let mut differences = self.machine.differences(machine);
        if major(&self.tool_version) != major(version) {
            differences.push("major version of deadheat");
        }
        differences
    }

    /// The part that a run of this kind quotes; `None` when nothing of the kind
    /// was raced.
    pub fn note(&self, kind: RaceKind) -> Option<CalibrationNote> {
        let found = self.kinds.iter().find(|one| one.kind == kind)?;
        (found.false_calls.of > 0).then(|| CalibrationNote {
            tool_version: self.tool_version.clone(),
            started_at: self.started_at,
            kind,
            false_calls: found.false_calls,
            alpha: self.alpha,
            noise_floor: found.noise.map(|noise| noise.estimate),
        })
    }
}

/// What a run says of a calibration of its machine.
#[derive(Clone, Debug, PartialEq)]
pub struct CalibrationNote {
    /// Version of deadheat that calibrated.
    pub tool_version: String,
    /// Seconds since 1970-01-01 UTC, when known.
    pub started_at: Option<u64>,
    /// What raced.
    pub kind: RaceKind,
    /// Races of things against themselves that were called faster or slower.
    pub false_calls: Share,
    /// The share of them that was accepted.
    pub alpha: f64,
    /// The 95th percentile of the sizes of their estimates.
    pub noise_floor: Option<LogRatio>,
}
