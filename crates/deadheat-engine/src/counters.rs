//! Counts beside the time: of a command, and of the calling thread; and marks for callgrind, which
//! counts for itself.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicBool, Ordering};

#[cfg(feature = "commands")]
use deadheat_model::Metric;

#[cfg(feature = "commands")]
pub use hardware::Counters;
#[cfg(feature = "commands")]
pub(crate) use hardware::{COUNTER_COUNT, opens_a_clock};

/// Hardware counters of the commands, where the machine has them.
#[cfg(all(feature = "commands", target_os = "linux"))]
mod hardware {
    use std::io;

    use deadheat_model::Metric;
    use perf_event::events::{Event, Hardware, Software};
    use perf_event::{Builder, Counter};

    /// Number of hardware counters.
    pub(crate) const COUNTER_COUNT: usize = 4;

    /// Hardware counters for the next command launched by this process.
    ///
    /// Opened on the launcher as inherited and enabled on exec: the launcher's
    /// own instructions are not counted, the command's are, and those of its
    /// children. When they end the kernel adds their counts to ours.
    ///
    /// Good for one launch. Kept open, they went blind after the first: when the
    /// scheduler switches between parent and child before the exec it may swap
    /// their (equal) sets of events, and then it is the parent's own event that
    /// is enabled once and never again.
    pub struct Counters {
        counters: Vec<Counter>,
    }

    impl Counters {
        /// The metrics, in the order of the readings.
        pub(crate) const METRICS: [Metric; COUNTER_COUNT] = [
            Metric::Cycles,
            Metric::Instructions,
            Metric::BranchMisses,
            Metric::CacheMisses,
        ];
        const EVENTS: [Hardware; COUNTER_COUNT] = [
            Hardware::CPU_CYCLES,
            Hardware::INSTRUCTIONS,
            Hardware::BRANCH_MISSES,
            Hardware::CACHE_MISSES,
        ];

        /// Opens all counters for the calling process, or says why it cannot. All
        /// or none: a table with half of its columns explains less than a note.
        pub fn open() -> io::Result<Self> {
            let counters = Self::EVENTS
                .into_iter()
                .map(follow_commands)
                .collect::<io::Result<Vec<Counter>>>()?;
            Ok(Self { counters })
        }

        /// Events of the command that was launched meanwhile and has ended.
        pub(crate) fn finish(mut self) -> [u64; COUNTER_COUNT] {
            let mut events = [0; COUNTER_COUNT];
            for (count, counter) in events.iter_mut().zip(&mut self.counters) {
                *count = counter.read().unwrap_or(0);
            }
            events
        }

        /// Returns the reason why counters cannot be opened, in words a user can act on.
        pub(crate) fn explain(errno: i32) -> String {
            match errno {
                libc::EACCES | libc::EPERM => {
                    "not permitted; `sysctl kernel.perf_event_paranoid=1` allows them".to_owned()
                }
                libc::ENOENT | libc::ENODEV | libc::EOPNOTSUPP => {
                    "this machine offers none, as most virtual machines".to_owned()
                }
                libc::ENOSYS => "the kernel was built without them".to_owned(),
                other => io::Error::from_raw_os_error(other).to_string(),
            }
        }
    }

    /// Opens the clock of a process, which every machine has, or says why it is not permitted.
    pub(crate) fn opens_a_clock() -> Result<(), String> {
        let opened = follow_commands(Software::CPU_CLOCK);
        let refused = |error: io::Error| Counters::explain(error.raw_os_error().unwrap_or(0));
        opened.map(|_| ()).map_err(refused)
    }

    /// A counter that counts nothing of this process and everything of the
    /// programs it will launch.
    pub(super) fn follow_commands(event: impl Event) -> io::Result<Counter> {
        Builder::new(event)
            .observe_self()
            .inherit(true)
            .enable_on_exec(true)
            .exclude_kernel(true)
            .exclude_hv(true)
            .build()
    }
}

/// No hardware counters: a build for a system other than Linux.
#[cfg(all(feature = "commands", not(target_os = "linux")))]
mod hardware {
    use std::io;

    use deadheat_model::Metric;

    pub(crate) const COUNTER_COUNT: usize = 0;

    pub enum Counters {}

    impl Counters {
        pub(crate) const METRICS: [Metric; COUNTER_COUNT] = [];

        pub fn open() -> io::Result<Self> {
            Err(io::Error::from_raw_os_error(libc::ENOSYS))
        }

        /// Never called: there is nothing to call it on.
        pub(crate) fn finish(self) -> [u64; COUNTER_COUNT] {
            match self {}
        }

        pub(crate) fn explain(_errno: i32) -> String {
            "deadheat reads none on this system".to_owned()
        }
    }

