//! A worker that serves one contender outside of a race, for tools such as profilers that observe
//! the process.

use std::time::{Duration, Instant};

use deadheat_model::WorkerCalls;

use crate::clock::SampleClock;
use crate::contender::START_UP;
use crate::function_failure::FunctionError;
use crate::interrupt::Interrupts;
use crate::worker::{
    BlockRequest, PrepareRequest, Problem, Reply, ReplyLimits, Request, WaitError, WorkerProcess,
    WorkerProgram, WorkerStart, await_all,
};

/// A worker process outside of a race; killed when dropped.
#[derive(Debug)]
pub struct LoneWorker<'a> {
    worker: WorkerProcess,
    name: String,
    patience: Option<Duration>,
    interrupts: &'a Interrupts,
    /// The number of samples that the next reply covers. The time limit of the reply depends on it.
    samples: u32,
}

/// The error of a lone worker.
#[derive(Debug)]
pub enum LoneWorkerError {
    /// A signal asked deadheat to stop.
    Interrupted,
    /// The worker failed.
    Failed {
        /// The error of the worker.
        cause: FunctionError,
        /// The end of the worker's standard error, in one line.
        stderr_tail: Option<String>,
    },
}

impl<'a> LoneWorker<'a> {
    /// Starts the program without random addresses. `patience` is the time limit for making an input, and
    /// for taking a sample.
    pub fn start(
        program: &WorkerProgram,
        patience: Option<Duration>,
        interrupts: &'a Interrupts,
    ) -> Result<Self, LoneWorkerError> {
        let worker = WorkerProcess::start(WorkerStart {
            program,
            variant: None,
            path_padding: None,
            padding: 0,
            hash_seed: None,
            fixed_addresses: true,
            baton: None,
            probe: None,
            mask: interrupts.original_mask(),
        });
        let worker = worker.map_err(|cause| LoneWorkerError::Failed {
            cause,
            stderr_tail: None,
        })?;
        let mut started = Self {
            worker,
            name: String::new(),
            patience,
            interrupts,
            samples: 2,
        };
        match started.reply(patience.map(|patience| patience.max(START_UP)))? {
            Reply::Hello { worker, .. } => started.name = worker,
            other => return Err(started.unexpected(&other)),
        }
        Ok(started)
    }

    /// Returns the name and version that the worker reports, such as `deadheat for Python 0.1.0`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Prepares the contender that `calls` names, for samples that are not timed. If `callgrind`,
    /// the worker marks each sample for callgrind.
    pub fn prepare(&mut self, calls: &WorkerCalls, callgrind: bool) -> Result<(), LoneWorkerError> {
        let prepare = PrepareRequest {
            benchmark: calls.benchmark.clone(),
            contender: Some(calls.contender.clone()),
            clock: SampleClock::for_counts().to_words(),
            cpu_overhead_ns: 0.0,
            heap_bytes: 0,
            stack_bytes: 0,
            callgrind,
            input_per_call: false,
        };
        match self.ask(&Request::Prepare(prepare))? {
            Reply::Prepared { .. } => Ok(()),
            other => Err(self.unexpected(&other)),
        }
    }

    /// Takes `samples` samples of `iterations` calls on the input made from `seed`. The first
    /// `unrecorded` samples have one call each. Returns the total time, which includes making
    /// inputs and checking outputs.
    pub fn samples(
        &mut self,
        seed: u64,
        iterations: u64,
        samples: u32,
        unrecorded: usize,
    ) -> Result<Duration, LoneWorkerError> {
        let since = Instant::now();
        self.samples = samples;
        let block = BlockRequest {
            seed,
            iterations,
            turns: vec![Some(0); samples as usize],
            unrecorded,
            unrecorded_iterations: 1,
        };
        match self.ask(&Request::Block(block))? {
            Reply::Block { .. } => Ok(since.elapsed()),
            other => Err(self.unexpected(&other)),
        }
    }

    /// Asks the worker to exit and waits for its end.
    pub fn leave(self) {
        self.worker.leave(self.interrupts);
    }

    /// Asks the worker to exit and waits at most `patience` for its end.
    pub fn leave_within(mut self, patience: Duration) -> Result<(), LoneWorkerError> {
        if self.worker.leaves_within(patience, self.interrupts) {
            Ok(())
        } else if self.interrupts.requested().is_some() {
            Err(LoneWorkerError::Interrupted)
        } else {
            Err(self.failed(FunctionError::TimedOut(patience)))
        }
    }

    fn ask(&mut self, request: &Request) -> Result<Reply, LoneWorkerError> {
        self.worker.ask(request);
        self.reply(self.patience)
    }

    fn reply(&mut self, each: Option<Duration>) -> Result<Reply, LoneWorkerError> {
        let patience = ReplyLimits {
            each,
            samples: self.samples,
            whatever_is_noted: false,
        };
        let workers = &mut [&mut self.worker];
        match await_all(workers, None, patience, self.interrupts) {
            Ok(mut replies) => match replies.pop().flatten() {
                Some(reply) => Ok(reply),
                None => Err(self.failed(FunctionError::Protocol("it sends nothing".to_owned()))),
            },
            Err(WaitError::Interrupted) => Err(LoneWorkerError::Interrupted),
            Err(WaitError::Cause { cause, .. }) => Err(self.failed(cause)),
        }
    }

    fn failed(&self, cause: FunctionError) -> LoneWorkerError {
        LoneWorkerError::Failed {
            cause,
            stderr_tail: self.worker.stderr_tail.message(),
        }
    }

    fn unexpected(&self, reply: &Reply) -> LoneWorkerError {
        self.failed(match reply {
            Reply::Failed { problem, .. } => match problem {
                Problem::Panicked(message) => FunctionError::Panicked(message.clone()),
                Problem::Skipped(reason) => FunctionError::Skipped(reason.clone()),
                Problem::ReportsError(error) => FunctionError::ReportsError(error.clone()),
                Problem::Raised(error) => FunctionError::Raised(error.clone()),
                Problem::Refused(reason) => FunctionError::Refused(reason.clone()),
                Problem::OutputVaries(detail) => FunctionError::OutputVaries(detail.clone()),
                _ => FunctionError::Protocol(format!(
                    "it sends an unexpected answer: {}",
                    reply.said()
                )),
            },
            other => {
                FunctionError::Protocol(format!("it sends an unexpected answer: {}", other.said()))
            }
        })
    }
}
