//! Waiting for the answers of workers: of one, or of several at the same time.

use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;

use super::failure::FunctionCause;
use super::process::WorkerProcess;
use super::protocol::{Problem, Reply};
use crate::interrupt::Interrupts;

/// Why there is no answer.
#[derive(Debug)]
pub(crate) enum Silence {
    /// Something is wrong with one of the workers.
    Cause {
        /// Which, by its place among those heard.
        worker: usize,
        /// What is wrong.
        cause: FunctionCause,
    },
    /// A signal asks deadheat to stop.
    Interrupted,
}

/// Waits for one line of each worker. `patience` is what making an input or
/// taking a sample may take, each for itself.
///
/// Who says that it failed ends the waiting for all others: then `Ok` holds the
/// replies that are there, and this one among them.
pub(crate) fn hear_all(
    workers: &mut [&mut WorkerProcess],
    patience: Option<Duration>,
    interrupts: Option<&Interrupts>,
) -> Result<Vec<Option<Reply>>, Silence> {
    let mut replies: Vec<Option<Reply>> = workers.iter().map(|_| None).collect();
    for worker in workers.iter_mut() {
        worker.moved_on();
    }
    let mut limit = patience.map(Limit::new);
    loop {
        for (place, (worker, reply)) in workers.iter_mut().zip(&mut replies).enumerate() {
            if reply.is_none() {
                *reply = worker.attend().map_err(|cause| Silence::Cause {
                    worker: place,
                    cause,
                })?;
            }
        }
        // Who lost the other to take turns with did nothing wrong.
        let failed = replies.iter().flatten().any(
            |reply| matches!(reply, Reply::Failed { problem, .. } if *problem != Problem::PeerGone),
        );
        if failed || replies.iter().all(Option::is_some) {
            return Ok(replies);
        }
        wait(workers, &replies, limit.as_mut(), interrupts)?;
    }
}

/// Waits for one line of one worker.
pub(crate) fn hear(
    worker: &mut WorkerProcess,
    patience: Option<Duration>,
    interrupts: Option<&Interrupts>,
) -> Result<Reply, Silence> {
    let mut replies = hear_all(&mut [worker], patience, interrupts)?;
    Ok(replies.pop().flatten().expect("one was waited for"))
}

/// Waits until one of those without a reply has something to say, or has
/// ended, or may have.
fn wait(
    workers: &mut [&mut WorkerProcess],
    replies: &[Option<Reply>],
    limit: Option<&mut Limit>,
    interrupts: Option<&Interrupts>,
) -> Result<(), Silence> {
    if interrupts.is_some_and(|interrupts| interrupts.requested().is_some()) {
        return Err(Silence::Interrupted);
    }
    let mut pause = match limit {
        Some(limit) => Some(limit.left(workers, replies)?),
        None => None,
    };
    let silent = workers.iter().zip(replies).filter(|(_, r)| r.is_none());
    let mut fds = Vec::with_capacity(2 * workers.len());
    for (worker, _) in silent {
        fds.push(PollFd::new(worker.replies.as_fd(), PollFlags::POLLIN));
        let notice = worker.death.notice();
        fds.extend(notice.map(|notice| PollFd::new(notice, PollFlags::POLLIN)));
        pause = [pause, worker.death.pause()].into_iter().flatten().min();
    }
    let mask = interrupts.map(|interrupts| *interrupts.original_mask());
    // Interrupted or too early: the next round finds out.
    let _ = ppoll(&mut fds, pause.map(TimeSpec::from_duration), mask);
    Ok(())
}

/// When patience ends: so long after any worker was last seen to go on.
struct Limit {
    each: Duration,
    end: Instant,
}

impl Limit {
    fn new(each: Duration) -> Self {
        Self {
            each,
            end: Instant::now() + each,
        }
    }

    /// What is left. The traces are only looked at when the time is up, so a
    /// sample gets at least what it may take and at most twice that.
    fn left(
        &mut self,
        workers: &mut [&mut WorkerProcess],
        replies: &[Option<Reply>],
    ) -> Result<Duration, Silence> {
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
        let mut silent = (0..workers.len()).filter(|place| replies[*place].is_none());
        let first = silent.clone().next().unwrap_or(0);
        // Of two that take turns, one waits for the other.
        let busy = silent.find(|place| workers[*place].last_called().is_some());
        Err(Silence::Cause {
            worker: busy.unwrap_or(first),
            cause: FunctionCause::TimedOut(self.each),
        })
    }
}
