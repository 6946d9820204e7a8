//! The pipes of a worker, including that for progress notes; its exit when its coordinator dies;
//! and the pipes through which processes of several builds take turns on one core.
#![allow(unsafe_code)]

use std::io::{BufRead, BufReader, ErrorKind, PipeReader, PipeWriter, Read, Write, pipe};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicU32, Ordering};

use super::protocol::{Reply, Request};

/// The environment variable that makes a program a worker: the descriptors of its pipes.
pub(super) const VARIABLE: &str = "DEADHEAT_WORKER";
/// The environment variable of a worker that takes turns with another: the descriptors of the pipes
/// through which it gets and passes its turn.
pub(super) const BATON_VARIABLE: &str = "DEADHEAT_BATON";

/// The pipes of a worker process.
#[derive(Debug)]
pub struct WorkerPipes {
    requests: BufReader<PipeReader>,
    pub(super) replies: PipeWriter,
    /// The pipe for progress notes, which name the contender that is called.
    pub(super) notes: PipeWriter,
    pub(super) baton: Option<Baton>,
}

impl WorkerPipes {
    /// Returns the pipes of this process; `None` if it was not started as a worker.
    ///
    /// Call this once, first in `main`, while there is only one thread: it removes the variables
    /// from the environment, so that processes started by the functions under test do not become
    /// workers.
    pub fn inherited() -> Option<Self> {
        let pipes = descriptors(VARIABLE);
        let baton = descriptors(BATON_VARIABLE);
        let [requests, replies, notes] = pipes?;
        die_with_the_coordinator();
        set_nonblocking(&notes).ok()?;
        Some(Self {
            requests: BufReader::new(requests.into()),
            replies: replies.into(),
            notes: notes.into(),
            baton: baton.map(|[incoming, outgoing]| Baton {
                incoming: incoming.into(),
                outgoing: outgoing.into(),
            }),
        })
    }

    pub(super) fn next_request(&mut self, line: &mut String) -> Option<Request> {
        line.clear();
        // The end of the pipe ends the work, and so does an invalid request: the coordinator sees
        // the pipe close.
        match self.requests.read_line(line) {
            Ok(bytes) if bytes > 0 => Request::from_line(line.as_bytes()),
            _ => None,
        }
    }

    pub(super) fn send(&mut self, reply: &Reply) -> Option<()> {
        self.replies.write_all(reply.to_line().as_bytes()).ok()
    }
}

/// The progress note for work outside of contenders: making and dropping inputs.
pub(super) const NOBODY: u8 = 0;

/// The maximum number of successive reads of progress notes: more than a full pipe needs.
const MOST_READS: usize = 256;

/// The coordinator's end of the pipe for progress notes.
#[derive(Debug)]
pub(crate) struct Trace {
    notes: PipeReader,
    last: u8,
    used: bool,
}

impl Trace {
    pub(super) fn new(notes: PipeReader) -> std::io::Result<Self> {
        set_nonblocking(&notes)?;
        Ok(Self {
            notes,
            last: NOBODY,
            used: false,
        })
    }

    /// Reads new progress notes. Returns true if there were any.
    pub(super) fn moved_on(&mut self) -> bool {
        let mut buffer = [0; 512];
        let mut moved = false;
        // The end of the pipe, an error and an empty pipe have the same effect. The number of reads
        // is limited, because a worker that never stops writing must not keep its coordinator here,
        // where no time limit applies.
        for _ in 0..MOST_READS {
            let Ok(bytes @ 1..) = self.notes.read(&mut buffer) else {
                break;
            };
            self.last = buffer[bytes - 1];
            moved = true;
        }
        self.used |= moved;
        moved
    }

    /// Returns true if at least one progress note has been read.
    pub(super) fn was_used(&self) -> bool {
        self.used
    }

    /// Returns the contender that the last progress note names; `None` if the note is about other
    /// work.
    pub(crate) fn contender(&mut self) -> Option<usize> {
        self.moved_on();
        usize::from(self.last).checked_sub(1)
    }
}

/// Removes a variable from the environment and returns the descriptors that it names; `None` if one
/// of them is not open.
fn descriptors<const N: usize>(variable: &str) -> Option<[OwnedFd; N]> {
    let text = std::env::var(variable).ok()?;
    // SAFETY: at the start of `main` no other thread reads or writes the
    // environment.
    unsafe { std::env::remove_var(variable) };
    let numbers: Result<Vec<RawFd>, _> = text.split(',').map(str::parse).collect();
    let numbers: [RawFd; N] = numbers.ok()?.try_into().ok()?;
    for fd in numbers {
        // SAFETY: plain system call, which fails for a number that is not a descriptor.
        if unsafe { libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC) } < 0 {
            return None;
        }
    }
    // SAFETY: the coordinator left these descriptors open for this process, and no other code knows
    // them.
    Some(numbers.map(|fd| unsafe { OwnedFd::from_raw_fd(fd) }))
}

