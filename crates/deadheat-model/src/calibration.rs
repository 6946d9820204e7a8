//! Calibrations: the results of races of identical contenders, and of contenders with a known
//! difference, on a machine, with confidence bounds of the error rates.

use crate::estimate::{Interval, LogRatio, Verdict};
use crate::plan::Plan;
use crate::workload::Workload;

/// The result of one race of a calibration.
#[derive(Clone, Debug, PartialEq)]
pub struct CalibrationRace {
    /// The kind of race.
    pub kind: RaceKind,
    /// Relative additional work of the candidate, 0.01 for 1%; 0 for identical contenders.
    pub change: f64,
    /// The verdict.
    pub verdict: Verdict,
    /// The estimated effect.
    pub effect: LogRatio,
    /// The confidence interval of the effect.
    pub interval: Option<Interval>,
    /// The variance between processes, and the variance between blocks of one process, in squared
    /// log-ratio units.
    pub variances: Option<(f64, f64)>,
    /// Blocks in a replicate.
    pub blocks_per_replicate: u32,
    /// Number of replicates in the race.
    pub replicates: u32,
    /// Seconds from the first block of the race to the last.
    pub seconds: f64,
    /// Median time of the baseline in nanoseconds.
    pub baseline_ns: f64,
}

/// The noise floor: the changes that races of identical contenders measure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NoiseFloor {
    /// The 95th percentile of the absolute estimated effects of identical contenders.
    pub estimate: LogRatio,
    /// The median half-width of the confidence intervals of identical contenders.
    pub half_width: Option<LogRatio>,
    /// Standard deviation between processes; `None` if every block is a separate process.
    pub process: Option<LogRatio>,
    /// Standard deviation between blocks of one process.
    pub block: Option<LogRatio>,
}

/// The cost of a replicate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReplicateCost {
    /// Mean seconds per replicate over all races, including the time between samples.
    pub seconds: f64,
    /// Median number of blocks per replicate over all races.
    pub blocks: u32,
}

/// An effect that is detected with 80% power within a number of replicates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Found {
    /// Number of replicates at the last look.
    pub replicates: u32,
    /// The detectable effect.
    pub effect: LogRatio,
}

/// The smallest change that a time budget can detect.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Detectable {
    /// The time budget in seconds.
    pub budget_seconds: f64,
    /// The detectable effect with at most the default number of replicates; `None` if the budget
    /// ends before the first look.
    pub at_defaults: Option<Found>,
    /// The detectable effect with as many replicates as the budget allows.
    pub at_most: Option<Found>,
}

/// The results of the races with one known difference of work.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KnownDifference {
    /// The relative difference of work, 0.01 for 1%.
    pub change: f64,
    /// Numbers of races by verdict.
    pub calls: Tally,
    /// The share of races whose interval is entirely on the correct side of zero.
    pub right: Share,
    /// Number of races whose interval is entirely on the wrong side of zero.
    pub wrong: u64,
    /// The share of races whose interval contains the true difference; `None` if the true
    /// difference in time is not known exactly.
    pub covered: Option<Share>,
    /// The median estimated effect of the races with this difference.
    pub estimate: Option<LogRatio>,
}

/// The results of a calibration for one kind of race.
#[derive(Clone, Debug, PartialEq)]
pub struct CalibratedKind {
    /// The kind of race.
    pub kind: RaceKind,
    /// The reason why the kind of race was not raced, or was stopped early; `None` if all planned
    /// races were run.
    pub problem: Option<String>,
    /// Planned number of races of identical contenders.
    pub planned: u64,
    /// Median time of the identical contenders, in nanoseconds.
    pub baseline_ns: Option<f64>,
    /// Races of identical contenders by verdict.
    pub calls: Tally,
    /// False positives: races of identical contenders called faster or slower.
    pub false_calls: Share,
    /// The state of the promise that the rate of false positives is at most α.
    pub promise: Promise,
    /// The noise floor: the changes that races of identical contenders measure.
    pub noise: Option<NoiseFloor>,
    /// The cost of a replicate.
    pub cost: Option<ReplicateCost>,
    /// The smallest changes that time budgets of several lengths can detect.
    pub detectable: Vec<Detectable>,
    /// Results of the races with known differences, the smallest difference first.
    pub known: Vec<KnownDifference>,
    /// The share of races with a known difference whose interval contains the true difference;
    /// `None` if the true difference in time is not known exactly.
    pub coverage: Option<Share>,
    /// The state of the promise that at least 1 − α of the intervals contain the true difference;
    /// `None` if the true difference is not known exactly.
    pub coverage_promise: Option<Promise>,
}

/// The end of a calibration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CalibrationEnd {
    /// All planned races were run.
    Finished,
    /// The budget was used up.
    Budget,
    /// A signal with this number stopped the calibration.
    Interrupted(i32),
}

/// The results of `deadheat calibrate` on a machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Calibration {
    /// Version of deadheat that ran the calibration.
    pub tool_version: String,
    /// Start of the calibration in seconds since 1970-01-01 UTC, if known.
    pub started_at: Option<u64>,
    /// The machine.
    pub machine: Machine,
    /// The seed of all random choices.
    pub seed: u64,
    /// Accepted probability of a wrong verdict.
    pub alpha: f64,
    /// Smallest relative change worth acting on.
    pub margin: f64,
    /// Largest number of replicates of a race.
    pub max_replicates: u32,
    /// True if fewer races were planned than in a full calibration.
    pub quick: bool,
    /// True if deadheat was built with debug assertions.
    pub debug_build: bool,
    /// Results for each kind of race.
    pub kinds: Vec<CalibratedKind>,
    /// Duration of the calibration in seconds.
    pub elapsed_seconds: f64,
    /// How the calibration ended.
    pub ending: CalibrationEnd,
}

