//! The pipes of a worker, one of which carries notes of the contender it calls, and the end it comes
//! to without them; and the pipes of the baton, by which processes of several builds take turns on
//! one core.
#![allow(unsafe_code)]

use std::io::{BufRead, BufReader, ErrorKind, PipeReader, PipeWriter, Read, Write, pipe};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicU32, Ordering};

use super::protocol::{Reply, Request};

/// The variable that makes a program a worker: the numbers of its pipes.
pub(super) const VARIABLE: &str = "DEADHEAT_WORKER";
/// The variable of a worker that takes turns with another: the numbers of the
/// pipes that the baton comes from and goes to.
pub(super) const BATON_VARIABLE: &str = "DEADHEAT_BATON";

/// The pipes of a worker process.
#[derive(Debug)]
pub struct WorkerPipes {
    requests: BufReader<PipeReader>,
    pub(super) replies: PipeWriter,
    /// Notes of the contender that is called.
    pub(super) notes: PipeWriter,
    /// Of a worker that takes turns with another.
    pub(super) baton: Option<Baton>,
}

impl WorkerPipes {
    /// The pipes this process was given, when it was started as a worker.
    ///
    /// Call it once, first thing in `main`, while there is only one thread:
    /// it takes the variables out of the environment, so that what the
    /// functions under test start is no worker.
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
        // An end of the pipe is the end of the work, and so is anything that
        // cannot be understood: the coordinator sees the pipe close.
        match self.requests.read_line(line) {
            Ok(bytes) if bytes > 0 => Request::from_line(line.as_bytes()),
            _ => None,
        }
    }

    pub(super) fn send(&mut self, reply: &Reply) -> Option<()> {
        self.replies.write_all(reply.to_line().as_bytes()).ok()
    }
}

/// Stands in notes for everything that is no contender: making and dropping inputs.
pub(super) const NOBODY: u8 = 0;

/// Reads of the notes at once: more than a pipe holds.
const MOST_READS: usize = 256;

/// The coordinator's end of the notes.
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

    /// Reads what was noted; whether there was anything.
    pub(super) fn moved_on(&mut self) -> bool {
        let mut buffer = [0; 512];
        let mut moved = false;
        // An end of the pipe, an error and nothing to read are all the same. A worker that never stops
        // writing must not keep its coordinator here, where no time limit ends it.
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

    /// Returns whether anything was ever found noted.
    pub(super) fn was_used(&self) -> bool {
        self.used
    }

    /// The contender that was called last, unless something else came after.
    pub(crate) fn contender(&mut self) -> Option<usize> {
        self.moved_on();
        usize::from(self.last).checked_sub(1)
    }
}

/// The descriptors that a variable names, which is gone from the environment
/// when this returns. Numbers that are no descriptors make no worker.
fn descriptors<const N: usize>(variable: &str) -> Option<[OwnedFd; N]> {
    let text = std::env::var(variable).ok()?;
    // SAFETY: at the start of `main` no other thread reads or writes the
    // environment.
    unsafe { std::env::remove_var(variable) };
    let numbers: Result<Vec<RawFd>, _> = text.split(',').map(str::parse).collect();
    let numbers: [RawFd; N] = numbers.ok()?.try_into().ok()?;
    for fd in numbers {
        // SAFETY: plain system call; a number that is no descriptor is
        // refused, and then this is no worker.
        if unsafe { libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC) } < 0 {
            return None;
        }
    }
    // SAFETY: the coordinator left these descriptors open for this process
    // and told nobody else about them.
    Some(numbers.map(|fd| unsafe { OwnedFd::from_raw_fd(fd) }))
}

/// No worker outlives its coordinator, however that ends, and nothing that the
/// functions have started outlives the worker, however it leaves.
fn die_with_the_coordinator() {
    WORKER.store(std::process::id(), Ordering::Relaxed);
    // SAFETY: the function makes only plain system calls.
    unsafe { libc::atexit(worker_leaves) };
    #[cfg(target_os = "linux")]
    {
        // One that nobody else uses; unhandled it would still end the worker.
        let signal = libc::SIGRTMAX() - 3;
        // SAFETY: an action of zeroes but for its handler, which makes only
        // system calls that are allowed in one.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = coordinator_died as *const () as libc::sighandler_t;
            libc::sigaction(signal, &raw const action, std::ptr::null_mut());
        }
        // SAFETY: plain system call on integers.
        unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, signal) };
    }
}

