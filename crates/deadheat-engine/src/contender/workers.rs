//! How worker processes come to be, and what becomes of their answers.

use std::time::Duration;

use deadheat_model::{Metric, Pinning};
use rand_core::Rng;

use crate::allocation::allocations_of_this_thread;
use crate::clock::{ClockCheck, SampleClock};
use crate::cores::Cores;
use crate::error::{EngineError, Moment};
use crate::function::{Gauge, Reading};
use crate::interrupt::Interrupts;
use crate::placement::{LinkProgram, Variant};
use crate::random::{Purpose, below, stream};
use crate::worker::{
    FunctionCause, FunctionFailure, PROTOCOL, Problem, Reply, Request, Silence, WorkerProcess,
    WorkerProgram, WorkerStart, adopt_orphans,
};

/// Bytes of the environment that a replicate may be padded with: the stack
/// begins that much lower.
const MOST_PADDING: u64 = 4_096;
/// Bytes that a replicate may move its stack by.
const MOST_STACK: u64 = 4_096;
/// Bytes of the heap that a replicate may hold before anything else lies there.
const MOST_HEAP: u64 = 64 << 10;

/// What a process may take until its `main` has made the suite, however little
/// a sample may take.
const START_UP: Duration = Duration::from_secs(10);

/// How far, relatively, the clock of the samples may stray from the system's.
const CLOCKS_APART: f64 = 0.01;

/// How functions are raced.
#[derive(Clone, Debug)]
pub struct FunctionOptions {
    /// What a worker process runs.
    pub program: WorkerProgram,
    /// What one sample may take, and making an input; forever when `None`.
    pub timeout: Option<Duration>,
    /// Cores to draw from.
    pub pinning: Pinning,
    /// The seed of the run.
    pub seed: u64,
    /// Who makes neutral links of the program, if anybody is to.
    pub placements: Option<LinkProgram>,
}

/// Who races in a benchmark, and how it is called.
#[derive(Clone, Debug, Default)]
pub struct Lineup {
    /// The benchmark's name, by which a worker knows it.
    pub name: String,
    /// The names of its contenders, the baseline first.
    pub contenders: Vec<String>,
    /// Calls in a sample by each thread.
    pub iterations: u64,
    /// Threads that call at the same time.
    pub threads: u32,
    /// Whether it runs as the user linked it, whatever links there are.
    pub own_link: bool,
}

/// Everything it takes to start a worker process and to talk to it.
pub(super) struct Workers<'a> {
    pub(super) options: FunctionOptions,
    pub(super) interrupts: &'a Interrupts,
    pub(super) cores: Cores,
    pub(super) gauge: Gauge,
    check: ClockCheck,
    /// Why the counter of the processor does not serve as clock.
    pub(super) fallback: Option<String>,
    pub(super) metrics: &'static [Metric],
    /// Processes started since somebody last asked.
    pub(super) launched: u64,
}

impl<'a> Workers<'a> {
    /// Measures the clock and finds the cores; starts nothing yet.
    pub(super) fn new(
        options: FunctionOptions,
        interrupts: &'a Interrupts,
    ) -> Result<Self, EngineError> {
        adopt_orphans();
        let cores = Cores::new(&options.pinning)?;
        let (clock, fallback) = SampleClock::choose();
        Ok(Self {
            interrupts,
            cores,
            gauge: Gauge::new(clock),
            check: ClockCheck::start(&clock),
            fallback,
            metrics: Reading::metrics(allocations_of_this_thread().is_some()),
            launched: 0,
            options,
        })
    }

    /// Random numbers for one purpose at one place of the run.
    pub(super) fn stream(&self, purpose: Purpose, place: [u64; 3]) -> impl Rng + use<> {
        stream(self.options.seed, purpose, place)
    }

    /// The first of them.
    pub(super) fn draw(&self, purpose: Purpose, place: [u64; 3]) -> u64 {
        self.stream(purpose, place).next_u64()
    }

    /// Whether the clock of the samples still keeps the pace of the system's.
    pub(super) fn check_clock(&self) -> Result<(), EngineError> {
        let apart = self.check.disagreement();
        match apart > CLOCKS_APART {
            true => Err(EngineError::Clock(apart)),
            false => Ok(()),
        }
    }