/// Makes the kernel signal this worker when its coordinator dies in any way, even by SIGKILL. Also
/// makes the worker kill the processes that its functions have started when it exits.
fn die_with_the_coordinator() {
    WORKER.store(std::process::id(), Ordering::Relaxed);
    // SAFETY: the function makes only plain system calls.
    unsafe { libc::atexit(worker_leaves) };
    #[cfg(target_os = "linux")]
    {
        // A signal that hardly any other code uses. Without a handler it would still end the
        // worker.
        let signal = libc::SIGRTMAX() - 3;
        // SAFETY: a zeroed action is valid; its handler makes only async-signal-safe system calls.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = coordinator_died as *const () as libc::sighandler_t;
            libc::sigaction(signal, &raw const action, std::ptr::null_mut());
        }
        // SAFETY: plain system call on integers.
        unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, signal) };
    }
}

/// The process ID of the worker, which tells it apart from processes forked from it.
static WORKER: AtomicU32 = AtomicU32::new(0);

#[cfg(target_os = "linux")]
extern "C" fn coordinator_died(_signal: libc::c_int) {
    // SAFETY: plain system calls on integers, all of them async-signal-safe.
    unsafe {
        kill_group_of(libc::getpid());
        libc::kill(libc::getpid(), libc::SIGKILL);
    }
}

/// Kills the rest of the worker's process group, if the worker leads one.
///
/// The coordinator does the same when it notices the end of the worker, but the coordinator may be
/// dead by then. Without this function, a `sleep` that a function under test had started outlived
/// worker and coordinator in two of twelve tries.
extern "C" fn worker_leaves() {
    // SAFETY: plain system calls on integers.
    unsafe {
        let this = libc::getpid();
        if this.cast_unsigned() != WORKER.load(Ordering::Relaxed) || libc::getpgrp() != this {
            return;
        }
        // Leaves the group first, so that this process can end as it was about to. If that fails,
        // the coordinator is gone and does not see how this process ends.
        libc::setpgid(0, libc::getpgid(libc::getppid()));
        kill_group_of(this);
    }
}

/// Kills the process group that this worker led, if there is one.
fn kill_group_of(worker: libc::pid_t) {
    // For process 1 of a container, the call would kill every process.
    if worker > 1 {
        // SAFETY: plain system call on integers.
        unsafe { libc::kill(-worker, libc::SIGKILL) };
    }
}

/// The byte that passes a turn. Its value has no meaning.
const BATON: u8 = b'|';

/// One process's ends of the two pipes through which turns are passed as a byte.
#[derive(Debug)]
pub(crate) struct Baton {
    pub(super) incoming: PipeReader,
    pub(super) outgoing: PipeWriter,
}

/// The error if the other process has closed its turn-taking pipes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PeerGone;

impl Baton {
    /// Creates the two pipes between two processes, and returns each process's ends.
    pub(crate) fn pair() -> std::io::Result<[Baton; 2]> {
        let (to_first, from_second) = pipe()?;
        let (to_second, from_first) = pipe()?;
        let first = Baton {
            incoming: to_first,
            outgoing: from_first,
        };
        let second = Baton {
            incoming: to_second,
            outgoing: from_second,
        };
        Ok([first, second])
    }

    /// Waits until the other process passes its turn.
    pub(super) fn take(&mut self) -> Result<(), PeerGone> {
        let mut byte = [0];
        loop {
            match self.incoming.read(&mut byte) {
                Ok(1) => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                _ => return Err(PeerGone),
            }
        }
        // The other process has just written and is about to sleep. If it goes to sleep during the
        // sample, this counts as a preemption.
        std::thread::yield_now();
        Ok(())
    }

    pub(super) fn pass(&mut self) -> Result<(), PeerGone> {
        self.outgoing.write_all(&[BATON]).map_err(|_| PeerGone)
    }
}

/// deadheat's ends of the turn-taking pipes of several processes, between which it forwards turns.
#[derive(Debug)]
pub(crate) struct Relay {
    ends: Vec<End>,
    /// The process of each turn of the block; successive turns of one process are merged.
    turns: Vec<usize>,
    at: usize,
    /// Processes whose input is not ready yet.
    unready: Vec<usize>,
}

#[derive(Debug)]
struct End {
    to: PipeWriter,
    from: PipeReader,
}

/// The error that the process with this index has closed its turn-taking pipes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Closed(pub(super) usize);

