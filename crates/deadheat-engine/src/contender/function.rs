//! Functions in worker processes: fresh ones for every replicate.

use std::time::{Duration, Instant};

use deadheat_model::{Benchmark, Block, BlockRecord, ClockFacts, Metric, Placed, Plan, Slot};

use super::Contenders;
use super::function_links::FunctionLinks;
use super::process_layout::ProcessLayout;
use super::readings::fill;
use super::run_position::RunPosition;
use super::worker_session::{WorkerSession, leave};
use super::workers::{FunctionOptions, Workers};
use crate::error::{EngineError, Moment};
use crate::function::Pilot;
use crate::interrupt::Interrupts;
use crate::worker::{Relay, Reply, Request, SEEDS};

/// Trial blocks at most, beside the first.
const MOST_BLOCKS: u64 = 8;
/// Blocks that take longer than this, in nanoseconds, are not tried.
const LONG_BLOCK_NS: f64 = 1e8;
/// No trial block starts after this much time.
const TRIAL: Duration = Duration::from_millis(40);

/// What the pilot of one benchmark found.
#[derive(Clone, Debug, PartialEq)]
pub struct Piloted {
    /// What the worker found.
    pub pilot: Pilot,
    /// What a process costs before its first block, in nanoseconds.
    pub process_ns: f64,
}

/// Functions, raced in worker processes: those of one program, or of several that
/// take turns.
pub struct FunctionContenders<'a> {
    pub(super) workers: Workers<'a>,
    pub(super) layouts: Vec<ProcessLayout>,
    pub(super) links: FunctionLinks,
    /// Where the code lies in the replicate that has just begun.
    pub(super) placed: Option<Placed>,
    /// The processes of the replicate that runs.
    pub(super) running: Option<Running>,
}

/// The processes of a replicate.
pub(super) struct Running {
    pub(super) replicate: u32,
    pub(super) team: Vec<WorkerSession>,
    /// Who passes on the baton between more than two.
    pub(super) relay: Option<Relay>,
}

