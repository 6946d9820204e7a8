//! The answer: one comparison per benchmark and candidate.

use crate::benchmark::{Throughput, TurnsReason};
use crate::calibration::CalibrationNote;
use crate::estimate::{BlockDiagnostics, Control, Estimate, Interval, LogRatio, Scope, Verdict};
use crate::figures::Figures;
use crate::metric::Metric;
use crate::observed::ObservedProcess;
use crate::plots::Plots;
use crate::race_settings::Design;
use crate::results::ResultSide;
use crate::rules::{GateHit, Gates};
use crate::run::{EndReason, LeftOut};
use crate::shard::Conditions;
use crate::surroundings::Surroundings;
use crate::warning::Warning;

/// One side of a comparison, summarised over all its samples. Values are per iteration, in the unit
/// of the metric.
#[derive(Clone, Debug, PartialEq)]
pub struct Side {
    /// The contender's name.
    pub name: String,
    /// The typical value: the robust location of the baseline in logarithms, and of a candidate
    /// that times 1 + the change, so that the two agree with the estimate. `None` where zeros
    /// forbid logarithms.
    pub typical: Option<f64>,
    /// Median.
    pub median: f64,
    /// Arithmetic mean.
    pub mean: f64,
    /// Smallest.
    pub min: f64,
    /// Largest.
    pub max: f64,
    /// Standard deviation; `None` for a single sample.
    pub std_dev: Option<f64>,
    /// Number of samples.
    pub samples: usize,
}

/// One metric of one comparison, on the same pairs as the judged one. It informs; it decides
/// nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricComparison {
    /// The metric.
    pub metric: Metric,
    /// The baseline.
    pub baseline: Side,
    /// The candidate; `None` for a contender alone.
    pub candidate: Option<Side>,
    /// The effect; `None` when zeros forbid ratios.
    pub estimate: Option<Estimate>,
    /// The verdict if this metric were the judged one.
    pub verdict: Option<Verdict>,
}

/// One candidate against its baseline.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The benchmark's name.
    pub benchmark: String,
    /// Parameter values filled into its commands.
    pub parameters: Vec<(String, String)>,
    /// Its label beside its name, where a file told one.
    pub label: Option<String>,
    /// Threads it ran on, where a file told.
    pub threads: Option<u32>,
    /// The work that one iteration gets done.
    pub throughput: Option<Throughput>,
    /// The metric judged.
    pub metric: Metric,
    /// The quantile of single iterations that the verdict, the estimates and what is typical speak
    /// of; `None` for their centre.
    pub quantile: Option<f64>,
    /// Smallest relative change of this benchmark worth acting on.
    pub margin: f64,
    /// Chance of a wrong verdict on it that was accepted.
    pub alpha: f64,
    /// The baseline.
    pub baseline: Side,
    /// The candidate; `None` when the contender ran alone.
    pub candidate: Option<Side>,
    /// The verdict; `None` where only an estimate is allowed.
    pub verdict: Option<Verdict>,
    /// True if the interval leaves out zero. A dead heat may still have a direction.
    pub excludes_zero: bool,
    /// True if the verdict is of the weaker kind.
    pub provisional: bool,
    /// The scope of the verdict.
    pub scope: Scope,
    /// True if the two are builds that were matched in every replicate: what they share lay at the
    /// same places in both.
    pub matched: bool,
    /// What was observed of the processes of the baseline and of the candidate in every judged
    /// replicate; empty if nothing was observed.
    pub processes: Vec<ObservedProcess>,
    /// The effect judged; `None` when none could be formed.
    pub estimate: Option<Estimate>,
    /// The p-value, paid for every look, every candidate and the suite.
    pub p_adjusted: Option<f64>,
    /// The p-value, paid for the looks by their levels and for nothing else: at most α where the
    /// interval of the race by itself leaves out zero.
    pub p_looks: Option<f64>,
    /// True if a change holds at the level at which all comparisons of the run keep α together, or
    /// if a second race confirmed it.
    pub holds_in_suite: bool,
    /// The second race, where the first broke a rule and was asked to be confirmed.
    pub confirmation: Option<Confirmation>,
    /// The sign-flip test over replicates, which assumes only symmetry.
    pub p_sign_flip: Option<f64>,
    /// The effect that this design finds with 80 % power.
    pub minimum_detectable_effect: Option<LogRatio>,
    /// The effect as the user's own link placed the code, beside that of neutral links.
    pub own_link: Option<Estimate>,
    /// The reason why launches took turns, if trials were made to run them side by side.
    pub turns_because: Option<TurnsReason>,
    /// Set if the launches of a block ran side by side.
    pub side_by_side: Option<RacedSideBySide>,
    /// The baseline against a second copy of itself in the same blocks.
    pub control: Option<Control>,
    /// The hosts of a run merged of several that each raced it; `None` for a run of one host.
    pub hosts: Option<AcrossHosts>,
    /// The spreads that the block effects vary by.
    pub spreads: Option<Spreads>,
    /// The time spent waiting for a core; `None` where it was not recorded, or another metric than
    /// wall time is judged.
    pub waiting: Option<WaitingShare>,
    /// Number of further replicates that would settle an open verdict, if the estimate stays where
    /// it is.
    pub replicates_to_settle: Option<usize>,
    /// The seconds these would take, at the pace of the run; `None` for a recording.
    pub seconds_to_settle: Option<f64>,
    /// Blocks left out: disturbed, or cut short by the harness.
    pub dropped_blocks: usize,
    /// The effect had those been kept; `None` where none was left out.
    pub effect_with_dropped: Option<LogRatio>,
    /// Order effects; `None` without ABBA blocks.
    pub diagnostics: Option<BlockDiagnostics>,
    /// Secondary figures of the judged metric: they inform, they never decide.
    pub figures: Option<Box<Figures>>,
    /// The plots; `None` where nobody draws.
    pub plots: Option<Box<Plots>>,
    /// Every metric recorded, the judged one included.
    pub metrics: Vec<MetricComparison>,
    /// The rule of a gate that it breaks, if there is one.
    pub gate: Option<GateHit>,
    /// True if a gate has rules for it and could not judge it: it has no verdict.
    pub is_unjudged: bool,
    /// Doubts and advice.
    pub warnings: Vec<Warning>,
}

