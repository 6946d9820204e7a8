//! A worker under a profiler, which is asked for samples. It tells callgrind where each begins and
//! ends; perf takes its samples of the whole worker.

use std::time::{Duration, Instant};

use deadheat_model::WorkerCalls;

use super::perf::Perf;
use crate::clock::SampleClock;
use crate::contender::START_UP;
use crate::function_failure::FunctionError;
use crate::interrupt::Interrupts;
use crate::launch_folder::LaunchFolder;
use crate::valgrind::{Dump, ProfileError, Under, Valgrind, dumps_of_samples};
use crate::worker::{
    BlockRequest, Patience, PrepareRequest, Problem, Reply, Request, WaitError, WorkerProcess,
    WorkerProgram, WorkerStart, await_all,
};

/// The beginning of the name that workers in Python give themselves.
const IN_PYTHON: &str = "deadheat for Python";

/// The profiler that a worker runs under.
#[derive(Clone, Copy, Debug)]
pub enum WorkerProfiler<'a> {
    /// callgrind.
    Callgrind(&'a Valgrind),
    /// perf.
    Perf(&'a Perf),
}

impl WorkerProfiler<'_> {
    fn under(self) -> Under {
        match self {
            Self::Callgrind(_) => Under::Valgrind,
            Self::Perf(_) => Under::Perf,
        }
    }

    fn around_worker(self, program: &WorkerProgram, folder: &LaunchFolder) -> WorkerProgram {
        match self {
            Self::Callgrind(valgrind) => valgrind.around_worker(program, folder),
            Self::Perf(perf) => perf.around_worker(program, folder),
        }
    }
}

/// Time that perf may take to write what it has of a worker that is gone.
const WRITE: Duration = Duration::from_secs(60);

/// A worker that runs one contender of a benchmark under a profiler; killed when dropped.
#[derive(Debug)]
pub struct CountedWorker<'a> {
    profiler: WorkerProfiler<'a>,
    worker: WorkerProcess,
    folder: LaunchFolder,
    program: String,
    patience: Option<Duration>,
    interrupts: &'a Interrupts,
    /// Samples that the worker takes for a reply.
    samples: u32,
    /// Dumps that were read already.
    read: usize,
}

impl<'a> CountedWorker<'a> {
    /// Starts the worker and gets its benchmark ready. `patience` is how long making an input and
    /// taking a sample may take, each for itself.
    pub fn start(
        profiler: WorkerProfiler<'a>,
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
        let wrapped = profiler.around_worker(&plain, &folder);
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
            under: profiler.under(),
            cause,
            stderr_tail: None,
        })?;
        let mut counted = Self {
            profiler,
            worker,
            folder,
            program,
            patience,
            interrupts,
            samples: 2,
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
            callgrind: matches!(profiler, WorkerProfiler::Callgrind(_)),
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
        self.block(block)?;
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

    /// Calls the contender so many times in each of so many samples, and returns the time that all
    /// took, making inputs and checking outputs included.
    pub fn calls(
        &mut self,
        seed: u64,
        iterations: u64,
        samples: u32,
    ) -> Result<Duration, ProfileError> {
        let since = Instant::now();
        self.block(BlockRequest {
            seed,
            iterations,
            turns: vec![Some(0); samples as usize],
            unrecorded: 0,
            unrecorded_iterations: 1,
        })?;
        Ok(since.elapsed())
    }

    /// Lets the worker go, and returns what perf prints of it; nothing under another profiler.
    pub fn sampled(mut self) -> Result<Option<Dump>, ProfileError> {
        let WorkerProfiler::Perf(perf) = self.profiler else {
            return Ok(None);
        };
        if !self.worker.leaves_within(WRITE) {
            return Err(self.failed(FunctionError::TimedOut(WRITE)));
        }
        perf.printed(&self.folder, self.interrupts).map(Some)
    }

    /// Lets the worker go and waits until it is gone.
    pub fn leave(self) {
        self.worker.leave();
    }

    fn block(&mut self, block: BlockRequest) -> Result<(), ProfileError> {
        self.samples = block.turns.len() as u32;
        match self.ask(&Request::Block(block))? {
            Reply::Block { .. } => Ok(()),
            other => Err(self.unexpected(&other)),
        }
    }

    fn ask(&mut self, request: &Request) -> Result<Reply, ProfileError> {
        self.worker.ask(request);
        self.reply(self.patience)
    }

    fn reply(&mut self, each: Option<Duration>) -> Result<Reply, ProfileError> {
        let patience = Patience {
            each,
            samples: self.samples,
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
        let unknown = match self.profiler {
            WorkerProfiler::Callgrind(valgrind) => {
                valgrind.unknown_instruction(program, &self.folder)
            }
            WorkerProfiler::Perf(_) => None,
        };
        let under = self.profiler.under();
        match (unknown, cause) {
            (Some(unknown), _) => unknown,
            (None, FunctionError::TimedOut(patience)) => ProfileError::TimedOut {
                program: program.clone(),
                under,
                patience,
            },
            (None, cause) => ProfileError::Worker {
                program: program.clone(),
                under,
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