impl<'a> FunctionContenders<'a> {
    /// Measures the clock and finds the cores; starts nothing yet.
    pub fn new(options: FunctionOptions, interrupts: &'a Interrupts) -> Result<Self, EngineError> {
        // Before anything settles on one core.
        let links = FunctionLinks::new(&options);
        Ok(Self {
            workers: Workers::new(options, interrupts)?,
            layouts: Vec::new(),
            links,
            placed: None,
            running: None,
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

    /// Finds out, in processes of its own, how many calls of this benchmark
    /// make a sample. `index` is its place in the plan to come; the iterations
    /// planned so far are not looked at.
    pub fn pilot(&mut self, index: usize, benchmark: &Benchmark) -> Result<Piloted, EngineError> {
        let layout = self.layout(benchmark)?;
        let position = RunPosition {
            layout: &layout,
            moment: Moment::Pilot,
            place: [index as u64, u64::MAX, 0],
        };
        let began = Instant::now();
        let mut team = self.start_team(position)?;
        let process_ns = began.elapsed().as_nanos() as f64;
        let least_ns = self.workers.least_ns(&layout);
        let mut found: Option<Pilot> = None;
        for session in &mut team {
            let request = Request::Calibrate {
                seed: self.workers.input_seed(position.place),
                least_ns,
            };
            let pilot = match self.workers.ask(session, position, &request)? {
                Reply::Calibrated(pilot) if makes_sense(&pilot, &layout) => pilot,
                reply => return Err(session.unexpected(position, &reply)),
            };
            found = Some(match found {
                None => pilot,
                Some(before) => beside(before, pilot),
            });
        }
        let mut pilot = found.expect("there is at least one process");
        if layout.contenders.len() == 2 && pilot.blocks_ns.is_empty() {
            self.try_blocks(&mut team, position, &mut pilot)?;
        }
        leave(team);
        Ok(Piloted { pilot, process_ns })
    }

    /// Runs blocks as a race would, each on an input of its own, as long as
    /// that does not take long.
    fn try_blocks(
        &self,
        team: &mut [WorkerSession],
        position: RunPosition<'_>,
        pilot: &mut Pilot,
    ) -> Result<(), EngineError> {
        let round_ns: f64 = pilot.call_ns.iter().sum::<f64>() * pilot.iterations as f64;
        if 2.0 * round_ns >= LONG_BLOCK_NS {
            return Ok(());
        }
        let metrics = &self.workers.options.metrics;
        let wall = metrics.iter().position(|metric| *metric == Metric::Wall);
        let trial = Instant::now();
        // The first block finds everything cold.
        for index in 0..=MOST_BLOCKS {
            let [benchmark, replicate, _] = position.place;
            let position = RunPosition {
                place: [benchmark, replicate, index],
                ..position
            };
            let began = Instant::now();
            let order = [0, 1, 1, 0];
            let values =
                self.workers
                    .block((team, None), position, pilot.iterations, None, &order)?;
            if index > 0 {
                let slots = values.chunks_exact(metrics.len());
                let walls: Vec<f64> = slots.map(|slot| slot[wall.unwrap_or(0)]).collect();
                pilot.blocks_ns.extend(<[f64; 4]>::try_from(walls));
                let cost_ns = began.elapsed().as_nanos() as f64;
                let least = pilot
                    .block_cost_ns
                    .map_or(cost_ns, |least| least.min(cost_ns));
                pilot.block_cost_ns = Some(least);
            }
            if trial.elapsed() > TRIAL {
                break;
            }
        }
        Ok(())
    }

    /// Calls every contender of a benchmark once, in a process of its own.
    pub fn smoke(&mut self, benchmark: &Benchmark) -> Result<(), EngineError> {
        let layout = self.layout(benchmark)?;
        let position = RunPosition {
            layout: &layout,
            moment: Moment::Pilot,
            place: [0, u64::MAX, 1],
        };
        for mut session in self.start_team(position)? {
            let seed = self.workers.input_seed(position.place);
            let request = Request::Smoke { seed };
            match self.workers.ask(&mut session, position, &request)? {
                Reply::Sound => session.worker.leave(),
                reply => return Err(session.unexpected(position, &reply)),
            }
        }
        Ok(())
    }

    /// The processes of a benchmark as the user linked them, got ready.
    fn start_team(&mut self, position: RunPosition<'_>) -> Result<Vec<WorkerSession>, EngineError> {
        self.workers.settle(position)?;
        let batons = position.batons()?;
        let process_slots = 0..position.layout.process_slots.len();
        process_slots
            .map(|process_slot| {
                let baton = batons.ends.get(process_slot);
                self.workers.start(position, process_slot, None, baton)
            })
            .collect()
    }

    pub(super) fn layout(&mut self, benchmark: &Benchmark) -> Result<ProcessLayout, EngineError> {
        let layout = ProcessLayout::of(benchmark, &mut self.workers.programs);
        layout.ok_or_else(|| EngineError::NoFunctions(benchmark.name.clone()))
    }

    /// What a step of the clock amounts to, in nanoseconds.
    pub fn tick_ns(&self) -> f64 {
        self.workers.gauge.clock().tick_ns()
    }

    /// Takes over the plan that the pilots led to.
    pub fn enter(&mut self, plan: &Plan) -> Result<(), EngineError> {
        let layouts = plan
            .benchmarks
            .iter()
            .map(|benchmark| self.layout(benchmark));
        self.layouts = layouts.collect::<Result<_, _>>()?;
        self.links.enter(plan);
        Ok(())
    }
}

impl Contenders for FunctionContenders<'_> {
    fn metrics(&self) -> &[Metric] {
        &self.workers.options.metrics
    }

    fn open(&mut self, _benchmark: usize) -> Result<(), EngineError> {
        Ok(())
    }

    /// Nothing: every process warms up for itself.
    fn warm_up(&mut self, _benchmark: usize, _slots: &[Slot]) -> Result<(), EngineError> {
        Ok(())
    }

    fn run(&mut self, block: &Block, record: &mut BlockRecord) -> Result<(), EngineError> {
        let running = self.running.as_ref().map(|running| running.replicate);
        if running != Some(block.replicate) {
            self.enter_replicate(block)?;
        }
        let layout = &self.layouts[block.benchmark];
        let position = RunPosition {
            layout,
            moment: Moment::Block {
                replicate: block.replicate,
                block: block.index,
                slot: None,
            },
            place: place_of(block),
        };
        let prime = block.prime.as_ref().map(|slot| slot.contender.index());
        let slots = order_of(block);
        let mut running = self.running.take().expect("entered above");
        let values = self.workers.block(
            (&mut running.team, running.relay.as_mut()),
            position,
            layout.iterations,
            prime,
            &slots,
        )?;
        let metrics = &self.workers.options.metrics;
        fill(
            record,
            block,
            &values,
            metrics,
            layout.iterations,
            layout.threads,
        );
        self.running = Some(running);
        Ok(())
    }

    fn placed(&mut self) -> Option<Placed> {
        self.placed.take()
    }

    fn launched(&mut self) -> u64 {
        std::mem::take(&mut self.workers.launched)
    }

    fn close(&mut self, _benchmark: usize) -> Result<(), EngineError> {
        self.leave();
        Ok(())
    }
}

/// What the input of a block is drawn by.
pub(super) fn place_of(block: &Block) -> [u64; 3] {
    [
        block.benchmark as u64,
        u64::from(block.replicate),
        u64::from(block.index),
    ]
}

/// The contenders of a block's slots.
pub(super) fn order_of(block: &Block) -> Vec<usize> {
    let contender = |slot: &Slot| slot.contender.index();
    block.slots.iter().map(contender).collect()
}

/// Whether a pilot can be planned with.
fn makes_sense(pilot: &Pilot, layout: &ProcessLayout) -> bool {
    let called = layout.called();
    let is_time = |ns: &f64| ns.is_finite() && *ns >= 0.0;
    // Every reader of JSON has such an integer exactly.
    (1..=SEEDS).contains(&pilot.iterations)
        && pilot.call_ns.len() == called
        && pilot.call_ns.iter().all(is_time)
        && pilot.most_iterations != Some(0)
        && pilot.blocks_ns.as_flattened().iter().all(is_time)
        && pilot.block_cost_ns.as_ref().is_none_or(is_time)
}

/// The pilot of a benchmark from those of its processes: the sample of the
/// fastest contender is long enough.
fn beside(one: Pilot, other: Pilot) -> Pilot {
    let most = [one.most_iterations, other.most_iterations];
    let most = most.into_iter().flatten().min();
    Pilot {
        iterations: one
            .iterations
            .max(other.iterations)
            .min(most.unwrap_or(u64::MAX)),
        most_iterations: most,
        call_ns: one.call_ns.into_iter().chain(other.call_ns).collect(),
        blocks_ns: Vec::new(),
        block_cost_ns: None,
    }
}
