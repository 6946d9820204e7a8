//! Where in the run something happens, and what it is called when it goes
//! wrong.

use super::process_layout::ProcessLayout;
use crate::error::{EngineError, Moment};
use crate::placement::Variant;
use crate::worker::{Baton, FunctionCause, FunctionFailure, Problem, Relay};

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
    /// Who passes it on where there are more than two.
    pub(super) relay: Option<Relay>,
}

impl RunPosition<'_> {
    /// The pipes between the processes of a replicate.
    pub(super) fn batons(&self) -> Result<Batons, EngineError> {
        let made = match self.layout.process_slots.len() {
            0 | 1 => return Ok(Batons::default()),
            // Nobody stands between two.
            2 => Baton::pair().map(|ends| (None, ends.into())),
            more => Relay::between(more).map(|(relay, ends)| (Some(relay), ends)),
        };
        let (relay, ends) = made.map_err(|error| {
            let cause = FunctionCause::NotStarted(error.to_string());
            EngineError::Function(Box::new(self.failure(None, cause, None)))
        })?;
        Ok(Batons { ends, relay })
    }

    /// What went wrong with this contender, or with all of them.
    pub(super) fn failure(
        &self,
        contender: Option<usize>,
        cause: FunctionCause,
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
pub(super) fn cause_of(problem: &Problem, layout: &ProcessLayout) -> FunctionCause {
    match problem {
        Problem::Panicked(message) => FunctionCause::Panicked(message.clone()),
        Problem::OutputVaries => FunctionCause::OutputVaries,
        Problem::OutputDiffers => FunctionCause::OutputDiffers {
            baseline: layout.contenders.first().cloned().unwrap_or_default(),
        },
        Problem::Unknown => FunctionCause::Protocol(
            "it does not know this benchmark; is the suite the same in every process?".to_owned(),
        ),
        Problem::OutOfTurn => FunctionCause::Protocol("it was asked out of turn".to_owned()),
        Problem::PeerGone => FunctionCause::Protocol(
            "it says that the process it takes turns with is gone, which is not so".to_owned(),
        ),
    }
}
