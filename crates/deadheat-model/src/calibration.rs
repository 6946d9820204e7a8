//! Calibrations: what a machine showed when things raced against themselves and against known
//! differences, with the shares that counts speak for and what was promised of them.

use crate::estimate::{Interval, LogRatio, Verdict};
use crate::plan::Plan;
use crate::workload::Workload;

/// One race of a calibration, judged.
#[derive(Clone, Debug, PartialEq)]
pub struct CalibrationRace {
    /// The kind of race.
    pub kind: RaceKind,
    /// By how much more work the candidate has, 0.01 for 1 %; 0 where a thing raced against itself.
    pub change: f64,
    /// The verdict.
    pub verdict: Verdict,
    /// The estimate.
    pub effect: LogRatio,
    /// Its interval.
    pub interval: Option<Interval>,
    /// Variance that one replicate adds to the estimate, in squared log-ratio units: between
    /// processes, and of blocks within.
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

/// The noise floor, which remains when nothing differs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NoiseFloor {
    /// The 95th percentile of the sizes of the estimates.
    pub estimate: LogRatio,
    /// The median half width of the intervals.
    pub half_width: Option<LogRatio>,
    /// Standard deviation between the processes of replicates; `None` where a block is a process of
    /// its own.
    pub process: Option<LogRatio>,
    /// Standard deviation of blocks within one.
    pub block: Option<LogRatio>,
}

/// The cost of a replicate.
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

/// The change that a budget finds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Detectable {
    /// The budget.
    pub budget_seconds: f64,
    /// With as many replicates at most as by default; `None` when the budget ends before the first
    /// look.
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

/// Findings about one kind of race.
#[derive(Clone, Debug, PartialEq)]
pub struct CalibratedKind {
    /// The kind.
    pub kind: RaceKind,
    /// The reason why it was not raced, or no further.
    pub problem: Option<String>,
    /// Races of things against themselves that were planned.
    pub planned: u64,
    /// Median time of what raced against itself, in nanoseconds.
    pub baseline_ns: Option<f64>,
    /// Ends of races of things against themselves.
    pub calls: Tally,
    /// Those of them called faster or slower.
    pub false_calls: Share,
    /// The promise that these are no more than were accepted.
    pub promise: Promise,
    /// The noise floor, which remains when nothing differs.
    pub noise: Option<NoiseFloor>,
    /// The cost of a replicate.
    pub cost: Option<ReplicateCost>,
    /// The changes that budgets find.
    pub detectable: Vec<Detectable>,
    /// Races of known differences, the smallest first.
    pub known: Vec<KnownDifference>,
    /// Intervals of these that hold the truth; `None` where that is not known exactly.
    pub coverage: Option<Share>,
    /// The promise that these are as many as promised.
    pub coverage_promise: Option<Promise>,
}

/// The end of a calibration.
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
    /// True if fewer races were planned than a full calibration has.
    pub quick: bool,
    /// True if deadheat was built with debug assertions.
    pub debug_build: bool,
    /// Findings, kind by kind.
    pub kinds: Vec<CalibratedKind>,
    /// Its cost.
    pub elapsed_seconds: f64,
    /// Its end.
    pub ending: CalibrationEnd,
}

impl Calibration {
    /// Returns the reason why it says nothing of this machine under this version of deadheat, in
    /// words; empty when it does. Another major version may race otherwise.
    pub fn outdated(&self, machine: &Machine, version: &str) -> Vec<&'static str> {
        let major = |version: &str| version.split('.').next().map(str::to_owned);
        let mut differences = self.machine.differences(machine);
        if major(&self.tool_version) != major(version) {
            differences.push("major version of deadheat");
        }
        differences
    }

    /// The part that a run of this kind quotes; `None` when nothing of the kind was raced.
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

/// The note of a run on a calibration of its machine.
#[derive(Clone, Debug, PartialEq)]
pub struct CalibrationNote {
    /// Version of deadheat that calibrated.
    pub tool_version: String,
    /// Seconds since 1970-01-01 UTC, when known.
    pub started_at: Option<u64>,
    /// The kind of race.
    pub kind: RaceKind,
    /// Races of things against themselves that were called faster or slower.
    pub false_calls: Share,
    /// The share of them that was accepted.
    pub alpha: f64,
    /// The 95th percentile of the sizes of their estimates.
    pub noise_floor: Option<LogRatio>,
}

named! {
    /// Kinds of races that have an error rate of their own.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub listed enum RaceKind: name(self) {
        /// Functions that share a worker process.
        Functions = "functions",
        /// Functions of two builds, each in a process of its own.
        Builds = "builds",
        /// Whole commands.
        Commands = "commands",
    }
}

impl RaceKind {
    /// The kind of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The kind of the races of a plan; `None` for recordings, and for what no calibration races:
    /// Google Benchmark executables, and quantiles.
    pub fn of(plan: &Plan) -> Option<Self> {
        if (0..plan.benchmarks.len()).any(|benchmark| plan.quantile(benchmark).is_some()) {
            return None;
        }
        let benchmark = plan.benchmarks.first()?;
        match benchmark.contenders.first()?.workload {
            Workload::Command(_) => Some(RaceKind::Commands),
            Workload::Function(_) => Some(RaceKind::Functions),
            Workload::Worker(_) => Some(match benchmark.processes_per_replicate() {
                Some(1) => RaceKind::Functions,
                _ => RaceKind::Builds,
            }),
            Workload::Harness(_) | Workload::Recording => None,
        }
    }

