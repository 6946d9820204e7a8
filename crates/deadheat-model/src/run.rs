//! A run: its plan, its machine, its samples and its end.

use std::collections::HashMap;

use crate::benchmark::RerunKind;
use crate::calibration::{CalibrationNote, Machine};
use crate::metric::Metric;
use crate::observed::Observed;
use crate::plan::Plan;
use crate::results::ResultSide;
use crate::samples::Samples;
use crate::shard::{Conditions, Merged};
use crate::surroundings::Surroundings;

/// The origin of the samples, which decides how they may be judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// deadheat measured the samples under a frozen plan.
    Race,
    /// The samples were read from a file that states the block of each sample.
    PairedRecording,
    /// The samples were read from a file without blocks.
    UnpairedRecording,
}

/// The facts known before the first sample.
#[derive(Clone, Debug, PartialEq)]
pub struct RunHeader {
    /// Version of deadheat that measured.
    pub tool_version: String,
    /// Start of the run in seconds since 1970-01-01 UTC, if known.
    pub started_at: Option<u64>,
    /// The origin of the samples.
    pub origin: Origin,
    /// The command that repeats the same race with the same seed, word by word; empty if it is not
    /// known.
    pub command: Vec<String>,
    /// The frozen plan.
    pub plan: Plan,
    /// The machine.
    pub environment: Environment,
    /// The metrics of every sample, in column order.
    pub metrics: Vec<Metric>,
    /// Resolution of the wall clock in nanoseconds, when known.
    pub tick_ns: Option<f64>,
    /// Benchmarks left out of the plan, with the reasons.
    pub left_out: Vec<LeftOut>,
}

impl RunHeader {
    /// Returns the metrics of every sample of a benchmark, in column order: those of the run, then
    /// the benchmark's counters.
    pub fn metrics_of(&self, benchmark: usize) -> Vec<Metric> {
        let own = self.plan.benchmarks.get(benchmark);
        let counters = own.map_or(&[][..], |benchmark| &benchmark.counters);
        self.metrics.iter().chain(counters).cloned().collect()
    }

    /// Returns true if any benchmark records this metric, as a metric of the run or as one of its
    /// counters.
    pub fn records(&self, metric: &Metric) -> bool {
        let mut benchmarks = self.plan.benchmarks.iter();
        self.metrics.contains(metric)
            || benchmarks.any(|benchmark| benchmark.counters.contains(metric))
    }
}

/// A benchmark that is not raced, with the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// The name of the benchmark.
    pub benchmark: String,
    /// The reason why the benchmark is not raced.
    pub reason: LeftOutReason,
}

/// The reason why a benchmark is not raced.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum LeftOutReason {
    /// Only this contender has the benchmark.
    OnlyIn(String),
    /// The benchmark skips itself, with this message.
    Skipped(String),
    /// The two sides of the benchmark cannot be raced against each other, for this reason.
    NotAlike(String),
}

/// The reason why no further block was run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EndReason {
    /// Every benchmark reached its verdict or its last replicate.
    Finished,
    /// The time budget was used up.
    Budget,
    /// A signal with this number stopped the run.
    Interrupted(i32),
    /// A contender or a hook failed.
    Failed(String),
}

/// A benchmark that failed, in a run that continued without it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BenchmarkFailure {
    /// Index of the benchmark in the plan.
    pub benchmark: usize,
    /// The error, with the place where it happened.
    pub message: String,
}

/// The end of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunEnd {
    /// The reason why the run ended.
    pub reason: EndReason,
    /// Number of processes launched, including discarded launches.
    pub launches: u64,
    /// Nanoseconds from the start of the run to its end.
    pub elapsed_ns: u64,
}

/// A run and everything measured in it.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// The facts known before the first sample.
    pub header: RunHeader,
    /// Samples of each benchmark, parallel to the plan's benchmarks.
    pub benchmarks: Vec<Samples>,
    /// The files that the samples of each contender were read from; empty if deadheat measured.
    pub sides: Vec<ResultSide>,
    /// The code placement of each replicate, if it was drawn at random.
    pub placed: Vec<Placed>,
    /// Observed properties of the processes, in the order they were recorded.
    pub observed: Vec<Observed>,
    /// Benchmarks that failed, in the order of the failures.
    pub failures: Vec<BenchmarkFailure>,
    /// If the run was resumed after a stop: the number of blocks of each benchmark when it was
    /// resumed first.
    pub resumed_at: Option<Vec<usize>>,
    /// How the run ended; `None` if deadheat was killed or the file was truncated.
    pub end: Option<RunEnd>,
    /// Nanoseconds from the start to the end of the last completed block.
    pub elapsed_ns: u64,
    /// Number of processes launched, including discarded launches, as far as recorded.
    pub launches: u64,
}

