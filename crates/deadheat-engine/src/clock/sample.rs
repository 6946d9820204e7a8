//! Times one sample of a function: the clock, the other readings before and after the sample, and
//! the hardware counters that the clock can use.
#![allow(unsafe_code)]

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use std::arch::asm;
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{__cpuid, CpuidResult};

use deadheat_model::Metric;

use crate::counters::{Allocations, allocations_of_this_thread, callgrind};
use crate::run_delay::{self, RunDelay};
use crate::usage::{ThreadUsage, read_ns};

/// The number of steps of a clock that are measured to find the smallest one.
const STEPS: usize = 400;
/// The maximum number of readings to find the smallest step of a clock.
const MOST_READINGS: usize = 100_000;

/// The resolution assumed for a clock that did not change during all readings, in nanoseconds: 10
/// ms, the longest timer tick that kernels are built with.
const SLOWEST_TICK_NS: f64 = 1e7;

/// The number of samples without any work whose median length is the overhead of the clock.
const EMPTY_SAMPLES: usize = 401;

/// The clock that times samples: the counter of the processor if it is reliable, otherwise the
/// clock of the operating system.
///
/// The process that coordinates a race measures the clock once and sends it to its workers as text,
/// so that all processes use the same rate.
///
/// ```
/// use deadheat_engine::SampleClock;
///
/// let (clock, _why_not_the_counter) = SampleClock::choose();
/// let start = clock.start();
/// let sum: u64 = std::hint::black_box((0..100).sum());
/// let stop = clock.stop();
/// assert_eq!(sum, 4950);
/// assert!(clock.ns_between(start, stop) < 1e9);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SampleClock {
    ticks: Ticks,
    ns_per_tick: f64,
    resolution_ns: f64,
    overhead_ns: f64,
}

/// The counter that a [`SampleClock`] reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockSource {
    /// The time stamp counter of x86-64.
    Tsc,
    /// The virtual counter of 64-bit ARM.
    Cntvct,
    /// The monotonic clock of the operating system.
    Os,
}

impl ClockSource {
    /// Returns `tsc`, `cntvct` or `os`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tsc => "tsc",
            Self::Cntvct => "cntvct",
            Self::Os => "os",
        }
    }
}

impl SampleClock {
    /// Measures and returns the monotonic clock of the operating system.
    pub fn os() -> Self {
        Self::measured(Ticks::Os, 1.0)
    }

    /// Returns a clock for workers under callgrind: the counter of the processor if there is one,
    /// even if it is unreliable, because reading it always takes the same number of instructions.
    /// Its times are only used to estimate how many calls make a sample.
    #[cfg(feature = "commands")]
    pub(crate) fn for_counts() -> Self {
        #[cfg(target_arch = "x86_64")]
        let ticks = Ticks::TscFenced;
        #[cfg(target_arch = "aarch64")]
        let ticks = Ticks::Cntvct;
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        let ticks = Ticks::Os;
        let ns_per_tick = match ticks.stated_hertz() {
            Some(hertz) => 1e9 / hertz,
            None if ticks == Ticks::Os => 1.0,
            // Assumes 2 GHz.
            None => 0.5,
        };
        Self::measured(ticks, ns_per_tick)
    }

    pub(super) fn measured(ticks: Ticks, ns_per_tick: f64) -> Self {
        let resolution_ns = match smallest_step(ticks) {
            Some(step) => step as f64 * ns_per_tick,
            None => SLOWEST_TICK_NS,
        };
        Self {
            ticks,
            ns_per_tick,
            resolution_ns,
            overhead_ns: overhead(ticks) as f64 * ns_per_tick,
        }
    }

    /// Formats the clock as one word without blanks, for the process at the other end of a pipe.
    /// The text preserves all bits.
    pub fn to_words(&self) -> String {
        format!(
            "{}:{:016x}:{:016x}:{:016x}",
            self.ticks.word(),
            self.ns_per_tick.to_bits(),
            self.resolution_ns.to_bits(),
            self.overhead_ns.to_bits()
        )
    }

    /// Parses the output of [`SampleClock::to_words`]. Returns `None` for any other text, for
    /// impossible numbers, and for an instruction that this processor lacks.
    pub fn from_words(words: &str) -> Option<Self> {
        let mut parts = words.split(':');
        let ticks = Ticks::from_word(parts.next()?)?;
        let mut number = || {
            let part = parts.next().filter(|part| part.len() == 16)?;
            u64::from_str_radix(part, 16).ok().map(f64::from_bits)
        };
        let clock = Self {
            ticks,
            ns_per_tick: number()?,
            resolution_ns: number()?,
            overhead_ns: number()?,
        };
        let positive = |number: f64| number.is_finite() && number > 0.0;
        let possible = positive(clock.ns_per_tick)
            && positive(clock.resolution_ns)
            && clock.overhead_ns.is_finite()
            && clock.overhead_ns >= 0.0;
        (possible && parts.next().is_none()).then_some(clock)
    }

