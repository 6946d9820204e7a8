//! Counts events during samples: hardware events of commands, and allocations of the calling
//! thread. Also contains the Valgrind client requests that mark samples for callgrind.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};

#[cfg(feature = "commands")]
pub(crate) use hardware::COUNTER_COUNT;
#[cfg(feature = "commands")]
pub use hardware::{Counters, opens_a_clock};

#[cfg(all(feature = "commands", target_os = "linux"))]
mod hardware {
    use std::io;

    use deadheat_model::Metric;
    use perf_event::events::{Event, Hardware, Software};
    use perf_event::{Builder, Counter};

    pub(crate) const COUNTER_COUNT: usize = 4;

    /// Hardware counters for the next command that this process launches.
    ///
    /// The launcher opens the counters as inherited and enabled on exec, so that they count the
    /// command and its children but not the launcher itself. When the command and its children end,
    /// the kernel adds their counts to the counts of the launcher.
    ///
    /// The counters work for one launch only. If kept open, they would count nothing in later
    /// launches: when the scheduler switches between parent and child before the exec, it may swap
    /// their equal sets of events. The parent's own event is then enabled once and never again.
    pub struct Counters {
        counters: Vec<Counter>,
    }

    impl Counters {
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

        /// Opens all counters for the calling process, or returns the error. If one cannot be
        /// opened, none is used, because a table with only some of the columns would be misleading.
        pub fn open() -> io::Result<Self> {
            let counters = Self::EVENTS
                .into_iter()
                .map(follow_commands)
                .collect::<io::Result<Vec<Counter>>>()?;
            Ok(Self { counters })
        }

        /// Opens all counters for a child that has not executed its program yet.
        pub(crate) fn open_for(child: i32) -> io::Result<Self> {
            let open = |event: Hardware| {
                let mut builder = Builder::new(event);
                follow(&mut builder).observe_pid(child).build()
            };
            let counters = Self::EVENTS.into_iter().map(open);
            Ok(Self {
                counters: counters.collect::<io::Result<_>>()?,
            })
        }

        /// Returns the event counts of the command that was launched since the counters were opened
        /// and has ended.
        pub(crate) fn finish(mut self) -> [u64; COUNTER_COUNT] {
            let mut events = [0; COUNTER_COUNT];
            for (count, counter) in events.iter_mut().zip(&mut self.counters) {
                *count = counter.read().unwrap_or(0);
            }
            events
        }

        pub(crate) fn explain(errno: i32) -> String {
            match errno {
                libc::EACCES | libc::EPERM => {
                    "not permitted; `sudo sysctl kernel.perf_event_paranoid=2` allows them"
                        .to_owned()
                }
                libc::ENOENT | libc::ENODEV | libc::EOPNOTSUPP => {
                    "this machine has none, like most virtual machines".to_owned()
                }
                libc::ENOSYS => "the kernel was built without them".to_owned(),
                other => io::Error::from_raw_os_error(other).to_string(),
            }
        }
    }

    /// Returns an error with the reason if this process may not open the CPU clock event, which
    /// perf uses for sampling. Every machine has this event.
    pub fn opens_a_clock() -> Result<(), String> {
        let opened = follow_commands(Software::CPU_CLOCK);
        let refused = |error: io::Error| Counters::explain(error.raw_os_error().unwrap_or(0));
        opened.map(|_| ()).map_err(refused)
    }

    /// Opens a counter that ignores this process and counts the programs that this process
    /// launches.
    pub(super) fn follow_commands(event: impl Event) -> io::Result<Counter> {
        follow(Builder::new(event).observe_self()).build()
    }

    /// Configures a counter to start at the next exec, in user mode, and to include child
    /// processes.
    fn follow<'a, 'b>(builder: &'a mut Builder<'b>) -> &'a mut Builder<'b> {
        builder
            .inherit(true)
            .enable_on_exec(true)
            .exclude_kernel(true)
            .exclude_hv(true)
    }
}

/// A stub without hardware counters, for systems other than Linux.
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

        pub(crate) fn open_for(_child: i32) -> io::Result<Self> {
            Self::open()
        }

        /// Cannot be called, because the type has no values.
        pub(crate) fn finish(self) -> [u64; COUNTER_COUNT] {
            match self {}
        }

        pub(crate) fn explain(_errno: i32) -> String {
            "deadheat reads none on this system".to_owned()
        }
    }

    /// Returns an error, because this system has no perf events.
    pub fn opens_a_clock() -> Result<(), String> {
        Err(Counters::explain(0))
    }
}

