//! Reruns on the user's own link: they race after all other benchmarks, within the time that these
//! leave, and their failures affect no other benchmark.

mod common;

use std::time::Duration;

use deadheat_engine::{
    Contenders, EngineError, FunctionError, FunctionFailure, Moment, NeverStop, Progress, Session,
    SimulatedClock, Watcher,
};
use deadheat_model::{
    Benchmark, Block, BlockRecord, Decision, EndReason, Flags, Metric, Placed, Plan, Rerun,
    RerunKind, Run, Sample, Samples, Slot, Standing, StoppingRule, Unrecorded, Workload,
};
use deadheat_testing::runs::contenders;

/// Contenders whose blocks take one second each. The benchmark `broken` fails.
struct Seconds {
    clock: SimulatedClock,
    broken: Option<usize>,
    opened: Vec<usize>,
}

impl Contenders for Seconds {
    fn metrics(&self) -> &[Metric] {
        &[Metric::Wall]
    }

    fn open(&mut self, benchmark: usize) -> Result<(), EngineError> {
        self.opened.push(benchmark);
        Ok(())
    }

    fn warm_up(&mut self, _benchmark: usize, _slots: &[Slot]) -> Result<(), EngineError> {
        Ok(())
    }

    fn run(&mut self, block: &Block, record: &mut BlockRecord) -> Result<(), EngineError> {
        if Some(block.benchmark) == self.broken {
            return Err(EngineError::Function(Box::new(FunctionFailure {
                benchmark: "broken".to_owned(),
                contender: None,
                moment: Moment::WarmUp,
                cause: FunctionError::Exited(7),
                link: None,
                stderr_tail: None,
            })));
        }
        self.clock.advance(1_000_000_000);
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

    fn placed(&mut self) -> Option<Placed> {
        None
    }

    fn launched(&mut self) -> u64 {
        1
    }

    fn close(&mut self, _benchmark: usize) -> Result<(), EngineError> {
        Ok(())
    }
}

/// Stops a rerun after its number of replicates, and never stops other benchmarks.
struct ByReplicates(Plan);

impl StoppingRule for ByReplicates {
    fn decide(&mut self, benchmark: usize, samples: &Samples) -> Decision {
        let own_link = self.0.benchmarks[benchmark].rerun;
        let complete = samples.blocks().len() as u32;
        match own_link.is_some_and(|own_link| complete >= own_link.replicates) {
            true => Decision::Stop,
            false => Decision::GoOn,
        }
    }

    fn standing(&mut self, _benchmark: usize, _samples: &Samples) -> Option<Standing> {
        None
    }
}

/// The progress reported after each block: the index of the benchmark, the number of benchmarks,
/// true for a rerun, the maximum number of blocks, and the maximum number of seconds left.
#[derive(Default)]
struct Told(Vec<(usize, usize, bool, u64, u64)>);

impl Watcher for Told {
    fn watching(&self) -> bool {
        true
    }

    fn block_done(&mut self, progress: &Progress<'_>) {
        self.0.push((
            progress.index,
            progress.benchmarks,
            progress.rerun.is_some(),
            progress.blocks_at_most,
            progress.left_at_most_ns / 1_000_000_000,
        ));
    }
}

/// Returns a run of two benchmarks with ten replicates of one block each. The first benchmark of
/// the plan is a rerun of the last.
fn run() -> Run {
    let benchmark = |name: &str, own_link| Benchmark {
        name: name.to_owned(),
        contenders: contenders(["a", "b"], &Workload::Recording),
        rerun: own_link,
        ..Benchmark::default()
    };
    let beside = Rerun {
        kind: RerunKind::OwnLink,
        of: 2,
        replicates: 4,
    };
    common::run(
        10,
        1,
        vec![
            benchmark("second", Some(beside)),
            benchmark("first", None),
            benchmark("second", None),
        ],
    )
}

struct Raced {
    run: Run,
    told: Told,
    opened: Vec<usize>,
    blocks: Vec<usize>,
}

fn race(budget: Option<u64>, broken: Option<usize>) -> Raced {
    let mut run = run();
    let clock = SimulatedClock::default();
    let mut contenders = Seconds {
        clock: clock.clone(),
        broken,
        opened: Vec::new(),
    };
    let mut told = Told::default();
    Session {
        contenders: &mut contenders,
        clock: &clock,
        rule: &mut ByReplicates(run.header.plan.clone()),
        sink: &mut Unrecorded,
        watcher: &mut told,
        stop: &NeverStop,
        max_replicates: 10,
        budget: budget.map(Duration::from_secs),
        // Failures of reruns never end a race, so `false` has no effect on them.
        outlive_failures: broken != Some(0),
    }
    .race(&mut run)
    .unwrap();
    Raced {
        blocks: run.benchmarks.iter().map(|s| s.blocks().len()).collect(),
        opened: contenders.opened,
        told,
        run,
    }
}

#[test]
fn what_stands_beside_comes_last_and_takes_its_replicates() {
    let raced = race(None, None);
    assert_eq!(raced.opened, [1, 2, 0]);
    assert_eq!(raced.blocks, [4, 10, 10]);
}

#[test]
fn it_is_no_benchmark_of_its_own_to_who_watches() {
    let told = race(None, None).told.0;
    assert_eq!(told[0], (1, 2, false, 10, 9 + 10 + 4));
    assert_eq!(told[10], (2, 2, false, 10, 9 + 4));
    assert_eq!(told[20], (2, 2, true, 4, 3));
}

#[test]
fn it_costs_the_others_nothing_of_a_budget() {
    let raced = race(Some(16), None);
    assert_eq!(raced.blocks, [0, 8, 8], "half each, as without it");
    assert_eq!(raced.run.end.unwrap().reason, EndReason::Budget);
    let raced = race(Some(22), None);
    assert_eq!(raced.blocks, [2, 10, 10], "it has what they leave");
    assert_eq!(
        raced.run.end.unwrap().reason,
        EndReason::Finished,
        "no verdict waited for more"
    );
}

#[test]
fn its_failure_is_its_own() {
    let raced = race(None, Some(0));
    assert_eq!(raced.blocks, [0, 10, 10]);
    assert_eq!(raced.run.failures[0].benchmark, 0);
    assert_eq!(raced.run.end.unwrap().reason, EndReason::Finished);
}

#[test]
fn nothing_stands_beside_a_benchmark_that_failed() {
    let raced = race(None, Some(2));
    assert_eq!(raced.opened, [1, 2]);
    assert_eq!(raced.run.failures.len(), 1);
}
