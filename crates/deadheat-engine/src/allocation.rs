//! What a thread asks of the allocator.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};

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

/// What a thread has asked of a [`CountingAllocator`] since it began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Allocations {
    /// Requests for memory: new, zeroed, and each change of size.
    pub count: u64,
    /// Bytes requested; of a change of size the growth.
    pub bytes: u64,
}

impl Allocations {
    /// What was asked for since an earlier reading of the same thread.
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            count: self.count.wrapping_sub(earlier.count),
            bytes: self.bytes.wrapping_sub(earlier.bytes),
        }
    }
}

/// What the calling thread has asked for so far; `None` in a program whose
/// global allocator is no [`CountingAllocator`]. Allocates nothing.
#[inline]
pub fn allocations_of_this_thread() -> Option<Allocations> {
    INSTALLED
        .load(Ordering::Relaxed)
        .then(|| OF_THIS_THREAD.with(Cell::get))
}

/// Whether any memory was ever requested from a counting allocator. A Rust
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
