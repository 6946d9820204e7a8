//! The analysis of a run: one comparison for each benchmark and candidate.

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
    /// The typical value, in the unit of the metric: the robust location of the values, or the
    /// judged quantile. For a candidate with an estimate, it is the baseline's typical value times
    /// 1 + the estimated change. `None` if too many values are zero to take logarithms.
    pub typical: Option<f64>,
    /// Median.
    pub median: f64,
    /// Arithmetic mean.
    pub mean: f64,
    /// Smallest value.
    pub min: f64,
    /// Largest value.
    pub max: f64,
    /// Standard deviation; `None` for a single sample.
    pub std_dev: Option<f64>,
    /// Number of samples.
    pub samples: usize,
}

/// Both sides compared by one recorded metric. For a metric other than the judged one, this
/// comparison does not affect the verdict.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricComparison {
    /// The metric.
    pub metric: Metric,
    /// The baseline.
    pub baseline: Side,
    /// The candidate; `None` if the benchmark has only one contender.
    pub candidate: Option<Side>,
    /// The effect on this metric; `None` if too many values are zero to form ratios.
    pub estimate: Option<Estimate>,
    /// The verdict if this metric were the judged one.
    pub verdict: Option<Verdict>,
}

/// One candidate compared with its baseline: both sides, the verdict, and the estimate that the
/// verdict rests on.
///
/// Results that depend on the other comparisons of the run are in [`InSuite`]. The analysis steps
/// that compute those results return a new `Comparison`.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The benchmark's name.
    pub benchmark: String,
    /// Parameters, label, threads and throughput of the benchmark.
    pub details: BenchmarkDetails,
    /// The metric, quantile, margin and α of the verdict.
    pub terms: Terms,
    /// The baseline.
    pub baseline: Side,
    /// The candidate; `None` if the benchmark has only one contender.
    pub candidate: Option<Side>,
    /// The verdict; `None` if the data allow only an estimate.
    pub verdict: Option<Verdict>,
    /// The effect on the judged metric; `None` if it could not be estimated.
    pub estimate: Option<Estimate>,
    /// How far the verdict can be trusted.
    pub evidence: Evidence,
    /// Facts about how the two sides were measured.
    pub aspects: Aspects,
    /// Results that depend on all comparisons of the run, such as the adjusted p-value.
    pub suite: InSuite,
    /// Every metric recorded, the judged one included.
    pub metrics: Vec<MetricComparison>,
    /// Secondary figures of the judged metric, which never affect the verdict.
    pub figures: Option<Box<Figures>>,
    /// The plots; `None` if nothing is drawn.
    pub plots: Option<Box<Plots>>,
    /// Warnings about this comparison.
    pub warnings: Vec<Warning>,
}

/// Facts about a benchmark other than its name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BenchmarkDetails {
    /// Names and values of the parameters that are filled into the commands of the benchmark.
    pub parameters: Vec<(String, String)>,
    /// The label that a result file gives the benchmark, if any.
    pub label: Option<String>,
    /// Number of threads that the benchmark ran on, if a result file states it.
    pub threads: Option<u32>,
    /// The work done by one iteration.
    pub throughput: Option<Throughput>,
}

/// The metric, quantile, margin and α by which a benchmark is judged.
#[derive(Clone, Debug, PartialEq)]
pub struct Terms {
    /// The metric judged.
    pub metric: Metric,
    /// The quantile of single iterations that is judged, such as 0.99. Estimates and typical values
    /// are then of this quantile. `None` if the centre is judged.
    pub quantile: Option<f64>,
    /// Smallest relative change worth acting on.
    pub margin: f64,
    /// Accepted probability of a wrong verdict.
    pub alpha: f64,
}

/// How far a verdict can be trusted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evidence {
    /// True if the confidence interval excludes zero. This is also possible for a dead heat: an
    /// interval from 0.2% to 0.8% is within a margin of 1%.
    pub excludes_zero: bool,
    /// True if the verdict is provisional: it rests on a single replicate or on unpaired samples,
    /// or a control of the run differs from the baseline.
    pub provisional: bool,
    /// The scope of the verdict: the binaries as linked, or their source code.
    pub scope: Scope,
    /// The p-value, corrected for the interim analyses of this race, but not for other candidates
    /// and benchmarks. It is at most α if the interval of this race excludes zero.
    pub p_looks: Option<f64>,
    /// The p-value of the sign-flip test over replicates. This test assumes only that effects are
    /// distributed symmetrically around zero if the sides do not differ.
    pub p_sign_flip: Option<f64>,
    /// The smallest effect that this design detects with 80% power.
    pub minimum_detectable_effect: Option<LogRatio>,
}

impl Default for Evidence {
    /// Returns the evidence of a comparison without an estimate.
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

/// Results of a comparison that depend on all comparisons of its run.
#[derive(Clone, Debug, PartialEq)]
pub struct InSuite {
    /// The p-value, corrected for all looks, candidates and benchmarks of the run.
    pub p_adjusted: Option<f64>,
    /// True if the change is significant after the correction for all comparisons of the run
    /// (Holm's), or if a second race confirmed it.
    pub holds: bool,
    /// The rule of a gate that the comparison breaks, if any.
    pub gate: Option<GateHit>,
    /// True if a gate has rules for this comparison but cannot apply them, because the comparison
    /// has no verdict, or because the rules file excludes the benchmark.
    pub is_unjudged: bool,
    /// The second race of the benchmark; `None` if the first race broke no rule, or if no
    /// confirmation was needed.
    pub confirmation: Option<Confirmation>,
}

impl Default for InSuite {
    /// Returns the values for a single comparison without a gate.
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
    /// Returns the confidence level that reports show: the probability that the race's intervals
    /// contain the true effect, at whichever look the race ended.
    pub fn coverage(&self) -> f64 {
        1.0 - self.terms.alpha
    }

