//! The history of commits: races as an index stores them, and the timelines that are computed from
//! them.
//!
//! ```text
//! run files → HistoryRun → index → Timeline[TimelineCommit, Step, Creep, Plateau] → History
//! ```

use deadheat::parts::model::{Better, Commit, Interval, LogRatio, Metric, Verdict};

/// A run of two commits, as the index of a history stores it.
#[derive(Clone, Debug, PartialEq)]
pub struct HistoryRun {
    /// The SHA-256 of the first line of the run file. It stays the same if the run is continued.
    pub identity: String,
    /// The SHA-256 of the complete lines of the unpacked run file.
    pub content: String,
    /// The length of the complete lines in bytes.
    pub length: u64,
    /// The path of the run file, as it is shown.
    pub path: String,
    /// The start of the run, in seconds since 1970-01-01 UTC.
    pub started_at: Option<u64>,
    /// The commits of the baseline and of the candidate.
    pub commits: [Commit; 2],
    /// The machine that ran the race.
    pub machine: HistoryMachine,
    /// The version of deadheat that measured.
    pub tool_version: String,
    /// The command that repeats the run; empty if it is unknown.
    pub command: String,
    /// A hash of the options that decide what `deadheat history extend` races; empty for other
    /// races.
    pub selection: String,
    /// The number of benchmarks without a measured effect, for example because they failed.
    pub unmeasured: usize,
    /// The effects that the run measured.
    pub races: Vec<HistoryRace>,
}

/// A machine that raced commits.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct HistoryMachine {
    /// The short name of the machine; empty if the run does not record it.
    pub name: String,
    /// The model of the processor; empty if the run does not record it.
    pub cpu: String,
}

/// A benchmark with its parameters and its metric, whose levels a history follows. With other
/// parameters or another metric it is another series.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct HistorySeries {
    /// The name of the benchmark.
    pub benchmark: String,
    /// The parameter values of the benchmark.
    pub parameters: Vec<(String, String)>,
    /// The metric that the benchmark was judged by.
    pub metric: Metric,
}

impl HistorySeries {
    /// Returns the name, followed by the parameters if there are any.
    pub fn name(&self) -> String {
        let values = self.parameters.iter();
        let values = values.map(|(name, value)| format!("{name}={value}"));
        match values.collect::<Vec<_>>() {
            none if none.is_empty() => self.benchmark.clone(),
            values => format!("{} {}", self.benchmark, values.join(" ")),
        }
    }

    /// Returns true if an effect is a change for the worse.
    pub fn is_worse(&self, effect: LogRatio) -> bool {
        match self.metric.better() {
            Better::More => effect.0 < 0.0,
            Better::Less | Better::Unknown => effect.0 > 0.0,
        }
    }
}

/// An effect that a run measured, for one benchmark and one candidate.
#[derive(Clone, Debug, PartialEq)]
pub struct HistoryRace {
    /// The benchmark, parameters and metric that were measured.
    pub series: HistorySeries,
    /// The index of the candidate among the candidates of the benchmark.
    pub candidate: usize,
    /// The logarithm of the ratio candidate/baseline of the judged metric.
    pub effect: LogRatio,
    /// The standard error of the effect.
    pub se: f64,
    /// The degrees of freedom of the standard error.
    pub df: f64,
    /// The number of replicates that the effect is based on.
    pub replicates: usize,
    /// The verdict of the race alone, without other races of the history.
    pub verdict: Option<Verdict>,
    /// The codes of the warnings about the effect.
    pub warnings: Vec<String>,
}

/// How the position of a commit in a series was determined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommitOrder {
    /// The position was read from git's line of commits.
    OnLine,
    /// Git does not know the commit, for example after a rebase, so it was placed by its time.
    ByTime,
}

/// A commit in a timeline.
#[derive(Clone, Debug, PartialEq)]
pub struct TimelineCommit {
    /// The raced commit.
    pub commit: Commit,
    /// How the position of the commit was determined.
    pub order: CommitOrder,
    /// The number of commits between the previous commit of the same part and this one.
    pub skipped: usize,
    /// The number of the part of the timeline. No race connects commits of different parts.
    pub part: usize,
    /// The level of the commit, relative to the first commit of its part of the timeline.
    pub level: LogRatio,
    /// The confidence interval of the level; `None` for the first commit of a part.
    pub interval: Option<Interval>,
    /// The confidence interval of the change from the previous commit of the part; `None` for the
    /// first commit of a part.
    pub change: Option<Interval>,
    /// The number of races that the commit took part in.
    pub races: usize,
    /// The machines that raced the commit, as indexes into the machines of the [`History`].
    pub machines: Vec<usize>,
    /// The reason why a step at this commit was accepted, if it was.
    pub accepted: Option<String>,
}

