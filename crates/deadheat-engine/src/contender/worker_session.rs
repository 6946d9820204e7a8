//! A process of a replicate, and what its answers hold.

use deadheat_model::{Metric, column_name};

use super::run_position::RunPosition;
use crate::error::EngineError;
use crate::placement::Variant;
use crate::worker::{FunctionCause, FunctionFailure, PROTOCOL, Reply, WorkerProcess};

/// The metrics of a worker that says hello in this version of the protocol.
pub(super) fn greeted(hello: &Reply) -> Result<&[Metric], FunctionCause> {
    match hello {
        Reply::Hello {
            protocol: PROTOCOL,
            metrics,
            ..
        } => match metrics.contains(&Metric::Wall) {
            true => Ok(metrics),
            false => Err(FunctionCause::Protocol(
                "its hello names no metric wall_ns".to_owned(),
            )),
        },
        Reply::Hello { protocol, .. } => Err(FunctionCause::OtherProtocol {
            theirs: *protocol,
            ours: PROTOCOL,
        }),
        other => Err(FunctionCause::Protocol(format!(
            "it says {} instead of hello",
            other.said()
        ))),
    }
}

/// A process of a replicate, started and with its benchmark ready.
pub(super) struct WorkerSession {
    pub(super) process_slot: usize,
    pub(super) worker: WorkerProcess,
    /// The neutral link it runs on.
    pub(super) variant: Option<Variant>,
    /// Where the metrics of the run stand among those of its samples.
    columns: Vec<usize>,
    /// The metrics of its samples.
    measured: Vec<Metric>,
    /// Whether every block of it has an input of its own.
    pub(super) renews_input: bool,
    /// The seed of the input that a warm-up has left ready for the first block,
    /// with the contender of its first slot the last to have run.
    pub(super) ready: Option<u64>,
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
            columns: Vec::new(),
            measured: Vec::new(),
            renews_input: false,
            ready: None,
        }
    }

    /// Learns from its hello how its samples are laid out.
    pub(super) fn handshake(
        &mut self,
        hello: &Reply,
        wanted: &[Metric],
    ) -> Result<(), FunctionCause> {
        let measured = greeted(hello)?;
        let place = |metric: &Metric| {
            let found = measured.iter().position(|other| other == metric);
            found.ok_or_else(|| {
                let column = column_name(metric);
                FunctionCause::Protocol(format!("it does not measure {column} any more"))
            })
        };
        self.columns = wanted.iter().map(place).collect::<Result<_, _>>()?;
        self.measured = measured.to_vec();
        Ok(())
    }

    /// The values of so many samples, if that is what it answers.
    pub(super) fn samples(&self, reply: &Reply, turns: usize) -> Result<Vec<f64>, FunctionCause> {
        let wrong = |said: String| Err(FunctionCause::Protocol(said));
        let Reply::Block { values } = reply else {
            return wrong(format!(
                "it answers {} when asked for a block",
                reply.said()
            ));
        };
        let width = self.measured.len();
        if values.len() != turns * width {
            return wrong(format!(
                "it answers with {} values for {turns} samples of {width} metrics each",
                values.len()
            ));
        }
        if let Some(at) = values.iter().position(|v| !v.is_finite() || *v < 0.0) {
            return wrong(format!(
                "{} of sample {} of a block is {}; values must be finite and not negative",
                column_name(&self.measured[at % width]),
                at / width + 1,
                values[at]
            ));
        }
        Ok(values.clone())
    }

    /// Values of one of its samples.
    pub(super) fn width(&self) -> usize {
        self.measured.len()
    }

    /// The metrics of the run, of one of its samples.
    pub(super) fn of_the_run<'a>(&'a self, sample: &'a [f64]) -> impl Iterator<Item = f64> + 'a {
        self.columns.iter().map(|column| sample[*column])
    }

    /// An answer to something else.
    pub(super) fn unexpected(&mut self, position: RunPosition<'_>, reply: &Reply) -> EngineError {
        let cause = FunctionCause::Protocol(format!("it answers {}", reply.said()));
        self.failure(position, None, cause)
    }

    /// What went wrong in this process; `called` is the contender, as the
    /// process numbers them, where it says so.
    pub(super) fn failure(
        &mut self,
        position: RunPosition<'_>,
        called: Option<usize>,
        cause: FunctionCause,
    ) -> EngineError {
        let layout = position.layout;
        let called = called.or_else(|| self.worker.last_called());
        let contender = match (&cause, called) {
            (FunctionCause::NeitherCameBack(_), _) => None,
            (_, Some(number)) => Some(layout.contender_of(self.process_slot, number)),
            // Whatever happens there, it happens to this one.
            (_, None) => layout.only_contender(self.process_slot),
        };
        EngineError::Function(Box::new(FunctionFailure {
            stderr_tail: self.worker.stderr_tail(),
            ..position.failure(contender, cause, self.variant.clone())
        }))
    }
}

/// Lets all processes of a replicate go, at the same time.
pub(super) fn leave(mut team: Vec<WorkerSession>) {
    for session in &mut team {
        session.worker.dismiss();
    }
    for session in team {
        session.worker.leave();
    }
}
