//! A search for the commit that changed the time: the question, the events in order, the state
//! after each event, and the answer.
//!
//! Commits are numbered from 0 for GOOD to the last for BAD, so that any but GOOD may be the
//! culprit. Steps and estimates compare the newer commit with the older one.

use std::path::PathBuf;
use std::time::Duration;

use deadheat::parts::model::{Better, LeftOutReason, LogRatio, Metric, named};

/// The largest number of races of a search. The time of the analysis grows faster than the cube of
/// this number: 200 races take 3 s, and 400 races took 50 s.
pub const MOST_RACES: usize = 200;

/// The record of a search: its question and its events.
#[derive(Clone, Debug, PartialEq)]
pub struct BisectLog {
    /// The question: the range of commits, the metric, the margin and α.
    pub request: BisectRequest,
    /// The events, in order.
    pub events: Vec<BisectEvent>,
}

impl BisectLog {
    /// Returns the end of the search, unless it was continued after its end.
    pub fn end(&self) -> Option<&BisectEnd> {
        match self.events.last() {
            Some(BisectEvent::Ended(end)) => Some(end),
            _ => None,
        }
    }

    /// Returns the time of all builds and races, in seconds.
    pub fn seconds(&self) -> f64 {
        self.events.iter().map(BisectEvent::seconds).sum()
    }

    /// Returns the benchmark that was chosen in the race of GOOD and BAD; `None` if this race had a
    /// single benchmark, or has not ended.
    pub fn chosen(&self) -> Option<&BenchmarkChosen> {
        self.events.iter().find_map(|event| match event {
            BisectEvent::Chosen(chosen) => Some(chosen),
            _ => None,
        })
    }

    /// Returns the metric that the races compare: that of the chosen benchmark, which may have one of
    /// its own, such as the CPU time of a server.
    pub fn judged(&self) -> &Metric {
        let own = self.events.iter().find_map(|event| match event {
            BisectEvent::Raced(raced) => raced.judged.as_ref(),
            _ => None,
        });
        own.unwrap_or(&self.request.judged)
    }

    /// Returns the benchmarks without a result in the race of GOOD and BAD.
    pub fn unmeasured(&self) -> &[UnmeasuredBenchmark] {
        match (self.chosen(), self.end().map(|end| &end.answer)) {
            (Some(chosen), _) => &chosen.unmeasured,
            (None, Some(BisectAnswer::Open(open))) => &open.unmeasured,
            _ => &[],
        }
    }
}

/// The question of a search, which stays the same if the search is continued.
#[derive(Clone, Debug, PartialEq)]
pub struct BisectRequest {
    /// The version of deadheat that began the search.
    pub tool_version: String,
    /// Unix time of the beginning, in seconds.
    pub started_at: Option<u64>,
    /// The command line that began the search.
    pub command: Vec<String>,
    /// The older end of the range (GOOD), as the user named it.
    pub good: String,
    /// The newer end of the range (BAD), as the user named it.
    pub bad: String,
    /// All commits from GOOD to BAD, the oldest first.
    pub commits: Vec<BisectCommit>,
    /// The number of commits that came by merges and are not searched.
    pub aside: usize,
    /// The metric that is compared, unless the chosen benchmark has its own.
    pub judged: Metric,
    /// The smallest step worth finding, as a log-ratio.
    pub margin: LogRatio,
    /// The accepted probability of a wrong answer.
    pub alpha: f64,
    /// The prior probabilities of the commits, before any race.
    pub prior: BisectPrior,
}

impl BisectRequest {
    /// Returns the number of the last commit of the range (BAD).
    pub fn last(&self) -> usize {
        self.commits.len().saturating_sub(1)
    }

    /// Returns the first eight characters of the id of a commit; empty if the range does not have
    /// this commit.
    pub fn short(&self, commit: usize) -> &str {
        let id = self.commits.get(commit).map_or("", |commit| &*commit.id);
        id.get(..8).unwrap_or(id)
    }
}

/// Returns true if a metric became worse by this effect.
pub fn is_worse(judged: &Metric, effect: LogRatio) -> bool {
    (effect.0 > 0.0) == (judged.better() == Better::Less)
}

