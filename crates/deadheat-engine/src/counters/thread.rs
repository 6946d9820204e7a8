//! The operating system's account of the calling thread, around one sample.
#![allow(unsafe_code)]

use crate::clock::read_ns;

/// Empty pairs of readings of which the median is the overhead.
const EMPTY_PAIRS: usize = 401;

/// What the calling thread has used since it began.
///
/// A reading makes two system calls, the CPU clock at about 0.2 µs and the
/// account at about 0.15 µs; the core is known without one. Beside samples of
/// a millisecond that is nothing, but it is not free: the CPU clock is read
/// next to the sample on either side, so that the rest is not counted as the
/// sample's. What remains of it shows in [`ThreadUsage::cpu_overhead_ns`].
///
/// Off Linux there is only the CPU clock; the rest stays at zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadUsage {
    /// Time on a core, in nanoseconds.
    pub cpu_ns: u64,
    /// Page faults served without reading from a disk.
    pub minor_faults: u64,
    /// Page faults that had to wait for a disk.
    pub major_faults: u64,
    /// Times the thread gave up its core to wait.
    pub voluntary_switches: u64,
    /// Times the scheduler took the core away.
    pub involuntary_switches: u64,
    /// The core it runs on, where that is known.
    pub core: Option<u32>,
}

/// What the calling thread has used between two readings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UsageDifference {
    /// Time on a core, in nanoseconds.
    pub cpu_ns: u64,
    /// Page faults served without reading from a disk.
    pub minor_faults: u64,
    /// Page faults that had to wait for a disk.
    pub major_faults: u64,
    /// Times the thread gave up its core to wait.
    pub voluntary_switches: u64,
    /// Times the scheduler took the core away.
    pub involuntary_switches: u64,
    /// Whether it ended on another core than it began on. A thread that went
    /// and came back is not noticed.
    pub migrated: bool,
}

impl ThreadUsage {
    /// The reading before a sample: the CPU clock comes last.
    #[inline]
    pub fn before() -> Self {
        let mut usage = Self::default();
        usage.read_account();
        usage.read_cpu();
        usage
    }

    /// The reading after a sample: the CPU clock comes first.
    #[inline]
    pub fn after() -> Self {
        let mut usage = Self::default();
        usage.read_cpu();
        usage.read_account();
        usage
    }

    /// What was used since an earlier reading of the same thread.
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

    /// The CPU time that a pair of readings shows with nothing between them,
    /// in nanoseconds: the median of some hundred pairs. To be taken off that
    /// of a sample. Takes less than a millisecond.
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
    fn read_cpu(&mut self) {
        self.cpu_ns = read_ns(libc::CLOCK_THREAD_CPUTIME_ID);
    }

    #[cfg(any(target_os = "linux", target_os = "android"))]
    #[inline]
    fn read_account(&mut self) {
        let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
        // SAFETY: the pointer is valid for writes; a call that fails, which
        // it does for no one but an unknown subject, leaves the zeros, and
        // they are a valid value of that plain data.
        let usage = unsafe {
            libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr());
            usage.assume_init()
        };
        self.minor_faults = usage.ru_minflt as u64;
        self.major_faults = usage.ru_majflt as u64;
        self.voluntary_switches = usage.ru_nvcsw as u64;
        self.involuntary_switches = usage.ru_nivcsw as u64;
        // SAFETY: takes nothing and touches no memory of ours.
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
