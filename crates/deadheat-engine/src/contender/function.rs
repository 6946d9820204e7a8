//! Functions in worker processes: a fresh one for every replicate.

use std::time::Instant;

use deadheat_model::{Block, BlockRecord, ClockFacts, Metric, Placed, Plan, Slot};

use super::Contenders;
use super::function_links::{FunctionLinks, naming_link};
use super::readings::fill;
use super::workers::{FunctionOptions, Lineup, Workers, unexpected};
use crate::error::{EngineError, Moment};
use crate::function::Pilot;
use crate::interrupt::Interrupts;
use crate::placement::Variant;
use crate::random::Purpose;
use crate::worker::{Reply, Request, WorkerProcess};

/// What the pilot of one benchmark found.
#[derive(Clone, Debug, PartialEq)]
pub struct Piloted {
    /// What the worker found.
    pub pilot: Pilot,
    /// What a process costs before its first block, in nanoseconds.
    pub process_ns: f64,
}

/// The functions of a suite, raced in worker processes.
pub struct FunctionContenders<'a> {
    pub(super) workers: Workers<'a>,
    pub(super) lineups: Vec<Lineup>,
    pub(super) links: FunctionLinks,
    /// Where the code lies in the replicate that has just begun.
    pub(super) placed: Option<Placed>,
    /// The process of the replicate that runs.
    pub(super) worker: Option<Running>,
}

/// The process of a replicate.
pub(super) struct Running {
    pub(super) replicate: u32,
    pub(super) worker: WorkerProcess,
    /// The neutral link it runs on.
    pub(super) variant: Option<Variant>,
}

impl<'a> FunctionContenders<'a> {
    /// Measures the clock and finds the cores; starts nothing yet.
    pub fn new(options: FunctionOptions, interrupts: &'a Interrupts) -> Result<Self, EngineError> {
        // Before anything settles on one core.
        let links = FunctionLinks::new(&options);
        Ok(Self {
            workers: Workers::new(options, interrupts)?,
            lineups: Vec::new(),
            links,
            placed: None,
            worker: None,
        })
    }

    /// The clock of the samples.
    pub fn clock_facts(&self) -> ClockFacts {
        let clock = self.workers.gauge.clock();
        ClockFacts {
            source: clock.source().name().to_owned(),
            resolution_ns: clock.resolution_ns(),
            overhead_ns: clock.overhead_ns(),
            fallback: self.workers.fallback.clone(),
        }
    }

    /// Cores that replicates are drawn on; empty when they are not pinned.
    pub fn pinned(&self) -> &[u32] {
        self.workers.cores.choices()
    }

    /// Finds out in a process of its own how many calls of this benchmark make
    /// a sample. `index` is its place in the plan to come; the iterations of
    /// the line-up are not looked at.
    pub fn pilot(&mut self, index: usize, lineup: &Lineup) -> Result<Piloted, EngineError> {
        let (moment, place) = (Moment::Pilot, [index as u64, u64::MAX, 0]);
        let began = Instant::now();
        let mut worker = self.workers.start(lineup, moment, place, None)?;
        let process_ns = began.elapsed().as_nanos() as f64;
        let seed = self.workers.draw(Purpose::Input, place);
        let request = Request::Calibrate { seed };
        match self.workers.ask(&mut worker, lineup, moment, &request)? {
            Reply::Calibrated(pilot) => {
                worker.leave();
                Ok(Piloted { pilot, process_ns })
            }
            reply => Err(unexpected(lineup, moment, &reply)),
        }
    }

    /// Calls every contender of a benchmark once, in a process of its own.
    pub fn smoke(&mut self, lineup: &Lineup) -> Result<(), EngineError> {
        let (moment, place) = (Moment::Pilot, [0, u64::MAX, 1]);
        let mut worker = self.workers.start(lineup, moment, place, None)?;
        let seed = self.workers.draw(Purpose::Input, place);
        let request = Request::Smoke { seed };
        match self.workers.ask(&mut worker, lineup, moment, &request)? {
            Reply::Sound => {
                worker.leave();
                Ok(())
            }
            reply => Err(unexpected(lineup, moment, &reply)),
        }
    }

    /// What a step of the clock amounts to, in nanoseconds.
    pub fn tick_ns(&self) -> f64 {
        self.workers.gauge.clock().tick_ns()
    }

    /// Takes over the plan that the pilots led to.
    pub fn enter(&mut self, plan: &Plan) {
        let lineups = plan.benchmarks.iter().map(|benchmark| {
            let calls = benchmark
                .contenders
                .iter()
                .find_map(|contender| contender.workload.calls());
            Lineup {
                name: benchmark.name.clone(),
                contenders: benchmark
                    .contenders
                    .iter()
                    .map(|c| c.name.clone())
                    .collect(),
                iterations: calls.map_or(1, |calls| calls.iterations),
                threads: calls.map_or(1, |calls| calls.threads),
                own_link: benchmark.own_link.is_some(),
            }
        });
        self.lineups = lineups.collect();
        self.links.enter(plan);
    }
}

impl Contenders for FunctionContenders<'_> {
    fn metrics(&self) -> &[Metric] {
        self.workers.metrics
    }

    fn open(&mut self, _benchmark: usize) -> Result<(), EngineError> {
        Ok(())
    }

    /// Nothing: every process warms up for itself.
    fn warm_up(&mut self, _benchmark: usize, _slots: &[Slot]) -> Result<(), EngineError> {
        Ok(())
    }

    fn run(&mut self, block: &Block, record: &mut BlockRecord) -> Result<(), EngineError> {
        let running = self.worker.as_ref().map(|running| running.replicate);
        if running != Some(block.replicate) {
            self.enter_replicate(block.benchmark, block.replicate)?;
        }
        let lineup = &self.lineups[block.benchmark];
        let moment = Moment::Block {
            replicate: block.replicate,
            block: block.index,
            slot: None,
        };
        let place = [
            block.benchmark as u64,
            u64::from(block.replicate),
            u64::from(block.index),
        ];
        let request = Request::Block {
            seed: self.workers.draw(Purpose::Input, place),
            iterations: lineup.iterations,
            prime: block.prime.map(|slot| slot.contender.index()),
            slots: block
                .slots
                .iter()
                .map(|slot| slot.contender.index())
                .collect(),
        };
        let mut running = self.worker.take().expect("entered above");
        let reply = self
            .workers
            .ask(&mut running.worker, lineup, moment, &request);
        let width = self.workers.metrics.len();
        let filled = reply.and_then(|reply| match reply {
            Reply::Block { values } if values.len() == width * block.slots.len() => {
                let (iterations, threads) = (lineup.iterations, lineup.threads);
                fill(record, block, &values, width, iterations, threads);
                Ok(())
            }
            reply => Err(unexpected(lineup, moment, &reply)),
        });
        filled.map_err(|error| naming_link(error, running.variant.clone()))?;
        self.worker = Some(running);
        Ok(())
    }

    fn placed(&mut self) -> Option<Placed> {
        self.placed.take()
    }

    fn launched(&mut self) -> u64 {
        std::mem::take(&mut self.workers.launched)
    }

    fn close(&mut self, _benchmark: usize) -> Result<(), EngineError> {
        if let Some(running) = self.worker.take() {
            running.worker.leave();
        }
        Ok(())
    }
}
