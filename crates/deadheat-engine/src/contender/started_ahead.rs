//! Worker processes of replicates to come, started on all cores while nothing is timed, and asleep
//! until it is their turn: of a replicate of 3 ms that raced for 1.4, starting its process took 1.1.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;
use nix::unistd::Pid;

use super::worker_session::WorkerSession;
use crate::executable::Variant;
use crate::interrupt::Interrupts;
use crate::procfs::{cpu_ns, resident_bytes};

/// Processes that wait at most. A first look comes after six replicates.
const MOST_WAITING: usize = 8;
/// Bytes of memory that waiting processes may hold together.
const MOST_BYTES: u64 = 256 << 20;
/// A program that takes longer to be up is started when it is its turn: somebody may wait for the
/// first block, or press Ctrl-C.
const QUICK: Duration = Duration::from_millis(250);
/// Time in which all that were started together are to be up.
const UP_WITHIN: Duration = Duration::from_secs(2);
/// CPU time of a process that waits, in nanoseconds, which it spends on nothing but falling asleep.
/// One that runs longer runs beside samples.
const ASLEEP_NS: u64 = 50_000;

/// The processes that wait for their turn.
#[derive(Debug, Default)]
pub(super) struct StartedAhead {
    waiting: Vec<Waiting>,
    /// By program, what its first process has shown.
    known: BTreeMap<usize, Startup>,
}

#[derive(Debug)]
struct Waiting {
    place: [u64; 3],
    program: usize,
    session: WorkerSession,
    /// The CPU time it had used when it fell asleep, in nanoseconds.
    used_ns: Option<u64>,
}

/// The start of a process.
#[derive(Clone, Copy, Debug)]
pub(super) struct Startup {
    /// Time from its start until it says hello.
    pub(super) took: Duration,
    /// Processes of its program that may wait.
    room: usize,
}

impl StartedAhead {
    /// The number of processes of a program that may be started together; 0 until it is known what
    /// one takes, and for programs that take too much.
    pub(super) fn room(&self, program: usize) -> usize {
        self.known.get(&program).map_or(0, |startup| startup.room)
    }

    /// The start of the first process of a program.
    pub(super) fn startup(&self, program: usize) -> Option<Startup> {
        self.known.get(&program).copied()
    }

    /// Learns from the first process of a program how many of its kind may wait.
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

    /// Returns whether the process of a replicate waits, on whatever link.
    pub(super) fn holds(&self, place: [u64; 3]) -> bool {
        self.waiting.iter().any(|waiting| waiting.place == place)
    }

    /// One more that was started and has not said anything yet.
    pub(super) fn add(&mut self, place: [u64; 3], program: usize, session: WorkerSession) {
        self.waiting.push(Waiting {
            place,
            program,
            session,
            used_ns: None,
        });
    }

    /// Waits until all have said hello and sleep, those that fail to left out. The end of a pipe is
    /// no hello: a process that ends closes it a moment before it can be seen to have ended.
    pub(super) fn fall_asleep(&mut self, interrupts: &Interrupts) {
        let end = Instant::now() + UP_WITHIN;
        // Those that sleep already keep the account of when they fell asleep.
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

    /// The process of a replicate, of this program on this link, if it waits. None is started ahead
    /// any more when this one ran while it waited, or did not come up beside another of its kind, as
    /// one does not that wants a port for itself.
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

    /// Lets all go.
    pub(super) fn clear(&mut self) {
        self.waiting.clear();
    }
}