/// The time that the contenders of a comparison spent waiting for a core.
#[derive(Clone, Debug, PartialEq)]
pub struct WaitingShare {
    /// Its share of the baseline's wall time.
    pub baseline: f64,
    /// Its share of the candidate's; `None` when the contender ran alone.
    pub candidate: Option<f64>,
    /// True if it was taken out of every sample.
    pub taken_out: bool,
    /// The estimate with it kept, where it was taken out.
    pub kept: Option<Estimate>,
    /// The verdict of that estimate.
    pub verdict_kept: Option<Verdict>,
}

/// What is known of a race side by side beyond its estimate.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RacedSideBySide {
    /// The effect on the same metric in turns; `None` where it was not raced in turns, too.
    pub in_turns: Option<Estimate>,
    /// Share of its time that the longer of the two ran alone, after the other one had ended.
    pub alone: f64,
}

impl Comparison {
    /// The chance that the intervals of a race hold the truth, at whichever look it ended: what
    /// people are told.
    pub fn coverage(&self) -> f64 {
        1.0 - self.alpha
    }

    /// True if time spent waiting for a core was taken out, and keeping it changes the verdict or
    /// moves the estimate by more than the margin.
    pub fn is_moved_by_waiting(&self) -> bool {
        let Some(waiting) = self.waiting.as_ref().filter(|one| one.taken_out) else {
            return false;
        };
        let verdicts = self.verdict.zip(waiting.verdict_kept);
        let effects = self.estimate.as_ref().zip(waiting.kept.as_ref());
        verdicts.is_some_and(|(without, with)| without != with)
            || effects.is_some_and(|(without, with)| {
                (without.effect.0 - with.effect.0).abs() > self.margin.ln_1p()
            })
    }

    /// True for another candidate of the same benchmark; with other parameter values it is another
    /// benchmark.
    pub fn is_of_one_benchmark_with(&self, other: &Comparison) -> bool {
        self.benchmark == other.benchmark && self.parameters == other.parameters
    }
}

/// A comparison over several hosts, which are the observations that its estimate is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct AcrossHosts {
    /// True where the verdict speaks of hosts like these; of fewer than six it speaks of these
    /// alone.
    pub like_these: bool,
    /// Where the effect on the next host lies, where hosts like these are spoken of.
    pub next_host: Option<Interval>,
    /// Cochran's Q of the hosts' effects; `None` where one of them shows no error.
    pub q: Option<f64>,
    /// The share of Q beyond what the errors of measurement give.
    pub i_squared: Option<f64>,
    /// The p-value of equal effects on all of these hosts, by Welch's test.
    pub p_differ: Option<f64>,
    /// The standard deviation of the true effects from host to host.
    pub host_sd: Option<LogRatio>,
    /// Number of further hosts that would settle an open verdict, if the estimate stays where it
    /// is.
    pub hosts_to_settle: Option<usize>,
    /// The models of processors that several hosts have, where there are several.
    pub kinds: Vec<HostKind>,
    /// The hosts that have an effect, in the order of their parts.
    pub hosts: Vec<HostRow>,
    /// The numbers of the parts that the run lacks.
    pub missing: Vec<u32>,
}

impl AcrossHosts {
    /// The hosts that the estimate rests on.
    pub fn kept(&self) -> impl Iterator<Item = &HostRow> {
        self.hosts.iter().filter(|host| !host.left_out)
    }

    /// The hosts whose control is told apart. Where too many of them are, none is left out.
    pub fn told_apart(&self) -> impl Iterator<Item = &HostRow> {
        let is_told = |host: &&HostRow| host.control.is_some_and(|control| control.separated);
        self.hosts.iter().filter(is_told)
    }
}

