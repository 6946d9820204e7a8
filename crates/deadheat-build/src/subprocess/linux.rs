//! Process groups and signals.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, killpg};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::Pid;

/// The time that a child gets to end after SIGTERM, before SIGKILL.
const PATIENCE: Duration = Duration::from_secs(2);

/// The pause between two checks whether the child has ended after SIGTERM.
const PAUSE: Duration = Duration::from_millis(10);

/// Starts a program in a separate process group, so that all processes that it starts can be
/// killed.
pub(super) fn in_own_group(command: &mut Command) -> &mut Command {
    command.process_group(0)
}

/// Returns the signal that stopped a child, if it is still stopped. The kernel stops a background
/// process group that reads from the terminal.
pub(super) fn stopped_by(child: &Child) -> Option<Signal> {
    let flags = WaitPidFlag::WSTOPPED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
    match waitid(Id::Pid(Pid::from_raw(child.id().cast_signed())), flags) {
        Ok(WaitStatus::Stopped(_, signal)) => Some(signal),
        _ => None,
    }
}

/// Ends a child and its process group, first by SIGTERM, then by SIGKILL.
pub(super) fn end(child: &mut Child) -> io::Result<()> {
    let group = Pid::from_raw(child.id().cast_signed());
    let _ = killpg(group, Signal::SIGTERM);
    // A stopped process receives SIGTERM only when it continues.
    let _ = killpg(group, Signal::SIGCONT);
    let begin = Instant::now();
    while child.try_wait()?.is_none() && begin.elapsed() < PATIENCE {
        thread::sleep(PAUSE);
    }
    // Processes that the child started may outlive it.
    let _ = killpg(group, Signal::SIGKILL);
    child.wait().map(drop)
}
