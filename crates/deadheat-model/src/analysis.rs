//! The answer: one comparison per benchmark and candidate.

use crate::aspects::Aspects;
use crate::benchmark::Throughput;
use crate::calibration::CalibrationNote;
use crate::estimate::{Estimate, LogRatio, Scope, Verdict};
use crate::figures::Figures;
use crate::metric::Metric;
use crate::plots::Plots;
use crate::race_settings::Design;
use crate::results::ResultSide;
use crate::rules::{GateHit, Gates};
use crate::run::{EndReason, LeftOut};
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

/// One candidate against its baseline: the sides, the verdict, and the estimate that it rests on.
///
/// It is built once. What only the whole run can tell is in [`InSuite`], and each of the steps that
/// tell it returns a new comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The benchmark's name.
    pub benchmark: String,
    /// What else is known of the benchmark.
    pub details: BenchmarkDetails,
    /// The terms on which it is judged.
    pub terms: Terms,
    /// The baseline.
    pub baseline: Side,
    /// The candidate; `None` when the contender ran alone.
    pub candidate: Option<Side>,
    /// The verdict; `None` where only an estimate is allowed.
    pub verdict: Option<Verdict>,
    /// The effect judged; `None` when none could be formed.
    pub estimate: Option<Estimate>,
    /// How far the verdict can be trusted.
    pub evidence: Evidence,
    /// What else is known of how the two were measured.
    pub aspects: Aspects,
    /// The place of the comparison among all of the run.
    pub suite: InSuite,
    /// Every metric recorded, the judged one included.
    pub metrics: Vec<MetricComparison>,
    /// Secondary figures of the judged metric: they inform, they never decide.
    pub figures: Option<Box<Figures>>,
    /// The plots; `None` if nothing is drawn.
    pub plots: Option<Box<Plots>>,
    /// Doubts and advice.
    pub warnings: Vec<Warning>,
}

/// A benchmark, apart from its name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BenchmarkDetails {
    /// Parameter values filled into its commands.
    pub parameters: Vec<(String, String)>,
    /// Its label, if a file has one.
    pub label: Option<String>,
    /// Threads it ran on, if a file has them.
    pub threads: Option<u32>,
    /// The work that one iteration gets done.
    pub throughput: Option<Throughput>,
}

/// The terms on which a benchmark is judged.
#[derive(Clone, Debug, PartialEq)]
pub struct Terms {
    /// The metric judged.
    pub metric: Metric,
    /// The quantile of single iterations that the verdict, the estimates and the typical values are
    /// about; `None` for their centre.
    pub quantile: Option<f64>,
    /// Smallest relative change worth acting on.
    pub margin: f64,
    /// Accepted probability of a wrong verdict.
    pub alpha: f64,
}

/// How far a verdict can be trusted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evidence {
    /// True if the interval excludes zero. A dead heat may still have a direction.
    pub excludes_zero: bool,
    /// True if the verdict is of the weaker kind.
    pub provisional: bool,
    /// The scope of the verdict.
    pub scope: Scope,
    /// The p-value, paid for the looks by their levels and for nothing else: at most α if the
    /// interval of the race by itself excludes zero.
    pub p_looks: Option<f64>,
    /// The sign-flip test over replicates, which assumes only symmetry.
    pub p_sign_flip: Option<f64>,
    /// The effect that this design finds with 80% power.
    pub minimum_detectable_effect: Option<LogRatio>,
}

impl Default for Evidence {
    /// The evidence without an estimate.
    fn default() -> Self {
        Self {
            excludes_zero: false,
            provisional: false,
            scope: Scope::Binary,
            p_looks: None,
            p_sign_flip: None,
            minimum_detectable_effect: None,
        }
    }
}

/// The place of a comparison among all of its run.
#[derive(Clone, Debug, PartialEq)]
pub struct InSuite {
    /// The p-value, paid for every look, every candidate and the suite.
    pub p_adjusted: Option<f64>,
    /// True if a change holds at the level at which all comparisons of the run keep α together, or
    /// if a second race confirmed it.
    pub holds: bool,
    /// The rule of a gate that it breaks, if there is one.
    pub gate: Option<GateHit>,
    /// True if a gate has rules for it and could not judge it, because it has no verdict.
    pub is_unjudged: bool,
    /// The second race, if the first broke a rule and had to be confirmed.
    pub confirmation: Option<Confirmation>,
}

impl Default for InSuite {
    /// The place of a comparison without others and without a gate.
    fn default() -> Self {
        Self {
            p_adjusted: None,
            holds: true,
            gate: None,
            is_unjudged: false,
            confirmation: None,
        }
    }
}

impl Comparison {
    /// The chance that the intervals of a race hold the truth, at whichever look it ended: what
    /// people are told.
    pub fn coverage(&self) -> f64 {
        1.0 - self.terms.alpha
    }

    /// True for another candidate of the same benchmark; with other parameter values it is another
    /// benchmark.
    pub fn is_of_one_benchmark_with(&self, other: &Comparison) -> bool {
        self.benchmark == other.benchmark && self.details.parameters == other.details.parameters
    }
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