/// A host of a comparison over several.
#[derive(Clone, Debug, PartialEq)]
pub struct HostRow {
    /// The numbers of the parts that it raced.
    pub parts: Vec<u32>,
    /// Its model of processor.
    pub cpu: Option<String>,
    /// The conditions that it measured under.
    pub conditions: Conditions,
    /// The effect it showed by itself.
    pub estimate: Estimate,
    /// The baseline against its second copy on this host, at the level that all hosts share;
    /// `None` without a control.
    pub control: Option<Control>,
    /// True if the estimate over hosts does without it, because its control is told apart.
    pub left_out: bool,
}

/// The hosts of one model of processor.
#[derive(Clone, Debug, PartialEq)]
pub struct HostKind {
    /// The model.
    pub cpu: String,
    /// The number of hosts.
    pub hosts: usize,
    /// The mean of their effects.
    pub effect: LogRatio,
    /// Its interval, at the level at which those of all models hold together.
    pub interval: Option<Interval>,
}

/// The second race of a comparison that broke a rule: a race of its own plan, seed, processes and
/// placements.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Confirmation {
    /// Its verdict, at its own level.
    pub verdict: Option<Verdict>,
    /// The effect it found.
    pub estimate: Option<Estimate>,
    /// Chance of a wrong verdict that it accepted.
    pub alpha: f64,
    /// True if it breaks the rule as the first race did, and in the same direction.
    pub agrees: bool,
}

/// The spreads of a block's effect: standard deviations of its parts, in log-ratio units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spreads {
    /// From one neutral link to the next; `None` when placement was not drawn, or not told apart
    /// from the process.
    pub placement: Option<f64>,
    /// From one process to the next; `None` when it was not told apart from the placement, or every
    /// block is a process of its own.
    pub process: Option<f64>,
    /// From block to block within a process.
    pub block: f64,
}

/// The end of the run behind an analysis.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Ending {
    /// As recorded.
    Recorded(EndReason),
    /// The record stops without saying why: deadheat was killed.
    Cut,
    /// A recording has no end of its own.
    #[default]
    Recording,
}

/// A benchmark without an answer, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedBenchmark {
    /// The benchmark's name.
    pub benchmark: String,
    /// Parameter values of it.
    pub parameters: Vec<(String, String)>,
    /// The failure.
    pub message: String,
}

/// The purpose of the processes that were started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Processes {
    /// Each was one launch of a command, timed from its start to its end; or there were none.
    #[default]
    Launches,
    /// Workers of the program that raced, in which functions were called.
    Workers,
    /// Workers of programs that somebody else built.
    ProgramWorkers,
    /// Launches of Google Benchmark executables.
    HarnessLaunches,
}

/// A run, analysed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Analysis {
    /// Version of deadheat that analysed.
    pub tool_version: String,
    /// The seed of the run; `None` for a recording.
    pub seed: Option<u64>,
    /// The settings by which it was raced, or a recording is judged.
    pub design: Design,
    /// One entry per benchmark and candidate.
    pub comparisons: Vec<Comparison>,
    /// Benchmarks that broke down. What was measured of them before is not judged.
    pub failures: Vec<FailedBenchmark>,
    /// Benchmarks that were not raced, and why.
    pub left_out: Vec<LeftOut>,
    /// The change over all benchmarks, per candidate; empty where fewer than two were compared.
    pub overall: Vec<Overall>,
    /// Doubts about the recordings as a whole.
    pub warnings: Vec<Warning>,
    /// Statements of the gates beside the comparisons.
    pub gates: Gates,
    /// The way of each side to be built, the baseline first, where these are two; else empty.
    pub builds: Vec<String>,
    /// What the sides have besides the code under test.
    pub surroundings: Surroundings,
    /// The files each side was read from; empty where deadheat measured.
    pub sides: Vec<ResultSide>,
    /// The purpose of the processes counted in `launches`.
    pub processes: Processes,
    /// True if the contenders of each benchmark are builds of the same work, so that their names are
    /// those of the builds and not of what ran.
    pub of_builds: bool,
    /// Processes launched, discarded ones included.
    pub launches: u64,
    /// Seconds from the first launch to the end of the last block.
    pub elapsed_seconds: f64,
    /// The end of the run.
    pub ending: Ending,
    /// The end of the second race of what broke a rule; `None` where there was none.
    pub second_race: Option<Ending>,
    /// The calibration of races of this kind on the machine when the run began.
    pub calibration: Option<CalibrationNote>,
}

/// The change over all benchmarks that both sides have: the geometric mean of the ratios of cost,
/// so that below one is better whatever was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Overall {
    /// The candidate's name.
    pub candidate: String,
    /// Benchmarks in it.
    pub benchmarks: usize,
    /// Their mean effect.
    pub estimate: Estimate,
    /// Benchmarks that the interval speaks of.
    pub population: Population,
}

/// The benchmarks that an interval over all benchmarks speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Population {
    /// These benchmarks alone: the error is that of their measurements.
    These,
    /// Benchmarks like these, of which these are taken for a random sample: the error is the spread
    /// of their effects.
    LikeThese,
}

/// Where a race stands while it goes on. The interval holds at whatever moment it is looked at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Standing {
    /// The candidate, as an index among the contenders.
    pub candidate: usize,
    /// The effect so far.
    pub estimate: Estimate,
}
