//! The operating system's account of a process that has ended.
#![allow(unsafe_code)]

use std::mem::MaybeUninit;

/// What `wait4` says of one process and the descendants it waited for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    pub(crate) user_ns: u64,
    pub(crate) system_ns: u64,
    pub(crate) peak_rss_bytes: u64,
    pub(crate) minor_faults: u64,
    pub(crate) major_faults: u64,
    pub(crate) voluntary_switches: u64,
    pub(crate) involuntary_switches: u64,
}

/// Waits for a child. Returns its wait status and usage, or `None` when there
/// is no such child (or, with `WNOHANG`, none that has ended).
pub(crate) fn wait(pid: libc::pid_t, options: libc::c_int) -> Option<(libc::c_int, Usage)> {
    let mut status = 0;
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    let waited = loop {
        // SAFETY: both pointers are valid for writes; rusage is plain data,
        // for which all zeros is a valid value.
        let waited = unsafe { libc::wait4(pid, &mut status, options, usage.as_mut_ptr()) };
        if waited >= 0 || nix::errno::Errno::last() != nix::errno::Errno::EINTR {
            break waited;
        }
    };
    if waited <= 0 {
        return None;
    }
    // SAFETY: zeroed above and filled by a successful wait4.
    let usage = unsafe { usage.assume_init() };
    let nanoseconds =
        |time: libc::timeval| time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1_000;
    let usage = Usage {
        user_ns: nanoseconds(usage.ru_utime),
        system_ns: nanoseconds(usage.ru_stime),
        // Linux counts kibibytes.
        peak_rss_bytes: usage.ru_maxrss as u64 * 1024,
        minor_faults: usage.ru_minflt as u64,
        major_faults: usage.ru_majflt as u64,
        voluntary_switches: usage.ru_nvcsw as u64,
        involuntary_switches: usage.ru_nivcsw as u64,
    };
    Some((status, usage))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usage_of_a_real_process_is_plausible() {
        #[allow(
            clippy::zombie_processes,
            reason = "waited for by the function under test"
        )]
        let child = std::process::Command::new("true").spawn().unwrap();
        let (status, usage) = wait(child.id() as libc::pid_t, 0).unwrap();
        assert_eq!(status, 0);
        assert!(usage.peak_rss_bytes > 100 * 1024 && usage.minor_faults > 10);
    }

    #[test]
    fn waiting_for_a_stranger_is_no_result() {
        assert_eq!(wait(1, libc::WNOHANG), None);
    }
}
