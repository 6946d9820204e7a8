//! A process that deadheat starts as the leader of a process group. This module notices its end and
//! kills it with all its descendants.
//!
//! The end of a pipe does not show the end of the process: a child may hold the pipe open for as
//! long as it lives.
#![allow(unsafe_code)]

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::signal::{SigSet, SigmaskHow, Signal, kill, killpg};
use nix::sys::time::TimeSpec;
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid, waitpid};
use nix::unistd::{Pid, getpgid};

use crate::interrupt::Interrupts;
use crate::procfs::{children, was_started_with};

/// The environment variable that marks a process of deadheat and its descendants.
const MARK_VARIABLE: &str = "DEADHEAT_PROCESS";
/// The polling interval if the kernel cannot report the end of a process.
const ASKED_EVERY: Duration = Duration::from_millis(200);
/// Time that a killed process may take to end.
const GONE_WITHIN: Duration = Duration::from_secs(1);

/// A child that leads a process group. Dropping this value kills the child and all its descendants.
#[derive(Debug)]
pub(crate) struct ProcessGroup {
    pub(super) child: Child,
    /// A pidfd, readable once the child has ended; `None` if the system has none.
    notice: Option<OwnedFd>,
    /// The environment entry that only the child and its descendants have.
    mark: String,
    /// A process that the child has forked as the leader of another group. It is killed with the
    /// child.
    forked: Option<Pid>,
}

impl ProcessGroup {
    /// Starts a command with the signal mask `mask`: the mask that deadheat was started with, not
    /// the one that deadheat uses itself.
    pub(crate) fn start(command: &mut Command, mask: &SigSet) -> std::io::Result<Self> {
        adopt_orphans();
        let mark = next_mark();
        command
            .env(MARK_VARIABLE, &mark)
            // A Ctrl-C in the terminal then reaches only deadheat, and the whole group can be
            // killed at once.
            .process_group(0);
        // A signal that arrives in between is recorded, and checked before the next wait.
        let held = mask.thread_swap_mask(SigmaskHow::SIG_SETMASK);
        let child = command.spawn();
        if let Ok(held) = held {
            let _ = held.thread_set_mask();
        }
        let child = child?;
        Ok(Self {
            notice: notice_of(Pid::from_raw(child.id() as i32)),
            child,
            mark: format!("{MARK_VARIABLE}={mark}"),
            forked: None,
        })
    }

    /// Returns the process ID of the child, which is also the ID of its group.
    pub(crate) fn pid(&self) -> Pid {
        Pid::from_raw(self.child.id() as i32)
    }

    /// Sets the process that the child has forked as the leader of another group; `None` once that
    /// has ended. Returns false if the ID denotes another process, as an ID reported from within a
    /// container may.
    pub(crate) fn set_forked(&mut self, forked: Option<Pid>) -> bool {
        let is_one =
            |pid: &Pid| getpgid(Some(*pid)) == Ok(*pid) && was_started_with(*pid, &self.mark);
        self.forked = forked.filter(is_one);
        self.forked == forked
    }

    pub(crate) fn forked(&self) -> Option<Pid> {
        self.forked
    }

    /// Returns the descriptor that becomes readable when the child ends. If there is none, callers
    /// check again after [`ProcessGroup::pause`].
    pub(crate) fn notice(&self) -> Option<BorrowedFd<'_>> {
        self.notice.as_ref().map(AsFd::as_fd)
    }

    /// Returns how often to check if the child has ended; `None` if a descriptor reports its end.
    pub(crate) fn pause(&self) -> Option<Duration> {
        self.notice.is_none().then_some(ASKED_EVERY)
    }

    /// Returns the exit status of the child, if it has ended. Does not reap the child: as long as
    /// it is not reaped, no other process can get its ID, by which the group is killed.
    pub(crate) fn ended(&self) -> Option<WaitStatus> {
        let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT | WaitPidFlag::WNOHANG;
        match waitid(Id::Pid(self.pid()), flags) {
            Ok(WaitStatus::StillAlive) | Err(_) => None,
            Ok(status) => Some(status),
        }
    }

    /// Waits at most `time` for the end of the child and returns its exit status. Sleeps until the
    /// kernel reports the end, if possible: polling noticed the end of a worker 0.2 ms late.
    pub(crate) fn ended_within(&self, time: Duration) -> Option<WaitStatus> {
        let Some(notice) = self.notice() else {
            return within(time, || self.ended());
        };
        let end = Instant::now() + time;
        loop {
            let ended = self.ended();
            let left = end.saturating_duration_since(Instant::now());
            if ended.is_some() || left.is_zero() {
                return ended;
            }
            let mut fds = [PollFd::new(notice, PollFlags::POLLIN)];
            // The next round checks again, even after an interrupt.
            let _ = ppoll(&mut fds, Some(TimeSpec::from_duration(left)), None);
        }
    }

    /// Waits for the end of the child until `end`, or until a signal asks deadheat to stop.
    pub(crate) fn wait_until(&self, end: Instant, interrupts: &Interrupts) -> Option<WaitStatus> {
        loop {
            let ended = self.ended();
            let left = end.saturating_duration_since(Instant::now());
            if ended.is_some() || left.is_zero() || interrupts.requested().is_some() {
                return ended;
            }
            let pause = self.pause().unwrap_or(left).min(left);
            let notice = self.notice().into_iter();
            let mut fds: Vec<PollFd<'_>> = notice
                .map(|notice| PollFd::new(notice, PollFlags::POLLIN))
                .collect();
            let mask = Some(*interrupts.original_mask());
            // The next round handles interrupts and early wake-ups.
            let _ = ppoll(&mut fds, Some(TimeSpec::from_duration(pause)), mask);
        }
    }

    /// Kills the group, and that of the forked process.
    pub(super) fn kill(&self) {
        let _ = killpg(self.pid(), Signal::SIGKILL);
        if let Some(forked) = self.forked {
            let _ = killpg(forked, Signal::SIGKILL);
        }
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        // Kills the group first, because the child may have started processes. Then reaps the child
        // and its descendants, so that no zombie remains.
        self.kill();
        let _ = self.child.kill();
        let _ = self.child.wait();
        collect_group(self.pid());
        if let Some(forked) = self.forked {
            collect_group(forked);
        }
        end_strays(|child| was_started_with(child, &self.mark));
    }
}

