//! A worker under a profiler, which samples one contender of a benchmark.

use std::time::Duration;

use deadheat::parts::engine::{
    FunctionError, Interrupts, LaunchFolder, LoneWorker, LoneWorkerError, NumberedFile,
    WorkerProgram, callgrind_dumps_of_samples,
};
use deadheat::parts::model::WorkerCalls;

use crate::run_callgrind::unknown_instruction;
use crate::run_error::ProfileError;
use crate::run_profiler::FoundProfiler;

/// The prefix of the names of Python workers.
const IN_PYTHON: &str = "deadheat for Python";

/// The time limit for perf to write its samples after the worker has ended.
const WRITE: Duration = Duration::from_secs(60);

/// A worker under a profiler; killed when dropped.
pub(crate) struct ProfiledWorker<'a> {
    worker: LoneWorker<'a>,
    at: Place<'a>,
    interrupts: &'a Interrupts,
    /// The number of callgrind dumps that were already read.
    read: usize,
}

/// The profiler, the folder and the program of a worker, for error messages.
struct Place<'a> {
    profiler: &'a FoundProfiler,
    folder: LaunchFolder,
    program: String,
}

impl<'a> ProfiledWorker<'a> {
    /// Starts the worker and lets it prepare the contender. `patience` limits the time for an input
    /// and for a sample.
    pub(crate) fn start(
        profiler: &'a FoundProfiler,
        calls: &WorkerCalls,
        patience: Option<Duration>,
        interrupts: &'a Interrupts,
    ) -> Result<Self, ProfileError> {
        let at = Place {
            profiler,
            folder: LaunchFolder::new().map_err(ProfileError::Folder)?,
            program: calls.program.executable.display().to_string(),
        };
        let plain = WorkerProgram {
            executable: calls.program.executable.clone(),
            arguments: calls.program.arguments.iter().map(Into::into).collect(),
            directory: calls.program.directory.clone(),
            shown: false,
        };
        let wrapped = match profiler {
            FoundProfiler::Callgrind(valgrind) => valgrind.around_worker(&plain, &at.folder),
            FoundProfiler::Perf(perf) => perf.around_worker(&plain, &at.folder),
        };
        let worker = LoneWorker::start(&wrapped, patience, interrupts);
        let mut worker = worker.map_err(|error| at.blame(error))?;
        if worker.name().starts_with(IN_PYTHON) {
            let program = at.program;
            return Err(ProfileError::Interpreted { program });
        }
        let marks = matches!(profiler, FoundProfiler::Callgrind(_));
        let prepared = worker.prepare(calls, marks);
        prepared.map_err(|error| at.blame(error))?;
        Ok(Self {
            worker,
            at,
            interrupts,
            read: 0,
        })
    }

    /// Takes a sample of one call and then a sample of `iterations` calls, both on the input of
    /// `seed`. Returns callgrind's counts of the second sample.
    pub(crate) fn counted(
        &mut self,
        seed: u64,
        iterations: u64,
    ) -> Result<NumberedFile, ProfileError> {
        // The first call fills caches that later calls find filled, so its sample is not used.
        let done = self.worker.samples(seed, iterations, 2, 1);
        done.map_err(|error| self.at.blame(error))?;
        let dumps = callgrind_dumps_of_samples(&self.at.folder);
        let mut dumps = dumps.map_err(ProfileError::Folder)?;
        let written = dumps.len().saturating_sub(self.read);
        self.read = dumps.len();
        match (written, dumps.pop()) {
            (2, Some(last)) => Ok(last),
            _ => Err(ProfileError::NoMarks {
                program: self.at.program.clone(),
            }),
        }
    }

    /// Takes samples of `iterations` calls each, and returns their total time, including the
    /// preparation of inputs and the check of outputs.
    pub(crate) fn calls(
        &mut self,
        seed: u64,
        iterations: u64,
        samples: u32,
    ) -> Result<Duration, ProfileError> {
        let took = self.worker.samples(seed, iterations, samples, 0);
        took.map_err(|error| self.at.blame(error))
    }

    /// Ends the worker, and returns perf's samples as text; `None` for callgrind.
    pub(crate) fn sampled(self) -> Result<Option<String>, ProfileError> {
        let FoundProfiler::Perf(perf) = self.at.profiler else {
            return Ok(None);
        };
        let left = self.worker.leave_within(WRITE);
        left.map_err(|error| self.at.blame(error))?;
        perf.printed(&self.at.folder, self.interrupts).map(Some)
    }

    pub(crate) fn leave(self) {
        self.worker.leave();
    }
}

impl Place<'_> {
    fn blame(&self, error: LoneWorkerError) -> ProfileError {
        let LoneWorkerError::Failed { cause, stderr_tail } = error else {
            return ProfileError::Interrupted;
        };
        let program = self.program.clone();
        if let FoundProfiler::Callgrind(valgrind) = self.profiler
            && let Some(unknown) = unknown_instruction(valgrind, &program, &self.folder)
        {
            return unknown;
        }
        let under = self.profiler.under();
        match cause {
            FunctionError::TimedOut(patience) => ProfileError::TimedOut {
                program,
                under,
                patience,
            },
            cause => ProfileError::Worker {
                program,
                under,
                cause,
                stderr_tail,
            },
        }
    }
}
