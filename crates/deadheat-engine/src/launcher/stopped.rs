//! Processes that were stopped and do not go on.
//!
//! A process in a background group of a terminal is stopped by the kernel when it reads that
//! terminal or changes its settings. Its parent learns of that by SIGCHLD alone: the descriptor of
//! a process tells only its end.

use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::unistd::Pid;

use crate::procfs::{LONGEST_STOP, children_of, is_held, stopped_by};

/// Becomes readable when a child of the launcher stops or ends.
pub(super) struct ChildNews(SignalFd);

impl ChildNews {
    /// For a process that blocks SIGCHLD.
    pub(super) fn new() -> nix::Result<Self> {
        let child = SigSet::from(Signal::SIGCHLD);
        SignalFd::with_flags(&child, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK).map(Self)
    }

    /// Forgets what has happened so far.
    pub(super) fn clear(&self) {
        while let Ok(Some(_)) = self.0.read_signal() {}
    }
}

impl AsFd for ChildNews {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// A child, and since when it has been stopped.
pub(super) struct StopWatch {
    pid: Pid,
    /// True if its descendants are looked at as well, which only polling can do.
    with_descendants: bool,
    since: Option<Instant>,
    looked: Instant,
}

impl StopWatch {
    pub(super) fn new(pid: libc::pid_t, with_descendants: bool) -> Self {
        Self {
            pid: Pid::from_raw(pid),
            with_descendants,
            since: None,
            looked: Instant::now(),
        }
    }

    /// The time until the next look; `None` if only [`ChildNews`] asks for one.
    pub(super) fn pause(&self) -> Option<Duration> {
        let from = self
            .since
            .or(self.with_descendants.then_some(self.looked))?;
        Some(LONGEST_STOP.saturating_sub(from.elapsed()))
    }

    /// Looks if there is news or the pause is over. Returns the signal that stopped the process if it
    /// did not go on in time; 0 if that was a descendant.
    pub(super) fn look(&mut self, has_news: bool) -> Option<i32> {
        if !has_news && self.pause() != Some(Duration::ZERO) {
            return None;
        }
        self.looked = Instant::now();
        let Some(signal) = stopped_by(self.pid)
            .or_else(|| (self.with_descendants && has_held_descendant(self.pid)).then_some(0))
        else {
            self.since = None;
            return None;
        };
        let since = *self.since.get_or_insert(self.looked);
        (since.elapsed() >= LONGEST_STOP).then_some(signal)
    }
}

fn has_held_descendant(pid: Pid) -> bool {
    let children = children_of(pid);
    (children.iter()).any(|child| is_held(*child) || has_held_descendant(*child))
}
