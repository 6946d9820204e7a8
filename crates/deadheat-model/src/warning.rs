//! Typed doubts attached to a result. What they say to people is worded in the report.

use crate::estimate::{LogRatio, Verdict};
use crate::observed::ProcessDifference;

/// The unit that counts as one independent observation of a side where nothing is paired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Observation {
    /// A file; all its processes are one observation, however many.
    File,
    /// A process; its samples are one observation, however many.
    Process,
    /// A sample: nothing is known of processes.
    Sample,
}

/// The reason why wall time and CPU time tell different stories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockCause {
    /// Other tasks took the core: wall time was disturbed.
    Preempted,
    /// The contender waits: CPU time leaves that out.
    Waited,
    /// Nothing recorded tells.
    Unknown,
}

/// The reason why repetitions that were cut short count all the same.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CutShortKept {
    /// Launches of one side were cut short more often, so that the code itself may cause it.
    OneSided {
        /// Exact p-value of equal rates.
        p: f64,
    },
    /// Too many blocks would go.
    TooMany {
        /// Share of blocks that would.
        share: f64,
    },
}

named! {
    /// A doubt about a result, or something the user should know to read it.
    #[derive(Clone, Debug, PartialEq)]
    pub enum Warning: code(&'_ self) {
        /// Too few replicates for a verdict.
        FewReplicates {
            /// Replicates measured.
            have: usize,
            /// Replicates a verdict needs.
            need: usize,
        } = "few-replicates",
        /// A recording of a few replicates of one block each, for which the plain interval is a
        /// little too narrow.
        SingleBlocks {
            /// Their number.
            replicates: usize,
        } = "single-blocks",
        /// One replicate only: the layout of memory was drawn once.
        Provisional = "provisional",
        /// Some times were zero and counted as half a tick.
        ZeroTimes {
            /// Share of samples that were zero.
            share: f64,
        } = "zero-times",
        /// Too many values were zero to form ratios.
        TooManyZeros {
            /// Share of samples that were zero.
            share: f64,
        } = "too-many-zeros",
        /// A sample lasts only a few ticks of the clock.
        CoarseClock {
            /// Ticks in a median sample.
            ticks: f64,
        } = "coarse-clock",
        /// Many differences are exactly zero.
        Ties {
            /// Share of blocks whose effect is zero.
            share: f64,
        } = "ties",
        /// Every difference is the same: only the clock limits the interval.
        TimerLimited = "timer-limited",
        /// The replicates fall into groups, so the interval may be too narrow.
        Bimodal = "bimodal",
        /// One side has more slow samples, or its mean moves unlike its centre.
        TailDiffers {
            /// Share of baseline samples over three pooled medians.
            baseline: f64,
            /// Share of candidate samples over three pooled medians.
            candidate: f64,
            /// Relative change of the means.
            mean_change: f64,
        } = "tail-differs",
        /// Blocks with evidence of disturbance were dropped, and with them the answer would be
        /// another one.
        BlocksDropped {
            /// Their number.
            count: usize,
            /// The relative change had they been kept.
            change_with_all: f64,
            /// The verdict had they been kept; `None` where only an estimate is allowed.
            verdict_with_all: Option<Verdict>,
        } = "blocks-dropped",
        /// Disturbed samples were kept, since the two sides were disturbed at different rates.
        DisturbedUnevenly {
            /// Exact p-value of equal rates.
            p: f64,
        } = "disturbed-unevenly",
        /// Disturbed samples were kept, since too many blocks would have gone.
        DisturbedTooOften {
            /// Share of blocks with evidence.
            share: f64,
        } = "disturbed-too-often",
        /// The harness cut repetitions short: they have fewer than a tenth of the planned
        /// iterations.
        CutShort {
            /// Their number.
            count: usize,
            /// The number of all repetitions.
            of: usize,
            /// Blocks that were left out with them.
            blocks: usize,
            /// The reason, if they were kept.
            kept: Option<CutShortKept>,
        } = "cut-short",
        /// The GPU was throttled, or its clock stepped, while samples ran.
        GpuClock {
            /// Their number.
            count: usize,
            /// The number of all samples.
            of: usize,
            /// Blocks that were left out with them.
            blocks: usize,
            /// The reason, if they were kept.
            kept: Option<CutShortKept>,
        } = "gpu-clock",
        /// Code placement was drawn once, by the linker.
        PlacementFixed {
            /// Why, when neutral links had been asked for.
            reason: Option<String>,
        } = "placement-fixed",
        /// The processes of the two sides differ, and the user did not ask for it.
        ProcessesDiffer {
            /// The differences.
            differences: Vec<ProcessDifference>,
        } = "processes-differ",
        /// Processes of a command were still running when the command had ended. deadheat killed them.
        LeftBehind {
            /// The contenders whose commands left them.
            by: Vec<String>,
            /// The name of one of these processes.
            process: String,
        } = "left-behind",
        /// Some neutral links could not be raced, and others took their place.
        LinksRefused {
            /// The seeds they were shuffled by.
            seeds: Vec<u32>,
            /// The error of the first.
            reason: String,
        } = "links-refused",
        /// Two builds were placed anew, but not matched, although that was asked for.
        BuildsUnmatched {
            /// The reason, if anybody gave one.
            reason: Option<String>,
        } = "builds-unmatched",
        /// The estimate on the user's own link lies apart from that on neutral links by more than
        /// the margin.
        OwnLinkApart {
            /// Relative change on the own link less that on neutral links.
            apart: f64,
        } = "own-link-apart",
        /// The same race in turns contradicts the one side by side by more than the margin.
        TurnsApart {
            /// Relative change in turns less that side by side.
            apart: f64,
        } = "turns-apart",
        /// A control of the run separated: a second copy of the baseline seems to differ from it.
        ControlSeparated {
            /// The benchmark it stood beside; where several separated, the one least likely to by
            /// chance.
            benchmark: String,
            /// Relative change from the baseline to its copy.
            change: f64,
            /// Controls that separated.
            separated: usize,
            /// Controls of the run that could be judged.
            of: usize,
        } = "control-separated",
        /// The benchmark itself differs between the sides, so a change may not be that of the code
        /// under test.
        BenchmarkDiffers {
            /// Its files that differ.
            files: Vec<String>,
            /// The side whose suite both sides could run; `None` if there is no such choice.
            benches_from: Option<String>,
        } = "benchmark-differs",
        /// Functions of these object files keep their places among each other.
        Unsectioned {
            /// The object files.
            objects: Vec<String>,
        } = "unsectioned",
        /// Wall time and CPU time tell different stories.
        ClocksDisagree {
            /// Relative change in wall time.
            wall: f64,
            /// Relative change in CPU time.
            cpu: f64,
            /// Why, as far as the samples tell.
            cause: ClockCause,
        } = "clocks-disagree",
        /// The race stopped early, where estimates lean away from zero.
        EarlyStop {
            /// Replicates used.
            replicates: usize,
            /// Replicates planned at most.
            planned: usize,
        } = "early-stop",
        /// The time budget ran out.
        BudgetSpent {
            /// Replicates used.
            replicates: usize,
            /// Replicates planned at most.
            planned: usize,
        } = "budget-spent",
        /// The run was interrupted, cut or taken up again, so the interval is the wider one that
        /// holds at any time.
        JudgedAnytime = "judged-anytime",
        /// No block structure: samples cannot be paired.
        Unpaired {
            /// The things compared.
            each: Observation,
        } = "unpaired",
        /// Files that were recorded in turns: each was set against its neighbour in time.
        InTurns = "in-turns",
        /// Too few observations for a verdict on samples that are not paired.
        FewObservations {
            /// Observations of the baseline.
            baseline: usize,
            /// Observations of the candidate.
            candidate: usize,
            /// Observations of each that a verdict needs.
            need: usize,
            /// The things counted.
            each: Observation,
        } = "few-observations",
        /// Of one side only a summary was kept, so nothing tells how sure it is.
        OnlySummaries {
            /// Which: "median".
            statistic: String,
        } = "only-summaries",
        /// The sides were recorded on machines that are not the same.
        DifferentMachines {
            /// Facts told of the baseline's.
            baseline: String,
            /// Facts told of the candidate's.
            candidate: String,
        } = "different-machines",
        /// The sides were recorded by different tools or runtimes, or by other versions of them.
        DifferentTools {
            /// Those of the baseline.
            baseline: String,
            /// Those of the candidate.
            candidate: String,
        } = "different-tools",
        /// A row without a verdict lies further from the middle of all rows than they scatter. That
        /// is no verdict.
        StandsOut {
            /// Scaled median absolute deviations from the median of the rows.
            z: f64,
        } = "stands-out",
        /// One file stands apart from all others of its side, and may open every row.
        StandsApart {
            /// Its name.
            file: String,
            /// Rows in which it stands apart.
            rows: usize,
            /// Rows of its side.
            of: usize,
            /// Its distance from the other files, in the median of these rows.
            distance: LogRatio,
            /// Rows that are faster, slower, a dead heat and open without it.
            without: [usize; 4],
        } = "stands-apart",
        /// All files of one side were recorded before any of the other.
        RecordedInOrder {
            /// The side that came first.
            first: String,
            /// The side that came last.
            last: String,
        } = "recorded-in-order",
        /// Both sides hold the same recordings, so that nothing can differ.
        SameRecordings {
            /// criterion made the copy: it copies what it measures to the set `base`.
            by_criterion: bool,
        } = "same-recordings",
        /// Some recordings are on both sides.
        SharedRecordings {
            /// The files of the candidate that hold them.
            files: Vec<String>,
        } = "shared-recordings",
        /// A side has a recording in several files, of which one counts.
        CopiedRecordings {
            /// The side.
            side: String,
            /// The files that were left out.
            files: Vec<String>,
        } = "copied-recordings",
        /// Benchmarks share their name with others of their file, so that only their order pairs them.
        RepeatedNames {
            /// The names, numbered.
            names: Vec<String>,
        } = "repeated-names",
        /// The frequency of the processor was being scaled.
        CpuScaling {
            /// While these sides were recorded.
            sides: Vec<String>,
        } = "cpu-scaling",
        /// A debug build was recorded, or a debug build of the library recorded.
        DebugRecording {
            /// These sides.
            sides: Vec<String>,
        } = "debug-recording",
        /// Hardware counters could not be read.
        NoCounters {
            /// The reason.
            reason: String,
        } = "no-counters",
        /// Callgrind counted instructions, and no time was measured.
        CountedByCallgrind = "counted-by-callgrind",
        /// The time spent waiting for a core was kept in all samples, since the contender had
        /// threads or child processes of its own, which it may have waited for, or another priority
        /// than deadheat.
        WaitingOfItsOwn {
            /// The contenders.
            contenders: Vec<String>,
            /// Share of their samples.
            share: f64,
        } = "waiting-of-its-own",
        /// The time spent waiting for a core could not be read, so nothing was taken out.
        WaitingUnread {
            /// Share of the samples.
            share: f64,
        } = "waiting-unread",
        /// The counter of the processor could not serve as clock.
        ClockFallback {
            /// The reason.
            reason: String,
        } = "clock-fallback",
        /// The code was built with debug assertions.
        DebugBuild = "debug-build",
        /// A call takes less than a cycle, so there is nothing left of it.
        OptimisedAway {
            /// The contender.
            contender: String,
            /// Nanoseconds of a call.
            ns: f64,
        } = "optimised-away",
        /// A sentence of the worker about what it calls.
        WorkerNote {
            /// The sentence.
            note: String,
        } = "worker-note",
        /// The first repetitions counted of launches differ from those behind them, or the first
        /// blocks of an interpreter from the last, so that the benchmark was still warming up.
        StillWarming {
            /// Relative change from those behind them, or from the last.
            change: f64,
        } = "still-warming",
        /// The command is so short that starting the process dominates.
        ShortCommand {
            /// Median of the slower contender in nanoseconds.
            median_ns: f64,
        } = "short-command",
    }
}

impl Warning {
    /// Returns true if it says that each side is a single recording, within which nothing tells how
    /// the next would come out.
    pub fn is_one_a_side(&self) -> bool {
        matches!(
            self,
            Warning::FewObservations {
                baseline: 1,
                candidate: 1,
                each: Observation::Process | Observation::File,
                ..
            }
        )
    }
}