/// A commit of the range.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BisectCommit {
    /// The full object id.
    pub id: String,
    /// Unix time of the commit, in seconds.
    pub committed_at: Option<u64>,
    /// The first line of the commit message.
    pub subject: String,
    /// The number of lines that the commit changes; `None` unless the prior depends on it.
    pub lines: Option<u64>,
}

named! {
    /// How likely each commit is before any race.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub listed enum BisectPrior: name(self) {
        /// All commits have the same prior probability.
        #[default]
        Uniform = "uniform",
        /// The prior probability is in proportion to one plus the number of lines that the commit
        /// changes.
        Diff = "diff",
    }
}

/// An event of a search.
#[derive(Clone, Debug, PartialEq)]
pub enum BisectEvent {
    /// A commit was built, or its build was found in the store.
    Built(CommitBuilt),
    /// A commit does not build, or cannot be raced.
    Unbuildable(CommitUnbuildable),
    /// A race began.
    Begun(CommitsBegun),
    /// One of several benchmarks was chosen for the search.
    Chosen(BenchmarkChosen),
    /// A race ended.
    Raced(CommitsRaced),
    /// The search was continued, at this Unix time in seconds.
    Resumed(Option<u64>),
    /// The search ended.
    Ended(BisectEnd),
}

impl BisectEvent {
    /// Returns the time that the event took, in seconds.
    pub fn seconds(&self) -> f64 {
        match self {
            Self::Built(built) => built.seconds,
            Self::Unbuildable(failed) => failed.seconds,
            Self::Raced(raced) => raced.seconds,
            Self::Begun(_) | Self::Chosen(_) | Self::Resumed(_) | Self::Ended(_) => 0.0,
        }
    }
}

/// A commit that builds.
#[derive(Clone, Debug, PartialEq)]
pub struct CommitBuilt {
    /// The number of the commit.
    pub commit: usize,
    /// True if the store already had the build.
    pub was_kept: bool,
    /// The time of the build, in seconds.
    pub seconds: f64,
    /// A digest of all executables that are raced; `None` if the race also depends on other files.
    pub digest: Option<String>,
}

/// A commit that cannot be raced.
#[derive(Clone, Debug, PartialEq)]
pub struct CommitUnbuildable {
    /// The number of the commit.
    pub commit: usize,
    /// The reason why it cannot be raced, as text.
    pub reason: String,
    /// The time of the attempt, in seconds.
    pub seconds: f64,
}

/// The beginning of a race of two commits.
#[derive(Clone, Debug, PartialEq)]
pub struct CommitsBegun {
    /// The number of the older commit.
    pub from: usize,
    /// The number of the newer commit.
    pub to: usize,
    /// The path of the run file.
    pub file: PathBuf,
}

/// The benchmark that was chosen after the race of GOOD and BAD.
#[derive(Clone, Debug, PartialEq)]
pub struct BenchmarkChosen {
    /// The name of the benchmark.
    pub benchmark: String,
    /// The other benchmarks that are faster or slower in the race of GOOD and BAD.
    pub called: Vec<String>,
    /// The changes of `called`, in the same order; empty in records of earlier versions.
    pub changes: Vec<LogRatio>,
    /// The metrics of `called`, in the same order; empty if all are that of the question.
    pub metrics: Vec<Metric>,
    /// True if the benchmark has the largest slowdown, and not just the largest change.
    pub is_slowdown: bool,
    /// The number of benchmarks with a result; 0 in records of earlier versions.
    pub measured: usize,
    /// The benchmarks without a result.
    pub unmeasured: Vec<UnmeasuredBenchmark>,
}

impl BenchmarkChosen {
    /// Returns the metrics of `called`, in the same order. `asked` is the metric of the question.
    pub(crate) fn metrics_of_called<'a>(
        &'a self,
        asked: &'a Metric,
    ) -> impl Iterator<Item = &'a Metric> {
        let own = self.metrics.iter().chain(std::iter::repeat(asked));
        own.take(self.called.len())
    }
}

