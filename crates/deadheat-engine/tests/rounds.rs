//! Tests races in rounds: the order of the turns, and how each benchmark ends.

mod common;

use std::collections::BTreeMap;
use std::time::Duration;

use deadheat_engine::{
    Contenders, EngineError, FunctionError, FunctionFailure, Moment, Progress, Session,
    SimulatedClock, StopRequest, Watcher,
};
use deadheat_model::{
    Benchmark, Block, BlockRecord, Decision, EndReason, Flags, Metric, Rerun, RerunKind, Run,
    Sample, Samples, Standing, StoppingRule, Unrecorded, Workload,
};
use deadheat_testing::runs::contenders;

/// The parameters of a simulated race: the seconds that a block of each benchmark takes, and
/// events.
#[derive(Clone, Default)]
struct Course {
    seconds: Vec<u64>,
    /// The seconds that the first benchmark of each replicate spends on a start that all benchmarks
    /// share.
    shared: u64,
    /// By benchmark, the replicate in which it fails.
    fails: BTreeMap<usize, u32>,
    /// By benchmark, the number of replicates after which the stopping rule ends it.
    decided: BTreeMap<usize, u32>,
    budget: Option<u64>,
    own_budgets: BTreeMap<usize, u64>,
    /// The number of blocks after which a signal requests a stop.
    interrupted: Option<usize>,
    reruns: bool,
}

struct Timed {
    course: Course,
    clock: SimulatedClock,
    entered: Option<u32>,
    shared_ns: u64,
    opened: Vec<usize>,
    closed: Vec<usize>,
}

impl Contenders for Timed {
    fn metrics(&self) -> &[Metric] {
        &[Metric::Wall]
    }

    fn open(&mut self, benchmark: usize) -> Result<(), EngineError> {
        self.opened.push(benchmark);
        Ok(())
    }

    fn run(&mut self, block: &Block, record: &mut BlockRecord) -> Result<(), EngineError> {
        if self.course.fails.get(&block.benchmark) == Some(&block.replicate) {
            return Err(EngineError::Function(Box::new(FunctionFailure {
                benchmark: "broken".to_owned(),
                contender: None,
                moment: Moment::WarmUp,
                cause: FunctionError::Exited(7),
                link: None,
                stderr_tail: None,
            })));
        }
        if self.entered.replace(block.replicate) != Some(block.replicate) {
            self.clock.advance(self.course.shared * 1_000_000_000);
            self.shared_ns = self.course.shared * 1_000_000_000;
        }
        self.clock
            .advance(self.course.seconds[block.benchmark] * 1_000_000_000);
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

    fn shared_ns(&mut self) -> u64 {
        std::mem::take(&mut self.shared_ns)
    }

    fn close(&mut self, benchmark: usize) -> Result<(), EngineError> {
        self.closed.push(benchmark);
        Ok(())
    }
}

struct Decided(BTreeMap<usize, u32>);

impl StoppingRule for Decided {
    fn decide(&mut self, benchmark: usize, samples: &Samples) -> Decision {
        let complete = samples.blocks().len() as u32 / BLOCKS;
        match self.0.get(&benchmark) {
            Some(after) if complete >= *after => Decision::Stop,
            _ => Decision::GoOn,
        }
    }