impl Run {
    /// Returns a run without measurements.
    pub fn new(header: RunHeader) -> Self {
        let benchmarks = 0..header.plan.benchmarks.len();
        let benchmarks = benchmarks
            .map(|benchmark| Samples::new(header.metrics_of(benchmark)))
            .collect();
        Self {
            header,
            benchmarks,
            sides: Vec::new(),
            placed: Vec::new(),
            observed: Vec::new(),
            failures: Vec::new(),
            resumed_at: None,
            end: None,
            elapsed_ns: 0,
            launches: 0,
        }
    }

    /// Returns true for a part of a race whose hosts divide the replicates. The plan of such a part
    /// fixes the number of replicates, whatever the results.
    pub fn is_of_shared_replicates(&self) -> bool {
        let part = self.header.plan.design.shard;
        part.is_some_and(|part| part.replicates > 0)
    }

    /// Returns true if the race ended by its plan or its budget, and was not stopped by a signal, a
    /// failure or a kill.
    pub fn has_come_to_its_end(&self) -> bool {
        let reason = self.end.as_ref().map(|end| &end.reason);
        matches!(reason, Some(EndReason::Finished | EndReason::Budget))
    }

    /// Returns the samples of a benchmark in which each process had its core for itself, as far as
    /// there are any: after a race side by side, those of its rerun in turns, because wall times on
    /// a shared core include the other process.
    pub fn samples_by_themselves(&self, benchmark: usize) -> &Samples {
        let in_turns = self.header.plan.rerun(benchmark, RerunKind::Turns);
        let in_turns = in_turns.map(|turns| &self.benchmarks[turns]);
        let raced = in_turns.filter(|samples| !samples.blocks().is_empty());
        raced.unwrap_or(&self.benchmarks[benchmark])
    }

    /// Returns the first failure of each failed benchmark, by the index of the benchmark.
    pub fn first_failures(&self) -> HashMap<usize, &BenchmarkFailure> {
        let mut first = HashMap::new();
        for failure in &self.failures {
            first.entry(failure.benchmark).or_insert(failure);
        }
        first
    }

    /// Marks the run as resumed. Blocks that are measured from now on count as unplanned, unless
    /// the number of replicates is fixed.
    pub fn resume(&mut self) {
        let merged = self.header.environment.merged.as_ref();
        if self.is_of_shared_replicates() || merged.is_some_and(|merged| merged.replicates > 0) {
            self.end = None;
            return;
        }
        let blocks = self.benchmarks.iter().map(|samples| samples.blocks().len());
        if merged.is_some() {
            // The parts follow one another, so that only the benchmarks of one part have blocks
            // both before and after this line.
            let first = self.resumed_at.take();
            let first = first.unwrap_or_else(|| vec![usize::MAX; self.benchmarks.len()]);
            let at = |(first, blocks): (usize, usize)| match blocks {
                0 => first,
                _ => first.min(blocks),
            };
            self.resumed_at = Some(first.into_iter().zip(blocks).map(at).collect());
        } else {
            self.resumed_at.get_or_insert_with(|| blocks.collect());
        }
        self.end = None;
    }

    /// Returns true if a benchmark with these samples has blocks that were measured after the run
    /// was resumed.
    pub fn went_on(&self, benchmark: usize, samples: &Samples) -> bool {
        self.resumed_at
            .as_ref()
            .is_some_and(|blocks| samples.blocks().len() > blocks[benchmark])
    }

    /// Returns true if the race was resumed, or stopped for a reason outside of its plan.
    /// Benchmarks that had not reached their verdict then need the anytime rule.
    pub fn left_its_plan(&self) -> bool {
        let by_plan = matches!(
            self.end,
            Some(RunEnd {
                reason: EndReason::Finished | EndReason::Budget,
                ..
            })
        );
        self.header.origin == Origin::Race && (self.resumed_at.is_some() || !by_plan)
    }
}

/// Access to hardware counters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CounterAccess {
    /// The counters were recorded.
    Available,
    /// The counters were not recorded, for this reason.
    Unavailable(String),
}

/// The clock that timed the samples of functions.
#[derive(Clone, Debug, PartialEq)]
pub struct ClockFacts {
    /// The name of the clock: `tsc`, `cntvct` or `os`.
    pub source: String,
    /// Smallest step seen, in nanoseconds.
    pub resolution_ns: f64,
    /// Nanoseconds that two readings of the clock take.
    pub overhead_ns: f64,
    /// The reason why the counter of the processor was not used.
    pub fallback: Option<String>,
}

/// A git commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// The full id in hexadecimal.
    pub id: String,
    /// The time of the commit in seconds since 1970-01-01 UTC, when known.
    pub committed_at: Option<u64>,
    /// The first line of the commit message.
    pub subject: String,
}

