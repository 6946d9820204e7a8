//! Tests what happens to the other benchmarks if one benchmark fails.

mod common;

use std::time::Duration;

use deadheat_engine::{
    Clock, Contenders, EngineError, FunctionError, FunctionFailure, Moment, NeverStop, Session,
    SimulatedClock, StopRequest, Unwatched,
};
use deadheat_model::{
    Benchmark, BenchmarkFailure, Block, BlockRecord, Decision, EndReason, Flags, Harness,
    HarnessCalls, Metric, Observed, Placed, Program, RecordSink, RepetitionLength, Run, RunEnd,
    Sample, Samples, SinkError, Slot, Standing, StoppingRule, Workload,
};
use deadheat_testing::runs::{contenders, function};

/// Contenders of which only the benchmark `broken` fails.
struct OneBroken {
    broken: usize,
    open: Vec<usize>,
    closed: Vec<usize>,
}

impl Contenders for OneBroken {
    fn metrics(&self) -> &[Metric] {
        &[Metric::Wall]
    }

    fn open(&mut self, benchmark: usize) -> Result<(), EngineError> {
        self.open.push(benchmark);
        Ok(())
    }

    fn warm_up(&mut self, _benchmark: usize, _slots: &[Slot]) -> Result<(), EngineError> {
        Ok(())
    }

    fn run(&mut self, block: &Block, record: &mut BlockRecord) -> Result<(), EngineError> {
        if block.benchmark == self.broken && block.replicate == 1 {
            return Err(EngineError::Function(Box::new(FunctionFailure {
                benchmark: "broken".to_owned(),
                contender: None,
                moment: Moment::WarmUp,
                cause: FunctionError::Exited(7),
                link: None,
                stderr_tail: None,
            })));
        }
        for slot in &block.slots {
            record.values.push(10.0);
            record.samples.push(Sample {
                contender: slot.contender,
                flags: Flags::NONE,
                exit_code: None,
                iterations: 1,
            });
        }
        Ok(())
    }

    fn launched(&mut self) -> u64 {
        1
    }

    fn close(&mut self, benchmark: usize) -> Result<(), EngineError> {
        self.closed.push(benchmark);
        Ok(())
    }
}

/// A stopping rule that never stops a benchmark.
struct Never;

impl StoppingRule for Never {
    fn decide(&mut self, _benchmark: usize, _samples: &Samples) -> Decision {
        Decision::GoOn
    }

    fn standing(&mut self, _benchmark: usize, _samples: &Samples) -> Option<Standing> {
        None
    }
}

/// Stores the failures that it receives.
#[derive(Default)]
struct Failures(Vec<BenchmarkFailure>);

impl RecordSink for Failures {
    fn block(&mut self, _block: &BlockRecord) -> Result<(), SinkError> {
        Ok(())
    }

    fn placed(&mut self, _placed: &Placed) -> Result<(), SinkError> {
        Ok(())
    }

    fn observed(&mut self, _observed: &Observed) -> Result<(), SinkError> {
        Ok(())
    }

    fn failed(&mut self, failure: &BenchmarkFailure) -> Result<(), SinkError> {
        self.0.push(failure.clone());
        Ok(())
    }

    fn end(&mut self, _end: &RunEnd) -> Result<(), SinkError> {
        Ok(())
    }
}

/// Returns a run of three benchmarks of two functions with three replicates of two blocks each; the
/// last benchmark has one block per replicate.
fn run() -> Run {
    let benchmark = |name: &str, blocks| Benchmark {
        name: name.to_owned(),
        contenders: contenders(["a", "b"], &function(1)),
        blocks_per_replicate: blocks,
        ..Benchmark::default()
    };
    common::run(
        3,
        2,
        vec![
            benchmark("sound", None),
            benchmark("broken", None),
            benchmark("brief", Some(1)),
        ],
    )
}

fn race(
    run: &mut Run,
    contenders: &mut OneBroken,
    outlive_failures: bool,
) -> (Result<(), EngineError>, Vec<BenchmarkFailure>) {
    let mut sink = Failures::default();
    let raced = Session {
        contenders,
        clock: &SimulatedClock::default(),
        rule: &mut Never,
        sink: &mut sink,
        watcher: &mut Unwatched,
        stop: &NeverStop,
        max_replicates: 3,
        budget: None,
        outlive_failures,
    }
    .race(run);
    (raced, sink.0)
}

fn one_broken() -> OneBroken {
    OneBroken {
        broken: 1,
        open: Vec::new(),
        closed: Vec::new(),
    }
}

