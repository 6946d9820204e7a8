//! The nouns of a race, shared by every room of deadheat.
//!
//! This crate holds data and its invariants, nothing else: it reads no clock, opens no file, starts
//! no process and computes no statistic. Data flows through these types in one direction:
//!
//! ```text
//! Plan → Schedule[Block[Slot]] → Sample → Run → Analysis
//! ```

mod analysis;
mod benchmark_overrides;
#[cfg(feature = "bisect")]
pub mod bisect;
mod calibration;
mod column;
mod command;
mod control;
#[cfg(feature = "doctor")]
pub mod doctor;
mod environment;
mod estimate;
mod figures;
#[cfg(feature = "history")]
mod history;
mod json;
mod metric;
mod named;
mod placement;
mod plan;
mod plots;
#[cfg(feature = "profiles")]
mod profile;
mod quantities;
mod race_settings;
mod results;
mod rules;
mod run;
mod samples;
mod schedule;
mod seams;
mod setting_values;
mod shard;
mod warning;
mod workload;

pub use analysis::{
    AcrossHosts, Analysis, Comparison, Confirmation, Ending, FailedBenchmark, HostKind, HostRow,
    MetricComparison, Overall, Population, Processes, Side, Spreads, Standing, WaitingShare,
};
pub use calibration::{
    CalibratedKind, Calibration, CalibrationEnd, CalibrationNote, CalibrationRace, Detectable,
    Found, KnownDifference, Machine, NoiseFloor, Promise, RaceKind, ReplicateCost, Share, Tally,
};
pub use column::{FIXED_COLUMNS, TextCells, column_name, metric_of_column, text_of_cell};
pub use command::{CommandLine, ExitPolicy, Hooks, Input, Output, Value, Values};
pub use control::Control;
pub use environment::{ClockFacts, Commit, CounterAccess, Environment};
pub use estimate::{
    BlockDiagnostics, Estimate, Interval, LogRatio, MeasuredEffect, Scope, Verdict,
};
pub use figures::{
    BetweenFigures, Change, ContenderHistogram, Family, Figures, FirstHalf, Fit, HistogramUnit,
    Histograms, OppositePeaks, PairSigns, RankSums, SideFigures, SignedRanks, Spread,
    StabilityFigures, TTested, Tested,
};
#[cfg(feature = "history")]
pub use history::{
    CommitOrder, History, HistoryMachine, HistoryRace, HistoryRun, HistorySeries, LoopClosure,
    Timeline, TimelineChange, TimelineCommit, TimelinePlateau, TimelineRace,
};
pub use json::{Json, JsonError, Object};
#[cfg(feature = "scan")]
pub use json::{JsonScalar, JsonScan};
pub use metric::{Better, ForeignMetric, Metric, Unit};
pub use placement::{NeutralLink, NeutralLinks, Placed, Placing, RefusedLink};
pub use plan::{
    Benchmark, BenchmarkOverrides, Contender, LevelOverride, OwnLink, Plan, PlanError, Saved,
    Throughput,
};
pub use plots::{
    BoxPlot, DensityCurve, Difference, DifferenceSeries, Distribution, LookEstimate, PairCloud,
    PairPoint, Plots, ReplicateEstimate,
};
#[cfg(feature = "profiles")]
pub use profile::{
    Counted, ExplainedPair, Explanation, Finding, FunctionChange, Place, Profile, ProfileUnit,
    StackChange, WallChange, without_depth,
};
pub use quantities::{Day, byte_size, duration, fnv1a, fraction};
pub use race_settings::{Design, FileScope, Front, Looks, RaceSettings, Setting, ValueKind};
pub use results::{ResultBenchmark, ResultFacts, ResultSide, ResultSource, ResultState, Results};
pub use rules::{
    Excuse, GateHit, Gates, Glob, Idle, IdleIgnore, Ignore, RulesFile, RulesOfSome, SuiteLevel,
    Unproven,
};
pub use run::{
    BenchmarkFailure, EndReason, LeftOut, LeftOutReason, Origin, Run, RunEnd, RunHeader,
};
pub use samples::{BlockRecord, BlockSpan, Flags, Sample, SampleError, SampleProblem, Samples};
pub use schedule::{Block, ContenderId, Role, Slot};
pub use seams::{Decision, RecordSink, SinkError, StoppingRule, Unrecorded, Until};
pub use setting_values::{FailOn, Pinning, Placement, ShareRange, TimeLimit, Waiting};
pub use shard::{Conditions, Disturbance, Host, Limits, Merged, Shard, ShardBy, ShardNumber};
pub use warning::{ClockCause, Observation, Warning};
pub use workload::{
    FunctionCalls, Harness, HarnessCalls, Program, RepetitionLength, WorkerCalls, Workload,
};