    /// Returns the counter that the clock reads.
    pub fn source(&self) -> ClockSource {
        match self.ticks {
            #[cfg(target_arch = "x86_64")]
            Ticks::TscRdtscp | Ticks::TscFenced => ClockSource::Tsc,
            #[cfg(target_arch = "aarch64")]
            Ticks::Cntvct => ClockSource::Cntvct,
            Ticks::Os => ClockSource::Os,
        }
    }

    /// Returns the nanoseconds per tick of the clock; 1 for the clock of the operating system.
    pub fn ns_per_tick(&self) -> f64 {
        self.ns_per_tick
    }

    /// Returns the length of a tick of the clock in nanoseconds: the period of a hardware counter,
    /// or the smallest observed step of the operating system's clock.
    pub fn tick_ns(&self) -> f64 {
        match self.source() {
            ClockSource::Tsc | ClockSource::Cntvct => self.ns_per_tick(),
            ClockSource::Os => self.resolution_ns(),
        }
    }

    /// Returns the smallest step between two consecutive readings that differ, in nanoseconds. It
    /// is at least the cost of a reading, even if the counter is finer.
    pub fn resolution_ns(&self) -> f64 {
        self.resolution_ns
    }

    /// Returns the median length of 401 samples without any work, in nanoseconds.
    pub fn overhead_ns(&self) -> f64 {
        self.overhead_ns
    }

    /// Reads the clock before the work, in ticks: all earlier instructions are complete and no
    /// later one has begun. Allocates nothing.
    #[inline(always)]
    pub fn start(&self) -> u64 {
        self.ticks.start()
    }

    /// Reads the clock after the work, in ticks. Allocates nothing.
    #[inline(always)]
    pub fn stop(&self) -> u64 {
        self.ticks.stop()
    }

    /// Returns the nanoseconds between two readings; 0 if the second is earlier, which a thread
    /// that changed cores may see.
    #[inline]
    pub fn ns_between(&self, start: u64, stop: u64) -> f64 {
        stop.saturating_sub(start) as f64 * self.ns_per_tick
    }

    pub(super) fn ticks(&self) -> Ticks {
        self.ticks
    }
}

fn smallest_step(ticks: Ticks) -> Option<u64> {
    let mut smallest: Option<u64> = None;
    let mut steps = 0;
    let mut last = ticks.start();
    for _ in 0..MOST_READINGS {
        let now = ticks.start();
        if now > last {
            let step = now - last;
            smallest = Some(smallest.map_or(step, |least| least.min(step)));
            steps += 1;
            if steps == STEPS {
                break;
            }
        }
        last = now;
    }
    smallest
}

fn overhead(ticks: Ticks) -> u64 {
    let mut samples = [0; EMPTY_SAMPLES];
    for sample in &mut samples {
        let start = ticks.start();
        let stop = ticks.stop();
        *sample = stop.saturating_sub(start);
    }
    let (_, median, _) = samples.select_nth_unstable(EMPTY_SAMPLES / 2);
    *median
}

/// All readings of one sample, for the thread that ran it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Reading {
    /// Elapsed time in nanoseconds.
    pub wall_ns: f64,
    /// CPU time of the thread in nanoseconds.
    pub cpu_ns: f64,
    /// Page faults served without reading a disk.
    pub minor_faults: u64,
    /// Page faults that read a disk.
    pub major_faults: u64,
    /// Context switches because the thread blocked.
    pub voluntary_switches: u64,
    /// Context switches because the scheduler preempted the thread.
    pub involuntary_switches: u64,
    /// The number of threads that ended the sample on a different core: 0 or 1 for a single thread.
    pub migrations: u64,
    /// The scheduling delay of the thread in nanoseconds; 0 if it cannot be read, which
    /// [`KeepWaiting::Unread`](crate::run_delay::KeepWaiting) reports.
    pub run_delay_ns: u64,
    /// The number of heap allocations; 0 without a counting allocator.
    pub allocations: u64,
    /// The number of heap bytes requested; 0 without a counting allocator.
    pub allocated_bytes: u64,
}