    /// Starts a process for one benchmark, on the user's own link or another:
    /// its core, its environment, its heap and its stack drawn from the seed at
    /// this place.
    pub(super) fn start(
        &mut self,
        lineup: &Lineup,
        moment: Moment,
        place: [u64; 3],
        variant: Option<&Variant>,
    ) -> Result<WorkerProcess, EngineError> {
        let mut rng = stream(self.options.seed, Purpose::Process, place);
        match lineup.threads {
            // Shared with the worker that is started now.
            1 => self.cores.settle(self.draw(Purpose::Core, place))?,
            _ => self.cores.release(),
        }
        let start = WorkerStart {
            program: &self.options.program,
            variant: variant.map(|variant| variant.executable.as_path()),
            padding: below(&mut rng, MOST_PADDING) as usize,
            mask: self.interrupts.original_mask(),
        };
        let mut worker =
            WorkerProcess::start(&start).map_err(|cause| failure(lineup, None, moment, cause))?;
        self.launched += 1;
        let patience = self.options.timeout.map(|timeout| timeout.max(START_UP));
        let hello = worker
            .hear(patience, Some(self.interrupts))
            .map_err(|silence| silent(lineup, None, moment, silence))?;
        if hello != (Reply::Hello { protocol: PROTOCOL }) {
            return Err(unexpected(lineup, moment, &hello));
        }
        let request = Request::Prepare {
            benchmark: lineup.name.clone(),
            clock: self.gauge.clock().to_words(),
            cpu_overhead_ns: self.gauge.cpu_overhead_ns(),
            heap_bytes: below(&mut rng, MOST_HEAP) as usize,
            stack_bytes: below(&mut rng, MOST_STACK) as usize,
        };
        let reply = self.ask(&mut worker, lineup, moment, &request)?;
        match reply {
            Reply::Prepared { values } if values == self.metrics.len() => Ok(worker),
            reply => Err(unexpected(lineup, moment, &reply)),
        }
    }

    /// Asks, waits for the answer and makes sense of a failure.
    pub(super) fn ask(
        &self,
        worker: &mut WorkerProcess,
        lineup: &Lineup,
        moment: Moment,
        request: &Request,
    ) -> Result<Reply, EngineError> {
        let reply = worker
            .ask(request, self.options.timeout, Some(self.interrupts))
            .map_err(|silence| silent(lineup, worker.last_called(), moment, silence))?;
        match reply {
            Reply::Failed { contender, problem } => {
                let contender = contender.or_else(|| worker.last_called());
                let baseline = || lineup.contenders.first().cloned().unwrap_or_default();
                let cause = match problem {
                    Problem::Panicked(message) => FunctionCause::Panicked(message),
                    Problem::OutputVaries => FunctionCause::OutputVaries,
                    Problem::OutputDiffers => FunctionCause::OutputDiffers {
                        baseline: baseline(),
                    },
                    Problem::Unknown => FunctionCause::Protocol(
                        "it does not know this benchmark; is the suite the same in every process?"
                            .to_owned(),
                    ),
                    Problem::OutOfTurn => {
                        FunctionCause::Protocol("it was asked out of turn".to_owned())
                    }
                };
                Err(failure(lineup, contender, moment, cause))
            }
            reply => Ok(reply),
        }
    }
}

fn failure(
    lineup: &Lineup,
    contender: Option<usize>,
    moment: Moment,
    cause: FunctionCause,
) -> EngineError {
    EngineError::Function(Box::new(FunctionFailure {
        benchmark: lineup.name.clone(),
        contender: contender.and_then(|index| lineup.contenders.get(index).cloned()),
        moment,
        cause,
        link: None,
    }))
}

fn silent(
    lineup: &Lineup,
    contender: Option<usize>,
    moment: Moment,
    silence: Silence,
) -> EngineError {
    match silence {
        Silence::Interrupted => EngineError::Interrupted,
        Silence::Cause(cause) => failure(lineup, contender, moment, cause),
    }
}

pub(super) fn unexpected(lineup: &Lineup, moment: Moment, reply: &Reply) -> EngineError {
    let said = FunctionCause::Protocol(format!("it answers {reply:?}"));
    failure(lineup, None, moment, said)
}