impl Commit {
    /// Returns the first eight digits of the id.
    pub fn short(&self) -> &str {
        self.id.get(..8).unwrap_or(&self.id)
    }
}

/// Facts about the machine; unknown facts are `None`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Environment {
    /// Operating system and architecture, such as `linux x86_64`.
    pub system: String,
    /// Identifier of this boot of the machine, if the race is divided among several machines.
    pub boot: Option<String>,
    /// Name and SHA-256 of each program that races, if the race is divided among several machines,
    /// because all machines must race the same programs.
    pub programs: Vec<(String, String)>,
    /// The measurement conditions on this host, if the race is divided among several machines.
    pub conditions: Conditions,
    /// The parts from which the run was merged; `None` for a run that was not divided.
    pub merged: Option<Merged>,
    /// Kernel release.
    pub kernel: Option<String>,
    /// Processor model.
    pub cpu: Option<String>,
    /// Logical cores deadheat may use.
    pub cores: Option<u32>,
    /// Frequency governor of the first core.
    pub governor: Option<String>,
    /// Load average over one minute when the run began.
    pub load: Option<f64>,
    /// Cores that the contenders were pinned to; empty if they were not pinned.
    pub pinned: Vec<u32>,
    /// Access to hardware counters; `None` if they were not requested.
    pub counters: Option<CounterAccess>,
    /// The clock of the samples, if it is not the system clock that times whole processes.
    pub clock: Option<ClockFacts>,
    /// True if the measured code was built with debug assertions.
    pub debug_build: bool,
    /// The executables for which neutral links were requested; empty if none were requested.
    pub neutral_links: Vec<NeutralLinks>,
    /// Build options of each side, the baseline first, if the sides were built differently; else
    /// empty.
    pub builds: Vec<String>,
    /// Differences between the sides outside of the code under test.
    pub surroundings: Surroundings,
    /// The commits that the two sides were built from, the baseline first; empty if a side is not a
    /// commit, or if the sides were built differently.
    pub commits: Vec<Commit>,
    /// Short name of this installation, recorded with commits, so that races on the same machine
    /// can be analysed together.
    pub machine: Option<String>,
    /// The calibration of this machine for races of this kind; `None` if it was not calibrated.
    pub calibration: Option<CalibrationNote>,
}

impl Machine {
    /// Returns the machine that these facts describe.
    pub fn of(environment: &Environment, id: Option<String>) -> Self {
        Self {
            system: environment.system.clone(),
            kernel: environment.kernel.clone(),
            cpu: environment.cpu.clone(),
            cores: environment.cores,
            id,
        }
    }
}

/// Facts about the neutral links of one executable, known before the race. Neutral links are made
/// from the same object files, with function sections aligned and shuffled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NeutralLinks {
    /// The executable as the user named it.
    pub executable: String,
    /// The linker and its version; `Err` is the reason why neutral links cannot be made.
    pub made_by: Result<String, String>,
    /// Object files whose functions share one section, so that shuffling the sections does not move
    /// the functions relative to each other.
    pub unsectioned: Vec<String>,
    /// `Ok` if the links of each replicate are matched across builds: code that the builds share
    /// has the same addresses in all of them. `Err` is the reason why not; `None` means that
    /// matching was not requested, or that only one build races.
    pub matched: Option<Result<(), String>>,
    /// True if the links are matched but every process is still loaded at a random address, because
    /// the system cannot fix the address.
    pub random_addresses: bool,
}

impl NeutralLinks {
    /// Returns true if the links are matched to those of the other builds.
    pub fn is_matched(&self) -> bool {
        matches!(self.matched, Some(Ok(())))
    }
}

/// One neutral link: an executable linked again, with its functions in a random order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NeutralLink {
    /// The seed of the shuffled function sections.
    pub seed: u32,
    /// The first digits of the executable's SHA-256, in hexadecimal.
    pub hash: String,
    /// True if code that the racing builds share has the same addresses in this link and in the
    /// links of the other builds.
    pub matched: bool,
}

/// The code placement of one contender.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Placing {
    /// The code is where the user's own link put it.
    Own,
    /// The code is where a neutral link put it.
    Neutral(NeutralLink),
}

/// A neutral link that could not be raced.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RefusedLink {
    /// The seed of the shuffled function sections.
    pub seed: u32,
    /// The error, and how to reproduce it.
    pub reason: String,
}

/// The code placement in one replicate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// Index of the benchmark in the plan.
    pub benchmark: usize,
    /// The replicate, counted from 0.
    pub replicate: u32,
    /// One entry per contender. Contenders of one executable share a link.
    pub contenders: Vec<Placing>,
    /// Links that were drawn for this replicate earlier and failed.
    pub refused: Vec<RefusedLink>,
    /// The reason why a contender runs with the user's own link, although neutral links were
    /// possible when the race began.
    pub fallen_back: Option<String>,
}