    fn standing(&mut self, _benchmark: usize, _samples: &Samples) -> Option<Standing> {
        None
    }
}

struct AfterBlocks(Option<usize>, std::cell::Cell<usize>);

impl StopRequest for AfterBlocks {
    fn requested(&self) -> Option<i32> {
        self.1.set(self.1.get() + 1);
        self.0
            .is_some_and(|blocks| self.1.get() > blocks)
            .then_some(2)
    }
}

/// The number of blocks per replicate.
const BLOCKS: u32 = 2;
/// The maximum number of replicates.
const MOST: u32 = 3;

fn run(course: &Course) -> Run {
    let mut benchmarks: Vec<Benchmark> = ["a", "b", "c"]
        .map(|name| Benchmark {
            name: name.to_owned(),
            contenders: contenders(["old", "new"], &Workload::Recording),
            ..Benchmark::default()
        })
        .to_vec();
    if course.reruns {
        let rerun = Rerun {
            kind: RerunKind::OwnLink,
            of: 1,
            replicates: 1,
        };
        benchmarks.push(Benchmark {
            rerun: Some(rerun),
            ..benchmarks[1].clone()
        });
    }
    for (benchmark, seconds) in &course.own_budgets {
        benchmarks[*benchmark].overrides.budget = Some(Duration::from_secs(*seconds));
    }
    let mut run = common::run(MOST, BLOCKS, benchmarks);
    run.header.plan.design.rounds = true;
    run
}

/// The replicates in the order in which they ran; `a0` is the first replicate of benchmark `a`.
#[derive(Default)]
struct Recorded(Vec<String>);

impl Watcher for Recorded {
    fn watching(&self) -> bool {
        true
    }

