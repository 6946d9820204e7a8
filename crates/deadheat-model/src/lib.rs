//! The nouns of a race, shared by every room of deadheat.
//!
//! This crate holds data and its invariants, nothing else: it reads no clock,
//! opens no file, starts no process and computes no statistic. Data flows
//! through these types in one direction:
//!
//! ```text
//! Plan → Schedule[Block[Slot]] → Sample → Run → Analysis
//! ```

mod analysis;
mod calibration;
mod column;
mod command;
mod control;
mod day;
#[cfg(feature = "doctor")]
pub mod doctor;
mod environment;
mod estimate;
mod fail_on;
mod figures;
mod gate;
mod glob;
mod histogram;
mod json;
mod metric;
mod own_rules;
mod placement;
mod plan;
mod plots;
mod quantities;
mod record;
mod results;
mod rule;
mod rules;
mod run;
mod samples;
mod schedule;
mod setting_values;
mod settings;
mod units;
mod verdict;
mod warning;
mod workload;

pub use analysis::{
    Analysis, Comparison, Ending, FailedBenchmark, MetricComparison, Overall, Population,
    Processes, Side, Spreads, Standing,
};
pub use calibration::{
    CalibratedKind, Calibration, CalibrationEnd, CalibrationNote, CalibrationRace, Detectable,
    Found, KnownDifference, Machine, NoiseFloor, Promise, RaceKind, ReplicateCost, Share, Tally,
};
pub use column::{FIXED_COLUMNS, TextCells, column_name, metric_of_column, text_of_cell};
pub use command::{CommandLine, ExitPolicy, Hooks, Input, Output};
pub use control::Control;
pub use day::Day;
pub use environment::{ClockFacts, CounterAccess, Environment};
pub use estimate::{BlockDiagnostics, Estimate, Interval};
pub use fail_on::FailOn;
pub use figures::{
    BetweenFigures, Change, Family, Figures, FirstHalf, Fit, OppositePeaks, PairSigns, RankSums,
    SideFigures, SignedRanks, Spread, StabilityFigures, TTested, Tested,
};
pub use gate::{Excuse, GateHit, Gates, Idle, IdleIgnore};
pub use glob::Glob;
pub use histogram::{ContenderHistogram, HistogramUnit, Histograms};
pub use json::{Json, Object};
pub use metric::{Better, ForeignMetric, Metric, Unit};
pub use own_rules::{OwnLevel, OwnRules};
pub use placement::{NeutralLink, NeutralLinks, Placed, Placing, RefusedLink};
pub use plan::{Benchmark, Contender, OwnLink, Plan, PlanError, Saved, Throughput};
pub use plots::{
    BoxPlot, DensityCurve, Difference, DifferenceSeries, Distribution, LookEstimate, PairCloud,
    PairPoint, Plots, ReplicateEstimate,
};
pub use quantities::{byte_size, duration, fraction};
pub use record::{BlockRecord, RecordSink, SinkError, Unrecorded};
pub use results::{ResultBenchmark, ResultFacts, ResultSide, ResultSource, ResultState, Results};
pub use rule::{Decision, StoppingRule};
pub use rules::{Ignore, RulesFile, RulesOfSome};
pub use run::{
    BenchmarkFailure, EndReason, LeftOut, LeftOutReason, Origin, Run, RunEnd, RunHeader,
};
pub use samples::{BlockSpan, Flags, Sample, SampleError, Samples};
pub use schedule::{Block, ContenderId, Role, Slot};
pub use setting_values::{Pinning, Placement, ShareRange, TimeLimit};
pub use settings::{Design, FileScope, Front, Looks, RaceSettings, Setting, ValueKind};
pub use units::{LogRatio, Nanoseconds};
pub use verdict::{Scope, Verdict};
pub use warning::{ClockCause, Observation, Warning};
pub use workload::{
    FunctionCalls, GoogleBenchmarkCalls, Program, RepetitionLength, WorkerCalls, Workload,
};