/// The worker, and none of the processes that are forked from it.
static WORKER: AtomicU32 = AtomicU32::new(0);

#[cfg(target_os = "linux")]
extern "C" fn coordinator_died(_signal: libc::c_int) {
    // SAFETY: plain system calls on integers, none of which is forbidden in a
    // signal handler.
    unsafe {
        kill_group_of(libc::getpid());
        libc::kill(libc::getpid(), libc::SIGKILL);
    }
}

/// Ends the rest of the worker's process group, if it has its own.
///
/// The coordinator does the same as soon as it sees the end of the worker, but
/// it may be killed before that, or have been: a `sleep` that a function had
/// started outlived both of them in two of twelve tries.
extern "C" fn worker_leaves() {
    // SAFETY: plain system calls on integers.
    unsafe {
        let this = libc::getpid();
        if this.cast_unsigned() != WORKER.load(Ordering::Relaxed) || libc::getpgrp() != this {
            return;
        }
        // Aside, so that this process can end as it was about to. Where that
        // fails nobody is there to be told how.
        libc::setpgid(0, libc::getpgid(libc::getppid()));
        kill_group_of(this);
    }
}

/// Kills the process group that was this worker's own, if there is one.
fn kill_group_of(worker: libc::pid_t) {
    // Of the first process of a container "the group" would be everything.
    if worker > 1 {
        // SAFETY: plain system call on integers.
        unsafe { libc::kill(-worker, libc::SIGKILL) };
    }
}

/// The byte that is handed over. Nobody looks at it.
const BATON: u8 = b'|';

/// One process's ends of the two pipes that the baton goes through.
#[derive(Debug)]
pub(crate) struct Baton {
    pub(super) incoming: PipeReader,
    pub(super) outgoing: PipeWriter,
}

/// The other process is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PeerGone;

impl Baton {
    /// The ends of two processes.
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

    /// Waits until the other process hands over.
    pub(super) fn take(&mut self) -> Result<(), PeerGone> {
        let mut byte = [0];
        loop {
            match self.incoming.read(&mut byte) {
                Ok(1) => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                _ => return Err(PeerGone),
            }
        }
        // Who has just written is awake and has yet to go to sleep. Were it to
        // do so in the middle of the sample, that would count as a pre-emption.
        std::thread::yield_now();
        Ok(())
    }

    /// Hands over.
    pub(super) fn pass(&mut self) -> Result<(), PeerGone> {
        self.outgoing.write_all(&[BATON]).map_err(|_| PeerGone)
    }
}

/// deadheat's ends of the batons of several processes.
#[derive(Debug)]
pub(crate) struct Relay {
    ends: Vec<End>,
    /// The turns of the block by process, those in a row as one.
    turns: Vec<usize>,
    /// The turn that is taken.
    at: usize,
    /// Processes that have yet to say that their input is there.
    unready: Vec<usize>,
}

#[derive(Debug)]
struct End {
    to: PipeWriter,
    from: PipeReader,
}

/// This process has closed its ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Closed(pub(super) usize);

impl Relay {
    /// The relay between so many processes, and their ends.
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

    /// Expects a block in which the processes have turns in this order.
    pub(crate) fn begin(&mut self, turns: impl IntoIterator<Item = usize>) {
        self.turns = turns.into_iter().collect();
        self.turns.dedup();
        self.at = 0;
        let first = self.turns.first().copied();
        self.unready = (0..self.ends.len())
            .filter(|process| Some(*process) != first)
            .collect();
    }

    /// Passes on what has been handed over.
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

    /// To whose turn it is, or, when all are over, to all who wait for that.
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

    /// Where the baton is waited for.
    pub(super) fn awaited(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        let taken = self.turns.get(self.at);
        let taken = taken.filter(|_| self.unready.is_empty());
        let whom = self.unready.iter().chain(taken);
        whom.map(|process| self.ends[*process].from.as_fd())
    }
}

/// Lets reading or writing fail where it would wait.
pub(super) fn set_nonblocking(end: &impl AsRawFd) -> std::io::Result<()> {
    // SAFETY: plain system call on a descriptor that is open.
    match unsafe { libc::fcntl(end.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
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
        assert_eq!(relay.advance(), Err(Closed(2)));
    }
}
