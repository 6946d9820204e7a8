//! CPU time, peak memory, page faults and context switches of an ended command or of the calling
//! thread, as the kernel reports them.
#![allow(unsafe_code)]

use std::mem::MaybeUninit;

#[cfg(feature = "commands")]
use deadheat_model::Metric;

/// The usage that `wait4` reports for a process and the descendants it waited for, in the order of
/// [`USAGE_METRICS`]: nanoseconds, bytes, counts.
#[cfg(feature = "commands")]
pub(crate) type Usage = [u64; USAGE_METRICS.len()];

#[cfg(feature = "commands")]
pub(crate) const USAGE_METRICS: [Metric; 7] = [
    Metric::User,
    Metric::System,
    Metric::PeakRss,
    Metric::MinorFaults,
    Metric::MajorFaults,
    Metric::VoluntarySwitches,
    Metric::InvoluntarySwitches,
];

#[cfg(feature = "commands")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Waited {
    pub(crate) status: libc::c_int,
    pub(crate) usage: Usage,
    /// True if the child wrote to files on a disk, even if only to their pages in memory.
    pub(crate) wrote_files: bool,
}

/// Waits for a child. Returns `None` if the child does not exist or, with `WNOHANG`, has not ended.
#[cfg(feature = "commands")]
pub(crate) fn wait(pid: libc::pid_t, options: libc::c_int) -> Option<Waited> {
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
    let wrote_files = usage.ru_oublock > 0;
    let usage = [
        nanoseconds(usage.ru_utime),
        nanoseconds(usage.ru_stime),
        // Linux counts kibibytes.
        usage.ru_maxrss as u64 * 1024,
        usage.ru_minflt as u64,
        usage.ru_majflt as u64,
        usage.ru_nvcsw as u64,
        usage.ru_nivcsw as u64,
    ];
    Some(Waited {
        status,
        usage,
        wrote_files,
    })
}

/// How many times deadheat measures the CPU time of two readings with nothing in between. The
/// overhead is the median of these times.
const EMPTY_PAIRS: usize = 51;

