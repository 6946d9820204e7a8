//! The history of commits: races as an index keeps them, and the timelines that are made of these.
//!
//! ```text
//! run files → HistoryRun → index → Timeline[TimelineCommit, Step, Creep, Plateau] → History
//! ```

use deadheat::parts::model::{Better, Commit, Interval, LogRatio, Metric, Verdict};

/// A run of two commits, as the index of a history keeps it.
#[derive(Clone, Debug, PartialEq)]
pub struct HistoryRun {
    /// The SHA-256 of its first line: the run, however far it has gone on since.
    pub identity: String,
    /// The SHA-256 of all of its file.
    pub content: String,
    /// The place of the file, as it is shown.
    pub path: String,
    /// Seconds since 1970-01-01 UTC.
    pub started_at: Option<u64>,
    /// The commits of the baseline and of the candidate.
    pub commits: [Commit; 2],
    /// The machine it was raced on.
    pub machine: HistoryMachine,
    /// Version of deadheat that measured.
    pub tool_version: String,
    /// The command that runs it again; empty when it is not known.
    pub command: String,
    /// The effects it measured.
    pub races: Vec<HistoryRace>,
}

/// A machine that raced commits.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct HistoryMachine {
    /// Its short name; empty where the run does not tell.
    pub name: String,
    /// Its model of processor; empty where the run does not tell.
    pub cpu: String,
}

/// A workload whose levels are followed: the same name with other parameters, or by another metric,
/// is another series.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct HistorySeries {
    /// The benchmark.
    pub benchmark: String,
    /// Its parameter values.
    pub parameters: Vec<(String, String)>,
    /// The metric it was judged by.
    pub metric: Metric,
}

impl HistorySeries {
    /// The name, with the parameters where there are any.
    pub fn name(&self) -> String {
        let values = self.parameters.iter();
        let values = values.map(|(name, value)| format!("{name}={value}"));
        match values.collect::<Vec<_>>() {
            none if none.is_empty() => self.benchmark.clone(),
            values => format!("{} {}", self.benchmark, values.join(" ")),
        }
    }

    /// Returns true for a change for the worse.
    pub fn is_worse(&self, effect: LogRatio) -> bool {
        match self.metric.better() {
            Better::More => effect.0 < 0.0,
            Better::Less | Better::Unknown => effect.0 > 0.0,
        }
    }
}

/// An effect that a run measured.
#[derive(Clone, Debug, PartialEq)]
pub struct HistoryRace {
    /// The workload.
    pub series: HistorySeries,
    /// The number of the candidate among the contenders.
    pub candidate: usize,
    /// ln(candidate/baseline).
    pub effect: LogRatio,
    /// Its standard error.
    pub se: f64,
    /// Degrees of freedom of the error.
    pub df: f64,
    /// The replicates it rests on.
    pub replicates: usize,
    /// The verdict of the race by itself.
    pub verdict: Option<Verdict>,
    /// The names of the doubts about it.
    pub warnings: Vec<String>,
}

/// How the place of a commit in a series was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommitOrder {
    /// Git has it on the line of commits.
    OnLine,
    /// Git does not know it, as after a rebase: it was placed by its time.
    ByTime,
}

/// A commit of a timeline.
#[derive(Clone, Debug, PartialEq)]
pub struct TimelineCommit {
    /// The commit.
    pub commit: Commit,
    /// The reason for its place.
    pub order: CommitOrder,
    /// The number of commits between the previous commit here and this one, which were not raced.
    pub skipped: usize,
    /// The part of the timeline: commits of other parts are connected with it by no race.
    pub part: usize,
    /// Its level relative to the first commit of its part.
    pub level: LogRatio,
    /// The interval of the level; `None` for the first commit itself.
    pub interval: Option<Interval>,
    /// Races it took part in.
    pub races: usize,
    /// The machines that raced it, by their numbers in the [`History`].
    pub machines: Vec<usize>,
    /// The reason that a step here was accepted for.
    pub accepted: Option<String>,
}

/// A change of a timeline between two of its commits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimelineChange {
    /// The place of the last commit before it; the next one, where it is a step.
    pub from: usize,
    /// The place of the first commit after it.
    pub to: usize,
    /// The effect; of creep without the steps inside.
    pub effect: LogRatio,
    /// Its interval.
    pub interval: Interval,
    /// The p-value among all tests of its kind.
    pub p_value: f64,
    /// True for a change for the worse.
    pub is_worse: bool,
}

/// Commits that share a level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimelinePlateau {
    /// The index of its first commit.
    pub first: usize,
    /// The index of its last commit.
    pub last: usize,
    /// The level, relative to the first plateau that races connect with it.
    pub level: LogRatio,
}

/// The gaps of the loops of races, against their errors.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LoopClosure {
    /// Their sum, which has the distribution of χ² where errors are right.
    pub chi_squared: f64,
    /// Its degrees of freedom.
    pub degrees: usize,
    /// The probability of that much or more; `None` without a loop.
    pub p_value: Option<f64>,
    /// Machines whose errors were widened, each by its number and the factor.
    pub widened: Vec<(usize, f64)>,
}

/// A race of two commits on a page.
#[derive(Clone, Debug, PartialEq)]
pub struct TimelineRace {
    /// Places of baseline and candidate; `None` for a commit that the timeline does not show.
    pub places: [Option<usize>; 2],
    /// The machine, by its number.
    pub machine: usize,
    /// The effect.
    pub effect: LogRatio,
    /// Its standard error.
    pub se: f64,
    /// The file of the run.
    pub path: String,
}

/// The levels of one workload over commits.
#[derive(Clone, Debug, PartialEq)]
pub struct Timeline {
    /// The workload.
    pub series: HistorySeries,
    /// The commits that were raced, oldest first.
    pub commits: Vec<TimelineCommit>,
    /// The races that its levels rest on.
    pub races: Vec<TimelineRace>,
    /// Steps that are not accepted.
    pub steps: Vec<TimelineChange>,
    /// Windows that creep.
    pub creep: Vec<TimelineChange>,
    /// Stretches between which nothing is to be seen.
    pub plateaus: Vec<TimelinePlateau>,
    /// The check of the errors by loops of races.
    pub closure: LoopClosure,
    /// Neighbours that no race connects.
    pub unconnected: usize,
}

/// The timelines of some workloads over the same range of commits.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    /// Version of deadheat.
    pub tool_version: String,
    /// The chance of a false step, and that of false creep, over all timelines.
    pub alpha: f64,
    /// The confidence of the intervals.
    pub confidence: f64,
    /// Machines, by their numbers.
    pub machines: Vec<HistoryMachine>,
    /// The timelines, by the names of their benchmarks.
    pub timelines: Vec<Timeline>,
    /// Runs in the index.
    pub runs: u64,
    /// Commits in the index.
    pub commits: u64,
    /// Commits in the range that were raced, of any of the workloads.
    pub shown: usize,
    /// True where the range leaves out older commits of the index.
    pub older: bool,
    /// Commits of the range's time that git does not know.
    pub unknown: usize,
    /// Commits of the range's time that git knows on another line.
    pub off_line: usize,
    /// False where there is no git, and commits are ordered by their times.
    pub has_git: bool,
}

impl History {
    /// The name of a machine: that of its processor, and of itself where others have the same.
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

    /// The names of some machines.
    pub fn machines_named(&self, numbers: &[usize]) -> String {
        let names = numbers.iter().map(|number| self.machine(*number));
        names.collect::<Vec<_>>().join(", ")
    }
}