/// A benchmark without a result in the race of GOOD and BAD.
#[derive(Clone, Debug, PartialEq)]
pub struct UnmeasuredBenchmark {
    /// The name of the benchmark.
    pub benchmark: String,
    /// The reason.
    pub reason: UnmeasuredReason,
}

/// The reason why a benchmark has no result.
#[derive(Clone, Debug, PartialEq)]
pub enum UnmeasuredReason {
    /// GOOD and BAD cannot race this benchmark against each other.
    LeftOut(LeftOutReason),
    /// The benchmark failed, with this message.
    Failed(String),
    /// The race ended with too few replicates of the benchmark.
    TooFewReplicates,
}

/// The end of a race of two commits.
#[derive(Clone, Debug, PartialEq)]
pub struct CommitsRaced {
    /// The number of the older commit.
    pub from: usize,
    /// The number of the newer commit.
    pub to: usize,
    /// The name of the benchmark.
    pub benchmark: String,
    /// The metric of the benchmark; `None` if it is that of the question.
    pub judged: Option<Metric>,
    /// The estimated change from the older commit to the newer one.
    pub effect: LogRatio,
    /// The standard error of `effect`, on the log scale.
    pub se: f64,
    /// The degrees of freedom of `se`.
    pub df: f64,
    /// The number of replicates of the race.
    pub replicates: usize,
    /// The time of the race, in seconds.
    pub seconds: f64,
    /// The path of the run file.
    pub file: PathBuf,
    /// True if the race was cut off before its end.
    pub was_cut: bool,
    /// True if the result holds for the source: every replicate had another code layout, or
    /// instructions were counted.
    pub is_placed: bool,
}

/// The end of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct BisectEnd {
    /// The answer.
    pub answer: BisectAnswer,
    /// The size of the step, if there is one.
    pub step: Option<StepEstimate>,
    /// The part of the range to which the search was narrowed, because no single step explains all
    /// races; `None` if it was not narrowed.
    pub within: Option<(usize, usize)>,
}

/// The answer of a search.
#[derive(Clone, Debug, PartialEq)]
pub enum BisectAnswer {
    /// The time changed at this commit, or at one of the commits of this group.
    Commits(CommitShare),
    /// No commit changes the time by as much as the margin, with this probability.
    NoStep(f64),
    /// No single step explains the races, not even between the neighbours that differ most: the
    /// time changed in several steps, or gradually.
    NoSingleStep(SeveralSteps),
    /// The search did not find an answer.
    Open(OpenSearch),
}

/// A change in more than one step.
#[derive(Clone, Debug, PartialEq)]
pub struct SeveralSteps {
    /// The number of the older of the two raced commits between which the time changes most.
    pub from: usize,
    /// The number of the newer of the two raced commits between which the time changes most.
    pub to: usize,
    /// The probability that a single step does not explain the races.
    pub probability: f64,
}

/// A search that was not finished.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenSearch {
    /// The reason why it was not finished.
    pub reason: OpenReason,
    /// The smallest set of commits that contains the culprit with probability 1 − α if there is a
    /// step, the likeliest first.
    pub commits: Vec<CommitShare>,
    /// The probability that no step is as large as half the margin.
    pub no_step: f64,
    /// The benchmarks without a result in the first race, if the time budget ended this race too
    /// early.
    pub unmeasured: Vec<UnmeasuredBenchmark>,
}

named! {
    /// The reason why a search was not finished.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub listed enum OpenReason: name(self) {
        /// The time budget was used up.
        Budget = "budget",
        /// The limit of races was reached.
        Races = "races",
        /// No further race would add information.
        Exhausted = "exhausted",
    }
}

/// Neighbouring commits that no race can distinguish, and their probability.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CommitShare {
    /// The number of the first commit.
    pub first: usize,
    /// The number of the last commit, the only one that builds.
    pub last: usize,
    /// The probability that the culprit is in this group.
    pub probability: f64,
}

/// The size of a step, or the change in a race, with its 95% interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepEstimate {
    /// The estimated change, as a log-ratio.
    pub effect: LogRatio,
    /// The lower end of the interval.
    pub low: LogRatio,
    /// The upper end of the interval.
    pub high: LogRatio,
}

