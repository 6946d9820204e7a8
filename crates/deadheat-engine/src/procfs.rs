//! Reads from `/proc` the state of a process that does not reply, such as its CPU time, or which of
//! two processes waits for the other. Functions return `None` if the system does not report a fact.

use std::ffi::CStr;
use std::fs;
use std::io::Write;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::fcntl::{OFlag, open};
use nix::sys::stat::Mode;
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
#[cfg(target_os = "linux")]
use nix::time::ClockId;
use nix::unistd::Pid;

/// Returns the CPU time of all threads of a process in nanoseconds; `None` if the system does not
/// report it or the process is gone.
pub(crate) fn cpu_ns(pid: Pid) -> Option<u64> {
    #[cfg(target_os = "linux")]
    {
        let used = ClockId::pid_cpu_clock_id(pid).and_then(ClockId::now).ok()?;
        u64::try_from(Duration::from(used).as_nanos()).ok()
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = pid;
        None
    }
}

/// Returns the threads of a process; only `pid` if the system does not list them.
pub(crate) fn threads(pid: Pid) -> Vec<Pid> {
    let number = |entry: fs::DirEntry| entry.file_name().to_str()?.parse().ok();
    let listed = fs::read_dir(format!("/proc/{pid}/task"));
    let listed = listed.map(|entries| entries.flatten().filter_map(number));
    listed.map_or_else(
        |_| vec![pid],
        |numbers| numbers.map(Pid::from_raw).collect(),
    )
}

/// Opens a file below `/proc/PID` without allocating; `name` begins with a slash. `None` if it
/// cannot be opened.
pub(crate) fn open_file_of(pid: Pid, name: &CStr) -> Option<OwnedFd> {
    let mut path = [0; 64];
    let mut rest = &mut path[..];
    write!(rest, "/proc/{pid}").ok()?;
    // The rest of the buffer is zero, so the path ends in a NUL byte.
    rest.write_all(name.to_bytes()).ok()?;
    let path = CStr::from_bytes_until_nul(&path).ok()?;
    open(path, OFlag::O_RDONLY | OFlag::O_CLOEXEC, Mode::empty()).ok()
}

/// Returns the live children of a process; empty if the kernel does not list them.
pub(crate) fn children_of(pid: Pid) -> Vec<Pid> {
    let listed = |thread: Pid| fs::read_to_string(format!("/proc/{pid}/task/{thread}/children"));
    let listed = threads(pid).into_iter().flat_map(listed);
    let numbers = listed.flat_map(|text| {
        let numbers = text.split_whitespace().flat_map(str::parse);
        numbers.collect::<Vec<i32>>()
    });
    numbers.map(Pid::from_raw).collect()
}

/// Returns a process and its live descendants.
pub(crate) fn family_of(pid: Pid) -> Vec<Pid> {
    let mut family = vec![pid];
    let mut next = 0;
    while let Some(parent) = family.get(next) {
        family.extend(children_of(*parent));
        next += 1;
    }
    family
}

pub(crate) fn resident_bytes(pid: Pid) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kib << 10)
}

/// The two pipes through which a process receives and passes its turn, by their names in
/// `/proc/PID/fd`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BatonPipes {
    incoming: PathBuf,
    outgoing: PathBuf,
}

impl BatonPipes {
    /// Returns the names of two pipe ends that this process has open; `None` if the system does not
    /// report them.
    pub(crate) fn of(incoming: &impl AsRawFd, outgoing: &impl AsRawFd) -> Option<Self> {
        let name = |fd: RawFd| fs::read_link(format!("/proc/self/fd/{fd}")).ok();
        Some(Self {
            incoming: name(incoming.as_raw_fd())?,
            outgoing: name(outgoing.as_raw_fd())?,
        })
    }

    /// Returns true if a thread of the process blocks on reading the incoming pipe; `None` if that
    /// is unknown.
    pub(crate) fn is_awaited_by(&self, pid: Pid) -> Option<bool> {
        let threads = fs::read_dir(format!("/proc/{pid}/task")).ok()?;
        let mut known = false;
        for thread in threads.flatten() {
            // `0 0x5 …`: the number of the system call and its arguments; `running` outside of
            // system calls.
            let Ok(call) = fs::read_to_string(thread.path().join("syscall")) else {
                continue;
            };
            known = true;
            if self.is_read_by(pid, &call) {
                return Some(true);
            }
        }
        known.then_some(false)
    }

    fn is_read_by(&self, pid: Pid, call: &str) -> bool {
        let mut words = call.split_whitespace();
        let number = words.next().and_then(|word| word.parse().ok());
        let fd = words.next().and_then(|word| word.strip_prefix("0x"));
        let fd = fd.and_then(|digits| u64::from_str_radix(digits, 16).ok());
        let (Some(number), Some(fd)) = (number, fd) else {
            return false;
        };
        let read: i64 = number;
        read == libc::SYS_read && names(pid, fd) == Some(self.incoming.clone())
    }

