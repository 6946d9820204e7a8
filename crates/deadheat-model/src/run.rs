//! A run: what was raced, where and on which machine, and what came of it.

use std::collections::HashMap;

use crate::calibration::{CalibrationNote, Machine};
use crate::metric::Metric;
use crate::observed::Observed;
use crate::plan::Plan;
use crate::results::ResultSide;
use crate::samples::Samples;
use crate::shard::{Conditions, Merged};
use crate::surroundings::Surroundings;

/// Where the samples come from, which decides how they may be judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// deadheat measured them under a frozen plan.
    Race,
    /// Read from a file that says which block each sample belongs to.
    PairedRecording,
    /// Read from a file that does not.
    UnpairedRecording,
}

/// The facts known before the first sample.
#[derive(Clone, Debug, PartialEq)]
pub struct RunHeader {
    /// Version of deadheat that measured.
    pub tool_version: String,
    /// Seconds since 1970-01-01 UTC, when known.
    pub started_at: Option<u64>,
    /// Where the samples come from.
    pub origin: Origin,
    /// The command that runs the same race again, seed and all, word by word; empty when it is not
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
    /// Benchmarks that are not in the plan though somebody might look for them.
    pub left_out: Vec<LeftOut>,
}

impl RunHeader {
    /// The metrics of every sample of a benchmark, in column order: those of the run, then its own
    /// counters.
    pub fn metrics_of(&self, benchmark: usize) -> Vec<Metric> {
        let own = self.plan.benchmarks.get(benchmark);
        let counters = own.map_or(&[][..], |benchmark| &benchmark.counters);
        self.metrics.iter().chain(counters).cloned().collect()
    }

    /// Returns true if any benchmark has this metric: of the run, or of its own.
    pub fn records(&self, metric: &Metric) -> bool {
        let mut benchmarks = self.plan.benchmarks.iter();
        self.metrics.contains(metric)
            || benchmarks.any(|benchmark| benchmark.counters.contains(metric))
    }
}

/// A benchmark that is not raced, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Its name.
    pub benchmark: String,
    /// The reason why it is not raced.
    pub reason: LeftOutReason,
}

/// The reason why a benchmark is not raced.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum LeftOutReason {
    /// Only this contender has it.
    OnlyIn(String),
    /// It says of itself that it does not run, in these words.
    Skipped(String),
    /// Its two sides cannot be raced against each other, for this reason.
    NotAlike(String),
}

/// The reason why no further block was run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EndReason {
    /// Every benchmark came to its verdict or to its last replicate.
    Finished,
    /// The time budget was used up.
    Budget,
    /// A signal, by number.
    Interrupted(i32),
    /// A contender or a hook failed.
    Failed(String),
}

/// A benchmark that could not be raced to its end, in a run that went on without it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BenchmarkFailure {
    /// Index of the benchmark in the plan.
    pub benchmark: usize,
    /// The error, and where it happened.
    pub message: String,
}

/// The end of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunEnd {
    /// The reason why it ended.
    pub reason: EndReason,
    /// Processes launched in all, discarded ones included.
    pub launches: u64,
    /// Nanoseconds from the start of the run.
    pub elapsed_ns: u64,
}

/// A run and everything measured in it.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// The facts known before the first sample.
    pub header: RunHeader,
    /// Samples of each benchmark, parallel to the plan's benchmarks.
    pub benchmarks: Vec<Samples>,
    /// Which files the samples of each contender were read from; empty where deadheat measured.
    pub sides: Vec<ResultSide>,
    /// Where the code lay in each replicate, where that was drawn.
    pub placed: Vec<Placed>,
    /// What was observed of the processes, in the order it was recorded.
    pub observed: Vec<Observed>,
    /// Benchmarks that failed, in the order it happened.
    pub failures: Vec<BenchmarkFailure>,
    /// When the run was taken up again after it had stopped: the blocks each benchmark had when
    /// that first happened.
    pub resumed_at: Option<Vec<usize>>,
    /// Its end; `None` when deadheat was killed or the file was cut.
    pub end: Option<RunEnd>,
    /// Nanoseconds from the start to the end of the last completed block.
    pub elapsed_ns: u64,
    /// Processes launched, discarded ones included, as far as recorded.
    pub launches: u64,
}

impl Run {
    /// A run that has not measured anything yet.
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

    /// Returns true for a part of a race whose hosts share its replicates: it has as many as its
    /// plan says, whatever they show.
    pub fn is_of_shared_replicates(&self) -> bool {
        let part = self.header.plan.design.shard;
        part.is_some_and(|part| part.replicates > 0)
    }

    /// Returns true if the race was over: no signal stopped it, and nobody killed it.
    pub fn has_come_to_its_end(&self) -> bool {
        let reason = self.end.as_ref().map(|end| &end.reason);
        matches!(reason, Some(EndReason::Finished | EndReason::Budget))
    }

    /// The first failure of each benchmark that failed, by its index.
    pub fn first_failures(&self) -> HashMap<usize, &BenchmarkFailure> {
        let mut first = HashMap::new();
        for failure in &self.failures {
            first.entry(failure.benchmark).or_insert(failure);
        }
        first
    }

    /// Takes the run up again: what follows was not planned, unless nothing can change the plan.
    pub fn resume(&mut self) {
        if self.is_of_shared_replicates() {
            self.end = None;
            return;
        }
        let blocks = self.benchmarks.iter().map(|samples| samples.blocks().len());
        self.resumed_at.get_or_insert_with(|| blocks.collect());
        self.end = None;
    }

