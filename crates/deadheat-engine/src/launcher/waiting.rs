//! Waiting for a command without losing sight of deadheat, and leaving
//! nothing behind.

use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::fcntl::{OFlag, open};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, kill, killpg};
use nix::sys::stat::Mode;
use nix::unistd::{Pid, read};

use super::streams::read_exact;
use super::wire::{HEAD_BYTES, Head};
use crate::counters::wait;

/// Why the wait for a command is over.
pub(super) enum Awaited {
    Ended,
    TooLong,
    Cancelled,
    Abandoned,
}

/// Waits until the command ends, its time is up, or deadheat speaks or dies.
pub(super) fn await_end(
    pidfd: &OwnedFd,
    requests: &OwnedFd,
    reader: Option<&OwnedFd>,
    start: Instant,
    limit: Option<Duration>,
) -> Awaited {
    let readable = PollFlags::POLLIN;
    let mut pipe_open = reader.is_some();
    loop {
        let timeout = match limit {
            None => PollTimeout::NONE,
            Some(limit) => {
                let Some(left) = limit.checked_sub(start.elapsed()) else {
                    return Awaited::TooLong;
                };
                // Rounded up: waking a little late costs nothing, waking a
                // little early would spin.
                let ms = left.as_nanos().div_ceil(1_000_000);
                PollTimeout::try_from(ms.min(i32::MAX as u128) as i32).unwrap_or(PollTimeout::MAX)
            }
        };
        let mut fds = [
            PollFd::new(pidfd.as_fd(), readable),
            PollFd::new(requests.as_fd(), readable),
            PollFd::new(reader.unwrap_or(pidfd).as_fd(), readable),
        ];
        let watched = if pipe_open { 3 } else { 2 };
        if let Err(errno) = poll(&mut fds[..watched], timeout)
            && errno != Errno::EINTR
        {
            return Awaited::Abandoned;
        }
        let [ended, request, pipe] = fds.map(|fd| fd.revents().unwrap_or(PollFlags::empty()));
        if pipe_open && !pipe.is_empty() {
            // The end of the pipe may come before the end of the process.
            pipe_open = !drain(reader.unwrap_or(pidfd));
        }
        if !ended.is_empty() {
            return Awaited::Ended;
        }
        if request.contains(readable) {
            let mut head = [0; HEAD_BYTES];
            if !read_exact(requests.as_fd(), &mut head) {
                return Awaited::Abandoned;
            }
            return match Head::decode(head) {
                Some(Head::Cancel) => Awaited::Cancelled,
                _ => Awaited::Abandoned,
            };
        }
        if !request.is_empty() {
            return Awaited::Abandoned;
        }
    }
}

/// Reads and discards what is there; true when the writing end is closed.
fn drain(reader: &OwnedFd) -> bool {
    let mut sink = [0; 64 * 1024];
    loop {
        match read(reader, &mut sink) {
            Ok(0) => return true,
            Ok(_) | Err(Errno::EINTR) => {}
            Err(_) => return false,
        }
    }
}

/// Kills everything this process is an ancestor of. Killing a process hands
/// its children to us, so the loop ends only when the whole tree is gone.
pub(super) fn kill_descendants() {
    for _ in 0..10_000 {
        let mut text = [0; 4096];
        let Ok(list) = open(
            c"/proc/thread-self/children",
            OFlag::O_RDONLY | OFlag::O_CLOEXEC,
            Mode::empty(),
        ) else {
            return;
        };
        let length = read(&list, &mut text).unwrap_or(0);
        for pid in text[..length].split(|byte| *byte == b' ') {
            let number = pid
                .iter()
                .fold(0, |n, digit| n * 10 + i32::from(digit - b'0'));
            if number > 1 {
                let _ = killpg(Pid::from_raw(number), Signal::SIGKILL);
                let _ = kill(Pid::from_raw(number), Signal::SIGKILL);
            }
        }
        if wait(-1, 0).is_none() {
            return;
        }
    }
}
