//! One process that deadheat starts: it leads a group of its own, its end is
//! noticed, and nothing of it is left behind.
//!
//! The end of its pipe does not tell: a child it started may hold that open for
//! as long as it lives.
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

use crate::procfs::{children, was_started_with};

/// The variable by which a process is known that deadheat starts, and all that
/// descends from it.
const MARK_VARIABLE: &str = "DEADHEAT_PROCESS";
/// The interval at which it is asked where the kernel cannot tell by itself.
const ASKED_EVERY: Duration = Duration::from_millis(200);
/// Time that a process that was killed may take to be gone.
const GONE_WITHIN: Duration = Duration::from_secs(1);

/// A child that leads a process group. Killed, with all it started, when
/// dropped.
#[derive(Debug)]
pub(crate) struct ProcessGroup {
    pub(super) child: Child,
    /// Readable once the child has ended.
    notice: Option<OwnedFd>,
    /// The entry of its environment that no other process has but what it
    /// started.
    mark: String,
    /// A process that the child has forked, which leads a group of its own and is killed with it.
    forked: Option<Pid>,
}

impl ProcessGroup {
    /// Starts a command with the signals of `mask` held back: those that were
    /// held back from deadheat when it was started, and not those it holds back
    /// itself.
    pub(crate) fn start(command: &mut Command, mask: &SigSet) -> std::io::Result<Self> {
        adopt_orphans();
        let mark = next_mark();
        command
            .env(MARK_VARIABLE, &mark)
            // A Ctrl-C in the terminal reaches deadheat alone, and all that the
            // process starts can be killed as one.
            .process_group(0);
        // A signal that comes in between is noted, and seen before waiting.
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

    /// The child, whose number is that of its group.
    pub(crate) fn pid(&self) -> Pid {
        Pid::from_raw(self.child.id() as i32)
    }

    /// Learns of the process that the child has forked and that leads a group, or that it is gone.
    /// Returns whether it is one: a number may be that of another process, as one counted in a
    /// container is.
    pub(crate) fn set_forked(&mut self, forked: Option<Pid>) -> bool {
        let is_one =
            |pid: &Pid| getpgid(Some(*pid)) == Ok(*pid) && was_started_with(*pid, &self.mark);
        self.forked = forked.filter(is_one);
        self.forked == forked
    }

    /// The process that the child has forked, as far as it is known.
    pub(crate) fn forked(&self) -> Option<Pid> {
        self.forked
    }

    /// The descriptor to poll, beside asking again after [`ProcessGroup::pause`].
    pub(crate) fn notice(&self) -> Option<BorrowedFd<'_>> {
        self.notice.as_ref().map(AsFd::as_fd)
    }

    /// The time one may wait before asking again; as long as one likes where
    /// there is a notice.
    pub(crate) fn pause(&self) -> Option<Duration> {
        self.notice.is_none().then_some(ASKED_EVERY)
    }

    /// The end of the child, if it has ended. It is not collected by this: until then
    /// nobody else can have its number, by which its group is killed.
    pub(crate) fn ended(&self) -> Option<WaitStatus> {
        let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT | WaitPidFlag::WNOHANG;
        match waitid(Id::Pid(self.pid()), flags) {
            Ok(WaitStatus::StillAlive) | Err(_) => None,
            Ok(status) => Some(status),
        }
    }

    /// The same, with some time for it. Where the kernel tells of the end, it is slept until then:
    /// asked again and again, a worker was gone for 0.2 ms before that was noticed.
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
            // Interrupted or not: the next round asks.
            let _ = ppoll(&mut fds, Some(TimeSpec::from_duration(left)), None);
        }
    }

    /// Kills all of the group.
    pub(super) fn kill(&self) {
        let _ = killpg(self.pid(), Signal::SIGKILL);
        if let Some(forked) = self.forked {
            let _ = killpg(forked, Signal::SIGKILL);
        }
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        // The group, for what the child may have started; then the child itself
        // is collected and what it left, so that no zombie stays.
        self.kill();
        let _ = self.child.kill();
        let _ = self.child.wait();
        collect_group(self.pid());
        if let Some(forked) = self.forked {
            collect_group(forked);
        }
        end_strays(&self.mark);
    }
}

/// A mark that no other process on this machine has, always of one length.
fn next_mark() -> String {
    static STARTED: AtomicU64 = AtomicU64::new(0);
    let number = STARTED.fetch_add(1, Ordering::Relaxed);
    format!("{:010}-{number:010}", std::process::id())
}

/// The finding of `ask` within this time, asked more and more rarely.
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
            // SAFETY: a new descriptor that nobody else knows of.
            return Some(unsafe { OwnedFd::from_raw_fd(fd as i32) });
        }
    }
    let _ = pid;
    None
}

/// From now on this process is the parent of whatever its workers leave
/// behind, so that it can be collected.
fn adopt_orphans() {
    #[cfg(target_os = "linux")]
    // SAFETY: plain system call on integers. Where it fails, orphans go to
    // the first process of the machine, as ever.
    unsafe {
        libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    }
}

/// Collects what is left of a group that was killed, so that no zombie stays.
/// Children of other groups are none of our business.
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

/// Ends what left the group of a worker, as a daemon does: once its parent is
/// gone it is a child of this process, and known by what was in the worker's
/// environment.
fn end_strays(mark: &str) {
    within(GONE_WITHIN, || {
        let mut strays = children();
        strays.retain(|child| was_started_with(*child, mark));
        for stray in &strays {
            let _ = kill(*stray, Signal::SIGKILL);
            let _ = waitpid(*stray, None);
        }
        // What these started are children now.
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