/// A global allocator that counts the allocations of every thread and forwards them to another
/// allocator. Counting is always on and costs two additions per allocation.
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
    /// Wraps `inner` with a counter.
    pub const fn new(inner: A) -> Self {
        Self { inner }
    }
}

impl CountingAllocator<System> {
    /// Wraps the allocator of the operating system with a counter.
    pub const fn system() -> Self {
        Self::new(System)
    }
}

/// The number and the size of the heap allocations of a thread, which a [`CountingAllocator`]
/// counts from the start of the thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Allocations {
    /// The number of allocations, zeroed ones and reallocations included.
    pub count: u64,
    /// The number of bytes allocated; a reallocation counts only its growth.
    pub bytes: u64,
}

impl Allocations {
    /// Returns the allocations since an earlier reading of the same thread.
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            count: self.count.wrapping_sub(earlier.count),
            bytes: self.bytes.wrapping_sub(earlier.bytes),
        }
    }
}

/// Returns the heap allocations of the calling thread so far, or `None` if the program's global
/// allocator is not a [`CountingAllocator`]. Allocates nothing.
#[inline]
pub fn allocations_of_this_thread() -> Option<Allocations> {
    INSTALLED
        .load(Ordering::Relaxed)
        .then(|| OF_THIS_THREAD.with(Cell::get))
}

/// True once a counting allocator has allocated memory. A Rust program allocates before its `main`,
/// so in `main` the value is final.
static INSTALLED: AtomicBool = AtomicBool::new(false);

thread_local! {
    // A constant without a destructor: it needs no allocation and can be used until the thread
    // ends.
    static OF_THIS_THREAD: Cell<Allocations> =
        const { Cell::new(Allocations { count: 0, bytes: 0 }) };
}

#[inline]
fn count(bytes: usize) {
    // All threads can share the cache line of a load; a store would invalidate it for the other
    // threads each time.
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

// SAFETY: every call is forwarded unchanged to an allocator that fulfils the contract; counting
// neither allocates nor panics.
unsafe impl<A: GlobalAlloc> GlobalAlloc for CountingAllocator<A> {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller fulfils the contract of this function.
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

/// Sends requests to callgrind if the process runs under it: to start or stop counting, and to
/// write out the counts.
///
/// Valgrind recognises these requests by a sequence of instructions that has no effect elsewhere
/// (`valgrind.h`, "client requests"). They need no symbols, which a stripped program lacks, and no
/// wrapper function around the calls, which would change how these are compiled.
pub(crate) mod callgrind {
    /// The code of callgrind's first request, with 'C' and 'T' in the upper half.
    const BASE: usize = ((b'C' as usize) << 24) | ((b'T' as usize) << 16);

    /// Starts or stops counting in the calling thread.
    #[cold]
    #[inline(never)]
    pub(crate) fn toggle() {
        request(BASE + 2);
    }

    /// Discards the counts so far.
    #[cold]
    #[inline(never)]
    pub(crate) fn forget() {
        request(BASE + 1);
    }

    /// Writes out the counts so far, and sets them to zero.
    #[cold]
    #[inline(never)]
    pub(crate) fn dump() {
        request(BASE);
    }

    #[cfg(target_arch = "x86_64")]
    fn request(code: usize) {
        let arguments = [code, 0, 0, 0, 0, 0];
        // SAFETY: rdi is rotated by 128 bits in total and keeps its value; rbx is exchanged with
        // itself. Under Valgrind, rdx is written and the array is read, which lives until the end.
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
        // SAFETY: x12 is rotated by 128 bits in total and keeps its value; x10 is combined with
        // itself. Under Valgrind, x3 is written and the array is read, which lives until the end.
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

    /// Does nothing: this module has client requests for x86-64 and 64-bit ARM only. The
    /// coordinator then reports that the counts are missing.
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    fn request(_code: usize) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn a_counter_follows_a_command_and_leaves_its_launcher_out() {
        // The kernel counts page faults by itself, so this works without hardware counters.
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
    fn outside_of_valgrind_a_request_does_nothing() {
        callgrind::toggle();
        callgrind::toggle();
        callgrind::forget();
        callgrind::dump();
    }
}