/// Returns a mark that is unique on this machine. All marks have the same length.
fn next_mark() -> String {
    static STARTED: AtomicU64 = AtomicU64::new(0);
    let number = STARTED.fetch_add(1, Ordering::Relaxed);
    format!("{:010}-{number:010}", std::process::id())
}

/// Calls `ask` at increasing intervals until it returns a value or `time` has passed.
fn within<T>(time: Duration, mut ask: impl FnMut() -> Option<T>) -> Option<T> {
    let end = Instant::now() + time;
    let mut pause = Duration::from_micros(20);
    loop {
        let found = ask();
        if found.is_some() || Instant::now() >= end {
            return found;
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(5));
    }
}

fn notice_of(pid: Pid) -> Option<OwnedFd> {
    #[cfg(target_os = "linux")]
    {
        use std::os::fd::FromRawFd;
        // SAFETY: plain system call on integers.
        let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, pid.as_raw(), 0) };
        if fd >= 0 {
            // SAFETY: a new descriptor that has no other owner.
            return Some(unsafe { OwnedFd::from_raw_fd(fd as i32) });
        }
    }
    let _ = pid;
    None
}

/// Makes this process the parent of orphaned descendants, so that it can reap them.
pub(crate) fn adopt_orphans() {
    #[cfg(target_os = "linux")]
    // SAFETY: plain system call on integers. If it fails, orphans go to the init process.
    unsafe {
        libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    }
}

/// Reaps the processes of a killed group, so that no zombie remains. Leaves children in other
/// groups alone.
fn collect_group(group: Pid) {
    let sessions = Pid::from_raw(-group.as_raw());
    within(GONE_WITHIN, || {
        loop {
            match waitpid(sessions, Some(WaitPidFlag::WNOHANG)) {
                Ok(WaitStatus::StillAlive) => return None,
                Ok(_) => {}
                Err(_) => return Some(()),
            }
        }
    });
}

/// Kills orphaned descendants, such as daemons, which become children of this process when their
/// parent ends. `is_stray` distinguishes them from its other children.
pub(crate) fn end_strays(is_stray: impl Fn(Pid) -> bool) {
    within(GONE_WITHIN, || {
        let mut strays = children();
        strays.retain(|child| is_stray(*child));
        for stray in &strays {
            let _ = kill(*stray, Signal::SIGKILL);
            let _ = waitpid(*stray, None);
        }
        // Their children are children of this process now.
        strays.is_empty().then_some(())
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    fn child(script: &str) -> ProcessGroup {
        let mut command = Command::new("sh");
        ProcessGroup::start(command.args(["-c", script]), &SigSet::empty()).unwrap()
    }

    #[test]
    fn an_end_is_told_as_often_as_one_asks_until_it_is_collected() {
        let mut child = child("exit 4");
        let end = child.ended_within(Duration::from_secs(60));
        assert!(matches!(end, Some(WaitStatus::Exited(_, 4))), "{end:?}");
        assert!(child.ended().is_some());
        assert_eq!(child.child.wait().unwrap().code(), Some(4));
        assert_eq!(child.ended(), None);
    }

    #[test]
    fn who_lives_has_not_ended() {
        let child = child("exec sleep 60");
        assert_eq!(child.ended_within(Duration::from_millis(1)), None);
        child.kill();
        assert!(child.ended_within(Duration::from_secs(60)).is_some());
    }
}
