//! Waits for the replies of one or several workers, and determines which worker is to blame if a
//! reply is missing.

use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;

use super::WorkerProcess;
use super::pipes::{Closed, Relay};
use super::protocol::{Problem, Reply};
use crate::function_failure::FunctionError;
use crate::interrupt::Interrupts;

/// Grace period for the exit status of a peer reported lost.
const NEWS: Duration = Duration::from_secs(2);

#[derive(Debug)]
pub(crate) enum WaitError {
    Cause {
        /// The index of the worker to blame, among the workers waited for; any index if it is
        /// unknown which worker is to blame.
        worker: usize,
        cause: FunctionError,
    },
    Interrupted,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct ReplyLimits {
    /// The maximum time for making one input, and for taking one sample; `None` for no limit.
    pub(crate) each: Option<Duration>,
    /// The maximum number of samples per reply. It extends the limit for workers that write no
    /// progress notes.
    pub(crate) samples: u32,
    /// True if progress notes of a worker do not extend the time limit.
    pub(crate) whatever_is_noted: bool,
}

/// Waits for one reply of each worker. Forwards turns between workers meanwhile, if there is a
/// `relay`.
///
/// If a worker reports that it failed, this returns at once, with `None` for the workers that have
/// not replied yet.
pub(crate) fn await_all(
    workers: &mut [&mut WorkerProcess],
    mut relay: Option<&mut Relay>,
    patience: ReplyLimits,
    interrupts: &Interrupts,
) -> Result<Vec<Option<Reply>>, WaitError> {
    let mut replies: Vec<Option<Reply>> = workers.iter().map(|_| None).collect();
    for worker in workers.iter_mut() {
        worker.trace.moved_on();
    }
    let mut limit = patience.each.map(|each| Limit::new(each, patience));
    let mut peer_lost: Option<PeerLost> = None;
    loop {
        for place in 0..workers.len() {
            if replies[place].is_none() {
                let captured = workers[place].attend();
                replies[place] =
                    captured.map_err(|cause| blame_for_death(workers, place, cause))?;
            }
        }
        let looks = workers
            .iter_mut()
            .filter_map(|worker| worker.stderr_tail.forget_most());
        let mut pause = looks.min();
        // A worker that lost its peer did nothing wrong.
        let failed = replies.iter().flatten().any(
            |reply| matches!(reply, Reply::Failed { problem, .. } if *problem != Problem::PeerGone),
        );
        if failed
            || replies
                .iter()
                .all(|reply| matches!(reply, Some(reply) if !lost_its_peer(reply)))
        {
            return Ok(replies);
        }
        if peer_lost.is_none() {
            let left_alone = |reply: &Option<Reply>| reply.as_ref().is_some_and(lost_its_peer);
            let found = replies.iter().position(left_alone);
            peer_lost = found.map(|place| PeerLost::new(workers, place));
        }
        let passed_on = match (&mut relay, &peer_lost) {
            (Some(relay), None) => relay.advance(),
            _ => Ok(()),
        };
        if let Err(Closed(place)) = passed_on {
            peer_lost = Some(PeerLost::of_closed(place));
        }
        let over = |peer_lost: &PeerLost| {
            peer_lost.left().is_zero() || replies.iter().all(Option::is_some)
        };
        if let Some(peer_lost) = peer_lost.as_ref().filter(|peer_lost| over(peer_lost)) {
            return Err(peer_lost.wait_error());
        }
        if let Some(limit) = &mut limit {
            pause = sooner(pause, Some(limit.left(workers, &replies)?));
        }
        pause = sooner(pause, peer_lost.as_ref().map(PeerLost::left));
        let relay = relay.as_deref().filter(|_| peer_lost.is_none());
        wait(workers, &replies, relay, pause, interrupts)?;
    }
}

/// Waits until a worker without a reply writes, passes its turn or ends, or until `pause` is over.
fn wait(
    workers: &[&mut WorkerProcess],
    replies: &[Option<Reply>],
    relay: Option<&Relay>,
    mut pause: Option<Duration>,
    interrupts: &Interrupts,
) -> Result<(), WaitError> {
    if interrupts.requested().is_some() {
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
    let mask = Some(*interrupts.original_mask());
    // The next round handles interrupts and early wake-ups.
    let _ = ppoll(&mut fds, pause.map(TimeSpec::from_duration), mask);
    Ok(())
}

fn sooner(one: Option<Duration>, other: Option<Duration>) -> Option<Duration> {
    [one, other].into_iter().flatten().min()
}

fn lost_its_peer(reply: &Reply) -> bool {
    let problem = Problem::PeerGone;
    matches!(reply, Reply::Failed { problem: said, .. } if *said == problem)
}

/// A report that a peer is gone, with the error to return unless an exit status arrives in time.
struct PeerLost {
    since: Instant,
    worker: usize,
    cause: FunctionError,
}

impl PeerLost {
    fn new(workers: &[&mut WorkerProcess], place: usize) -> Self {
        let (worker, cause) = blame_for_lost_peer(workers, place);
        Self {
            since: Instant::now(),
            worker,
            cause,
        }
    }

    /// Returns the report about a worker that closed its turn-taking pipes, whether it has ended or
    /// keeps running.
    fn of_closed(place: usize) -> Self {
        Self {
            since: Instant::now(),
            worker: place,
            cause: FunctionError::BatonClosed,
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

/// The time at which waiting ends: `each` after the last noticed progress of any worker.
struct Limit {
    each: Duration,
    samples: u32,
    whatever_is_noted: bool,
    began: Instant,
    end: Instant,
}

impl Limit {
    fn new(each: Duration, patience: ReplyLimits) -> Self {
        let began = Instant::now();
        Self {
            each,
            samples: patience.samples.max(1),
            whatever_is_noted: patience.whatever_is_noted,
            began,
            end: began + each,
        }
    }

    /// Returns the time left. Progress notes are read only when the time is up, so a sample gets at
    /// least its limit and at most twice that.
    fn left(
        &mut self,
        workers: &mut [&mut WorkerProcess],
        replies: &[Option<Reply>],
    ) -> Result<Duration, WaitError> {
        let left = self.end.saturating_duration_since(Instant::now());
        if !left.is_zero() {
            return Ok(left);
        }
        // Without short-circuiting, because the notes of every worker must be read.
        let moved = workers.iter_mut().map(|worker| worker.trace.moved_on());
        if moved.fold(false, |any, moved| any | moved) && !self.whatever_is_noted {
            self.end = Instant::now() + self.each;
            return Ok(self.each);
        }
        let silent: Vec<usize> = (0..workers.len())
            .filter(|place| replies[*place].is_none())
            .collect();
        // A worker without progress notes may be in any of its samples.
        let without_notes = silent.iter().any(|place| !workers[*place].trace.was_used());
        let in_all = self.began + self.each * self.samples;
        let left = in_all.saturating_duration_since(Instant::now());
        if without_notes && !left.is_zero() {
            self.end = in_all;
            return Ok(left);
        }
        if let Some(worker) = blame_for_answering_early(workers, &silent) {
            let cause = FunctionError::Protocol(
                "it answered before its last turn, and its peer process still waits for its own \
                 turn"
                    .to_owned(),
            );
            return Err(WaitError::Cause { worker, cause });
        }
        let (each, samples) = (self.each, self.samples);
        let (cause, waited) = if without_notes && samples > 1 {
            let cause = FunctionError::TimedOutInAll { each, samples };
            (cause, each * samples)
        } else {
            (FunctionError::TimedOut(each), each)
        };
        let (worker, cause) = match blame_for_silence(workers, &silent) {
            Some(worker) => (worker, cause),
            None => (silent[0], FunctionError::NeitherCameBack(waited)),
        };
        Err(WaitError::Cause { worker, cause })
    }
}

/// Returns the worker to blame if no worker in `silent` replies; `None` if that is unknown. Of two
/// workers that take turns, one may merely be waiting for the other.
fn blame_for_silence(workers: &mut [&mut WorkerProcess], silent: &[usize]) -> Option<usize> {
    if let [only] = silent {
        return Some(*only);
    }
    let stopped: Vec<bool> = silent.iter().map(|at| workers[*at].is_stopped()).collect();
    if let Some(found) = only_one(&stopped) {
        return Some(silent[found]);
    }
    // Used only if the state of every worker is known.
    let awaits: Option<Vec<bool>> = silent
        .iter()
        .map(|at| workers[*at].awaits_baton())
        .collect();
    if let Some(awaits) = awaits {
        let busy: Vec<bool> = awaits.iter().map(|awaits| !awaits).collect();
        if let Some(found) = only_one(&busy) {
            return Some(silent[found]);
        }
        if !busy.contains(&true) {
            return None;
        }
    }
    let called: Vec<bool> = silent
        .iter()
        .map(|at| workers[*at].trace.contender().is_some())
        .collect();
    only_one(&called).map(|found| silent[found])
}

/// Returns the only worker that replied, if all others wait for their turn: it is to blame, because
/// it must have skipped turns.
fn blame_for_answering_early(
    workers: &mut [&mut WorkerProcess],
    silent: &[usize],
) -> Option<usize> {
    let mut answered = (0..workers.len()).filter(|place| !silent.contains(place));
    let (early, None) = (answered.next()?, answered.next()) else {
        return None;
    };
    let waits = |place: &usize| workers[*place].awaits_baton() == Some(true);
    silent.iter().all(waits).then_some(early)
}

/// Returns the error for a worker that ended. The cause may be the worker's peer, even if the end
/// of the peer is noticed later. So this blames the most suspicious worker that has ended.
fn blame_for_death(
    workers: &mut [&mut WorkerProcess],
    place: usize,
    cause: FunctionError,
) -> WaitError {
    let mut found = WaitError::Cause {
        worker: place,
        cause: cause.clone(),
    };
    if cause.is_death() {
        let mut most = suspicion(&cause, workers[place].trace.contender().is_some());
        for (other, worker) in workers.iter_mut().enumerate() {
            let Some(cause) = worker.end().filter(|_| other != place) else {
                continue;
            };
            let suspicion = suspicion(&cause, worker.trace.contender().is_some());
            if suspicion > most {
                most = suspicion;
                found = WaitError::Cause {
                    worker: other,
                    cause,
                };
            }
        }
    }
    found
}

/// Ranks how likely a process ended by its own fault, and not because its peer was gone.
fn suspicion(end: &FunctionError, called: bool) -> u32 {
    match end {
        FunctionError::Signalled(libc::SIGPIPE) => 0,
        _ if called => 3,
        FunctionError::Signalled(_) => 2,
        _ => 1,
    }
}

/// Returns the worker to blame if the worker at `place` reports that its peer is gone, although no
/// worker is known to have ended.
fn blame_for_lost_peer(workers: &[&mut WorkerProcess], place: usize) -> (usize, FunctionError) {
    let other = (0..workers.len()).find(|other| *other != place);
    let holds = other.and_then(|other| workers[other].holds_baton());
    let said = |what: &str| {
        let said = format!("it reports that its peer process has ended, {what}");
        FunctionError::Protocol(said)
    };
    match (other, holds) {
        (Some(other), Some(false)) => (other, FunctionError::BatonClosed),
        (Some(_), None) => (
            place,
            said("but the peer keeps running: did one of the two close the turn-taking pipe?"),
        ),
        _ => (place, said("which is not true")),
    }
}

/// Returns the index of the only `true`; `None` if several or no entries are true.
fn only_one(found: &[bool]) -> Option<usize> {
    let mut places = found.iter().enumerate().filter(|(_, yes)| **yes);
    let (place, _) = places.next()?;
    places.next().is_none().then_some(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_ends_because_the_other_is_gone_is_suspected_least() {
        let bystander = suspicion(&FunctionError::Signalled(libc::SIGPIPE), true);
        let left = suspicion(&FunctionError::Exited(1), false);
        let killed = suspicion(&FunctionError::Signalled(libc::SIGSEGV), false);
        let called = suspicion(&FunctionError::Exited(0), true);
        assert!(bystander < left && left < killed && killed < called);
    }

    #[test]
    fn one_is_found_among_others_and_not_among_its_like() {
        assert_eq!(only_one(&[false, true]), Some(1));
        assert_eq!(only_one(&[true, true]), None);
        assert_eq!(only_one(&[false, false]), None);
    }
}