    pub(crate) fn opens_a_clock() -> Result<(), String> {
        Err(Counters::explain(0))
    }
}

/// The usage that `wait4` tells of one process and the descendants it waited for, in the order of
/// [`USAGE_METRICS`]: nanoseconds, bytes, counts.
#[cfg(feature = "commands")]
pub(crate) type Usage = [u64; USAGE_METRICS.len()];

/// The metrics of a [`Usage`].
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

/// Waits for a child. Returns its wait status and usage, or `None` when there
/// is no such child (or, with `WNOHANG`, none that has ended).
#[cfg(feature = "commands")]
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
    Some((status, usage))
}

/// Empty pairs of readings of which the median is the overhead.
const EMPTY_PAIRS: usize = 51;

/// Nanoseconds of a clock of the operating system.
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

/// The usage of the calling thread between two readings.
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
    /// True if it ended on another core than it began on. A thread that went
    /// and came back is not noticed.
    pub migrated: bool,
}

impl ThreadUsage {
    /// The reading before a sample: the CPU clock comes last.
    #[inline]
    pub fn before() -> Self {
        let mut usage = Self::account();
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

    /// The reading before a sample without the CPU clock, which comes last.
    #[inline]
    pub(crate) fn account() -> Self {
        let mut usage = Self::default();
        usage.read_account();
        usage
    }

    /// Times the thread left its core, for whatever reason.
    pub(crate) fn switches(&self) -> u64 {
        self.voluntary_switches + self.involuntary_switches
    }

    /// The usage since an earlier reading of the same thread.
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
    /// in nanoseconds: the median of some fifty pairs. To be taken off that
    /// of a sample. Takes a tenth of a millisecond.
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

/// An allocator that counts what every thread asks for, and leaves the work to
/// another. It costs two additions per request, and counts all day: there is
/// nothing to switch on.
///
/// ```
/// use deadheat_engine::{CountingAllocator, allocations_of_this_thread};
///
/// #[global_allocator]
/// static ALLOCATOR: CountingAllocator = CountingAllocator::system();
///
/// let before = allocations_of_this_thread().unwrap();
/// drop(std::hint::black_box(Box::new(7_u64)));
/// let used = allocations_of_this_thread().unwrap().since(&before);
/// assert_eq!((used.count, used.bytes), (1, 8));
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct CountingAllocator<A = System> {
    inner: A,
}

impl<A> CountingAllocator<A> {
    /// Counts in front of `inner`.
    pub const fn new(inner: A) -> Self {
        Self { inner }
    }
}

impl CountingAllocator<System> {
    /// Counts in front of the allocator of the operating system.
    pub const fn system() -> Self {
        Self::new(System)
    }
}

/// The requests of a thread to a [`CountingAllocator`] since it began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Allocations {
    /// Requests for memory: new, zeroed, and each change of size.
    pub count: u64,
    /// Bytes requested; of a change of size the growth.
    pub bytes: u64,
}

impl Allocations {
    /// The requests since an earlier reading of the same thread.
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            count: self.count.wrapping_sub(earlier.count),
            bytes: self.bytes.wrapping_sub(earlier.bytes),
        }
    }
}

/// The requests of the calling thread so far; `None` in a program whose
/// global allocator is no [`CountingAllocator`]. Allocates nothing.
#[inline]
pub fn allocations_of_this_thread() -> Option<Allocations> {
    INSTALLED
        .load(Ordering::Relaxed)
        .then(|| OF_THIS_THREAD.with(Cell::get))
}

/// True if any memory was ever requested from a counting allocator. A Rust
/// program requests some before its `main`, so this is known in time.
static INSTALLED: AtomicBool = AtomicBool::new(false);

thread_local! {
    // Constant from the start and without a destructor: it needs no memory of
    // its own, and can be counted in until the thread's very end.
    static OF_THIS_THREAD: Cell<Allocations> =
        const { Cell::new(Allocations { count: 0, bytes: 0 }) };
}

#[inline]
fn count(bytes: usize) {
    // A load that all threads can share; a store would take the cache line
    // away from the others each time.
    if !INSTALLED.load(Ordering::Relaxed) {
        INSTALLED.store(true, Ordering::Relaxed);
    }
    OF_THIS_THREAD.with(|counted| {
        let so_far = counted.get();
        counted.set(Allocations {
            count: so_far.count.wrapping_add(1),
            bytes: so_far.bytes.wrapping_add(bytes as u64),
        });
    });
}