    /// Returns true if a benchmark, whose samples these are, has blocks that were measured after
    /// the run had been taken up again.
    pub fn went_on(&self, benchmark: usize, samples: &Samples) -> bool {
        self.resumed_at
            .as_ref()
            .is_some_and(|blocks| samples.blocks().len() > blocks[benchmark])
    }

    /// Returns true if the run was stopped by something its plan does not know, so that only a rule
    /// valid at any time may judge what it left open.
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

/// The access to hardware counters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CounterAccess {
    /// They were recorded.
    Available,
    /// They were not, for this reason.
    Unavailable(String),
}

/// The clock that timed the samples of functions.
#[derive(Clone, Debug, PartialEq)]
pub struct ClockFacts {
    /// `tsc`, `cntvct` or `os`.
    pub source: String,
    /// Smallest step seen, in nanoseconds.
    pub resolution_ns: f64,
    /// Nanoseconds that reading it twice takes.
    pub overhead_ns: f64,
    /// The reason why the counter of the processor was not used.
    pub fallback: Option<String>,
}

/// A commit of git.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// Its name, all digits of it.
    pub id: String,
    /// The time of the commit in seconds since 1970-01-01 UTC, when known.
    pub committed_at: Option<u64>,
    /// The first line of its message.
    pub subject: String,
}

impl Commit {
    /// The name as people read it.
    pub fn short(&self) -> &str {
        self.id.get(..8).unwrap_or(&self.id)
    }
}

/// Facts about the machine; a fact that could not be learned is `None`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Environment {
    /// Operating system and architecture, such as `linux x86_64`.
    pub system: String,
    /// The identity of this boot of the machine, where the race is spread over several.
    pub boot: Option<String>,
    /// The contents of the programs that race, each by its name and SHA-256, where the race is
    /// spread over several machines: all have to race the same.
    pub programs: Vec<(String, String)>,
    /// The conditions that this host measures under, where the race is spread over several.
    pub conditions: Conditions,
    /// The parts that the run was merged of; `None` where it was raced as one.
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
    /// Cores the contenders were held on; empty when they were not pinned.
    pub pinned: Vec<u32>,
    /// Access to hardware counters; `None` when nobody asked.
    pub counters: Option<CounterAccess>,
    /// The clock of the samples, where it is not the one of the system that times whole processes.
    pub clock: Option<ClockFacts>,
    /// True if the code measured was built with debug assertions.
    pub debug_build: bool,
    /// The executables that neutral links were asked of; empty when nobody asked.
    pub neutral_links: Vec<NeutralLinks>,
    /// The way of each side to be built, the baseline first, where these are two; else empty.
    pub builds: Vec<String>,
    /// What the sides have besides the code under test.
    pub surroundings: Surroundings,
    /// The commits that the two sides were built from, the baseline first; empty where a side is not
    /// a commit, or its build differs from the other side's.
    pub commits: Vec<Commit>,
    /// The short name of this installation, written beside commits: races of one machine are
    /// checked together.
    pub machine: Option<String>,
    /// The calibration of races of this kind on this machine; `None` where it was not calibrated.
    pub calibration: Option<CalibrationNote>,
}

impl Machine {
    /// The machine of these facts.
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

/// Facts known before the race of neutral links of one executable: links of the same objects with
/// their function sections aligned and shuffled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NeutralLinks {
    /// The executable as it was named.
    pub executable: String,
    /// The linker that makes them, with its version. `Err` says why there are none.
    pub made_by: Result<String, String>,
    /// Object files whose functions share one section, so that they keep their places among each
    /// other however the sections are shuffled.
    pub unsectioned: Vec<String>,
    /// `Ok` if the links of one replicate are matched to those of the other builds: what the builds
    /// share lies at the same places in all of them. `Err` says why not, and `None` that nobody
    /// asked for it or there is no other build.
    pub matched: Option<Result<(), String>>,
    /// True if they are matched and every process is loaded at an address of its own all the same,
    /// because the system does not let that be fixed.
    pub random_addresses: bool,
}

impl NeutralLinks {
    /// Returns true if they are matched to those of the other builds.
    pub fn is_matched(&self) -> bool {
        matches!(self.matched, Some(Ok(())))
    }
}

/// One neutral link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NeutralLink {
    /// The seed its function sections were shuffled by.
    pub seed: u32,
    /// The beginning of the SHA-256 of the executable, in hexadecimal.
    pub hash: String,
    /// True if what the builds that are raced share lies where it does in the links that the others
    /// have.
    pub matched: bool,
}

/// Where the code of one contender lay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Placing {
    /// Where the user's own link put it.
    Own,
    /// Where a neutral link put it.
    Neutral(NeutralLink),
}

/// A neutral link that could not be raced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedLink {
    /// The seed its function sections were shuffled by.
    pub seed: u32,
    /// The error, and how to see it again.
    pub reason: String,
}

/// Where the code lay in one replicate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// Index of the benchmark in the plan.
    pub benchmark: usize,
    /// The replicate, counted from 0.
    pub replicate: u32,
    /// One entry per contender. Contenders of one executable share a link.
    pub contenders: Vec<Placing>,
    /// Links that were drawn for this replicate before, and came to nothing.
    pub refused: Vec<RefusedLink>,
    /// The reason why somebody runs as linked by the user although neutral links had been possible
    /// when the race began.
    pub fallen_back: Option<String>,
}

impl Placed {
    /// Returns true if the placement of these two contenders was drawn.
    pub fn is_drawn(&self, baseline: usize, candidate: usize) -> bool {
        [baseline, candidate]
            .iter()
            .all(|index| matches!(self.contenders.get(*index), Some(Placing::Neutral(_))))
    }

    /// Returns true if these two are builds whose links were matched.
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
