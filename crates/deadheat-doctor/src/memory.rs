//! Memory: huge pages and their effect on random reads, swap, and address randomisation.

use std::hint::black_box;
use std::ptr::NonNull;

use deadheat_engine::SampleClock;
use deadheat_model::doctor::{Facts, NotMeasured};

use crate::procfs::{Root, value_of};
use crate::watch::quantile;

pub(crate) fn huge_pages(root: &Root) -> Facts {
    let folder = "sys/kernel/mm/transparent_hugepage";
    let set = |file: &str| chosen(&root.text(&format!("{folder}/{file}"))?);
    Facts::HugePages {
        enabled: set("enabled"),
        defrag: set("defrag"),
    }
}

/// Returns the word in brackets, as in `always [madvise] never`.
fn chosen(text: &str) -> Option<String> {
    let (_, rest) = text.split_once('[')?;
    let (word, _) = rest.split_once(']')?;
    Some(word.to_owned())
}

pub(crate) fn swap(root: &Root) -> Facts {
    let text = root.text("proc/meminfo").unwrap_or_default();
    let total = kibibytes(&text, "SwapTotal");
    let free = kibibytes(&text, "SwapFree");
    Facts::Swap {
        total,
        used: total
            .zip(free)
            .map(|(total, free)| total.saturating_sub(free)),
    }
}

/// Returns the bytes available without swapping.
pub(crate) fn available(root: &Root) -> Option<u64> {
    root.read("proc/meminfo", |text| kibibytes(text, "MemAvailable"))
}

/// Returns the bytes of this process in huge pages, from its `smaps_rollup`.
pub(crate) fn in_huge_pages(smaps: &str) -> Option<u64> {
    kibibytes(smaps, "AnonHugePages")
}

/// Returns the number of pages moved to and from swap since boot, from `/proc/vmstat`.
pub(crate) fn swapped_pages(vmstat: &str) -> Option<u64> {
    let count = |name: &str| value_of(vmstat, name, ' ')?.parse::<u64>().ok();
    Some(count("pswpin")? + count("pswpout")?)
}

/// Returns the value of a line in bytes; the line has it in kibibytes.
fn kibibytes(text: &str, name: &str) -> Option<u64> {
    let value = value_of(text, name, ':')?.strip_suffix("kB")?;
    value
        .trim()
        .parse()
        .ok()
        .map(|kibibytes: u64| kibibytes * 1024)
}

/// The size of each array: far more than a processor's TLB covers.
const ARRAY: usize = 32 << 20;

/// The size of a huge page in bytes. The arrays are aligned to it.
const HUGE: usize = 2 << 20;
/// The size of a small page in bytes.
const SMALL: usize = 4096;

/// The free memory that is required, as a multiple of the size of both arrays.
const ROOM: u64 = 4;

/// The number of memory reads between two clock readings.
const READS: u64 = 20_000;

/// The order in which the arrays are read: 0 has small pages, 1 has huge pages.
const TURNS: [usize; 8] = [0, 1, 1, 0, 1, 0, 0, 1];

/// The cost of one read from small pages and from huge pages, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PageReads {
    pub(crate) small_ns: f64,
    pub(crate) huge_ns: f64,
}

/// Returns true if `left` bytes of free memory are enough for both arrays, or if `left` is unknown.
pub(crate) fn fits(left: Option<u64>) -> bool {
    left.is_none_or(|left| left >= ROOM * 2 * ARRAY as u64)
}