    /// Returns true if both comparisons are of the same benchmark. A benchmark with other parameter
    /// values is a different benchmark.
    pub fn is_of_one_benchmark_with(&self, other: &Comparison) -> bool {
        self.benchmark == other.benchmark && self.details.parameters == other.details.parameters
    }
}

/// The second race of a comparison that broke a rule. It has a separate plan, seed, processes and
/// placements.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Confirmation {
    /// The verdict of the second race, at the level `alpha` of the second race.
    pub verdict: Option<Verdict>,
    /// The effect in the second race.
    pub estimate: Option<Estimate>,
    /// Accepted probability of a wrong verdict in the second race.
    pub alpha: f64,
    /// True if the second race breaks the same rule in the same direction as the first.
    pub agrees: bool,
}

/// The end of an analysed run.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Ending {
    /// The run ended for this recorded reason.
    Recorded(EndReason),
    /// The run file has no end record: deadheat was killed or is still racing, or the file is an
    /// incomplete copy.
    Cut,
    /// The samples were read from a recording, which has no end reason.
    #[default]
    Recording,
}

/// A benchmark that failed and has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedBenchmark {
    /// The benchmark's name.
    pub benchmark: String,
    /// Parameter values of the benchmark.
    pub parameters: Vec<(String, String)>,
    /// The error message.
    pub message: String,
}

/// The kind of processes that a run launched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Processes {
    /// Launches of commands, each timed from start to end. Also the value for runs without
    /// processes.
    #[default]
    Launches,
    /// Worker processes of the racing program itself, which call its functions.
    Workers,
    /// Worker processes of separately built programs, which call their functions.
    ProgramWorkers,
    /// Workers that each start a server and send it bursts of load.
    ServerWorkers,
    /// Launches of executables of a benchmark harness, such as Google Benchmark.
    HarnessLaunches,
}

/// The analysis of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Analysis {
    /// Version of deadheat that made the analysis.
    pub tool_version: String,
    /// The seed of the run; `None` for a recording.
    pub seed: Option<u64>,
    /// The settings by which the run was raced, or by which a recording is judged.
    pub design: Design,
    /// One entry per benchmark and candidate.
    pub comparisons: Vec<Comparison>,
    /// Benchmarks that failed. Their samples from before the failure are not judged.
    pub failures: Vec<FailedBenchmark>,
    /// Benchmarks that were not raced, with the reasons.
    pub left_out: Vec<LeftOut>,
    /// The mean change over all benchmarks, one entry per candidate; empty if fewer than two
    /// benchmarks were compared.
    pub overall: Vec<Overall>,
    /// Warnings about saved results as a whole, such as recordings from different machines.
    pub warnings: Vec<Warning>,
    /// Results of the gates that do not belong to a single comparison.
    pub gates: Gates,
    /// Build options of each side, the baseline first, if the sides were built differently; else
    /// empty.
    pub builds: Vec<String>,
    /// Differences between the sides outside of the code under test.
    pub surroundings: Surroundings,
    /// The files that each side was read from; empty if deadheat measured the samples itself.
    pub sides: Vec<ResultSide>,
    /// The kind of the processes counted in `launches`.
    pub processes: Processes,
    /// True if the contenders of each benchmark are builds of the same code. Their names are then
    /// names of builds, not of code.
    pub of_builds: bool,
    /// Processes launched, discarded ones included.
    pub launches: u64,
    /// Seconds from the first launch to the end of the last block.
    pub elapsed_seconds: f64,
    /// How the run ended.
    pub ending: Ending,
    /// How the second race, which confirms broken rules, ended; `None` if there was none.
    pub second_race: Option<Ending>,
    /// The calibration for races of this kind, as it was on this machine when the run began.
    pub calibration: Option<CalibrationNote>,
}

/// The mean change over all benchmarks that both sides have: the geometric mean of the cost ratios.
/// A ratio below one means better, whatever the metric.
#[derive(Clone, Debug, PartialEq)]
pub struct Overall {
    /// The candidate's name.
    pub candidate: String,
    /// Number of benchmarks in the mean.
    pub benchmarks: usize,
    /// The mean effect.
    pub estimate: Estimate,
    /// The benchmarks that the confidence interval of the mean refers to: only the measured ones,
    /// or similar ones too.
    pub population: Population,
}

/// The benchmarks that the confidence interval of a mean over several benchmarks refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Population {
    /// Only the measured benchmarks: the interval covers the measurement error alone.
    These,
    /// Benchmarks like the measured ones: the interval treats the measured benchmarks as a random
    /// sample and covers the spread of their effects.
    LikeThese,
}

/// The interim result of a running race. Its interval is valid at any time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Standing {
    /// Index of the candidate among the contenders.
    pub candidate: usize,
    /// The effect so far.
    pub estimate: Estimate,
}