    /// Returns true if a known difference of work is one of times as well. Starting a command takes
    /// as long on both sides and makes the ratio smaller.
    pub fn is_exact(self) -> bool {
        self != RaceKind::Commands
    }
}

/// The facts that tell machines apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Machine {
    /// Operating system and architecture.
    pub system: String,
    /// Kernel release.
    pub kernel: Option<String>,
    /// Processor model.
    pub cpu: Option<String>,
    /// Logical cores deadheat may use.
    pub cores: Option<u32>,
    /// The system's name for this installation, made unrecognisable; `None` where it has no name.
    pub id: Option<String>,
}

impl Machine {
    /// The facts that differ here and there, in words; empty for one machine. An installation
    /// without a name is told apart by the other facts alone.
    pub fn differences(&self, other: &Machine) -> Vec<&'static str> {
        let named = self.id.is_some() && other.id.is_some();
        let facts = [
            ("system", self.system != other.system),
            ("kernel", self.kernel != other.kernel),
            ("processor", self.cpu != other.cpu),
            ("number of cores", self.cores != other.cores),
            ("installation", named && self.id != other.id),
        ];
        let differing = facts.into_iter().filter(|(_, differs)| *differs);
        differing.map(|(fact, _)| fact).collect()
    }
}

/// So many of so many, and which true shares that speaks for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Share {
    /// Their number.
    pub hits: u64,
    /// Of how many.
    pub of: u64,
    /// Lower exact 95 % bound; 0 of none.
    pub low: f64,
    /// Upper exact 95 % bound; 1 of none.
    pub high: f64,
}

named! {
    /// The state of a promise about a share.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub listed enum Promise: name(self) {
        /// Both bounds do.
        Kept = "kept",
        /// The promised share lies between the bounds: too few were raced to tell.
        Open = "open",
        /// Neither bound does.
        Broken = "broken",
    }
}

impl Promise {
    /// The one of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.name() == name)
    }
}

impl Share {
    /// The share seen; `None` of none.
    pub fn seen(&self) -> Option<f64> {
        (self.of > 0).then(|| self.hits as f64 / self.of as f64)
    }

    /// Returns true if the true share is at most this one.
    pub fn at_most(&self, promised: f64) -> Promise {
        match (self.low > promised, self.high <= promised) {
            (true, _) => Promise::Broken,
            (_, true) => Promise::Kept,
            _ => Promise::Open,
        }
    }

    /// Returns true if the true share is at least this one.
    pub fn at_least(&self, promised: f64) -> Promise {
        match (self.high < promised, self.low >= promised) {
            (true, _) => Promise::Broken,
            (_, true) => Promise::Kept,
            _ => Promise::Open,
        }
    }
}

/// Counts of how races ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Called faster.
    pub faster: u64,
    /// Called slower.
    pub slower: u64,
    /// Dead heats.
    pub equivalent: u64,
    /// Too close to call.
    pub inconclusive: u64,
}

impl Tally {
    /// One more.
    pub fn count(&mut self, verdict: Verdict) {
        *match verdict {
            Verdict::Faster => &mut self.faster,
            Verdict::Slower => &mut self.slower,
            Verdict::Equivalent => &mut self.equivalent,
            Verdict::Inconclusive => &mut self.inconclusive,
        } += 1;
    }

    /// Those called faster or slower.
    pub fn called(&self) -> u64 {
        self.faster + self.slower
    }

    /// All of them.
    pub fn races(&self) -> u64 {
        self.called() + self.equivalent + self.inconclusive
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back_to_kinds() {
        for kind in RaceKind::ALL {
            assert_eq!(RaceKind::from_name(kind.name()), Some(kind));
        }
        assert_eq!(RaceKind::from_name("horses"), None);
    }

    fn machine() -> Machine {
        Machine {
            system: "linux x86_64".to_owned(),
            kernel: Some("6.1".to_owned()),
            cpu: Some("EPYC".to_owned()),
            cores: Some(2),
            id: Some("a1".to_owned()),
        }
    }

    #[test]
    fn machines_differ_by_what_changes_their_noise() {
        assert!(machine().differences(&machine()).is_empty());
        let other = Machine {
            kernel: Some("6.2".to_owned()),
            cores: Some(1),
            id: Some("b2".to_owned()),
            ..machine()
        };
        assert_eq!(
            machine().differences(&other),
            ["kernel", "number of cores", "installation"]
        );
        let nameless = Machine {
            id: None,
            ..machine()
        };
        assert!(machine().differences(&nameless).is_empty());
    }

    #[test]
    fn a_share_keeps_its_promise_when_both_bounds_do() {
        let share = |low, high| Share {
            hits: 1,
            of: 10,
            low,
            high,
        };
        assert_eq!(share(0.0, 0.04).at_most(0.05), Promise::Kept);
        assert_eq!(share(0.0, 0.3).at_most(0.05), Promise::Open);
        assert_eq!(share(0.06, 0.3).at_most(0.05), Promise::Broken);
        assert_eq!(share(0.96, 1.0).at_least(0.95), Promise::Kept);
        assert_eq!(share(0.8, 1.0).at_least(0.95), Promise::Open);
        assert_eq!(share(0.5, 0.9).at_least(0.95), Promise::Broken);
        assert_eq!(Share::default().seen(), None);
    }

    #[test]
    fn names_lead_back_to_promises() {
        for promise in Promise::ALL {
            assert_eq!(Promise::from_name(promise.name()), Some(promise));
        }
        assert_eq!(Promise::from_name("vow"), None);
    }
}