/// Reads the arrays alternately for `seconds` in total, and returns the median cost of a read.
pub(crate) fn page_reads(
    clock: &SampleClock,
    root: &Root,
    seconds: f64,
) -> Result<PageReads, NotMeasured> {
    let too_little = NotMeasured::TooLittleMemory;
    let huge_bytes = || root.read("proc/self/smaps_rollup", in_huge_pages);
    let small = Array::new(libc::MADV_NOHUGEPAGE).ok_or(too_little)?;
    let before = huge_bytes();
    let huge = Array::new(libc::MADV_HUGEPAGE).ok_or(too_little)?;
    // The kernel may ignore the advice. If its effect cannot be read, the result is `Hidden`.
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

/// A private mapping with all pages populated, unmapped when dropped.
struct Array {
    mapped: NonNull<libc::c_void>,
    length: usize,
    first: NonNull<u8>,
}

#[allow(unsafe_code)]
impl Array {
    /// Creates a mapping with the given advice to the kernel; `None` if there is not enough memory.
    fn new(advice: libc::c_int) -> Option<Self> {
        let length = ARRAY + HUGE;
        // SAFETY: a new mapping at an address chosen by the kernel overlaps no existing memory.
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
        // SAFETY: the mapping is longer than the array by one alignment, so the aligned array is
        // within it.
        let first = unsafe { mapped.cast::<u8>().add(ahead) };
        // SAFETY: the whole array is mapped. The advice does not change its content; a kernel that
        // does not know the advice only returns an error.
        unsafe { libc::madvise(first.as_ptr().cast(), ARRAY, advice) };
        for page in (0..ARRAY).step_by(SMALL) {
            // SAFETY: the address is within the array, which is mapped for writing. Volatile,
            // because the compiler would remove stores that are never read.
            unsafe { first.add(page).write_volatile(0) };
        }
        Some(Self {
            mapped,
            length,
            first,
        })
    }

    /// Reads at random places, each computed from the value read before. All bytes are zero, but
    /// the processor cannot predict that.
    fn read(&self, reads: u64) {
        let mut place = 1usize;
        for _ in 0..reads {
            place = place
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            // The low bits of such a sequence are the least random.
            let offset = (place >> 20) % ARRAY;
            // SAFETY: the offset is below the length of the array. Volatile, because the compiler
            // would remove an unused read.
            let read = unsafe { self.first.add(offset).read_volatile() };
            place = place.wrapping_add(usize::from(read));
        }
        black_box(place);
    }
}

#[allow(unsafe_code)]
impl Drop for Array {
    fn drop(&mut self) {
        // SAFETY: `new` mapped this address with this length, and no other pointer into it exists.
        unsafe { libc::munmap(self.mapped.as_ptr(), self.length) };
    }
}

/// The bit of a process's personality that turns address randomisation off.
const NO_RANDOMIZE: u64 = 0x004_0000;

/// Returns the kernel's setting for address randomisation, and whether this process was started
/// without it.
pub(crate) fn aslr(root: &Root) -> Facts {
    let personality = root.line("proc/self/personality");
    Facts::Aslr {
        setting: root.number("proc/sys/kernel/randomize_va_space"),
        switched_off: personality.is_some_and(|text| is_switched_off(&text)),
    }
}

fn is_switched_off(personality: &str) -> bool {
    u64::from_str_radix(personality.trim(), 16).is_ok_and(|bits| bits & NO_RANDOMIZE != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::procfs::fake::machine;

    const MEMINFO: &str = "\
MemTotal:       24684084 kB
MemAvailable:   23711304 kB
SwapCached:            0 kB
SwapTotal:       2097148 kB
SwapFree:        1048572 kB
";

    #[test]
    fn the_choice_is_the_word_in_brackets() {
        assert_eq!(
            chosen("always [madvise] never\n").as_deref(),
            Some("madvise")
        );
        assert_eq!(
            chosen("[always] madvise never\n").as_deref(),
            Some("always")
        );
        assert_eq!(chosen("always madvise never\n"), None);
        let (_folder, root) = machine(&[("sys/kernel/mm/transparent_hugepage/enabled", "[never]")]);
        let facts = Facts::HugePages {
            enabled: Some("never".to_owned()),
            defrag: None,
        };
        assert_eq!(huge_pages(&root), facts);
    }

    #[test]
    fn swap_is_given_in_bytes() {
        let (_folder, root) = machine(&[("proc/meminfo", MEMINFO)]);
        let facts = Facts::Swap {
            total: Some(2_097_148 * 1024),
            used: Some(1_048_576 * 1024),
        };
        assert_eq!(swap(&root), facts);
        assert_eq!(available(&root), Some(23_711_304 * 1024));
        let (_folder, nothing) = machine(&[]);
        let unknown = Facts::Swap {
            total: None,
            used: None,
        };
        assert_eq!(swap(&nothing), unknown);
        assert_eq!(available(&nothing), None);
    }

    #[test]
    fn pages_are_counted_in_both_directions() {
        assert_eq!(swapped_pages("pgpgin 9\npswpin 3\npswpout 4\n"), Some(7));
        assert_eq!(swapped_pages("pgpgin 9\npswpin 3\n"), None);
        let smaps = "7f00-7fff ---p 0 0 0 [rollup]\nRss: 4 kB\nAnonHugePages:      2048 kB\n";
        assert_eq!(in_huge_pages(smaps), Some(2 << 20));
    }

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

    #[test]
    fn the_setting_of_the_kernel_and_that_of_the_process_are_both_read() {
        let (_folder, root) = machine(&[
            ("proc/sys/kernel/randomize_va_space", "2\n"),
            ("proc/self/personality", "00040000\n"),
        ]);
        let facts = Facts::Aslr {
            setting: Some(2),
            switched_off: true,
        };
        assert_eq!(aslr(&root), facts);
        let (_folder, nothing) = machine(&[]);
        let facts = Facts::Aslr {
            setting: None,
            switched_off: false,
        };
        assert_eq!(aslr(&nothing), facts);
    }

    #[test]
    fn only_the_randomisation_bit_of_the_personality_counts() {
        assert!(!is_switched_off("00000000\n") && !is_switched_off("00200000"));
        assert!(is_switched_off("00240000") && !is_switched_off("many"));
    }
}
