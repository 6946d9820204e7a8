//! Functions in worker processes: a fresh one for every replicate.

use std::time::Instant;

use deadheat_model::{Block, BlockRecord, ClockFacts, Metric, Plan, Slot, Workload};
use rand_core::Rng;

use super::Contenders;
use super::readings::fill;
use super::workers::{FunctionOptions, Lineup, Workers, unexpected};
use crate::error::{EngineError, Moment};
use crate::function::Pilot;
use crate::interrupt::Interrupts;
use crate::random::{Purpose, shuffle};
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
    workers: Workers<'a>,
    lineups: Vec<Lineup>,
    /// The process of the replicate that runs.
    worker: Option<(u32, WorkerProcess)>,
}

impl<'a> FunctionContenders<'a> {
    /// Measures the clock and finds the cores; starts nothing yet.
    pub fn new(options: FunctionOptions, interrupts: &'a Interrupts) -> Result<Self, EngineError> {
        Ok(Self {
            workers: Workers::new(options, interrupts)?,
            lineups: Vec::new(),
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
        let mut worker = self.workers.start(lineup, moment, place)?;
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
        let mut worker = self.workers.start(lineup, moment, place)?;
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
            let calls =
                benchmark
                    .contenders
                    .iter()
                    .find_map(|contender| match &contender.workload {
                        Workload::Function(calls) => Some(*calls),
                        Workload::Command(_) | Workload::Recording => None,
                    });
            Lineup {
                name: benchmark.name.clone(),
                contenders: benchmark
                    .contenders
                    .iter()
                    .map(|c| c.name.clone())
                    .collect(),
                iterations: calls.map_or(1, |calls| calls.iterations),
                threads: calls.map_or(1, |calls| calls.threads),
            }
        });
        self.lineups = lineups.collect();
    }

    /// Ends the process of the last replicate and starts that of the next,
    /// with all contenders warm.
    fn enter_replicate(&mut self, benchmark: usize, replicate: u32) -> Result<(), EngineError> {
        if let Some((_, worker)) = self.worker.take() {
            worker.leave();
        }
        self.workers.check_clock()?;
        let lineup = self.lineups[benchmark].clone();
        let moment = Moment::WarmUp;
        let place = [benchmark as u64, u64::from(replicate), 0];
        let mut worker = self.workers.start(&lineup, moment, place)?;
        // A fair coin for who comes first: the first to run is the first to
        // find its place in caches and heap.
        let mut order: Vec<usize> = (0..lineup.contenders.len()).collect();
        let mut rng = self.workers.stream(Purpose::WarmUp, place);
        shuffle(&mut rng, &mut order);
        let request = Request::WarmUp {
            seed: rng.next_u64(),
            order,
            iterations: lineup.iterations,
        };
        match self.workers.ask(&mut worker, &lineup, moment, &request)? {
            Reply::Warm { .. } => {
                self.worker = Some((replicate, worker));
                Ok(())
            }
            reply => Err(unexpected(&lineup, moment, &reply)),
        }
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
        let running = self.worker.as_ref().map(|(replicate, _)| *replicate);
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
        let (replicate, mut worker) = self.worker.take().expect("entered above");
        let reply = self.workers.ask(&mut worker, lineup, moment, &request)?;
        let width = self.workers.metrics.len();
        match reply {
            Reply::Block { values } if values.len() == width * block.slots.len() => {
                fill(
                    record,
                    block,
                    &values,
                    width,
                    lineup.iterations,
                    lineup.threads,
                );
            }
            reply => return Err(unexpected(lineup, moment, &reply)),
        }
        self.worker = Some((replicate, worker));
        Ok(())
    }

    fn launched(&mut self) -> u64 {
        std::mem::take(&mut self.workers.launched)
    }

    fn close(&mut self, _benchmark: usize) -> Result<(), EngineError> {
        if let Some((_, worker)) = self.worker.take() {
            worker.leave();
        }
        Ok(())
    }
}