    fn block_done(&mut self, progress: &Progress<'_>) {
        let replicate = (progress.blocks - 1) / u64::from(BLOCKS);
        let turn = format!("{}{replicate}", progress.benchmark);
        if self.0.last() != Some(&turn) {
            self.0.push(turn);
        }
    }
}

struct Raced {
    turns: String,
    run: Run,
    opened: Vec<usize>,
    closed: Vec<usize>,
}

impl Raced {
    fn blocks(&self) -> Vec<usize> {
        let samples = self.run.benchmarks.iter();
        samples.map(|samples| samples.blocks().len()).collect()
    }
}

fn race(course: Course) -> Raced {
    race_on(run(&course), course)
}

fn race_on(mut run: Run, course: Course) -> Raced {
    let clock = SimulatedClock::default();
    let mut contenders = Timed {
        course: course.clone(),
        clock: clock.clone(),
        entered: None,
        shared_ns: 0,
        opened: Vec::new(),
        closed: Vec::new(),
    };
    let mut recorded = Recorded::default();
    Session {
        contenders: &mut contenders,
        clock: &clock,
        rule: &mut Decided(course.decided),
        sink: &mut Unrecorded,
        watcher: &mut recorded,
        stop: &AfterBlocks(course.interrupted, std::cell::Cell::default()),
        max_replicates: MOST,
        budget: course.budget.map(Duration::from_secs),
        outlive_failures: true,
    }
    .race(&mut run)
    .unwrap();
    Raced {
        turns: recorded.0.join(" "),
        run,
        opened: contenders.opened,
        closed: contenders.closed,
    }
}

fn seconds(each: [u64; 3]) -> Course {
    Course {
        seconds: each.into_iter().chain([1]).collect(),
        ..Course::default()
    }
}

#[test]
fn one_replicate_of_each_benchmark_comes_before_the_next_of_any() {
    let raced = race(seconds([1, 1, 1]));
    assert_eq!(raced.turns, "a0 b0 c0 a1 b1 c1 a2 b2 c2");
    assert_eq!(raced.opened, [0, 1, 2]);
    assert_eq!(raced.closed, [0, 1, 2]);
    assert_eq!(raced.run.end.unwrap().reason, EndReason::Finished);
}

#[test]
fn a_benchmark_that_is_decided_leaves_the_rounds() {
    let raced = race(Course {
        decided: [(0, 2), (1, 1)].into(),
        ..seconds([1, 1, 1])
    });
    assert_eq!(raced.turns, "a0 b0 c0 a1 c1 c2");
    assert_eq!(raced.closed, [1, 0, 2]);
}

#[test]
fn a_benchmark_that_fails_leaves_the_rounds_and_costs_itself_only() {
    let raced = race(Course {
        fails: [(1, 1), (2, 0)].into(),
        ..seconds([1, 1, 1])
    });
    assert_eq!(raced.turns, "a0 b0 a1 a2");
    let failed: Vec<usize> = raced.run.failures.iter().map(|one| one.benchmark).collect();
    assert_eq!(failed, [2, 1]);
    assert_eq!(raced.closed, [2, 1, 0]);
    assert_eq!(raced.run.end.unwrap().reason, EndReason::Finished);
}

#[test]
fn a_limit_of_its_own_ends_a_benchmark_and_no_other() {
    let raced = race(Course {
        own_budgets: [(0, 15)].into(),
        ..seconds([6, 1, 1])
    });
    // The two blocks of a replicate take 12 s, and one more block begins before 15 s.
    assert_eq!(raced.blocks(), [3, 6, 6]);
    assert_eq!(raced.run.end.unwrap().reason, EndReason::Budget);
}

#[test]
fn what_serves_all_is_no_time_of_the_one_that_comes_first() {
    let raced = race(Course {
        shared: 10,
        own_budgets: [(0, 7), (1, 7), (2, 7)].into(),
        ..seconds([1, 1, 1])
    });
    assert_eq!(raced.blocks(), [6, 6, 6]);
    assert_eq!(raced.run.end.unwrap().reason, EndReason::Finished);
}

#[test]
fn a_budget_is_shared_by_time_and_names_what_it_ends() {
    let raced = race(Course {
        budget: Some(24),
        ..seconds([5, 1, 1])
    });
    // A share is 8 s: the first replicate of `a` takes 10 s, and the other benchmarks race to their
    // ends.
    assert_eq!(raced.turns, "a0 b0 c0 b1 c1 b2 c2 a1");
    assert_eq!(raced.run.end.unwrap().reason, EndReason::Budget);
    let raced = race(Course {
        budget: Some(9),
        ..seconds([1, 1, 1])
    });
    assert_eq!(raced.blocks(), [4, 3, 2]);
    assert_eq!(raced.opened.len(), raced.closed.len());
}

#[test]
fn a_budget_that_is_used_up_before_measures_one_block() {
    let raced = race(Course {
        budget: Some(0),
        ..seconds([1, 1, 1])
    });
    assert_eq!(raced.blocks(), [1, 0, 0]);
    assert_eq!(raced.opened, raced.closed);
}

#[test]
fn an_interruption_closes_whatever_was_opened() {
    let raced = race(Course {
        interrupted: Some(5),
        ..seconds([1, 1, 1])
    });
    assert_eq!(raced.turns, "a0 b0 c0");
    assert_eq!(raced.blocks(), [2, 2, 1]);
    assert_eq!(raced.closed, [2, 0, 1], "the one that ran first");
    let reason = raced.run.end.unwrap().reason;
    assert!(matches!(reason, EndReason::Interrupted(_)), "{reason:?}");
}

#[test]
fn a_run_that_is_taken_up_lets_those_behind_catch_up() {
    let first = race(Course {
        interrupted: Some(8),
        ..seconds([1, 1, 1])
    });
    assert_eq!(first.blocks(), [4, 2, 2]);
    let again = race_on(first.run, seconds([1, 1, 1]));
    assert_eq!(again.turns, "b1 c1 a2 b2 c2");
    assert_eq!(again.run.end.unwrap().reason, EndReason::Finished);
}

#[test]
fn own_links_come_after_all_rounds() {
    let raced = race(Course {
        reruns: true,
        decided: [(3, 1)].into(),
        ..seconds([1, 1, 1])
    });
    assert_eq!(raced.turns, "a0 b0 c0 a1 b1 c1 a2 b2 c2 b0");
}

#[test]
fn the_schedule_of_each_benchmark_is_the_same_as_one_after_the_other() {
    let in_rounds = race(seconds([1, 1, 1])).run;
    let mut one_by_one = run(&seconds([1, 1, 1]));
    one_by_one.header.plan.design.rounds = false;
    let one_by_one = race_on(one_by_one, seconds([1, 1, 1]));
    assert_eq!(one_by_one.turns, "a0 a1 a2 b0 b1 b2 c0 c1 c2");
    for (one, other) in in_rounds.benchmarks.iter().zip(&one_by_one.run.benchmarks) {
        let order = |samples: &Samples| {
            let samples = samples.samples().iter();
            samples.map(|sample| sample.contender).collect::<Vec<_>>()
        };
        assert_eq!(order(one), order(other));
    }
}