impl Placed {
    /// Returns true if the code placements of both contenders were drawn at random.
    pub fn is_drawn(&self, baseline: usize, candidate: usize) -> bool {
        [baseline, candidate]
            .iter()
            .all(|index| matches!(self.contenders.get(*index), Some(Placing::Neutral(_))))
    }

    /// Returns true if both contenders are builds with matched links.
    pub fn is_matched(&self, baseline: usize, candidate: usize) -> bool {
        [baseline, candidate].iter().all(|index| {
            matches!(self.contenders.get(*index), Some(Placing::Neutral(link)) if link.matched)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::benchmark::Benchmark;
    use crate::benchmark::ContenderId;
    use crate::race_settings::{Design, Looks};
    use crate::samples::{BlockRecord, Flags, Sample};
    use crate::shard::ShardBy;

    fn run() -> Run {
        let benchmark = Benchmark {
            name: "b".to_owned(),
            parameters: vec![],
            contenders: vec![],
            ..Benchmark::default()
        };
        Run::new(RunHeader {
            command: Vec::new(),
            tool_version: "test".to_owned(),
            started_at: None,
            origin: Origin::Race,
            plan: Plan {
                design: Design {
                    looks: Looks {
                        at: vec![6],
                        levels: vec![0.05],
                        weights: vec![1.0],
                    },
                    ..Design::default()
                },
                seed: 1,
                benchmarks: vec![benchmark.clone(), benchmark],
            },
            environment: Environment::default(),
            metrics: vec![Metric::Wall],
            tick_ns: None,
            left_out: Vec::new(),
        })
    }

    fn add_block(run: &mut Run, benchmark: usize) {
        let record = BlockRecord {
            benchmark,
            samples: vec![Sample {
                contender: ContenderId(0),
                flags: Flags::NONE,
                exit_code: None,
                iterations: 1,
            }],
            values: vec![1.0],
            ..BlockRecord::default()
        };
        run.benchmarks[benchmark].push(&record).unwrap();
    }

    #[test]
    fn only_benchmarks_that_grew_after_a_resume_went_on() {
        let mut run = run();
        add_block(&mut run, 0);
        let went_on = |run: &Run, index: usize| run.went_on(index, &run.benchmarks[index]);
        assert!(!went_on(&run, 0));
        run.resume();
        add_block(&mut run, 1);
        assert_eq!((went_on(&run, 0), went_on(&run, 1)), (false, true));
        run.resume();
        assert!(went_on(&run, 1), "the first resume counts");
    }

    #[test]
    fn in_a_merged_run_only_the_benchmarks_of_a_resumed_part_went_on() {
        let mut run = run();
        run.header.environment.merged = Some(Merged {
            count: 2,
            by: ShardBy::Benchmark,
            replicates: 0,
            hosts: Vec::new(),
        });
        let went_on = |run: &Run, index: usize| run.went_on(index, &run.benchmarks[index]);
        add_block(&mut run, 0);
        run.resume();
        add_block(&mut run, 0);
        // The lines of the next part, which was not resumed.
        add_block(&mut run, 1);
        assert_eq!((went_on(&run, 0), went_on(&run, 1)), (true, false));
    }

    #[test]
    fn a_run_keeps_its_plan_when_it_finishes_or_spends_its_budget() {
        let mut run = run();
        assert!(run.left_its_plan(), "cut");
        for (reason, left) in [
            (EndReason::Finished, false),
            (EndReason::Budget, false),
            (EndReason::Interrupted(2), true),
            (EndReason::Failed("x".to_owned()), true),
        ] {
            run.end = Some(RunEnd {
                reason,
                launches: 0,
                elapsed_ns: 0,
            });
            assert_eq!(run.left_its_plan(), left);
        }
    }

    #[test]
    fn a_placement_is_drawn_when_it_is_for_both() {
        let neutral = Placing::Neutral(NeutralLink {
            seed: 3,
            hash: "00ff".to_owned(),
            matched: true,
        });
        let placed = |contenders| Placed {
            benchmark: 0,
            replicate: 0,
            contenders,
            refused: vec![],
            fallen_back: None,
        };
        let both = placed(vec![neutral.clone(), neutral.clone(), Placing::Own]);
        assert!(both.is_drawn(0, 1));
        assert!(both.is_matched(0, 1) && !both.is_matched(0, 2));
        assert!(!both.is_drawn(0, 2), "a candidate in its own place");
        assert!(!both.is_drawn(0, 3), "a candidate nobody knows");
        assert!(!placed(vec![Placing::Own, neutral]).is_drawn(0, 1));
    }
}