// SAFETY: every call is handed on unchanged to an allocator that keeps the
// contract; counting neither allocates nor panics.
unsafe impl<A: GlobalAlloc> GlobalAlloc for CountingAllocator<A> {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller keeps the contract of this very function.
        unsafe { self.inner.alloc(layout) }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: as for `alloc`.
        unsafe { self.inner.alloc_zeroed(layout) }
    }

    #[inline]
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        count(new_size.saturating_sub(layout.size()));
        // SAFETY: as for `alloc`.
        unsafe { self.inner.realloc(memory, layout, new_size) }
    }

    #[inline]
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as for `alloc`.
        unsafe { self.inner.dealloc(memory, layout) }
    }
}

/// What a process asks of callgrind, in which it runs: to collect or not, and to write down what it
/// has collected.
///
/// Valgrind knows these requests by a sequence of instructions that does nothing elsewhere
/// (`valgrind.h`, "client requests"). They need no symbols, which a stripped program has none of, and
/// no function around the calls, which would change how these are compiled.
pub(crate) mod callgrind {
    /// The requests of callgrind begin here: 'C' and 'T' in the upper half.
    const BASE: usize = ((b'C' as usize) << 24) | ((b'T' as usize) << 16);

    /// Begins to collect, or ends it, in the calling thread.
    #[cold]
    #[inline(never)]
    pub(crate) fn toggle() {
        request(BASE + 2);
    }

    /// Forgets what was collected.
    #[cold]
    #[inline(never)]
    pub(crate) fn forget() {
        request(BASE + 1);
    }

    /// Writes down all that was collected since the last time, and forgets it.
    #[cold]
    #[inline(never)]
    pub(crate) fn dump() {
        request(BASE);
    }

    #[cfg(target_arch = "x86_64")]
    fn request(code: usize) {
        let arguments = [code, 0, 0, 0, 0, 0];
        // SAFETY: rdi is turned by 128 bits in all and keeps its value, rbx is exchanged with itself.
        // Under Valgrind rdx is written and the array read, which lives until the end.
        unsafe {
            std::arch::asm!(
                "rol rdi, 3",
                "rol rdi, 13",
                "rol rdi, 61",
                "rol rdi, 51",
                "xchg rbx, rbx",
                in("rax") arguments.as_ptr(),
                inlateout("rdx") 0_usize => _,
            );
        }
    }

    #[cfg(target_arch = "aarch64")]
    fn request(code: usize) {
        let arguments = [code, 0, 0, 0, 0, 0];
        // SAFETY: x12 is turned by 128 bits in all and keeps its value, x10 is combined with itself.
        // Under Valgrind x3 is written and the array read, which lives until the end.
        unsafe {
            std::arch::asm!(
                "ror x12, x12, #3",
                "ror x12, x12, #13",
                "ror x12, x12, #51",
                "ror x12, x12, #61",
                "orr x10, x10, x10",
                in("x4") arguments.as_ptr(),
                inlateout("x3") 0_usize => _,
            );
        }
    }

    /// Elsewhere there are no marks, and the coordinator says so when no part comes.
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    fn request(_code: usize) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hint::black_box;

    #[test]
    #[cfg(target_os = "linux")]
    fn a_counter_follows_a_command_and_leaves_its_launcher_out() {
        // Page faults are counted by the kernel itself, also on machines
        // without hardware counters.
        for _ in 0..5 {
            let faults = perf_event::events::Software::PAGE_FAULTS;
            let Ok(mut faults) = hardware::follow_commands(faults) else {
                return eprintln!("skipped: perf events are not permitted here");
            };
            std::hint::black_box(vec![1u8; 8 << 20]);
            assert_eq!(faults.read().unwrap(), 0, "our own faults do not count");
            std::process::Command::new("true").status().unwrap();
            let counted = faults.read().unwrap();
            assert!((10..1000).contains(&counted), "{counted} faults of `true`");
        }
    }

    #[test]
    fn counters_either_open_and_count_or_say_why_not() {
        match Counters::open() {
            Ok(counters) => assert_eq!(counters.finish().len(), COUNTER_COUNT),
            Err(error) => assert!(!Counters::explain(error.raw_os_error().unwrap_or(0)).is_empty()),
        }
    }

    #[test]
    fn a_missing_permission_names_the_setting_that_grants_it() {
        assert!(Counters::explain(libc::EACCES).contains("perf_event_paranoid"));
    }

    #[test]
    fn the_usage_of_a_real_process_is_plausible() {
        #[allow(
            clippy::zombie_processes,
            reason = "waited for by the function under test"
        )]
        let child = std::process::Command::new("true").spawn().unwrap();
        let (status, usage) = wait(child.id() as libc::pid_t, 0).unwrap();
        assert_eq!(status, 0);
        let [_, _, peak_rss_bytes, minor_faults, ..] = usage;
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

    #[test]
    fn outside_of_valgrind_a_request_does_nothing() {
        callgrind::toggle();
        callgrind::toggle();
        callgrind::forget();
        callgrind::dump();
    }
}