impl Reading {
    /// The metrics of a reading, in the order of [`Reading::values`]. The last two need a counting
    /// allocator.
    pub const METRICS: [Metric; 10] = [
        Metric::Wall,
        Metric::Cpu,
        Metric::MinorFaults,
        Metric::MajorFaults,
        Metric::VoluntarySwitches,
        Metric::InvoluntarySwitches,
        Metric::Migrations,
        Metric::RunDelay,
        Metric::Allocations,
        Metric::AllocatedBytes,
    ];

    /// Returns the metrics that can be measured in this program.
    pub fn metrics_here() -> &'static [Metric] {
        if allocations_of_this_thread().is_some() {
            &Self::METRICS
        } else {
            &Self::METRICS[..8]
        }
    }

    /// Returns the values of this reading, in the order of [`Reading::METRICS`].
    pub fn values(&self) -> [f64; 10] {
        [
            self.wall_ns,
            self.cpu_ns,
            self.minor_faults as f64,
            self.major_faults as f64,
            self.voluntary_switches as f64,
            self.involuntary_switches as f64,
            self.migrations as f64,
            self.run_delay_ns as f64,
            self.allocations as f64,
            self.allocated_bytes as f64,
        ]
    }

    /// Returns the elapsed time minus the scheduling delay, in nanoseconds. The delay is read
    /// outside of the timed section, so at most the time off the CPU (wall − CPU) is subtracted.
    pub(crate) fn without_waiting_ns(&self) -> f64 {
        let idle_ns = (self.wall_ns - self.cpu_ns).max(0.0);
        self.wall_ns - idle_ns.min(self.run_delay_ns as f64)
    }

    /// Adds the reading of a later sample of the same thread, including its elapsed time.
    pub fn and_then(self, later: Reading) -> Reading {
        Reading {
            wall_ns: self.wall_ns + later.wall_ns,
            ..self.beside(later)
        }
    }

    /// Combines the readings of two concurrent threads: the elapsed time is the maximum, all other
    /// values add up.
    pub(crate) fn beside(self, other: Reading) -> Reading {
        Reading {
            wall_ns: self.wall_ns.max(other.wall_ns),
            cpu_ns: self.cpu_ns + other.cpu_ns,
            minor_faults: self.minor_faults + other.minor_faults,
            major_faults: self.major_faults + other.major_faults,
            voluntary_switches: self.voluntary_switches + other.voluntary_switches,
            involuntary_switches: self.involuntary_switches + other.involuntary_switches,
            migrations: self.migrations + other.migrations,
            run_delay_ns: self.run_delay_ns + other.run_delay_ns,
            allocations: self.allocations + other.allocations,
            allocated_bytes: self.allocated_bytes + other.allocated_bytes,
        }
    }
}

/// The clock and the measured overheads that are used to time batches of calls.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gauge {
    clock: SampleClock,
    cpu_overhead_ns: f64,
    /// True if callgrind counts the instructions of batches.
    marks: bool,
}

/// The readings at the start of a batch.
#[derive(Clone, Copy, Debug)]
pub struct Begun {
    allocations: Option<Allocations>,
    usage: ThreadUsage,
    run_delay: RunDelay,
    start: u64,
}

/// The reading of a finished batch and the clock readings at its start and end.
#[derive(Clone, Copy, Debug)]
pub struct Ended {
    /// The values of all metrics.
    pub reading: Reading,
    pub(crate) start: u64,
    pub(crate) stop: u64,
}

impl Gauge {
    /// Creates a gauge around `clock` and measures the CPU time that the readings around a sample
    /// take.
    pub fn new(clock: SampleClock) -> Self {
        Self::measured(clock, ThreadUsage::cpu_overhead_ns() as f64, false)
    }

    /// Creates a gauge with an overhead that another process of the run measured. If `marks` is
    /// true, the gauge tells callgrind where batches begin and end.
    pub(crate) fn measured(clock: SampleClock, cpu_overhead_ns: f64, marks: bool) -> Self {
        Self {
            clock,
            cpu_overhead_ns,
            marks,
        }
    }

    /// Makes callgrind discard its counts so far, if callgrind counts.
    pub(crate) fn mark_block(&self) {
        if self.marks {
            callgrind::forget();
        }
    }

    /// Makes callgrind write out the counts of the last sample, if callgrind counts.
    pub(crate) fn mark_sample(&self) {
        if self.marks {
            callgrind::dump();
        }
    }

    /// Returns the clock of the samples.
    pub fn clock(&self) -> &SampleClock {
        &self.clock
    }

    /// Takes the readings before a batch: the clock last, after all other values.
    #[inline(always)]
    pub fn begin(&self) -> Begun {
        let allocations = allocations_of_this_thread();
        let mut usage = ThreadUsage::account();
        let run_delay = run_delay::before(usage.switches());
        usage.read_cpu();
        if self.marks {
            callgrind::toggle();
        }
        Begun {
            allocations,
            usage,
            run_delay,
            start: self.clock.start(),
        }
    }