impl Relay {
    /// Creates a relay between `processes` processes, and returns it with the pipe ends of each
    /// process.
    pub(crate) fn between(processes: usize) -> std::io::Result<(Self, Vec<Baton>)> {
        let mut ends = Vec::with_capacity(processes);
        let mut batons = Vec::with_capacity(processes);
        for _ in 0..processes {
            let (incoming, to) = pipe()?;
            let (from, outgoing) = pipe()?;
            set_nonblocking(&from)?;
            ends.push(End { to, from });
            batons.push(Baton { incoming, outgoing });
        }
        let relay = Self {
            ends,
            turns: Vec::new(),
            at: 0,
            unready: Vec::new(),
        };
        Ok((relay, batons))
    }

    /// Starts a block in which the processes have turns in this order.
    pub(crate) fn begin(&mut self, turns: impl IntoIterator<Item = usize>) {
        self.turns = turns.into_iter().collect();
        self.turns.dedup();
        self.at = 0;
        let first = self.turns.first().copied();
        self.unready = (0..self.ends.len())
            .filter(|process| Some(*process) != first)
            .collect();
    }

    /// Forwards the turns that processes have passed.
    pub(super) fn advance(&mut self) -> Result<(), Closed> {
        while !self.unready.is_empty() {
            let mut late = Vec::new();
            for process in std::mem::take(&mut self.unready) {
                if !self.is_handed_over(process)? {
                    late.push(process);
                }
            }
            if !late.is_empty() {
                self.unready = late;
                return Ok(());
            }
            self.hand_over()?;
        }
        while let Some(process) = self.turns.get(self.at).copied() {
            if !self.is_handed_over(process)? {
                return Ok(());
            }
            self.at += 1;
            self.hand_over()?;
        }
        Ok(())
    }

    /// Gives the turn to the next process. After the last turn, wakes all processes that wait for
    /// the end of the block.
    fn hand_over(&mut self) -> Result<(), Closed> {
        let last = self.turns.last().copied();
        let whom = match self.turns.get(self.at) {
            Some(next) => vec![*next],
            None => (0..self.ends.len())
                .filter(|process| Some(*process) != last)
                .collect(),
        };
        for process in whom {
            let to = &mut self.ends[process].to;
            to.write_all(&[BATON]).map_err(|_| Closed(process))?;
        }
        Ok(())
    }

    fn is_handed_over(&mut self, process: usize) -> Result<bool, Closed> {
        let mut byte = [0];
        loop {
            match self.ends[process].from.read(&mut byte) {
                Ok(1) => return Ok(true),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                _ => return Err(Closed(process)),
            }
        }
    }

    /// Returns the pipes on which a process is expected to pass its turn.
    pub(super) fn awaited(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        let taken = self.turns.get(self.at);
        let taken = taken.filter(|_| self.unready.is_empty());
        let whom = self.unready.iter().chain(taken);
        whom.map(|process| self.ends[*process].from.as_fd())
    }
}

/// Makes reading and writing fail instead of blocking.
pub(super) fn set_nonblocking(end: &impl AsRawFd) -> std::io::Result<()> {
    // SAFETY: plain system call on a descriptor that is open.
    match unsafe { libc::fcntl(end.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn what_one_hands_over_the_other_takes() {
        let [mut one, mut other] = Baton::pair().unwrap();
        one.pass().unwrap();
        assert_eq!(other.take(), Ok(()));
        other.pass().unwrap();
        assert_eq!(one.take(), Ok(()));
    }

    #[test]
    fn nobody_waits_for_a_process_that_is_gone() {
        let [mut one, other] = Baton::pair().unwrap();
        drop(other);
        assert_eq!(one.take(), Err(PeerGone));
        assert_eq!(one.pass(), Err(PeerGone));
    }

    #[test]
    fn the_baton_goes_to_whose_turn_it_is_and_at_last_to_all() {
        let (mut relay, mut batons) = Relay::between(3).unwrap();
        relay.begin([1, 1, 0, 2]);
        assert_eq!(relay.awaited().count(), 2, "everyone but the first");
        batons[0].pass().unwrap();
        relay.advance().unwrap();
        assert_eq!(relay.awaited().count(), 1);
        batons[2].pass().unwrap();
        relay.advance().unwrap();
        for process in [1, 0, 2] {
            batons[process].take().unwrap();
            batons[process].pass().unwrap();
            relay.advance().unwrap();
        }
        assert_eq!(relay.awaited().count(), 0, "the block is over");
        for process in [0, 1] {
            batons[process].take().unwrap();
        }
    }

    #[test]
    fn who_closes_its_ends_is_known() {
        let (mut relay, mut batons) = Relay::between(3).unwrap();
        relay.begin([0, 1, 2]);
        batons.pop();
        // A process that another test is about to start holds copies of the ends until it executes
        // its program.
        let end = Instant::now() + Duration::from_secs(60);
        let mut told = relay.advance();
        while told == Ok(()) && Instant::now() < end {
            std::thread::yield_now();
            told = relay.advance();
        }
        assert_eq!(told, Err(Closed(2)));
    }
}
