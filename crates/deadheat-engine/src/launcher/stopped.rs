//! Detects processes that were stopped and are not continued.
//!
//! The kernel stops a process of a background group when the process reads from the terminal or
//! changes the terminal's settings. The parent learns of the stop only by SIGCHLD, because a pidfd
//! reports only the end of a process.

use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::unistd::Pid;

use crate::procfs::{LONGEST_STOP, children_of, is_held, stopped_by};

/// A descriptor that becomes readable when a child of the launcher stops or ends.
pub(super) struct ChildNews(SignalFd);

impl ChildNews {
    /// Creates the descriptor. The calling process must block SIGCHLD.
    pub(super) fn new() -> nix::Result<Self> {
        let child = SigSet::from(Signal::SIGCHLD);
        SignalFd::with_flags(&child, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK).map(Self)
    }

    pub(super) fn clear(&self) {
        while let Ok(Some(_)) = self.0.read_signal() {}
    }
}

impl AsFd for ChildNews {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Tracks how long a child has been stopped.
pub(super) struct StopWatch {
    pid: Pid,
    /// True if the descendants of the child are checked, too. Only polling detects a stopped
    /// descendant.
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

    /// Returns the time until the next check; `None` if the next check waits for [`ChildNews`].
    pub(super) fn pause(&self) -> Option<Duration> {
        let from = self
            .since
            .or(self.with_descendants.then_some(self.looked))?;
        Some(LONGEST_STOP.saturating_sub(from.elapsed()))
    }

    /// Checks the process if there is news or the pause is over. Returns the signal that stopped
    /// it, once it has been stopped for [`LONGEST_STOP`]; 0 for a stopped descendant.
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