#[inline]
pub(crate) fn read_ns(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the pointer is valid for writes. The call fails for unknown
    // clocks only, and then leaves the zeros.
    unsafe { libc::clock_gettime(clock, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// The usage of the calling thread since it began.
///
/// A reading makes two system calls: the CPU clock takes about 0.2 µs, and `getrusage` about 0.15
/// µs. The core number needs none. The CPU clock is read closest to the sample, before and after
/// it, so that the other readings do not count as part of the sample.
/// [`ThreadUsage::cpu_overhead_ns`] measures the overhead that remains.
///
/// On systems other than Linux only the CPU clock is read; the other fields stay zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadUsage {
    /// CPU time in nanoseconds.
    pub cpu_ns: u64,
    /// Page faults served without reading from a disk.
    pub minor_faults: u64,
    /// Page faults that had to wait for a disk.
    pub major_faults: u64,
    /// Times the thread gave up its core to wait.
    pub voluntary_switches: u64,
    /// Times the scheduler took the core away.
    pub involuntary_switches: u64,
    /// The core that the thread runs on; `None` if unknown.
    pub core: Option<u32>,
}

/// The usage of the calling thread between two readings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UsageDifference {
    /// CPU time in nanoseconds.
    pub cpu_ns: u64,
    /// Page faults served without reading from a disk.
    pub minor_faults: u64,
    /// Page faults that had to wait for a disk.
    pub major_faults: u64,
    /// Times the thread gave up its core to wait.
    pub voluntary_switches: u64,
    /// Times the scheduler took the core away.
    pub involuntary_switches: u64,
    /// True if the two readings were on different cores. A thread that migrated and returned is not
    /// noticed.
    pub migrated: bool,
}

impl ThreadUsage {
    /// Takes a reading before a sample. The CPU clock is read last.
    #[inline]
    pub fn before() -> Self {
        let mut usage = Self::account();
        usage.read_cpu();
        usage
    }

    /// Takes a reading after a sample. The CPU clock is read first.
    #[inline]
    pub fn after() -> Self {
        let mut usage = Self::default();
        usage.read_cpu();
        usage.read_account();
        usage
    }

    /// Takes a reading before a sample without the CPU clock, which the caller reads last.
    #[inline]
    pub(crate) fn account() -> Self {
        let mut usage = Self::default();
        usage.read_account();
        usage
    }

    pub(crate) fn switches(&self) -> u64 {
        self.voluntary_switches + self.involuntary_switches
    }

    /// Returns the usage since an earlier reading of the same thread.
    pub fn since(&self, earlier: &Self) -> UsageDifference {
        UsageDifference {
            cpu_ns: self.cpu_ns.saturating_sub(earlier.cpu_ns),
            minor_faults: self.minor_faults.saturating_sub(earlier.minor_faults),
            major_faults: self.major_faults.saturating_sub(earlier.major_faults),
            voluntary_switches: self
                .voluntary_switches
                .saturating_sub(earlier.voluntary_switches),
            involuntary_switches: self
                .involuntary_switches
                .saturating_sub(earlier.involuntary_switches),
            migrated: self.core != earlier.core,
        }
    }

    /// Returns the CPU time of a pair of readings with nothing in between, in nanoseconds: the
    /// median of 51 pairs. Callers subtract it from the CPU time of a sample. Takes a tenth of a
    /// millisecond.
    pub fn cpu_overhead_ns() -> u64 {
        let mut pairs = [0; EMPTY_PAIRS];
        for pair in &mut pairs {
            let before = Self::before();
            *pair = Self::after().since(&before).cpu_ns;
        }
        let (_, median, _) = pairs.select_nth_unstable(EMPTY_PAIRS / 2);
        *median
    }

    #[inline]
    pub(crate) fn read_cpu(&mut self) {
        self.cpu_ns = read_ns(libc::CLOCK_THREAD_CPUTIME_ID);
    }

    #[cfg(any(target_os = "linux", target_os = "android"))]
    #[inline]
    fn read_account(&mut self) {
        let mut usage = MaybeUninit::<libc::rusage>::zeroed();
        // SAFETY: the pointer is valid for writes. If the call fails, the zeros remain, which are a
        // valid value of this plain data.
        let usage = unsafe {
            libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr());
            usage.assume_init()
        };
        self.minor_faults = usage.ru_minflt as u64;
        self.major_faults = usage.ru_majflt as u64;
        self.voluntary_switches = usage.ru_nvcsw as u64;
        self.involuntary_switches = usage.ru_nivcsw as u64;
        // SAFETY: the call has no arguments and writes no memory.
        let core = unsafe { libc::sched_getcpu() };
        self.core = u32::try_from(core).ok();
    }

    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    fn read_account(&mut self) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hint::black_box;

    #[test]
    fn the_usage_of_a_real_process_is_plausible() {
        #[allow(
            clippy::zombie_processes,
            reason = "waited for by the function under test"
        )]
        let child = std::process::Command::new("true").spawn().unwrap();
        let waited = wait(child.id() as libc::pid_t, 0).unwrap();
        assert_eq!((waited.status, waited.wrote_files), (0, false));
        let [_, _, peak_rss_bytes, minor_faults, ..] = waited.usage;
        assert!(peak_rss_bytes > 100 * 1024 && minor_faults > 10);
    }

    #[test]
    fn waiting_for_a_stranger_is_no_result() {
        assert_eq!(wait(1, libc::WNOHANG), None);
    }

    #[test]
    fn work_takes_time_on_the_core_and_sleep_gives_it_up() {
        let before = ThreadUsage::before();
        let mut sum = 0_u64;
        for term in 0..1_000_000 {
            sum = black_box(sum.wrapping_add(term));
        }
        let worked = ThreadUsage::after().since(&before);
        assert!(worked.cpu_ns > 0);

        let before = ThreadUsage::before();
        std::thread::sleep(std::time::Duration::from_millis(2));
        let slept = ThreadUsage::after().since(&before);
        assert!(slept.cpu_ns < 60_000_000_000);
        #[cfg(target_os = "linux")]
        assert!(slept.voluntary_switches >= 1);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn touching_new_memory_shows_as_minor_faults() {
        let size = 16 << 20;
        let before = ThreadUsage::before();
        let mut memory = vec![0_u8; size];
        for page in memory.chunks_mut(4096) {
            page[0] = 1;
        }
        black_box(&memory);
        let touched = ThreadUsage::after().since(&before);
        assert!(touched.minor_faults > 0);
    }

    #[test]
    fn the_work_of_another_thread_is_not_ours() {
        let other = || {
            let before = ThreadUsage::before();
            drop(black_box(vec![1_u8; 1 << 20]));
            ThreadUsage::after().since(&before)
        };
        let before = ThreadUsage::before();
        let theirs = std::thread::spawn(other).join().unwrap();
        let ours = ThreadUsage::after().since(&before);
        assert!(theirs.cpu_ns > 0 && ours.cpu_ns > 0);
        assert!(ThreadUsage::before().cpu_ns >= ours.cpu_ns);
    }

    #[test]
    fn only_another_core_is_a_migration() {
        let here = ThreadUsage {
            core: Some(0),
            cpu_ns: 5,
            ..ThreadUsage::default()
        };
        let there = ThreadUsage {
            core: Some(1),
            cpu_ns: 9,
            ..ThreadUsage::default()
        };
        assert!(there.since(&here).migrated);
        assert_eq!(there.since(&here).cpu_ns, 4);
        assert!(!here.since(&here).migrated);
    }

    #[test]
    fn a_pair_of_readings_costs_little_of_its_own() {
        assert!(ThreadUsage::cpu_overhead_ns() < 1_000_000_000);
    }
}
