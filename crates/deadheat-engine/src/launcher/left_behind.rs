//! Processes that a launch leaves running when it ends.
//!
//! The launcher is the subreaper of these processes: the kernel makes them children of the
//! launcher. The launcher kills the processes that a command left, because they would run at the
//! same time as the samples of the other side, and reports the name of the first. It keeps the
//! processes that a hook left, because a hook may start a server.

use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, getpgid};

use crate::observed::ProcessState;
use crate::procfs::children_of;
use crate::run_delay::{ended_child, has_children};
use crate::usage::wait;

/// The name of a process, cut to 15 bytes, with a final zero.
pub(super) type ProcessName = [u8; 16];

/// The time that a process may outlive its command before it is killed. A shell does not wait for
/// `<(COMMAND)`, for example.
const GRACE: Duration = Duration::from_millis(20);
/// The longest wait for the end of killed processes. A process that waits in the kernel for a disk
/// or a network may take longer to end.
const LONGEST_DEATH: Duration = Duration::from_secs(1);
const PAUSE: Duration = Duration::from_millis(1);
/// The maximum number of generations of processes that are killed. Killing a process makes its
/// children children of the launcher.
const MOST_GENERATIONS: usize = 1_000;

/// Reaps children that have ended, until one satisfies `is_awaited`. Returns true if it reaped any.
/// An unreaped process still exists for `kill -0`, so a hook that waits for the end of its server
/// would wait forever.
pub(super) fn reap_others(is_awaited: impl Fn(libc::pid_t) -> bool) -> bool {
    let mut any = false;
    while let Some(pid) = ended_child().filter(|pid| !is_awaited(*pid)) {
        any |= wait(pid, libc::WNOHANG).is_some();
    }
    any
}

/// Returns the children of the launcher; empty if the kernel does not list them.
pub(super) fn children() -> Vec<Pid> {
    if has_children() {
        children_of(Pid::this())
    } else {
        Vec::new()
    }
}

/// A process that outlived its launch and was killed.
pub(super) struct LeftBehind {
    pub(super) name: ProcessName,
    /// The ID of its process group: the group of the command, unless the process left that group.
    pub(super) group: Option<Pid>,
}

/// Kills all children of the launcher except `kept`, and their descendants. If the launch
/// `ended_by_itself`, the processes first get [`GRACE`] to end. Returns the first process that was
/// killed; `None` if there was none.
pub(super) fn kill_others(kept: &[Pid], ended_by_itself: bool) -> Option<LeftBehind> {
    if !has_children() {
        return None;
    }
    let others = || -> Vec<Pid> {
        reap_others(|_| false);
        let others = children().into_iter();
        others.filter(|pid| !kept.contains(pid)).collect()
    };
    let mut left = others();
    let since = Instant::now();
    while ended_by_itself && !left.is_empty() && since.elapsed() < GRACE {
        std::thread::sleep(PAUSE);
        left = others();
    }
    let first = left.iter().find_map(|pid| {
        Some(LeftBehind {
            name: ProcessState::of(*pid)?.name,
            group: getpgid(Some(*pid)).ok(),
        })
    });
    for _ in 0..MOST_GENERATIONS {
        for pid in &left {
            let _ = kill(*pid, Signal::SIGKILL);
        }
        let killed = Instant::now();
        while !left.is_empty() && killed.elapsed() < LONGEST_DEATH {
            let now = others();
            if now.iter().any(|pid| !left.contains(pid)) || now.is_empty() {
                left = now;
                break;
            }
            std::thread::sleep(PAUSE);
        }
        if left.is_empty() || killed.elapsed() >= LONGEST_DEATH {
            break;
        }
    }
    first
}