/// A step or creep between two commits of a timeline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimelineChange {
    /// The index of the last commit before the change. For a step, `to` is the next index.
    pub from: usize,
    /// The index of the first commit after the change.
    pub to: usize,
    /// The size of the change. For creep, the steps inside the window are subtracted.
    pub effect: LogRatio,
    /// The confidence interval of the effect.
    pub interval: Interval,
    /// The p-value, adjusted for all tests of its kind.
    pub p_value: f64,
    /// True if the change is for the worse.
    pub is_worse: bool,
}

/// Neighbouring commits that share a level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimelinePlateau {
    /// The index of the plateau's first commit.
    pub first: usize,
    /// The index of the plateau's last commit.
    pub last: usize,
    /// The level of the plateau, relative to the first plateau that races connect with it.
    pub level: LogRatio,
}

/// A test whether the effects around loops of races add up to 0 within the standard errors.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LoopClosure {
    /// The sum over all races in loops, which follows χ² if the standard errors are right.
    pub chi_squared: f64,
    /// The degrees of freedom of `chi_squared`.
    pub degrees: usize,
    /// The probability of a `chi_squared` at least as large if the standard errors are right;
    /// `None` without a loop.
    pub p_value: Option<f64>,
    /// The machines whose standard errors were widened, each as its index and the factor.
    pub widened: Vec<(usize, f64)>,
}

/// A race of two commits, as a history shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct TimelineRace {
    /// The indexes of baseline and candidate; `None` for a commit that the timeline does not show.
    pub places: [Option<usize>; 2],
    /// The index of the machine that ran the race.
    pub machine: usize,
    /// The effect that the race measured.
    pub effect: LogRatio,
    /// The standard error of the effect.
    pub se: f64,
    /// The path of the run file.
    pub path: String,
}

/// The levels of one benchmark and metric over commits.
#[derive(Clone, Debug, PartialEq)]
pub struct Timeline {
    /// The benchmark, parameters and metric.
    pub series: HistorySeries,
    /// The commits that were raced, oldest first.
    pub commits: Vec<TimelineCommit>,
    /// The races from which the levels are computed.
    pub races: Vec<TimelineRace>,
    /// Steps that are not accepted.
    pub steps: Vec<TimelineChange>,
    /// Windows with creep.
    pub creep: Vec<TimelineChange>,
    /// Ranges of commits without a visible change.
    pub plateaus: Vec<TimelinePlateau>,
    /// The test whether loops of races close within the reported standard errors.
    pub closure: LoopClosure,
    /// The number of neighbouring pairs of commits that no races connect.
    pub unconnected: usize,
}

/// The timelines of some workloads over the same range of commits.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    /// The version of deadheat.
    pub tool_version: String,
    /// The probability of any false step over all timelines, and that of any false creep.
    pub alpha: f64,
    /// The confidence level of each single interval.
    pub confidence: f64,
    /// The machines, in the order of their indexes.
    pub machines: Vec<HistoryMachine>,
    /// The timelines, sorted by the names of their benchmarks.
    pub timelines: Vec<Timeline>,
    /// The number of runs in the index.
    pub runs: u64,
    /// The number of commits in the index.
    pub commits: u64,
    /// The number of commits in the range that were raced by any of the workloads.
    pub shown: usize,
    /// True if the index has commits older than the shown ones. Always false for a range that the
    /// user gave.
    pub older: bool,
    /// The number of commits from the period of the range that git does not know.
    pub unknown: usize,
    /// The number of commits from the period of the range that git has on another line.
    pub off_line: usize,
    /// False if git is missing, and commits are ordered by their times.
    pub has_git: bool,
    /// The newest commit of the range, raced or not, without time and subject; `None` without git.
    pub tip: Option<Commit>,
    /// The newest commit of the range that was raced by any of the workloads.
    pub newest: Option<Commit>,
}

impl History {
    /// Returns the name of a machine: its processor, and its own name if others have that
    /// processor.
    pub fn machine(&self, number: usize) -> String {
        let machine = &self.machines[number];
        let short = machine.name.get(..8).unwrap_or(&machine.name);
        let alike = self.machines.iter().filter(|one| one.cpu == machine.cpu);
        match (&*machine.cpu, short) {
            ("", "") => "an unknown machine".to_owned(),
            ("", short) => short.to_owned(),
            (cpu, "") => cpu.to_owned(),
            (cpu, _) if alike.count() == 1 => cpu.to_owned(),
            (cpu, short) => format!("{cpu} ({short})"),
        }
    }

    /// Returns the names of several machines.
    pub fn machines_named(&self, numbers: &[usize]) -> String {
        let names = numbers.iter().map(|number| self.machine(*number));
        names.collect::<Vec<_>>().join(", ")
    }
}
