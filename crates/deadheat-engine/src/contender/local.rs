//! Functions in the current process, for comparisons inside a program or a test. There is one
//! process and therefore one replicate.

use deadheat_model::{Block, BlockRecord, ContenderId, Metric, Plan, Slot};
use rand_core::Rng;

use super::block::Measured;
use crate::clock::{Gauge, Reading};
use crate::error::EngineError;
use crate::function::{Disagreement, FunctionBenchmark, primes, warm_up};
use crate::function_failure::{FunctionError, FunctionFailure};
use crate::order::Moment;
use crate::random::{Purpose, stream};
use crate::run_delay::OtherUsage;
use crate::session::Contenders;

/// One benchmark of functions, run on the calling thread.
pub struct LocalContenders<'a> {
    benchmark: &'a mut (dyn FunctionBenchmark + 'a),
    name: String,
    contenders: Vec<String>,
    gauge: Gauge,
    seed: u64,
    iterations: u64,
    /// The index of the control, which calls the baseline again.
    copy: Option<usize>,
    metrics: &'static [Metric],
    /// The CPU usage of other threads and child processes, from the first block on.
    beside: Option<OtherUsage>,
}

impl<'a> LocalContenders<'a> {
    /// Creates the contenders for the only benchmark of `plan` from these functions.
    pub fn new(plan: &Plan, benchmark: &'a mut (dyn FunctionBenchmark + 'a), gauge: Gauge) -> Self {
        let planned = plan.benchmarks.first();
        let iterations = planned.and_then(|planned| {
            let calls = planned.contenders.first()?.workload.calls();
            calls.map(|calls| calls.iterations)
        });
        Self {
            benchmark,
            name: planned.map_or_else(String::new, |planned| planned.name.clone()),
            contenders: planned.map_or_else(Vec::new, |planned| {
                planned.contenders.iter().map(|c| c.name.clone()).collect()
            }),
            gauge,
            seed: plan.seed,
            iterations: iterations.unwrap_or(1),
            copy: planned.and_then(|planned| planned.control().map(ContenderId::index)),
            metrics: Self::metrics_here(),
            beside: None,
        }
    }

    /// Returns the metrics that can be measured in this program.
    pub fn metrics_here() -> &'static [Metric] {
        Reading::metrics_here()
    }

    fn failure(&self, moment: Moment, found: Disagreement) -> EngineError {
        let name = |index: usize| self.contenders.get(index).cloned();
        let (contender, cause) = match found {
            Disagreement::WithBaseline { candidate } => (
                name(candidate),
                FunctionError::OutputDiffers {
                    baseline: name(0).unwrap_or_default(),
                    detail: None,
                },
            ),
            Disagreement::WithItself { contender } => {
                (name(contender), FunctionError::OutputVaries(None))
            }
        };
        EngineError::Function(Box::new(FunctionFailure {
            benchmark: self.name.clone(),
            contender,
            moment,
            cause,
            link: None,
            stderr_tail: None,
        }))
    }
}

impl Contenders for LocalContenders<'_> {
    fn metrics(&self) -> &[Metric] {
        self.metrics
    }

    /// Warms up for as long as necessary and ignores `slots`, because a number of launches means
    /// nothing for functions.
    fn warm_up(&mut self, _benchmark: usize, _slots: &[Slot]) -> Result<(), EngineError> {
        let order: Vec<usize> = (0..self.benchmark.contenders()).collect();
        let seed = self.seed;
        let seed_of = |round| stream(seed, Purpose::WarmUp, [round, 0, 0]).next_u64();
        warm_up(
            self.benchmark,
            &order,
            self.iterations,
            seed_of,
            &self.gauge,
        );
        Ok(())
    }

    fn run(&mut self, block: &Block, record: &mut BlockRecord) -> Result<(), EngineError> {
        let place = [0, u64::from(block.replicate), u64::from(block.index)];
        self.benchmark
            .prepare(stream(self.seed, Purpose::Input, place).next_u64());
        let number = |slot: &Slot| match slot.contender.index() {
            copy if self.copy == Some(copy) => 0,
            contender => contender,
        };
        let prime = block.prime.as_ref().map(number);
        let slots: Vec<usize> = block.slots.iter().map(number).collect();
        for contender in primes(self.benchmark.renews_input(), prime, &slots) {
            self.benchmark
                .sample(contender, self.iterations, &self.gauge);
        }
        let beside = self.beside.get_or_insert_with(OtherUsage::begin);
        let width = self.metrics.len();
        let mut values = Vec::with_capacity(block.slots.len() * width);
        for contender in &slots {
            let reading = self
                .benchmark
                .sample(*contender, self.iterations, &self.gauge);
            values.extend_from_slice(&reading.values()[..width]);
        }
        let threads = self.benchmark.threads();
        let measured = Measured {
            values,
            keep_waiting: beside.keep_waiting(),
            gpu_clock: Vec::new(),
        };
        measured.record(self.metrics, block, self.iterations, threads, record);
        let checked = self.benchmark.check();
        checked.map_err(|found| self.failure(Moment::of(block, None), found))
    }
}
