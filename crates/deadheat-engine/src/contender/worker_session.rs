//! The state of one worker process of a replicate, its position in the run, and how its failures
//! are reported.

use deadheat_model::{Metric, column_name};

use super::process_layout::ProcessLayout;
use crate::error::EngineError;
use crate::executable::Variant;
use crate::function_failure::{FunctionError, FunctionFailure};
#[cfg(feature = "commands")]
use crate::launch_folder::LaunchFolder;
use crate::order::Moment;
use crate::worker::{Baton, PROTOCOL, Problem, Relay, Reply, WorkerProcess};

/// Returns the metrics in a hello message, or an error if its protocol version is not supported.
pub(super) fn greeted(hello: &Reply) -> Result<&[Metric], FunctionError> {
    match hello {
        Reply::Hello {
            protocol: PROTOCOL,
            metrics,
            ..
        } if metrics.contains(&Metric::Wall) => Ok(metrics),
        Reply::Hello {
            protocol: PROTOCOL, ..
        } => Err(FunctionError::Protocol(
            "its hello message lacks the metric wall_ns".to_owned(),
        )),
        Reply::Hello { protocol, .. } => Err(FunctionError::OtherProtocol {
            theirs: *protocol,
            ours: PROTOCOL,
        }),
        other => Err(FunctionError::Protocol(format!(
            "it sends {} instead of hello",
            other.said()
        ))),
    }
}

#[derive(Debug)]
pub(super) struct WorkerSession {
    pub(super) process_slot: usize,
    pub(super) worker: WorkerProcess,
    /// The neutral link that the process runs; `None` for the user's own executable.
    pub(super) variant: Option<Variant>,
    /// The bytes of heap that the worker allocates first, to shift later allocations.
    pub(super) heap_bytes: usize,
    /// The bytes by which the worker shifts its stack.
    pub(super) stack_bytes: usize,
    /// For each metric of the run, its index among the metrics of the worker's samples.
    pub(super) columns: Vec<usize>,
    /// The metrics of the worker's samples, in the order it reports them.
    pub(super) measured: Vec<Metric>,
    pub(super) renews_input: bool,
    /// The seed of the input that the warm-up left ready for the first block. The contender of the
    /// block's first slot ran last in that warm-up.
    pub(super) ready: Option<u64>,
    /// True if the worker offers to fork a process for each of several benchmarks.
    pub(super) forks: bool,
    /// True if the worker really forks for several benchmarks.
    pub(super) serves_many: bool,
    /// True if the worker reported a failure, which ended its benchmark.
    pub(super) has_failed: bool,
    /// True once the worker was requested to prepare its current benchmark.
    pub(super) is_asked: bool,
    #[cfg(feature = "commands")]
    pub(super) counts: Option<LaunchFolder>,
}

impl WorkerSession {
    /// Creates the session of a process that has not sent its hello yet.
    pub(super) fn new(
        process_slot: usize,
        worker: WorkerProcess,
        variant: Option<&Variant>,
    ) -> Self {
        Self {
            process_slot,
            worker,
            variant: variant.cloned(),
            heap_bytes: 0,
            stack_bytes: 0,
            columns: Vec::new(),
            measured: Vec::new(),
            renews_input: false,
            ready: None,
            forks: false,
            serves_many: false,
            has_failed: false,
            is_asked: false,
            #[cfg(feature = "commands")]
            counts: None,
        }
    }

    /// Checks the hello message of the worker and stores the order of the metrics in its samples.
    pub(super) fn handshake(
        &mut self,
        hello: &Reply,
        wanted: &[Metric],
    ) -> Result<(), FunctionError> {
        let measured = greeted(hello)?;
        if let Reply::Hello {
            forks,
            leaves_within,
            ..
        } = hello
        {
            self.forks = *forks;
            self.worker.may_leave_within(*leaves_within);
        }
        #[cfg(feature = "commands")]
        if self.counts.is_some() {
            self.measured = measured.to_vec();
            return Ok(());
        }
        let place = |metric: &Metric| {
            let found = measured.iter().position(|other| other == metric);
            found.ok_or_else(|| {
                let column = column_name(metric);
                FunctionError::Protocol(format!("it no longer measures {column}"))
            })
        };
        self.columns = wanted.iter().map(place).collect::<Result<_, _>>()?;
        self.measured = measured.to_vec();
        Ok(())
    }

    pub(super) fn unexpected(&mut self, position: RunPosition<'_>, reply: &Reply) -> EngineError {
        let cause =
            FunctionError::Protocol(format!("it sends an unexpected answer: {}", reply.said()));
        self.failure(position, None, cause)
    }

