//! Random reads from memory in small and in huge pages.
#![allow(unsafe_code)]

use std::hint::black_box;
use std::ptr::NonNull;

use deadheat_model::doctor::NotMeasured;

use super::memory::in_huge_pages;
use super::root::Root;
use super::work::quantile;
use crate::clock::SampleClock;

/// Each array: far more than the pages any processor has at hand.
const ARRAY: usize = 32 << 20;

/// The alignment at which the kernel can put in huge pages.
const HUGE: usize = 2 << 20;
const SMALL: usize = 4096;

/// Both arrays have to leave this many times their size free.
const ROOM: u64 = 4;

/// Reads between two looks at the clock.
const READS: u64 = 20_000;

/// Whose turn it is: small, huge, huge, small.
const TURNS: [usize; 8] = [0, 1, 1, 0, 1, 0, 0, 1];

/// The cost of one read in both, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PageReads {
    pub(super) small_ns: f64,
    pub(super) huge_ns: f64,
}

/// Whether arrays of this size fit well into what is left of the memory.
pub(super) fn fits(left: Option<u64>) -> bool {
    left.is_none_or(|left| left >= ROOM * 2 * ARRAY as u64)
}

/// Reads each array, in turns, for so long in all.
pub(super) fn page_reads(
    clock: &SampleClock,
    root: &Root,
    seconds: f64,
) -> Result<PageReads, NotMeasured> {
    let too_little = NotMeasured::TooLittleMemory;
    let huge_bytes = || in_huge_pages(&root.text("proc/self/smaps_rollup")?);
    let small = Array::new(libc::MADV_NOHUGEPAGE).ok_or(too_little)?;
    let before = huge_bytes();
    let huge = Array::new(libc::MADV_HUGEPAGE).ok_or(too_little)?;
    // Asking is not getting. Where it cannot be seen, nothing is claimed.
    let gained = match (before, huge_bytes()) {
        (Some(before), Some(after)) => after.saturating_sub(before),
        _ => return Err(NotMeasured::Hidden),
    };
    if (gained as usize) < ARRAY / 2 {
        return Err(NotMeasured::NoHugePages);
    }
    let mut times = [Vec::new(), Vec::new()];
    for turn in TURNS {
        let array = [&small, &huge][turn];
        let begin = clock.start();
        loop {
            let start = clock.start();
            array.read(READS);
            let stop = clock.stop();
            times[turn].push(clock.ns_between(start, stop) / READS as f64);
            if clock.ns_between(begin, stop) >= seconds / TURNS.len() as f64 * 1e9 {
                break;
            }
        }
    }
    let [small, huge] = &mut times;
    let medians = quantile(small, 0.5).zip(quantile(huge, 0.5));
    let (small_ns, huge_ns) = medians.ok_or(NotMeasured::Hidden)?;
    Ok(PageReads { small_ns, huge_ns })
}

/// Memory of its own, every page of it in place, given back when dropped.
struct Array {
    mapped: NonNull<libc::c_void>,
    length: usize,
    first: NonNull<u8>,
}

impl Array {
    /// Memory that the kernel was advised about; `None` when there is none.
    fn new(advice: libc::c_int) -> Option<Self> {
        let length = ARRAY + HUGE;
        // SAFETY: a new mapping at a place the kernel chooses touches nothing
        // that exists.
        let mapped = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                length,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        if mapped == libc::MAP_FAILED {
            return None;
        }
        let mapped = NonNull::new(mapped)?;
        let ahead = mapped.as_ptr().align_offset(HUGE);
        // SAFETY: the mapping is longer than the array by one alignment, so
        // that the aligned array lies within.
        let first = unsafe { mapped.cast::<u8>().add(ahead) };
        // SAFETY: the whole array is mapped. The advice changes no contents;
        // a kernel that does not know it says so and nothing else.
        unsafe { libc::madvise(first.as_ptr().cast(), ARRAY, advice) };
        for page in (0..ARRAY).step_by(SMALL) {
            // SAFETY: within the array, which is mapped for writing. Volatile,
            // or the compiler leaves out stores that nobody reads.
            unsafe { first.add(page).write_volatile(0) };
        }
        Some(Self {
            mapped,
            length,
            first,
        })
    }

    /// Reads at random places, each of which follows from what was read
    /// before: all bytes are zero, but the processor cannot know.
    fn read(&self, reads: u64) {
        let mut place = 1usize;
        for _ in 0..reads {
            place = place
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            // The low bits of such a sequence are the least random.
            let offset = (place >> 20) % ARRAY;
            // SAFETY: the offset is below the length of the array. Volatile,
            // for a read that nobody uses would be left out.
            let read = unsafe { self.first.add(offset).read_volatile() };
            place = place.wrapping_add(usize::from(read));
        }
        black_box(place);
    }
}

impl Drop for Array {
    fn drop(&mut self) {
        // SAFETY: mapped by `new` at this place with this length; nobody else
        // has a pointer into it.
        unsafe { libc::munmap(self.mapped.as_ptr(), self.length) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_must_leave_room_for_others() {
        assert!(fits(None) && fits(Some(1 << 30)));
        assert!(!fits(Some(100 << 20)));
    }

    #[test]
    fn a_system_that_hides_its_pages_gets_no_number() {
        let (clock, _) = SampleClock::choose();
        let hidden = page_reads(&clock, &Root::at("/nowhere"), 0.01);
        assert_eq!(hidden, Err(NotMeasured::Hidden));
    }

    #[test]
    fn a_read_takes_time_wherever_there_are_huge_pages() {
        let (clock, _) = SampleClock::choose();
        match page_reads(&clock, &Root::real(), 0.02) {
            Ok(reads) => assert!(reads.small_ns > 0.0 && reads.huge_ns > 0.0),
            Err(why) => assert!(
                matches!(why, NotMeasured::NoHugePages | NotMeasured::Hidden),
                "{why:?}"
            ),
        }
    }
}