#[test]
fn a_benchmark_that_fails_costs_itself_only() {
    let mut run = run();
    let mut contenders = one_broken();
    let (raced, noted) = race(&mut run, &mut contenders, true);
    raced.unwrap();
    assert_eq!(run.failures, noted);
    assert_eq!(noted.len(), 1);
    assert_eq!(noted[0].benchmark, 1);
    assert!(noted[0].message.contains("exit code 7"), "{noted:?}");
    assert_eq!(run.end.as_ref().unwrap().reason, EndReason::Finished);
    let blocks: Vec<usize> = run.benchmarks.iter().map(|s| s.blocks().len()).collect();
    assert_eq!(blocks, [6, 2, 3], "every benchmark has blocks of its own");
    assert_eq!(contenders.closed, [0, 1, 2], "the broken one is closed too");
}

#[test]
fn where_failures_are_not_outlived_the_first_ends_the_race() {
    let mut run = run();
    let (raced, noted) = race(&mut run, &mut one_broken(), false);
    assert!(matches!(raced, Err(EngineError::Function(_))));
    assert!(noted.is_empty());
    assert!(run.benchmarks[2].blocks().is_empty());
    assert!(matches!(
        run.end.as_ref().unwrap().reason,
        EndReason::Failed(_)
    ));
}

#[test]
fn a_benchmark_that_failed_before_the_race_is_not_opened() {
    let mut run = run();
    run.failures.push(BenchmarkFailure {
        benchmark: 0,
        message: "its pilot panicked".to_owned(),
    });
    let mut contenders = one_broken();
    race(&mut run, &mut contenders, true).0.unwrap();
    assert_eq!(contenders.open, [1, 2]);
    assert_eq!(run.failures.len(), 2);
}

/// Contenders whose blocks take one second each. As a source of requests to stop, it reports
/// SIGTERM after the first block.
struct Slow(SimulatedClock);

impl Contenders for Slow {
    fn metrics(&self) -> &[Metric] {
        &[Metric::Wall]
    }

    fn open(&mut self, _benchmark: usize) -> Result<(), EngineError> {
        Ok(())
    }

    fn warm_up(&mut self, _benchmark: usize, _slots: &[Slot]) -> Result<(), EngineError> {
        Ok(())
    }

    fn run(&mut self, block: &Block, record: &mut BlockRecord) -> Result<(), EngineError> {
        self.0.advance(1_000_000_000);
        for slot in &block.slots {
            record.values.push(10.0);
            record.samples.push(Sample {
                contender: slot.contender,
                flags: Flags::NONE,
                exit_code: None,
                iterations: 1,
            });
        }
        Ok(())
    }

    fn launched(&mut self) -> u64 {
        1
    }

    fn close(&mut self, _benchmark: usize) -> Result<(), EngineError> {
        Ok(())
    }
}

impl StopRequest for Slow {
    fn requested(&self) -> Option<i32> {
        (self.0.elapsed_ns() > 0).then_some(15)
    }
}

#[test]
fn a_replicate_whose_samples_are_all_taken_is_recorded_whole() {
    let google = Workload::Harness(Box::new(HarnessCalls {
        harness: Harness::GoogleBenchmark,
        program: Program::default(),
        benchmark: "sound".to_owned(),
        length: RepetitionLength::Own,
        warm_up: 0,
        planned_iterations: None,
        repetitions: 2,
        threads: 1,
        fixes_addresses: false,
    }));
    let blocks = |workload: Option<&Workload>, budget, stop: Option<()>| {
        let mut run = run();
        run.header.plan.benchmarks.truncate(1);
        if let Some(workload) = workload {
            for contender in &mut run.header.plan.benchmarks[0].contenders {
                contender.workload = workload.clone();
            }
        }
        let clock = SimulatedClock::default();
        let signal = Slow(clock.clone());
        Session {
            contenders: &mut Slow(clock.clone()),
            clock: &clock,
            rule: &mut Never,
            sink: &mut Failures::default(),
            watcher: &mut Unwatched,
            stop: stop.map_or(&NeverStop as &dyn StopRequest, |()| &signal),
            max_replicates: 3,
            budget,
            outlive_failures: true,
        }
        .race(&mut run)
        .unwrap();
        run.benchmarks[0].blocks().len()
    };
    let second = Some(Duration::from_secs(1));
    for (budget, stop) in [(second, None), (None, Some(()))] {
        assert_eq!(blocks(None, budget, stop), 1, "in the middle");
        assert_eq!(blocks(Some(&google), budget, stop), 2, "the replicate");
    }
}