/// The state of a search after its events so far.
#[derive(Clone, Debug, PartialEq)]
pub struct BisectStanding {
    /// The smallest set of commits that contains the culprit with probability 1 − α if there is a
    /// step, the likeliest first.
    pub commits: Vec<CommitShare>,
    /// The range that contains all of `commits`: the number of the commit before the earliest, and
    /// that of the latest.
    pub between: (usize, usize),
    /// The probability that the step is at one of `commits`.
    pub held: f64,
    /// The probability that no step is as large as half the margin.
    pub no_step: f64,
    /// The probability that the times changed, but not in one step.
    pub several: f64,
    /// The size of the step, if there is one.
    pub step: Option<StepEstimate>,
    /// The change in the race that just ended, with the 95% interval of this race alone; `None`
    /// after other events.
    pub race: Option<StepEstimate>,
    /// The expected number of races until the answer.
    pub races_left: u32,
    /// The expected time of the remaining races and their builds, in seconds.
    pub seconds_left: f64,
}

/// A search with all data for its answer and its story.
#[derive(Clone, Debug, PartialEq)]
pub struct Bisection {
    /// The recorded question and events of the search.
    pub log: BisectLog,
    /// The state after each event; `None` for events other than races.
    pub standings: Vec<Option<BisectStanding>>,
    /// The commits that the answer names, with their details from git.
    pub details: Vec<CommitDetails>,
    /// Commands to run next, each after a description of what it does.
    pub commands: Vec<(String, String)>,
}

impl Bisection {
    /// Returns the races that ended.
    pub fn races(&self) -> impl Iterator<Item = &CommitsRaced> {
        self.log.events.iter().filter_map(|event| match event {
            BisectEvent::Raced(raced) => Some(raced),
            _ => None,
        })
    }

    /// Returns the commits that cannot be raced.
    pub fn unbuildable(&self) -> impl Iterator<Item = &CommitUnbuildable> {
        self.log.events.iter().filter_map(|event| match event {
            BisectEvent::Unbuildable(failed) => Some(failed),
            _ => None,
        })
    }

    /// Returns neighbouring built commits with identical executables.
    pub fn alike(&self) -> Vec<(usize, usize)> {
        same_builds(&self.log.events)
    }
}

/// Returns neighbouring built commits with identical executables. No commit after the older one, up
/// to and including the newer one, can have changed the time.
pub fn same_builds(events: &[BisectEvent]) -> Vec<(usize, usize)> {
    let built = events.iter().filter_map(|event| match event {
        BisectEvent::Built(built) => Some((built.commit, built.digest.as_deref()?)),
        _ => None,
    });
    let mut built: Vec<(usize, &str)> = built.collect();
    built.sort_unstable();
    built.dedup_by_key(|(commit, _)| *commit);
    let alike = built.windows(2).filter(|pair| pair[0].1 == pair[1].1);
    alike.map(|pair| (pair[0].0, pair[1].0)).collect()
}

/// The details of a commit from git.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommitDetails {
    /// The number of the commit.
    pub commit: usize,
    /// The name of the author.
    pub author: String,
    /// The files that the commit changes, each with the numbers of lines added and removed; `None`
    /// for binary files.
    pub files: Vec<(String, Option<(u64, u64)>)>,
}

/// The options of a search that may change when it is continued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BisectLimits {
    /// The time for builds and races of this process.
    pub budget: Option<Duration>,
    /// The largest number of races of the whole search.
    pub races: u32,
    /// True if a slowdown fails the command. If any benchmark is slower, the search is then about
    /// the one with the largest slowdown.
    pub fails_on_slower: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_with_the_same_digest_are_the_same_build() {
        let built = |commit, digest: Option<&str>| {
            BisectEvent::Built(CommitBuilt {
                commit,
                was_kept: false,
                seconds: 1.0,
                digest: digest.map(str::to_owned),
            })
        };
        let events = [
            built(0, Some("a")),
            built(9, Some("b")),
            built(5, Some("b")),
            built(3, Some("a")),
            built(5, Some("b")),
            built(7, None),
        ];
        assert_eq!(same_builds(&events), [(0, 3), (5, 9)]);
    }
}