    /// Takes the readings after a batch: the clock first, before all other values.
    #[inline(always)]
    pub fn end(&self, begun: Begun) -> Ended {
        let stop = self.clock.stop();
        if self.marks {
            callgrind::toggle();
        }
        self.read(begun, stop)
    }

    #[inline(never)]
    fn read(&self, begun: Begun, stop: u64) -> Ended {
        let after = ThreadUsage::after();
        let usage = after.since(&begun.usage);
        let run_delay_ns = begun.run_delay.since(after.switches());
        let (allocations, bytes) = match (begun.allocations, allocations_of_this_thread()) {
            (Some(before), Some(after)) => (after.count - before.count, after.bytes - before.bytes),
            _ => (0, 0),
        };
        Ended {
            reading: Reading {
                wall_ns: self.clock.ns_between(begun.start, stop),
                // Without this correction, the cost of reading the CPU clock would shrink every
                // relative change.
                cpu_ns: (usage.cpu_ns as f64 - self.cpu_overhead_ns).max(0.0),
                minor_faults: usage.minor_faults,
                major_faults: usage.major_faults,
                voluntary_switches: usage.voluntary_switches,
                involuntary_switches: usage.involuntary_switches,
                migrations: u64::from(usage.migrated),
                run_delay_ns,
                allocations,
                allocated_bytes: bytes,
            },
            start: begun.start,
            stop,
        }
    }

    /// Runs `batch` and returns its reading.
    #[inline(always)]
    pub fn around(&self, batch: impl FnOnce()) -> Reading {
        let begun = self.begin();
        batch();
        self.end(begun).reading
    }
}

/// The operating system's clock that samples may be timed by. The kernel slews it towards the true
/// time.
const OS_CLOCK: libc::clockid_t = libc::CLOCK_MONOTONIC;

/// The operating system's clock that counters are compared with. It is the unslewed clock if there
/// is one, because a slew of up to 0.05 % must not look like an unreliable counter.
#[cfg(any(target_os = "linux", target_os = "android", target_os = "macos"))]
const REFERENCE_CLOCK: libc::clockid_t = libc::CLOCK_MONOTONIC_RAW;
#[cfg(not(any(target_os = "linux", target_os = "android", target_os = "macos")))]
const REFERENCE_CLOCK: libc::clockid_t = libc::CLOCK_MONOTONIC;

/// A way to read the time. The type contains only the variants of this processor family, so a
/// reading cannot fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ticks {
    /// The time stamp counter; the final reading uses `rdtscp`.
    #[cfg(target_arch = "x86_64")]
    TscRdtscp,
    /// The time stamp counter of a processor without `rdtscp`.
    #[cfg(target_arch = "x86_64")]
    TscFenced,
    #[cfg(target_arch = "aarch64")]
    Cntvct,
    /// The monotonic clock of the operating system, with one tick per nanosecond.
    Os,
}

impl Ticks {
    pub(super) fn word(self) -> &'static str {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::TscRdtscp => "tsc-rdtscp",
            #[cfg(target_arch = "x86_64")]
            Self::TscFenced => "tsc-fenced",
            #[cfg(target_arch = "aarch64")]
            Self::Cntvct => "cntvct",
            Self::Os => "os",
        }
    }

    /// Parses the output of [`Ticks::word`]; `None` for an instruction that this processor lacks.
    pub(super) fn from_word(word: &str) -> Option<Self> {
        match word {
            #[cfg(target_arch = "x86_64")]
            "tsc-rdtscp" => has_rdtscp().then_some(Self::TscRdtscp),
            #[cfg(target_arch = "x86_64")]
            "tsc-fenced" => Some(Self::TscFenced),
            #[cfg(target_arch = "aarch64")]
            "cntvct" => Some(Self::Cntvct),
            "os" => Some(Self::Os),
            _ => None,
        }
    }

    pub(super) fn stated_hertz(self) -> Option<f64> {
        match self {
            #[cfg(target_arch = "aarch64")]
            Self::Cntvct => Some(cntfrq() as f64),
            _ => None,
        }
    }

    /// Reads the counter before the work: all earlier instructions are complete and no later one
    /// has begun.
    #[inline(always)]
    pub(super) fn start(self) -> u64 {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::TscRdtscp | Self::TscFenced => between_fences(),
            #[cfg(target_arch = "aarch64")]
            Self::Cntvct => cntvct(),
            Self::Os => read_ns(OS_CLOCK),
        }
    }

    #[inline(always)]
    pub(super) fn stop(self) -> u64 {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::TscRdtscp => after_the_work(),
            #[cfg(target_arch = "x86_64")]
            Self::TscFenced => between_fences(),
            #[cfg(target_arch = "aarch64")]
            Self::Cntvct => cntvct(),
            Self::Os => read_ns(OS_CLOCK),
        }
    }
}

