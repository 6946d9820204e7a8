//! A worker under callgrind, which is asked for samples and tells callgrind where each begins and
//! ends.

use std::time::Duration;

use deadheat_model::WorkerCalls;

use crate::clock::SampleClock;
use crate::contender::START_UP;
use crate::function_failure::FunctionError;
use crate::interrupt::Interrupts;
use crate::launch_folder::LaunchFolder;
use crate::valgrind::{Dump, ProfileError, Valgrind, dumps_of_samples};
use crate::worker::{
    BlockRequest, Patience, PrepareRequest, Problem, Reply, Request, WaitError, WorkerProcess,
    WorkerProgram, WorkerStart, await_all,
};

/// The beginning of the name that workers in Python give themselves.
const IN_PYTHON: &str = "deadheat for Python";

/// A worker that runs one contender of a benchmark under callgrind; killed when dropped.
#[derive(Debug)]
pub struct CountedWorker<'a> {
    valgrind: &'a Valgrind,
    worker: WorkerProcess,
    folder: LaunchFolder,
    program: String,
    patience: Option<Duration>,
    interrupts: &'a Interrupts,
    /// Dumps that were read already.
    read: usize,
}

impl<'a> CountedWorker<'a> {
    /// Starts the worker and gets its benchmark ready. `patience` is how long making an input and
    /// taking a sample may take, each for itself.
    pub fn start(
        valgrind: &'a Valgrind,
        calls: &WorkerCalls,
        patience: Option<Duration>,
        interrupts: &'a Interrupts,
    ) -> Result<Self, ProfileError> {
        let folder = LaunchFolder::new().map_err(ProfileError::Folder)?;
        let program = calls.program.executable.display().to_string();
        let plain = WorkerProgram {
            executable: calls.program.executable.clone(),
            arguments: calls.program.arguments.iter().map(Into::into).collect(),
            directory: calls.program.directory.clone(),
            shown: false,
        };
        let wrapped = valgrind.around_worker(&plain, &folder);
        let worker = WorkerProcess::start(WorkerStart {
            program: &wrapped,
            variant: None,
            path_padding: None,
            padding: 0,
            hash_seed: None,
            fixed_addresses: true,
            baton: None,
            probe: None,
            mask: interrupts.original_mask(),
        });
        let worker = worker.map_err(|cause| ProfileError::Worker {
            program: program.clone(),
            cause,
            stderr_tail: None,
        })?;
        let mut counted = Self {
            valgrind,
            worker,
            folder,
            program,
            patience,
            interrupts,
            read: 0,
        };
        match counted.reply(counted.patience.map(|patience| patience.max(START_UP)))? {
            Reply::Hello { worker, .. } if worker.starts_with(IN_PYTHON) => {
                let program = counted.program.clone();
                return Err(ProfileError::Interpreted { program });
            }
            Reply::Hello { .. } => {}
            other => return Err(counted.unexpected(&other)),
        }
        let prepare = PrepareRequest {
            benchmark: calls.benchmark.clone(),
            contender: Some(calls.contender.clone()),
            clock: SampleClock::for_counts().to_words(),
            cpu_overhead_ns: 0.0,
            heap_bytes: 0,
            stack_bytes: 0,
            callgrind: true,
        };
        match counted.ask(&Request::Prepare(prepare))? {
            Reply::Prepared { .. } => Ok(counted),
            other => Err(counted.unexpected(&other)),
        }
    }

    /// Calls the contender so many times on the input of this seed, which it has met once before, and
    /// returns what callgrind counted of these calls.
    pub fn sample(&mut self, seed: u64, iterations: u64) -> Result<Dump, ProfileError> {
        let block = BlockRequest {
            seed,
            iterations,
            turns: vec![Some(0); 2],
            // The first call fills what others find filled.
            unrecorded: 1,
            unrecorded_iterations: 1,
        };
        match self.ask(&Request::Block(block))? {
            Reply::Block { .. } => {}
            other => return Err(self.unexpected(&other)),
        }
        let mut dumps = dumps_of_samples(&self.folder)?;
        let written = dumps.len().saturating_sub(self.read);
        self.read = dumps.len();
        match (written, dumps.pop()) {
            (2, Some(last)) => Ok(last),
            _ => Err(ProfileError::NoMarks {
                program: self.program.clone(),
            }),
        }
    }

    /// Lets the worker go and waits until it is gone.
    pub fn leave(self) {
        self.worker.leave();
    }

    fn ask(&mut self, request: &Request) -> Result<Reply, ProfileError> {
        self.worker.ask(request);
        self.reply(self.patience)
    }

    fn reply(&mut self, each: Option<Duration>) -> Result<Reply, ProfileError> {
        let patience = Patience {
            each,
            samples: 2,
            whatever_is_noted: false,
        };
        let workers = &mut [&mut self.worker];
        match await_all(workers, None, patience, self.interrupts) {
            Ok(mut replies) => match replies.pop().flatten() {
                Some(reply) => Ok(reply),
                None => Err(self.failed(FunctionError::Protocol("it says nothing".to_owned()))),
            },
            Err(WaitError::Interrupted) => Err(ProfileError::Interrupted),
            Err(WaitError::Cause { cause, .. }) => Err(self.failed(cause)),
        }
    }

    fn failed(&self, cause: FunctionError) -> ProfileError {
        let program = &self.program;
        let unknown = self.valgrind.unknown_instruction(program, &self.folder);
        match (unknown, cause) {
            (Some(unknown), _) => unknown,
            (None, FunctionError::TimedOut(patience)) => ProfileError::TimedOut {
                program: program.clone(),
                patience,
            },
            (None, cause) => ProfileError::Worker {
                program: program.clone(),
                cause,
                stderr_tail: self.worker.stderr_tail.message(),
            },
        }
    }

    fn unexpected(&self, reply: &Reply) -> ProfileError {
        self.failed(match reply {
            Reply::Failed { problem, .. } => match problem {
                Problem::Panicked(message) => FunctionError::Panicked(message.clone()),
                Problem::Skipped(reason) => FunctionError::Skipped(reason.clone()),
                Problem::OutputVaries => FunctionError::OutputVaries,
                _ => FunctionError::Protocol(format!("it answers {}", reply.said())),
            },
            other => FunctionError::Protocol(format!("it answers {}", other.said())),
        })
    }
}
