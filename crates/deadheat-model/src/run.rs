//! One full execution of a plan.

use crate::environment::Environment;
use crate::metric::Metric;
use crate::placement::Placed;
use crate::plan::Plan;
use crate::results::ResultSide;
use crate::samples::Samples;

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
#[derive(Clone, Debug, PartialEq, Eq)]
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Benchmark;
    use crate::race_settings::{Design, Looks};
    use crate::samples::BlockRecord;
    use crate::samples::{Flags, Sample};
    use crate::schedule::ContenderId;

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
}
