//! The data types of a race, shared by all crates of deadheat.
//!
//! This crate holds data and its invariants, nothing else: it reads no clock, opens no file, starts
//! no process and computes no statistic. Data flows through these types in one direction:
//!
//! ```text
//! Plan → Schedule[Block[Slot]] → Sample → Run → Analysis
//! ```

/// Declares an enum together with the name of each variant in files, in JSON and on command lines,
/// and a method that returns the name. A `listed` enum also has a list of its variants.
#[macro_export]
macro_rules! named {
    ($(#[$meta:meta])* pub listed enum $type:ident: name(self) {
        $($(#[$doc:meta])* $variant:ident = $name:literal,)*
    }) => {
        $crate::named! {
            $(#[$meta])*
            pub enum $type: name(self) { $($(#[$doc])* $variant = $name,)* }
        }

        impl $type {
            /// All variants, in the order declared.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$variant),*];
        }
    };
    ($(#[$meta:meta])* pub enum $type:ident: $method:ident($(&$life:lifetime)? $me:ident) {
        $($(#[$doc:meta])* $variant:ident $({ $($fields:tt)* })? = $name:literal,)*
    }) => {
        $(#[$meta])*
        pub enum $type { $($(#[$doc])* $variant $({ $($fields)* })?,)* }

        impl $type {
            /// Returns the stable name for files, JSON and command lines.
            pub fn $method($(&$life)? $me) -> &'static str {
                match $me {
                    $(Self::$variant { .. } => $name,)*
                }
            }
        }
    };
}

mod all_zero;
mod analysis;
mod aspects;
mod benchmark;
mod calibration;
#[cfg(feature = "doctor")]
pub mod doctor;
mod estimate;
mod figures;
mod json;
mod message;
mod metric;
mod names;
mod new_name;
mod observed;
mod plan;
mod plots;
mod quantities;
mod race_settings;
mod results;
mod rules;
mod run;
mod samples;
mod seams;
mod setting_values;
mod shard;
mod suggestion;
mod surroundings;
mod text_cells;
mod warning;
mod workload;

pub use all_zero::AllZero;
pub use analysis::{
    Analysis, BenchmarkDetails, Comparison, Confirmation, Ending, Evidence, FailedBenchmark,
    InSuite, MetricComparison, Overall, Population, Processes, Side, Standing, Terms,
};
pub use aspects::{
    AcrossHosts, Aspects, DroppedBlocks, HostKind, HostRow, RacedSideBySide, Settling, Spreads,
    WaitingShare,
};
pub use benchmark::{
    Benchmark, BenchmarkOverrides, Block, Contender, ContenderId, LevelOverride, Rerun, RerunKind,
    Role, Saved, SideBySide, Slot, Throughput, TurnsReason, UNNAMED,
};
pub use calibration::{
    CalibratedKind, Calibration, CalibrationEnd, CalibrationNote, CalibrationRace, Detectable,
    Found, KnownDifference, Machine, NoiseFloor, Promise, RaceKind, ReplicateCost, Share, Tally,
};
pub use estimate::{
    BlockDiagnostics, Control, Estimate, Interval, LogRatio, MeasuredEffect, Scope, Verdict,
};
pub use figures::{
    BetweenFigures, Change, ContenderHistogram, Family, Figures, FirstHalf, Fit, HistogramUnit,
    Histograms, OppositePeaks, PairSigns, RankSums, SideFigures, SignedRanks, Spread,
    StabilityFigures, TTested, Tested,
};
pub use json::{Json, JsonError, Object};
#[cfg(feature = "scan")]
pub use json::{JsonPieces, JsonScalar, JsonScan, NO_NUMBERS, plain_bytes};
pub use message::{
    HELP, QUOTE, before_help, in_one_line, without_help, without_system_numbers, words_of_system,
};
pub use metric::{
    Better, FIXED_COLUMNS, ForeignMetric, Metric, Unit, column_name, csv_column_name,
    metric_of_column, metric_of_csv_column,
};
pub use names::{is_inner_path, is_object_id, path_of_bytes};
pub use new_name::under_new_name;
pub use observed::{AddressSpace, Observed, ObservedImage, ObservedProcess, ProcessDifference};
pub use plan::{Plan, PlanError};
pub use plots::{
    BoxPlot, DensityCurve, Difference, DifferenceSeries, Distribution, LookEstimate, PairCloud,
    PairPoint, Plots, ReplicateEstimate,
};
pub use quantities::{Day, byte_size, duration, fnv1a, fraction, share_meant};
pub use race_settings::{Design, FileScope, Front, Looks, RaceSettings, Setting, ValueKind};
pub use results::{ResultFacts, ResultSide, ResultSource};
pub use rules::{
    Excuse, GateHit, Gates, Glob, Idle, IdleIgnore, Ignore, RulesFile, RulesOfSome, SuiteLevel,
    Unproven,
};
pub use run::{
    BenchmarkFailure, ClockFacts, Commit, CounterAccess, EndReason, Environment, LeftOut,
    LeftOutReason, NeutralLink, NeutralLinks, Origin, Placed, Placing, RefusedLink, Run, RunEnd,
    RunHeader,
};
pub use samples::{BlockRecord, BlockSpan, Flags, Sample, SampleError, SampleProblem, Samples};
pub use seams::{Decision, RecordSink, SinkError, StoppingRule, Unrecorded, Until};
pub use setting_values::{
    Arrangement, Bounded, FailOn, Pinning, Placement, ShareRange, TimeLimit, Waiting,
    positive_number, whole_number,
};
pub use shard::{Conditions, Disturbance, Host, Limits, Merged, Shard, ShardBy, ShardNumber};
pub use suggestion::suggestion;
pub use surroundings::{PackageVersions, SharedSuite, Surroundings};
pub use text_cells::{ORDERS, TextCells, is_hidden, is_workflow_command, text_of_cell};
pub use warning::{ClockCause, CutShortKept, Observation, Warning};
pub use workload::{
    CommandLine, ExitPolicy, FunctionCalls, Harness, HarnessCalls, Hooks, Input, LOAD_WORKER,
    Output, Program, RepetitionLength, Value, Values, WorkerCalls, Workload,
};