    /// Returns the failure of this process; `called` is the contender that the process reports, in
    /// its own numbering.
    pub(super) fn failure(
        &mut self,
        position: RunPosition<'_>,
        called: Option<usize>,
        cause: FunctionError,
    ) -> EngineError {
        #[cfg(feature = "commands")]
        let cause = match cause {
            FunctionError::Signalled(libc::SIGILL) if self.counts.is_some() => {
                FunctionError::IllegalInstruction
            }
            cause => cause,
        };
        let layout = position.layout;
        let called = called.or_else(|| self.worker.trace.contender());
        let contender = match (&cause, called) {
            (FunctionError::NeitherCameBack(_), _) => None,
            (_, Some(number)) => Some(layout.contender_of(self.process_slot, number)),
            // The only contender of the process must have caused the failure.
            (_, None) => layout.only_contender(self.process_slot),
        };
        EngineError::Function(Box::new(FunctionFailure {
            stderr_tail: self.worker.stderr_tail.message(),
            ..position.failure(contender, cause, self.variant.clone())
        }))
    }
}

/// A position in the run, for random draws and error messages.
#[derive(Clone, Copy)]
pub(super) struct RunPosition<'a> {
    pub(super) layout: &'a ProcessLayout,
    pub(super) moment: Moment,
    /// The numbers of the benchmark, the replicate and the block.
    pub(super) place: [u64; 3],
}

#[derive(Default)]
pub(super) struct Batons {
    /// One end per process; empty if there is only one process.
    pub(super) ends: Vec<Baton>,
    pub(super) relay: Option<Relay>,
}

/// The number that replaces the number of the benchmark in draws that all benchmarks of a replicate
/// share.
const ALL_BENCHMARKS: u64 = u64::MAX;

impl RunPosition<'_> {
    /// Returns the position that seeds the start of a replicate's processes: without the benchmark
    /// if one start serves all benchmarks.
    pub(super) fn place_of_start(&self) -> [u64; 3] {
        match self.layout.in_rounds {
            true => [ALL_BENCHMARKS, self.place[1], 0],
            false => self.place,
        }
    }

    pub(super) fn batons(&self) -> Result<Batons, EngineError> {
        let made = match self.layout.process_slots.len() {
            0 | 1 => return Ok(Batons::default()),
            // Two processes are connected directly.
            2 => Baton::pair().map(|ends| (None, ends.into())),
            more => Relay::between(more).map(|(relay, ends)| (Some(relay), ends)),
        };
        let (relay, ends) = made.map_err(|error| {
            let cause = FunctionError::NotStarted(error.to_string());
            EngineError::Function(Box::new(self.failure(None, cause, None)))
        })?;
        Ok(Batons { ends, relay })
    }

    /// Returns the failure of `contender`, or of the whole benchmark if it is `None`.
    pub(super) fn failure(
        &self,
        contender: Option<usize>,
        cause: FunctionError,
        link: Option<Variant>,
    ) -> FunctionFailure {
        let names = &self.layout.contenders;
        FunctionFailure {
            benchmark: self.layout.name.clone(),
            contender: contender.and_then(|index| names.get(index).cloned()),
            moment: self.moment,
            cause,
            link,
            stderr_tail: None,
        }
    }
}

pub(super) fn cause_of(problem: &Problem, layout: &ProcessLayout) -> FunctionError {
    match problem {
        Problem::Panicked(message) => FunctionError::Panicked(message.clone()),
        Problem::Skipped(reason) => FunctionError::Skipped(reason.clone()),
        Problem::ReportsError(error) => FunctionError::ReportsError(error.clone()),
        Problem::Raised(error) => FunctionError::Raised(error.clone()),
        Problem::Refused(reason) => FunctionError::Refused(reason.clone()),
        Problem::OutputVaries(detail) => FunctionError::OutputVaries(detail.clone()),
        Problem::OutputDiffers(detail) => FunctionError::OutputDiffers {
            baseline: layout.contenders.first().cloned().unwrap_or_default(),
            detail: detail.clone(),
        },
        Problem::Unknown => FunctionError::Protocol(
            "it does not know this benchmark; is the suite the same in every process?".to_owned(),
        ),
        Problem::OutOfTurn => {
            FunctionError::Protocol("it reports that deadheat asked it out of turn".to_owned())
        }
        Problem::PeerGone => FunctionError::Protocol(
            "it reports that its peer process has ended, which is not true".to_owned(),
        ),
    }
}
