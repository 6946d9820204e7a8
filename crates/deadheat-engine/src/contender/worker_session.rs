//! A process of a replicate: where in the run it works, how its samples are laid out, and what its
//! failure is called.

use deadheat_model::{Metric, column_name};

use super::process_layout::ProcessLayout;
use crate::error::EngineError;
use crate::executable::Variant;
use crate::function_failure::{FunctionError, FunctionFailure};
#[cfg(feature = "commands")]
use crate::launch_folder::LaunchFolder;
use crate::order::Moment;
use crate::worker::{Baton, PROTOCOL, Problem, Relay, Reply, WorkerProcess};

/// The metrics of a worker that says hello in this version of the protocol.
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
            "it says {} instead of hello",
            other.said()
        ))),
    }
}

/// A process of a replicate, from its start on.
#[derive(Debug)]
pub(super) struct WorkerSession {
    pub(super) process_slot: usize,
    pub(super) worker: WorkerProcess,
    /// The neutral link it runs on.
    pub(super) variant: Option<Variant>,
    /// Bytes of its heap that it is to hold before anything else lies there.
    pub(super) heap_bytes: usize,
    /// Bytes by which it is to move its stack.
    pub(super) stack_bytes: usize,
    /// Where the metrics of the run stand among those of its samples.
    pub(super) columns: Vec<usize>,
    /// The metrics of its samples.
    pub(super) measured: Vec<Metric>,
    /// True if every block of it has an input of its own.
    pub(super) renews_input: bool,
    /// The seed of the input that a warm-up has left ready for the first block,
    /// with the contender of its first slot the last to have run.
    pub(super) ready: Option<u64>,
    /// True if it says that it can serve many benchmarks, each in a process it forks.
    pub(super) forks: bool,
    /// True if it does.
    pub(super) serves_many: bool,
    /// True if it said why its benchmark cannot go on, and so has ended it.
    pub(super) has_failed: bool,
    /// True once it was asked for the benchmark that it serves.
    pub(super) is_asked: bool,
    /// Where the counts of its samples are found, if callgrind counts them.
    #[cfg(feature = "commands")]
    pub(super) counts: Option<LaunchFolder>,
}

impl WorkerSession {
    /// One that has not said anything yet.
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

    /// Learns from its hello how its samples are laid out.
    pub(super) fn handshake(
        &mut self,
        hello: &Reply,
        wanted: &[Metric],
    ) -> Result<(), FunctionError> {
        let measured = greeted(hello)?;
        self.forks = matches!(hello, Reply::Hello { forks: true, .. });
        #[cfg(feature = "commands")]
        if self.counts.is_some() {
            self.measured = measured.to_vec();
            return Ok(());
        }
        let place = |metric: &Metric| {
            let found = measured.iter().position(|other| other == metric);
            found.ok_or_else(|| {
                let column = column_name(metric);
                FunctionError::Protocol(format!("it does not measure {column} any more"))
            })
        };
        self.columns = wanted.iter().map(place).collect::<Result<_, _>>()?;
        self.measured = measured.to_vec();
        Ok(())
    }

    /// An answer to something else.
    pub(super) fn unexpected(&mut self, position: RunPosition<'_>, reply: &Reply) -> EngineError {
        let cause = FunctionError::Protocol(format!("it answers {}", reply.said()));
        self.failure(position, None, cause)
    }

    /// The failure of this process; `called` is the contender, as the
    /// process numbers them, where it says so.
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
            // Whatever happens there, it happens to this one.
            (_, None) => layout.only_contender(self.process_slot),
        };
        EngineError::Function(Box::new(FunctionFailure {
            stderr_tail: self.worker.stderr_tail.message(),
            ..position.failure(contender, cause, self.variant.clone())
        }))
    }
}

/// Lets all processes of a replicate go, at the same time, and waits until they are gone.
pub(super) fn leave(mut team: Vec<WorkerSession>) {
    for session in &mut team {
        session.worker.dismiss();
    }
    for session in team {
        session.worker.leave();
    }
}

/// Where in the run something happens.
#[derive(Clone, Copy)]
pub(super) struct RunPosition<'a> {
    pub(super) layout: &'a ProcessLayout,
    pub(super) moment: Moment,
    /// Benchmark, replicate and block.
    pub(super) place: [u64; 3],
}

/// The pipes between processes that take turns.
#[derive(Default)]
pub(super) struct Batons {
    /// One per process; none where there is one process only.
    pub(super) ends: Vec<Baton>,
    /// The relay that passes it on where there are more than two.
    pub(super) relay: Option<Relay>,
}

/// The number in place of a benchmark's where all benchmarks of a replicate share a draw.
const ALL_BENCHMARKS: u64 = u64::MAX;

impl RunPosition<'_> {
    /// The place of what is drawn for the start of a replicate's processes: that of the replicate
    /// alone where one start serves all benchmarks.
    pub(super) fn place_of_start(&self) -> [u64; 3] {
        match self.layout.in_rounds {
            true => [ALL_BENCHMARKS, self.place[1], 0],
            false => self.place,
        }
    }

    /// The pipes between the processes of a replicate.
    pub(super) fn batons(&self) -> Result<Batons, EngineError> {
        let made = match self.layout.process_slots.len() {
            0 | 1 => return Ok(Batons::default()),
            // Nobody stands between two.
            2 => Baton::pair().map(|ends| (None, ends.into())),
            more => Relay::between(more).map(|(relay, ends)| (Some(relay), ends)),
        };
        let (relay, ends) = made.map_err(|error| {
            let cause = FunctionError::NotStarted(error.to_string());
            EngineError::Function(Box::new(self.failure(None, cause, None)))
        })?;
        Ok(Batons { ends, relay })
    }

    /// The failure of this contender, or of all of them.
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

/// A problem that a worker tells, in our words.
pub(super) fn cause_of(problem: &Problem, layout: &ProcessLayout) -> FunctionError {
    match problem {
        Problem::Panicked(message) => FunctionError::Panicked(message.clone()),
        Problem::Skipped(reason) => FunctionError::Skipped(reason.clone()),
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
        Problem::OutOfTurn => FunctionError::Protocol("it was asked out of turn".to_owned()),
        Problem::PeerGone => FunctionError::Protocol(
            "it says that the process it takes turns with is gone, which is not so".to_owned(),
        ),
    }
}
