//! Waiting for the answers of workers: of one, or of several at the same time.

use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;

use super::blame;
use super::failure::FunctionCause;
use super::process::WorkerProcess;
use super::protocol::{Problem, Reply};
use super::relay::{Closed, Relay};
use crate::interrupt::Interrupts;

/// How long after one says that the other is gone it is waited for news of
/// that one.
const NEWS: Duration = Duration::from_secs(2);

/// Why there is no answer.
#[derive(Debug)]
pub(crate) enum WaitError {
    /// Something is wrong with one of the workers.
    Cause {
        /// Which, by its place among those heard; one of them where it cannot
        /// be known which.
        worker: usize,
        /// What is wrong.
        cause: FunctionCause,
    },
    /// A signal asks deadheat to stop.
    Interrupted,
}

/// How long workers are waited for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    /// What making an input or taking a sample may take, each for itself;
    /// forever when `None`.
    pub(crate) each: Option<Duration>,
    /// How many of them an answer takes at most: for workers that do not note
    /// when they go on.
    pub(crate) samples: u32,
}

/// Waits for one line of each worker, and meanwhile passes the baton on where
/// it goes by way of deadheat.
///
/// Who says that it failed ends the waiting for all others: then `Ok` holds the
/// replies that are there, and this one among them.
pub(crate) fn await_all(
    workers: &mut [&mut WorkerProcess],
    mut relay: Option<&mut Relay>,
    patience: Patience,
    interrupts: Option<&Interrupts>,
) -> Result<Vec<Option<Reply>>, WaitError> {
    let mut replies: Vec<Option<Reply>> = workers.iter().map(|_| None).collect();
    for worker in workers.iter_mut() {
        worker.moved_on();
    }
    let mut limit = patience.each.map(|each| Limit::new(each, patience.samples));
    let mut bereft: Option<PeerLost> = None;
    loop {
        for place in 0..workers.len() {
            if replies[place].is_none() {
                let captured = workers[place].attend();
                replies[place] = captured.map_err(|cause| blame::death(workers, place, cause))?;
            }
        }
        let looks = workers.iter_mut().filter_map(|worker| worker.forget_most());
        let mut pause = looks.min();
        // Who lost the other to take turns with did nothing wrong.
        let failed = replies.iter().flatten().any(
            |reply| matches!(reply, Reply::Failed { problem, .. } if *problem != Problem::PeerGone),
        );
        if failed
            || replies
                .iter()
                .all(|reply| matches!(reply, Some(reply) if !is_bereft(reply)))
        {
            return Ok(replies);
        }
        if bereft.is_none() {
            let left_alone = |reply: &Option<Reply>| reply.as_ref().is_some_and(is_bereft);
            let found = replies.iter().position(left_alone);
            bereft = found.map(|place| PeerLost::new(workers, place));
        }
        let passed_on = match (&mut relay, &bereft) {
            (Some(relay), None) => relay.advance(),
            _ => Ok(()),
        };
        if let Err(Closed(place)) = passed_on {
            bereft = Some(PeerLost::of_closed(place));
        }
        let over =
            |bereft: &PeerLost| bereft.left().is_zero() || replies.iter().all(Option::is_some);
        if let Some(bereft) = bereft.as_ref().filter(|bereft| over(bereft)) {
            return Err(bereft.wait_error());
        }
        if let Some(limit) = &mut limit {
            pause = sooner(pause, Some(limit.left(workers, &replies)?));
        }
        pause = sooner(pause, bereft.as_ref().map(PeerLost::left));
        let relay = relay.as_deref().filter(|_| bereft.is_none());
        wait(workers, &replies, relay, pause, interrupts)?;
    }
}