pub(super) fn reference_ns() -> u64 {
    read_ns(REFERENCE_CLOCK)
}

/// Reads the virtual counter. The first barrier waits for all earlier instructions; the second
/// keeps later ones from starting before the reading.
#[cfg(target_arch = "aarch64")]
#[inline(always)]
fn cntvct() -> u64 {
    let ticks: u64;
    // SAFETY: reads a register that user programs may read. Leaving out `nomem` keeps the compiler
    // from moving memory accesses across the reading.
    unsafe {
        asm!(
            "isb",
            "mrs {ticks}, cntvct_el0",
            "isb",
            ticks = out(reg) ticks,
            options(nostack, preserves_flags)
        );
    }
    ticks
}

/// Returns the ticks of the virtual counter per second, as the firmware states them.
#[cfg(target_arch = "aarch64")]
fn cntfrq() -> u64 {
    let hertz: u64;
    // SAFETY: reads a register that user programs may read.
    unsafe {
        asm!(
            "mrs {hertz}, cntfrq_el0",
            hertz = out(reg) hertz,
            options(nomem, nostack, preserves_flags)
        );
    }
    hertz
}

#[cfg(target_arch = "x86_64")]
pub(super) fn has_rdtscp() -> bool {
    extended_leaf(0x8000_0001).is_some_and(|leaf| leaf.edx & (1 << 27) != 0)
}

#[cfg(target_arch = "x86_64")]
pub(super) fn extended_leaf(leaf: u32) -> Option<CpuidResult> {
    // Newer compilers consider the call safe, older ones need the block.
    #[allow(unused_unsafe)]
    // SAFETY: every x86-64 processor has the instruction, and it supports all leaves up to the
    // highest one that it reports.
    unsafe {
        (__cpuid(0x8000_0000).eax >= leaf).then(|| __cpuid(leaf))
    }
}

/// Reads the counter after all earlier and before all later instructions. `lfence` waits for all
/// earlier instructions on Intel, and on AMD because kernels configure it so against Spectre.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn between_fences() -> u64 {
    let (low, high): (u64, u64);
    // SAFETY: reads a counter into two registers, whose upper halves the instruction clears.
    // Leaving out `nomem` keeps the compiler from moving memory accesses across the reading.
    unsafe {
        asm!(
            "lfence",
            "rdtsc",
            "lfence",
            out("rax") low,
            out("rdx") high,
            options(nostack, preserves_flags)
        );
    }
    high << 32 | low
}

/// Reads the counter after all earlier instructions. This needs one fence less than
/// [`between_fences`], because `rdtscp` waits by itself. Requires [`has_rdtscp`].
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn after_the_work() -> u64 {
    let (low, high): (u64, u64);
    // SAFETY: as above; `rcx`, which receives the number of the core, is declared as an output.
    // This function is only chosen if the processor has the instruction.
    unsafe {
        asm!(
            "rdtscp",
            "lfence",
            out("rax") low,
            out("rdx") high,
            out("rcx") _,
            options(nostack, preserves_flags)
        );
    }
    high << 32 | low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_clocks_of_the_operating_system_run() {
        for clock in [OS_CLOCK, REFERENCE_CLOCK] {
            let before = read_ns(clock);
            std::thread::sleep(std::time::Duration::from_millis(1));
            assert!(before > 0 && read_ns(clock) > before);
        }
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn the_counter_goes_forward_from_either_instruction_to_the_other() {
        let first = between_fences();
        let second = if has_rdtscp() {
            after_the_work()
        } else {
            between_fences()
        };
        assert!(first > 0 && second > first);
    }

    #[test]
    fn readings_one_after_the_other_add_up_and_of_threads_the_longest_time_counts() {
        let reading = |wall_ns, cpu_ns| Reading {
            wall_ns,
            cpu_ns,
            minor_faults: 1,
            ..Reading::default()
        };
        let (first, second) = (reading(3.0, 2.0), reading(5.0, 4.0));
        let both = Reading {
            minor_faults: 2,
            ..reading(8.0, 6.0)
        };
        assert_eq!(first.and_then(second), both);
        assert_eq!(first.beside(second).wall_ns, 5.0);
    }
}
