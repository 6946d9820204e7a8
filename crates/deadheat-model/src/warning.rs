//! Typed warnings about a result. The report words them.

use crate::estimate::{LogRatio, Verdict};
use crate::observed::ProcessDifference;

/// The unit that counts as one independent observation of a side in unpaired data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Observation {
    /// A file; all its processes are one observation, however many.
    File,
    /// A process; its samples are one observation, however many.
    Process,
    /// A sample, because its process is unknown.
    Sample,
}

/// The reason why wall time and CPU time disagree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockCause {
    /// Other tasks took the core, which disturbed the wall time.
    Preempted,
    /// The contender waits; CPU time does not include the waiting.
    Waited,
    /// The recorded metrics do not show a reason.
    Unknown,
}

/// The reason why repetitions that were cut short were still counted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CutShortKept {
    /// Launches of one side were cut short more often, so the code itself may be the cause.
    OneSided {
        /// Exact p-value of the hypothesis that launches of both sides are cut short equally often.
        p: f64,
    },
    /// Too many blocks would be excluded.
    TooMany {
        /// Share of blocks that would be excluded.
        share: f64,
    },
}

named! {
    /// A warning about a result, or a fact that readers need to interpret it.
    #[derive(Clone, Debug, PartialEq)]
    pub enum Warning: code(&'_ self) {
        /// Too few replicates for a verdict.
        FewReplicates {
            /// Replicates measured.
            have: usize,
            /// Replicates a verdict needs.
            need: usize,
        } = "few-replicates",
        /// A recording has only a few replicates, of one block each, so its interval is a little
        /// too narrow.
        SingleBlocks {
            /// Number of replicates.
            replicates: usize,
        } = "single-blocks",
        /// There is only one replicate, so the memory layout was drawn only once.
        Provisional = "provisional",
        /// Some times were zero and counted as half the resolution of the clock.
        ZeroTimes {
            /// Share of samples that were zero.
            share: f64,
        } = "zero-times",
        /// Too many values were zero to form ratios.
        TooManyZeros {
            /// Share of samples that were zero.
            share: f64,
        } = "too-many-zeros",
        /// A sample lasts only a few steps of the clock.
        CoarseClock {
            /// Duration of the median sample, in steps of the clock.
            ticks: f64,
        } = "coarse-clock",
        /// Many blocks have an effect of exactly zero.
        Ties {
            /// Share of blocks whose effect is zero.
            share: f64,
        } = "ties",
        /// All blocks have the same effect, so the width of the interval comes only from the
        /// resolution of the clock.
        TimerLimited = "timer-limited",
        /// The effects of the replicates fall into groups, so the interval may be too narrow.
        Bimodal = "bimodal",
        /// One side has more slow samples, or its mean moves differently from its centre.
        TailDiffers {
            /// Share of baseline samples above three times the pooled median.
            baseline: f64,
            /// Share of candidate samples above three times the pooled median.
            candidate: f64,
            /// Relative change of the means.
            mean_change: f64,
        } = "tail-differs",
        /// Blocks with evidence of disturbance were excluded, and the verdict would be different if
        /// they were included.
        BlocksDropped {
            /// Number of excluded blocks.
            count: usize,
            /// Relative change with the excluded blocks included.
            change_with_all: f64,
            /// Verdict with the excluded blocks included; `None` if the data allow only an
            /// estimate.
            verdict_with_all: Option<Verdict>,
        } = "blocks-dropped",
        /// Disturbed samples were kept, because the two sides were disturbed at different rates.
        DisturbedUnevenly {
            /// Exact p-value of the hypothesis that both sides are disturbed equally often.
            p: f64,
        } = "disturbed-unevenly",
        /// Disturbed samples were kept, because too many blocks would have been excluded.
        DisturbedTooOften {
            /// Share of blocks with evidence of disturbance.
            share: f64,
        } = "disturbed-too-often",
        /// The harness cut repetitions short: they have fewer than a tenth of the
        /// iterations of a repetition in the calibration run.
        CutShort {
            /// Number of repetitions that were cut short.
            count: usize,
            /// Number of all repetitions.
            of: usize,
            /// Number of blocks that were excluded because a repetition was cut short.
            blocks: usize,
            /// The reason why the repetitions that were cut short were still counted; `None` if
            /// they were excluded.
            kept: Option<CutShortKept>,
        } = "cut-short",
        /// The GPU was throttled, or its clock frequency changed, while samples ran.
        GpuClock {
            /// Number of samples during which the GPU was throttled or its clock frequency changed.
            count: usize,
            /// Number of all samples.
            of: usize,
            /// Number of blocks that were excluded because of the GPU's clock.
            blocks: usize,
            /// The reason why samples with a throttled GPU were still counted; `None` if they were
            /// excluded.
            kept: Option<CutShortKept>,
        } = "gpu-clock",
        /// Code placement did not vary: the linker chose it once.
        PlacementFixed {
            /// The reason why the requested neutral links were not raced; `None` if none were
            /// requested.
            reason: Option<String>,
        } = "placement-fixed",
        /// The processes of the two sides differ, and the user did not ask for it.
        ProcessesDiffer {
            /// The differences.
            differences: Vec<ProcessDifference>,
        } = "processes-differ",
        /// Processes of a command were still running when the command had ended. deadheat killed
        /// them.
        LeftBehind {
            /// The contenders whose commands left processes running.
            by: Vec<String>,
            /// The name of one process that was still running.
            process: String,
        } = "left-behind",
        /// Some neutral links could not be raced and were replaced by others.
        LinksRefused {
            /// The seeds of the links that failed.
            seeds: Vec<u32>,
            /// The error of the first link that failed.
            reason: String,
        } = "links-refused",
        /// Two builds were placed randomly but not matched, although matching was requested.
        BuildsUnmatched {
            /// The reason why the builds were not matched, if known.
            reason: Option<String>,
        } = "builds-unmatched",
        /// The estimate on the user's own link differs from that on neutral links by more than the
        /// margin.
        OwnLinkApart {
            /// Relative change on the own link minus that on neutral links.
            apart: f64,
        } = "own-link-apart",
        /// The race in turns contradicts the race side by side by more than the margin.
        TurnsApart {
            /// Relative change in turns minus that side by side.
            apart: f64,
        } = "turns-apart",
        /// A control of the run separated: a second copy of the baseline differs significantly from
        /// it.
        ControlSeparated {
            /// The benchmark whose control separated. If several separated, the benchmark whose
            /// control has the smallest p-value.
            benchmark: String,
            /// Relative change from the baseline to its copy.
            change: f64,
            /// Number of controls that separated.
            separated: usize,
            /// Number of controls of the run that could be judged.
            of: usize,
        } = "control-separated",
        /// The benchmark code differs between the sides, so a change may not come from the code
        /// under test.
        BenchmarkDiffers {
            /// The files that differ.
            files: Vec<String>,
            /// The side whose suite both sides could run; `None` if neither suite fits both.
            benches_from: Option<String>,
        } = "benchmark-differs",
        /// Functions of these object files are not shuffled relative to each other.
        Unsectioned {
            /// The object files.
            objects: Vec<String>,
        } = "unsectioned",
        /// Wall time and CPU time disagree.
        ClocksDisagree {
            /// Relative change in wall time.
            wall: f64,
            /// Relative change in CPU time.
            cpu: f64,
            /// The reason why the clocks disagree, as far as the samples show it.
            cause: ClockCause,
        } = "clocks-disagree",
        /// The race stopped early, which makes estimates overstate the effect on average.
        EarlyStop {
            /// Number of replicates used.
            replicates: usize,
            /// Largest number of replicates planned.
            planned: usize,
        } = "early-stop",
        /// The time budget ran out.
        BudgetSpent {
            /// Number of replicates used.
            replicates: usize,
            /// Largest number of replicates planned.
            planned: usize,
        } = "budget-spent",
        /// The run was interrupted, truncated or resumed, so the race has the wider interval that
        /// is valid at any time.
        JudgedAnytime = "judged-anytime",
        /// The samples have no block structure, so they cannot be paired.
        Unpaired {
            /// The unit that counts as one observation.
            each: Observation,
        } = "unpaired",
        /// The files of the two sides were recorded in turns, so each was compared with its
        /// neighbour in time.
        InTurns = "in-turns",
        /// There are too few observations for a verdict on unpaired samples.
        FewObservations {
            /// Observations of the baseline.
            baseline: usize,
            /// Observations of the candidate.
            candidate: usize,
            /// Number of observations per side that a verdict needs.
            need: usize,
            /// The unit that counts as one observation.
            each: Observation,
        } = "few-observations",
        /// The file of at least one side contains only a summary statistic, so the uncertainty of
        /// that side is unknown.
        OnlySummaries {
            /// The statistic, such as "median".
            statistic: String,
        } = "only-summaries",
        /// The sides were recorded on different machines.
        DifferentMachines {
            /// Facts about the baseline's machine.
            baseline: String,
            /// Facts about the candidate's machine.
            candidate: String,
        } = "different-machines",
        /// The sides were recorded with different tools or runtimes, or with different versions.
        DifferentTools {
            /// The tool and runtime of the baseline.
            baseline: String,
            /// The tool and runtime of the candidate.
            candidate: String,
        } = "different-tools",
        /// A row without a verdict lies further from the median of all rows than their scatter
        /// explains. This is not a verdict.
        StandsOut {
            /// Distance from the median of all rows, in scaled median absolute deviations.
            z: f64,
        } = "stands-out",
        /// One file differs from all other files of its side, and may leave every row undecided.
        StandsApart {
            /// The name of the file.
            file: String,
            /// Number of rows in which the file differs from the others.
            rows: usize,
            /// Number of rows of the side that the file belongs to.
            of: usize,
            /// Distance of the file from the other files of its side: the median over the rows in
            /// which it differs.
            distance: LogRatio,
            /// Numbers of rows that are faster, slower, a dead heat and undecided without this
            /// file.
            without: [usize; 4],
        } = "stands-apart",
        /// All files of one side were recorded before any of the other.
        RecordedInOrder {
            /// The side whose files were recorded first.
            first: String,
            /// The side whose files were recorded last.
            last: String,
        } = "recorded-in-order",
        /// The values of both sides are equal, so that no change can be measured.
        SameRecordings {
            /// True if criterion made the copy: it copies its measurements to the set `base`.
            by_criterion: bool,
        } = "same-recordings",
        /// Some recordings are on both sides.
        SharedRecordings {
            /// The files of the candidate that contain recordings of the baseline.
            files: Vec<String>,
        } = "shared-recordings",
        /// A side has one recording in several files, of which only one counts.
        CopiedRecordings {
            /// The side that has the copies.
            side: String,
            /// The files that were left out.
            files: Vec<String>,
        } = "copied-recordings",
        /// Several benchmarks of a file share a name, so that only their order pairs them.
        RepeatedNames {
            /// The repeated names as reports show them, such as `sort #2`.
            names: Vec<String>,
        } = "repeated-names",
        /// The frequency of the processor was scaled during the recording.
        CpuScaling {
            /// The sides that were recorded while the frequency was scaled.
            sides: Vec<String>,
        } = "cpu-scaling",
        /// The measured code, or the library that measured it, was a debug build.
        DebugRecording {
            /// The sides with debug builds.
            sides: Vec<String>,
        } = "debug-recording",
        /// Hardware counters could not be read.
        NoCounters {
            /// The reason why hardware counters could not be read.
            reason: String,
        } = "no-counters",
        /// Callgrind counted instructions, and no time was measured.
        CountedByCallgrind = "counted-by-callgrind",
        /// The waiting time was kept in all samples, because the contender had threads or child
        /// processes, which it may have waited for, or another priority than deadheat.
        WaitingOfItsOwn {
            /// The contenders that had threads, child processes or another priority.
            contenders: Vec<String>,
            /// Share of the samples that ran with threads, child processes or another priority, for
            /// the contender with the largest share.
            share: f64,
        } = "waiting-of-its-own",
        /// The waiting time could not be read, so it was not subtracted.
        WaitingUnread {
            /// Share of the samples whose waiting time could not be read.
            share: f64,
        } = "waiting-unread",
        /// The counter of the processor could not be used as clock.
        ClockFallback {
            /// The reason why the counter of the processor could not be used.
            reason: String,
        } = "clock-fallback",
        /// The code was built with debug assertions.
        DebugBuild = "debug-build",
        /// A call takes less than one CPU cycle, so the compiler removed its work.
        OptimisedAway {
            /// The contender whose calls take less than one CPU cycle.
            contender: String,
            /// Nanoseconds per call.
            ns: f64,
        } = "optimised-away",
        /// A text that the worker sent about the functions it calls.
        WorkerNote {
            /// The text from the worker.
            note: String,
        } = "worker-note",
        /// The benchmark was still warming up: the first counted repetition of each launch differs
        /// from the later ones, or the first blocks of an interpreter are slower than the last.
        StillWarming {
            /// Relative difference in time: from the later repetitions to the first, or from the
            /// last blocks to the first. Positive if the first are slower.
            change: f64,
        } = "still-warming",
        /// The judged metric changed, but it is unknown whether less or more of it is better.
        DirectionUnknown {
            /// The name of the metric.
            metric: String,
        } = "direction-unknown",
        /// Launches of one side more often ended with another exit code than 0, which `-i` accepts.
        ExitCodesDiffer {
            /// Share of the baseline's launches with another exit code than 0.
            baseline: f64,
            /// Share of the candidate's launches with another exit code than 0.
            candidate: f64,
        } = "exit-codes-differ",
        /// The command is so short that process start-up dominates.
        ShortCommand {
            /// Median time of the slower contender in nanoseconds.
            median_ns: f64,
        } = "short-command",
    }
}

impl Warning {
    /// Returns true if the warning means that each side is a single recording, so that run-to-run
    /// variation is unknown.
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
