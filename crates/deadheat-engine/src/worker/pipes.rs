//! The pipes a worker was given, and the end it comes to without them.
#![allow(unsafe_code)]

use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Write};
use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicU32, Ordering};

use super::baton::{Baton, set_nonblocking};
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