/// Waits until one of those without a reply has something to say or hands over
/// the baton, or has ended, or may have.
fn wait(
    workers: &[&mut WorkerProcess],
    replies: &[Option<Reply>],
    relay: Option<&Relay>,
    mut pause: Option<Duration>,
    interrupts: Option<&Interrupts>,
) -> Result<(), WaitError> {
    if interrupts.is_some_and(|interrupts| interrupts.requested().is_some()) {
        return Err(WaitError::Interrupted);
    }
    let silent = workers.iter().zip(replies).filter(|(_, r)| r.is_none());
    let mut fds = Vec::with_capacity(2 * workers.len());
    for (worker, _) in silent {
        let (ends, asked_again) = worker.news();
        fds.extend(ends);
        pause = sooner(pause, asked_again);
    }
    fds.extend(relay.into_iter().flat_map(Relay::awaited));
    let readable = |end| PollFd::new(end, PollFlags::POLLIN);
    let mut fds: Vec<PollFd<'_>> = fds.into_iter().map(readable).collect();
    let mask = interrupts.map(|interrupts| *interrupts.original_mask());
    // Interrupted or too early: the next round finds out.
    let _ = ppoll(&mut fds, pause.map(TimeSpec::from_duration), mask);
    Ok(())
}

fn sooner(one: Option<Duration>, other: Option<Duration>) -> Option<Duration> {
    [one, other].into_iter().flatten().min()
}

fn is_bereft(reply: &Reply) -> bool {
    let problem = Problem::PeerGone;
    matches!(reply, Reply::Failed { problem: said, .. } if *said == problem)
}

/// One says that the other is gone. That is soon known to be so, or it is not.
struct PeerLost {
    since: Instant,
    worker: usize,
    cause: FunctionCause,
}

impl PeerLost {
    fn new(workers: &[&mut WorkerProcess], place: usize) -> Self {
        let (worker, cause) = blame::blame_for_lost_peer(workers, place);
        Self {
            since: Instant::now(),
            worker,
            cause,
        }
    }

    /// One closed its ends of the baton, and soon is known to have ended, or
    /// goes on.
    fn of_closed(place: usize) -> Self {
        Self {
            since: Instant::now(),
            worker: place,
            cause: FunctionCause::BatonClosed,
        }
    }

    fn left(&self) -> Duration {
        NEWS.saturating_sub(self.since.elapsed())
    }

    fn wait_error(&self) -> WaitError {
        WaitError::Cause {
            worker: self.worker,
            cause: self.cause.clone(),
        }
    }
}

/// When patience ends: so long after any worker was last seen to go on.
struct Limit {
    each: Duration,
    samples: u32,
    began: Instant,
    end: Instant,
}

impl Limit {
    fn new(each: Duration, samples: u32) -> Self {
        let began = Instant::now();
        Self {
            each,
            samples: samples.max(1),
            began,
            end: began + each,
        }
    }

    /// What is left. The traces are only looked at when the time is up, so a
    /// sample gets at least what it may take and at most twice that.
    fn left(
        &mut self,
        workers: &mut [&mut WorkerProcess],
        replies: &[Option<Reply>],
    ) -> Result<Duration, WaitError> {
        let left = self.end.saturating_duration_since(Instant::now());
        if !left.is_zero() {
            return Ok(left);
        }
        // All of them, for each has its own to be read.
        let moved = workers.iter_mut().map(|worker| worker.moved_on());
        if moved.fold(false, |any, moved| any | moved) {
            self.end = Instant::now() + self.each;
            return Ok(self.each);
        }
        let silent: Vec<usize> = (0..workers.len())
            .filter(|place| replies[*place].is_none())
            .collect();
        // One that takes no notes may be in any of its samples.
        let untold = silent.iter().any(|place| !workers[*place].takes_notes());
        let in_all = self.began + self.each * self.samples;
        let left = in_all.saturating_duration_since(Instant::now());
        if untold && !left.is_zero() {
            self.end = in_all;
            return Ok(left);
        }
        if let Some(worker) = blame::for_answering_early(workers, &silent) {
            let cause = FunctionCause::Protocol(
                "it answered before its turns were over, and the process it takes turns with \
                 still waits for the baton"
                    .to_owned(),
            );
            return Err(WaitError::Cause { worker, cause });
        }
        let cause = match untold && self.samples > 1 {
            false => FunctionCause::TimedOut(self.each),
            true => FunctionCause::TimedOutInAll {
                each: self.each,
                samples: self.samples,
            },
        };
        let waited = match untold {
            false => self.each,
            true => self.each * self.samples,
        };
        let (worker, cause) = match blame::for_silence(workers, &silent) {
            Some(worker) => (worker, cause),
            None => (silent[0], FunctionCause::NeitherCameBack(waited)),
        };
        Err(WaitError::Cause { worker, cause })
    }
}
