//! Starts worker processes of later replicates in parallel while nothing is timed, and keeps them
//! asleep until their turn. Starting a process took 1.1 ms of a replicate of 3 ms that raced for
//! 1.4 ms.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;
use nix::unistd::Pid;

use super::worker_session::WorkerSession;
use crate::executable::Variant;
use crate::interrupt::Interrupts;
use crate::procfs::{cpu_ns, resident_bytes};

/// The maximum number of processes that wait for their replicate. The first interim analysis comes
/// after six replicates.
const MOST_WAITING: usize = 8;
/// The maximum memory of all waiting processes together, in bytes.
const MOST_BYTES: u64 = 256 << 20;
/// The longest startup of a program that is started ahead. A slower program is not started ahead,
/// because the user may be waiting for the first block, or press Ctrl-C.
const QUICK: Duration = Duration::from_millis(250);
/// The time in which all processes that are started together must be ready.
const UP_WITHIN: Duration = Duration::from_secs(2);
/// CPU time, in nanoseconds, that a waiting process may use to fall asleep. A process that uses
/// more runs while samples are timed.
const ASLEEP_NS: u64 = 50_000;

#[derive(Debug, Default)]
pub(super) struct StartedAhead {
    waiting: Vec<Waiting>,
    known: BTreeMap<usize, Startup>,
}

#[derive(Debug)]
struct Waiting {
    place: [u64; 3],
    program: usize,
    session: WorkerSession,
    /// The CPU time that the process had used when it fell asleep, in nanoseconds.
    used_ns: Option<u64>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Startup {
    /// The time from the start of the process to its hello message.
    pub(super) took: Duration,
    /// The number of processes of the program that may wait.
    room: usize,
}

impl StartedAhead {
    /// Returns how many processes of a program may be started ahead: 0 before the first process has
    /// been observed, and for programs that start slowly or use much memory.
    pub(super) fn room(&self, program: usize) -> usize {
        self.known.get(&program).map_or(0, |startup| startup.room)
    }

    pub(super) fn startup(&self, program: usize) -> Option<Startup> {
        self.known.get(&program).copied()
    }

    /// Derives from the first process of a program how many of its processes may wait.
    pub(super) fn learn(&mut self, program: usize, pid: Pid, took: Duration) {
        self.known.entry(program).or_insert_with(|| Startup {
            took,
            room: match resident_bytes(pid) {
                Some(bytes) if took <= QUICK && cpu_ns(pid).is_some() => {
                    MOST_WAITING.min((MOST_BYTES / bytes.max(1)) as usize)
                }
                _ => 0,
            },
        });
    }

    /// Returns true if a process for the replicate at `place` waits, whichever link it runs.
    pub(super) fn holds(&self, place: [u64; 3]) -> bool {
        self.waiting.iter().any(|waiting| waiting.place == place)
    }

    /// Adds a process that has not sent its hello message yet.
    pub(super) fn add(&mut self, place: [u64; 3], program: usize, session: WorkerSession) {
        self.waiting.push(Waiting {
            place,
            program,
            session,
            used_ns: None,
        });
    }

    /// Waits at most `UP_WITHIN` for the hello message of every new process. A closed pipe does not
    /// count as hello: an exiting process closes its pipe just before its exit can be observed.
    pub(super) fn fall_asleep(&mut self, interrupts: &Interrupts) {
        let end = Instant::now() + UP_WITHIN;
        // Processes already asleep keep the CPU time recorded when they fell asleep.
        let is_new = |at: &usize| self.waiting[*at].used_ns.is_none();
        let mut silent: Vec<usize> = (0..self.waiting.len()).filter(is_new).collect();
        while !silent.is_empty() && interrupts.requested().is_none() {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            let mut fds = Vec::with_capacity(silent.len());
            for at in &silent {
                let voice = self.waiting[*at].session.worker.voice();
                fds.push(PollFd::new(voice, PollFlags::POLLIN));
            }
            let pause = Some(TimeSpec::from_duration(left));
            let _ = ppoll(&mut fds, pause, Some(*interrupts.original_mask()));
            let heard = |fd: &PollFd<'_>| fd.revents().unwrap_or(PollFlags::POLLERR);
            let heard: Vec<PollFlags> = fds.iter().map(heard).collect();
            for (at, heard) in silent.iter().zip(&heard) {
                if heard.contains(PollFlags::POLLIN) {
                    let waiting = &mut self.waiting[*at];
                    waiting.used_ns = cpu_ns(waiting.session.worker.pid());
                }
            }
            let mut heard = heard.into_iter();
            silent.retain(|_| heard.next().is_none_or(|heard| heard.is_empty()));
        }
    }

    /// Removes and returns the process that waits for a replicate, if it runs `program` on the link
    /// `variant`. If the process used CPU time while it waited, or failed to start next to another
    /// (because both need the same port, say), this also stops starting processes ahead.
    pub(super) fn take(
        &mut self,
        place: [u64; 3],
        program: usize,
        variant: Option<&Variant>,
    ) -> Option<WorkerSession> {
        let at = self.waiting.iter().position(|one| one.place == place)?;
        let found = self.waiting.swap_remove(at);
        let worker = &found.session.worker;
        let ran_ns = match (found.used_ns, worker.end(), cpu_ns(worker.pid())) {
            (Some(before), None, Some(now)) => Some(now.saturating_sub(before)),
            _ => None,
        };
        if ran_ns.is_none_or(|ran_ns| ran_ns > ASLEEP_NS) {
            self.waiting.clear();
            for startup in self.known.values_mut() {
                startup.room = 0;
            }
        }
        let is_it = found.program == program && found.session.variant.as_ref() == variant;
        (ran_ns.is_some() && is_it).then_some(found.session)
    }

    pub(super) fn clear(&mut self) {
        self.waiting.clear();
    }
}
