//! That a worker has ended, and how.
//!
//! The end of its pipe does not tell: a child it started may hold that open
//! for as long as it lives.
#![allow(unsafe_code)]

use std::os::fd::{BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid, waitpid};
use nix::unistd::Pid;

use super::procfs::{children, was_started_with};

/// How often it is asked where the kernel cannot tell by itself.
const ASKED_EVERY: Duration = Duration::from_millis(200);
/// How long what was killed may take to be gone.
const GONE_WITHIN: Duration = Duration::from_secs(1);

/// Notices the end of one child.
#[derive(Debug)]
pub(crate) struct ExitWatcher {
    pid: Pid,
    /// Readable once the child has ended.
    notice: Option<OwnedFd>,
}

impl ExitWatcher {
    pub(crate) fn over(pid: Pid) -> Self {
        Self {
            pid,
            notice: notice_of(pid),
        }
    }

    /// The descriptor to poll, beside asking again after [`ExitWatcher::pause`].
    pub(crate) fn notice(&self) -> Option<BorrowedFd<'_>> {
        use std::os::fd::AsFd;
        self.notice.as_ref().map(|notice| notice.as_fd())
    }

    /// How long one may wait before asking again; as long as one likes where
    /// there is a notice.
    pub(crate) fn pause(&self) -> Option<Duration> {
        self.notice.is_none().then_some(ASKED_EVERY)
    }

    /// How the child ended, if it has. It is not collected by this: until then
    /// nobody else can have its number, by which its group is killed.
    pub(crate) fn ended(&self) -> Option<WaitStatus> {
        let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT | WaitPidFlag::WNOHANG;
        match waitid(Id::Pid(self.pid), flags) {
            Ok(WaitStatus::StillAlive) | Err(_) => None,
            Ok(status) => Some(status),
        }
    }

    /// The same, with some time for it.
    pub(crate) fn ended_within(&self, time: Duration) -> Option<WaitStatus> {
        within(time, || self.ended())
    }
}

/// What `ask` finds within this time, asked more and more rarely.
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
pub(crate) fn adopt_orphans() {
    #[cfg(target_os = "linux")]
    // SAFETY: plain system call on integers. Where it fails, orphans go to
    // the first process of the machine, as ever.
    unsafe {
        libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    }
}

/// Collects what is left of a group that was killed, so that no zombie stays.
/// Children of other groups are none of our business.
pub(crate) fn collect_group(group: Pid) {
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
pub(crate) fn end_strays(mark: &str) {
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
    use std::os::unix::process::CommandExt;
    use std::process::Command;

    fn child(script: &str) -> (std::process::Child, ExitWatcher) {
        let child = Command::new("sh")
            .args(["-c", script])
            .process_group(0)
            .spawn()
            .unwrap();
        let watch = ExitWatcher::over(Pid::from_raw(child.id() as i32));
        (child, watch)
    }

    #[test]
    fn an_end_is_told_as_often_as_one_asks_until_it_is_collected() {
        let (mut child, watch) = child("exit 4");
        let end = watch.ended_within(Duration::from_secs(60));
        assert!(matches!(end, Some(WaitStatus::Exited(_, 4))), "{end:?}");
        assert!(watch.ended().is_some());
        assert_eq!(child.wait().unwrap().code(), Some(4));
        assert_eq!(watch.ended(), None);
    }

    #[test]
    fn who_lives_has_not_ended() {
        let (mut child, watch) = child("exec sleep 60");
        assert_eq!(watch.ended_within(Duration::from_millis(1)), None);
        child.kill().unwrap();
        assert!(watch.ended_within(Duration::from_secs(60)).is_some());
        child.wait().unwrap();
        collect_group(watch.pid);
    }
}