    /// Returns true if a process has both pipes open; `None` if that is unknown, as for a process
    /// that is exiting.
    pub(crate) fn are_held_by(&self, pid: Pid) -> Option<bool> {
        let open: Vec<PathBuf> = fs::read_dir(format!("/proc/{pid}/fd"))
            .ok()?
            .flatten()
            .filter_map(|entry| fs::read_link(entry.path()).ok())
            .collect();
        let held = |pipe: &PathBuf| open.contains(pipe);
        (!open.is_empty()).then(|| held(&self.incoming) && held(&self.outgoing))
    }
}

fn names(pid: Pid, fd: u64) -> Option<PathBuf> {
    fs::read_link(Path::new(&format!("/proc/{pid}/fd/{fd}"))).ok()
}

/// Returns true if a signal or a tracer has stopped a process.
pub(crate) fn is_stopped(pid: Pid) -> bool {
    state_of(pid).is_some_and(|state| matches!(state, 'T' | 't'))
}

/// The longest time that a process may be stopped before deadheat kills it. Debuggers and shells
/// with job control stop their children for moments.
pub(crate) const LONGEST_STOP: Duration = Duration::from_millis(500);

/// Returns the signal that stopped a child of this process, if the child is still stopped.
pub(crate) fn stopped_by(child: Pid) -> Option<i32> {
    // Without WNOWAIT the kernel would report the stop only once.
    let flags = WaitPidFlag::WSTOPPED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
    match waitid(Id::Pid(child), flags) {
        Ok(WaitStatus::Stopped(_, signal)) => Some(signal as i32),
        _ => None,
    }
}

/// Returns true if a signal, not a tracer, has stopped a process.
#[cfg(feature = "commands")]
pub(crate) fn is_held(pid: Pid) -> bool {
    state_of(pid) == Some('T')
}

fn state_of(pid: Pid) -> Option<char> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name is in parentheses and may contain anything.
    let (_, state) = stat.rsplit_once(") ")?;
    state.chars().next()
}

/// Returns the live children of this process, including orphans that it adopted.
pub(crate) fn children() -> Vec<Pid> {
    children_of(Pid::this())
}

/// Returns true if the environment of a process contains the entry `variable` (`NAME=VALUE`). A
/// forked process keeps the environment of its parent.
pub(crate) fn was_started_with(pid: Pid, variable: &str) -> bool {
    let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    environment
        .split(|byte| *byte == 0)
        .any(|entry| entry == variable.as_bytes())
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;
    use std::process::{Child, Command, Stdio};
    use std::time::Duration;

    fn pid(child: &Child) -> Pid {
        Pid::from_raw(child.id() as i32)
    }

    fn until(mut happened: impl FnMut() -> bool) -> bool {
        (0..2_000).any(|_| {
            std::thread::sleep(Duration::from_millis(5));
            happened()
        })
    }

    #[test]
    fn who_waits_for_the_baton_is_told_from_who_is_busy() {
        let (incoming, other) = std::io::pipe().unwrap();
        let (_taken, outgoing) = std::io::pipe().unwrap();
        let pipes = BatonPipes::of(&incoming, &outgoing).unwrap();
        let mut waiting = Command::new("head")
            .args(["-c", "1"])
            .stdin(Stdio::from(incoming))
            .stdout(Stdio::null())
            .stderr(Stdio::from(outgoing))
            .spawn()
            .unwrap();
        let mut busy = Command::new("sleep").arg("60").spawn().unwrap();
        // Skipped if the system does not report system calls.
        if pipes.is_awaited_by(pid(&busy)).is_some() {
            assert!(until(|| pipes.is_awaited_by(pid(&waiting)) == Some(true)));
            assert_eq!(pipes.is_awaited_by(pid(&busy)), Some(false));
        }
        assert!(until(|| pipes.are_held_by(pid(&waiting)) == Some(true)));
        assert_eq!(pipes.are_held_by(pid(&busy)), Some(false));
        drop(other);
        assert!(waiting.wait().unwrap().success());
        busy.kill().unwrap();
        busy.wait().unwrap();
    }

    #[test]
    fn a_process_that_is_stopped_is_known() {
        let mut child = Command::new("sleep")
            .arg("60")
            .env("WHEREABOUTS", "here")
            .spawn()
            .unwrap();
        assert!(!is_stopped(pid(&child)));
        assert!(until(|| was_started_with(pid(&child), "WHEREABOUTS=here")));
        assert!(!was_started_with(pid(&child), "WHEREABOUTS=her"));
        assert!(children().contains(&pid(&child)));
        nix::sys::signal::kill(pid(&child), nix::sys::signal::Signal::SIGSTOP).unwrap();
        assert!(until(|| is_stopped(pid(&child))));
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn a_process_has_used_time_and_memory_and_one_that_is_gone_has_not() {
        let own = Pid::this();
        assert!(cpu_ns(own).is_some_and(|used| used > 0));
        assert!(resident_bytes(own).is_some_and(|bytes| bytes > 100_000));
        assert!(threads(own).contains(&own));
        let nobody = Pid::from_raw(i32::MAX - 1);
        assert_eq!((cpu_ns(nobody), resident_bytes(nobody)), (None, None));
        assert_eq!(threads(nobody), [nobody]);
    }
}