impl Calibration {
    /// Returns the reasons why the calibration does not apply to this machine and this version of
    /// deadheat, in words; empty if it applies. Another major version is a reason, because it may
    /// race differently.
    pub fn outdated(&self, machine: &Machine, version: &str) -> Vec<&'static str> {
        let major = |version: &str| version.split('.').next().map(str::to_owned);
        let mut differences = self.machine.differences(machine);
        if major(&self.tool_version) != major(version) {
            differences.push("major version of deadheat");
        }
        differences
    }

    /// Returns the part of the calibration that a run of this kind records and reports; `None` if
    /// the calibration has no races of identical contenders of this kind.
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

/// The part of the machine's calibration that a run records and reports.
#[derive(Clone, Debug, PartialEq)]
pub struct CalibrationNote {
    /// Version of deadheat that ran the calibration.
    pub tool_version: String,
    /// Start of the calibration in seconds since 1970-01-01 UTC, if known.
    pub started_at: Option<u64>,
    /// The kind of race.
    pub kind: RaceKind,
    /// False positives: races of identical contenders called faster or slower.
    pub false_calls: Share,
    /// Accepted share of false positives.
    pub alpha: f64,
    /// The 95th percentile of the absolute estimated effects of identical contenders.
    pub noise_floor: Option<LogRatio>,
}

named! {
    /// A kind of race with a separately calibrated error rate.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub listed enum RaceKind: name(self) {
        /// Functions that share a worker process.
        Functions = "functions",
        /// Functions of two builds; each build has a separate process.
        Builds = "builds",
        /// Whole commands.
        Commands = "commands",
    }
}

impl RaceKind {
    /// Returns the kind with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Returns the kind of the races of a plan; `None` for recordings, harness executables and
    /// quantiles, which no calibration races.
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

    /// Returns true if a known difference in work is an equal difference in time. For commands it
    /// is not: starting the process takes the same time on both sides, which brings the ratio of
    /// the times closer to 1.
    pub fn is_exact(self) -> bool {
        self != RaceKind::Commands
    }
}

/// Facts that distinguish machines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Machine {
    /// Operating system and architecture.
    pub system: String,
    /// Kernel release.
    pub kernel: Option<String>,
    /// Processor model.
    pub cpu: Option<String>,
    /// Number of logical cores that deadheat may use.
    pub cores: Option<u32>,
    /// Hash of the system's machine id; `None` if the system has none.
    pub id: Option<String>,
}

impl Machine {
    /// Returns the facts that differ between two machines, in words; empty for the same machine.
    /// The ids are compared only if both machines have one.
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

/// A share of the races of a calibration, with exact confidence bounds of the true share.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Share {
    /// Number of races that meet the condition.
    pub hits: u64,
    /// Number of all races.
    pub of: u64,
    /// Lower exact 95% bound of the true share; 0 without races.
    pub low: f64,
    /// Upper exact 95% bound of the true share; 1 without races.
    pub high: f64,
}

named! {
    /// The state of a promise about a share, judged by its confidence bounds.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub listed enum Promise: name(self) {
        /// The promised limit holds for both confidence bounds of the share.
        Kept = "kept",
        /// The promised limit lies between the confidence bounds: there were too few races to tell.
        Open = "open",
        /// The promised limit is broken at both confidence bounds of the share.
        Broken = "broken",
    }
}

impl Promise {
    /// Returns the state with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.name() == name)
    }
}

impl Share {
    /// Returns the observed share; `None` without races.
    pub fn seen(&self) -> Option<f64> {
        (self.of > 0).then(|| self.hits as f64 / self.of as f64)
    }

    /// Judges the promise that the true share is at most `promised`.
    pub fn at_most(&self, promised: f64) -> Promise {
        match (self.low > promised, self.high <= promised) {
            (true, _) => Promise::Broken,
            (_, true) => Promise::Kept,
            _ => Promise::Open,
        }
    }

    /// Judges the promise that the true share is at least `promised`.
    pub fn at_least(&self, promised: f64) -> Promise {
        match (self.high < promised, self.low >= promised) {
            (true, _) => Promise::Broken,
            (_, true) => Promise::Kept,
            _ => Promise::Open,
        }
    }
}

/// Numbers of races by verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Number of races with the verdict faster.
    pub faster: u64,
    /// Number of races with the verdict slower.
    pub slower: u64,
    /// Number of dead heats.
    pub equivalent: u64,
    /// Number of races that were too close to call.
    pub inconclusive: u64,
}

impl Tally {
    /// Counts one race.
    pub fn count(&mut self, verdict: Verdict) {
        *match verdict {
            Verdict::Faster => &mut self.faster,
            Verdict::Slower => &mut self.slower,
            Verdict::Equivalent => &mut self.equivalent,
            Verdict::Inconclusive => &mut self.inconclusive,
        } += 1;
    }

    /// Returns the number of races called faster or slower.
    pub fn called(&self) -> u64 {
        self.faster + self.slower
    }

    /// Returns the number of all races.
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
