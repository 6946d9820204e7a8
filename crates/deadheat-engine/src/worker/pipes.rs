//! The pipes of a worker, one of which carries notes of the contender it calls,
//! and the end it comes to without them.
#![allow(unsafe_code)]

use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Read, Write};
use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicU32, Ordering};

use super::baton::{Baton, set_nonblocking};
use super::protocol::{Reply, Request};
use crate::function::{Disagreement, FunctionBenchmark, Gauge, Reading};

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

/// Stands for everything that is no contender: making and dropping inputs.
const NOBODY: u8 = 0;

/// A benchmark as its coordinator calls it: all its contenders, or one alone as
/// number 0. It notes who is called before every sample.
///
/// Notes go through a pipe nobody waits at: a byte wakes no other process,
/// which would cost more than it tells. When the pipe is full, notes are lost.
pub(super) struct Traced<'a> {
    pub(super) benchmark: &'a mut dyn FunctionBenchmark,
    /// The place of the only contender wanted.
    pub(super) only: Option<usize>,
    pub(super) notes: &'a PipeWriter,
}

impl Traced<'_> {
    fn note(&self, who: u8) {
        let mut notes = self.notes;
        // Whoever reads them may be gone; the other pipes will tell.
        let _ = notes.write(&[who]);
    }

    /// Notes that nobody is called any more: another process goes on.
    pub(super) fn idle(&self) {
        self.note(NOBODY);
    }
}

impl FunctionBenchmark for Traced<'_> {
    fn contenders(&self) -> usize {
        self.only.map_or_else(|| self.benchmark.contenders(), |_| 1)
    }

    fn threads(&self) -> u32 {
        self.benchmark.threads()
    }

    fn most_iterations(&self) -> u64 {
        self.benchmark.most_iterations()
    }

    fn renews_input(&self) -> bool {
        self.benchmark.renews_input()
    }

    fn prepare(&mut self, seed: u64) {
        self.note(NOBODY);
        self.benchmark.prepare(seed);
    }

    fn sample(&mut self, contender: usize, iterations: u64, gauge: &Gauge) -> Reading {
        self.note(u8::try_from(contender + 1).unwrap_or(NOBODY));
        let contender = self.only.unwrap_or(contender);
        self.benchmark.sample(contender, iterations, gauge)
    }

    /// Of one alone only what it says about itself: nobody else was called.
    fn check(&self) -> Result<(), Disagreement> {
        self.note(NOBODY);
        match (self.benchmark.check(), self.only) {
            (Err(Disagreement::WithItself { .. }), Some(_)) => {
                Err(Disagreement::WithItself { contender: 0 })
            }
            (Err(Disagreement::WithBaseline { .. }), Some(_)) => Ok(()),
            (checked, _) => checked,
        }
    }
}

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
        // An end of the pipe, an error and nothing to read are all the same.
        while let Ok(bytes @ 1..) = self.notes.read(&mut buffer) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::SampleClock;
    use crate::function::ByReference;
    use std::cell::Cell;
    use std::rc::Rc;

    fn traced<'a>(benchmark: &'a mut dyn FunctionBenchmark, notes: &'a PipeWriter) -> Traced<'a> {
        Traced {
            benchmark,
            only: None,
            notes,
        }
    }

    #[test]
    fn the_last_contender_called_is_known_until_something_else_happens() {
        let (read, write) = std::io::pipe().unwrap();
        set_nonblocking(&write).unwrap();
        let mut trace = Trace::new(read).unwrap();
        assert!(!trace.moved_on());
        let mut functions = ByReference::new(|seed| seed);
        functions.add(|seed| *seed);
        functions.add(|seed| *seed);
        let gauge = Gauge::new(SampleClock::os());
        let mut traced = traced(&mut functions, &write);
        traced.prepare(1);
        assert!(trace.moved_on() && trace.contender().is_none());
        traced.sample(0, 1, &gauge);
        traced.sample(1, 1, &gauge);
        assert_eq!(trace.contender(), Some(1));
        assert_eq!(trace.contender(), Some(1), "asking changes nothing");
        traced.check().unwrap();
        assert_eq!(trace.contender(), None);
    }

    #[test]
    fn a_full_pipe_holds_nobody_up() {
        let (_read, write) = std::io::pipe().unwrap();
        set_nonblocking(&write).unwrap();
        let mut functions = ByReference::new(|seed| seed);
        functions.add(|seed| *seed);
        let mut traced = traced(&mut functions, &write);
        for seed in 0..100_000 {
            traced.prepare(seed);
        }
    }

    #[test]
    fn only_the_contender_that_was_asked_for_is_called() {
        let calls = Rc::new(Cell::new([0, 0]));
        let count = |place: usize| {
            let calls = Rc::clone(&calls);
            move |_: &u64| {
                let mut counts = calls.get();
                counts[place] += 1;
                calls.set(counts);
            }
        };
        let mut functions = ByReference::new(|seed| seed);
        functions.add(count(0));
        functions.add(count(1));
        let (_read, write) = std::io::pipe().unwrap();
        let mut alone = Traced {
            only: Some(1),
            ..traced(&mut functions, &write)
        };
        alone.prepare(1);
        alone.sample(0, 3, &Gauge::new(SampleClock::os()));
        assert_eq!((alone.contenders(), calls.get()), (1, [0, 3]));
        assert_eq!(alone.check(), Ok(()));
    }
}
