//! A timed sample of functions: the clock that times it, all else that is read before and after, and
//! the counters behind the clock, one instruction or one call each.
#![allow(unsafe_code)]

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use std::arch::asm;
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{__cpuid, CpuidResult};

use deadheat_model::Metric;

use crate::counters::{Allocations, allocations_of_this_thread, callgrind};
use crate::run_delay::{self, RunDelay};
use crate::usage::{ThreadUsage, read_ns};

/// Steps after which the smallest is taken for the resolution, and the most
/// readings that are spent on seeing them.
const STEPS: usize = 400;
const MOST_READINGS: usize = 100_000;

/// The resolution of a clock that stood still for all readings: the longest
/// tick that kernels are built with.
const SLOWEST_TICK_NS: f64 = 1e7;

/// Empty samples of which the median is the overhead.
const EMPTY_SAMPLES: usize = 401;

/// The clock that times samples: the counter of the processor where it can be
/// trusted, else the clock of the operating system.
///
/// Measured once by the process that coordinates a race and handed to its
/// workers in words, so that all of them divide by the same number.
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
    /// `tsc`, `cntvct` or `os`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tsc => "tsc",
            Self::Cntvct => "cntvct",
            Self::Os => "os",
        }
    }
}

impl SampleClock {
    /// The monotonic clock of the operating system, measured.
    pub fn os() -> Self {
        Self::measured(Ticks::Os, 1.0)
    }

    /// A clock for workers under callgrind, whose reading always takes as many instructions: the
    /// counter of the processor where there is one, whether or not its times can be trusted. They
    /// only say about how many calls make a sample.
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
            // Of 2 GHz.
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

    /// The clock as one word without blanks, for the process on the other
    /// side of a pipe. Loses nothing.
    pub fn to_words(&self) -> String {
        format!(
            "{}:{:016x}:{:016x}:{:016x}",
            self.ticks.word(),
            self.ns_per_tick.to_bits(),
            self.resolution_ns.to_bits(),
            self.overhead_ns.to_bits()
        )
    }

    /// The clock that [`SampleClock::to_words`] wrote. `None` for anything
    /// else, numbers no clock has, or an instruction this processor lacks.
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

    /// The counter that the clock reads.
    pub fn source(&self) -> ClockSource {
        match self.ticks {
            #[cfg(target_arch = "x86_64")]
            Ticks::TscRdtscp | Ticks::TscFenced => ClockSource::Tsc,
            #[cfg(target_arch = "aarch64")]
            Ticks::Cntvct => ClockSource::Cntvct,
            Ticks::Os => ClockSource::Os,
        }
    }

    /// Nanoseconds per tick; 1 for the clock of the operating system.
    pub fn ns_per_tick(&self) -> f64 {
        self.ns_per_tick
    }

    /// The length of a step, in nanoseconds: of a counter the time it counts
    /// by, of the system's clock the smallest step it shows.
    pub fn tick_ns(&self) -> f64 {
        match self.source() {
            ClockSource::Tsc | ClockSource::Cntvct => self.ns_per_tick(),
            ClockSource::Os => self.resolution_ns(),
        }
    }

    /// The smallest step between two neighbouring readings that differ, in
    /// nanoseconds. Never below the cost of a reading, which is what limits
    /// a counter that is finer than that.
    pub fn resolution_ns(&self) -> f64 {
        self.resolution_ns
    }

    /// The length of an empty sample, in nanoseconds: the median of some hundred.
    pub fn overhead_ns(&self) -> f64 {
        self.overhead_ns
    }

    /// A reading before the work, in ticks: everything earlier is done,
    /// nothing later has begun. Allocates nothing.
    #[inline(always)]
    pub fn start(&self) -> u64 {
        self.ticks.start()
    }

    /// A reading after the work, in ticks. Allocates nothing.
    #[inline(always)]
    pub fn stop(&self) -> u64 {
        self.ticks.stop()
    }

    /// Nanoseconds between two readings; 0 when the second is the earlier,
    /// as a thread that changed cores may see it.
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

/// Everything one sample shows, for the thread that took it.
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
    /// Context switches asked for by waiting.
    pub voluntary_switches: u64,
    /// Context switches forced by others.
    pub involuntary_switches: u64,
    /// True if the thread came back on another core (threads that did).
    pub migrations: u64,
    /// Time that the thread waited for a core in nanoseconds; 0 where it
    /// cannot be read, which [`KeepWaiting::Unread`](crate::run_delay::KeepWaiting) says.
    pub run_delay_ns: u64,
    /// Allocations from the heap, where they are counted.
    pub allocations: u64,
    /// Bytes asked of the heap, where they are counted.
    pub allocated_bytes: u64,
}

impl Reading {
    /// The metrics of a reading, in the order of [`Reading::values`]. The last
    /// two are only measured under a counting allocator.
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

    /// The metrics that can be measured in this program.
    pub fn metrics_here() -> &'static [Metric] {
        if allocations_of_this_thread().is_some() {
            &Self::METRICS
        } else {
            &Self::METRICS[..8]
        }
    }

    /// The values, in the order of [`Reading::METRICS`].
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

    /// The elapsed time without what the thread waited for a core, in nanoseconds: the delay is
    /// read outside of the clock, so that no more is taken out than no core was used for.
    pub(crate) fn without_waiting_ns(&self) -> f64 {
        let idle_ns = (self.wall_ns - self.cpu_ns).max(0.0);
        self.wall_ns - idle_ns.min(self.run_delay_ns as f64)
    }

    /// Two readings of one thread, one after the other: everything adds up.
    pub fn and_then(self, later: Reading) -> Reading {
        Reading {
            wall_ns: self.wall_ns + later.wall_ns,
            ..self.beside(later)
        }
    }

    /// Two readings of threads that ran at the same time: everything but the
    /// elapsed time adds up.
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

/// The instruments around a timed batch of calls, measured once per run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gauge {
    clock: SampleClock,
    cpu_overhead_ns: f64,
    /// True where callgrind counts what batches execute, and nothing else.
    marks: bool,
}

/// A batch that has begun.
#[derive(Clone, Copy, Debug)]
pub struct Begun {
    allocations: Option<Allocations>,
    usage: ThreadUsage,
    run_delay: RunDelay,
    start: u64,
}

/// A batch that has ended: its reading, and when it began and ended on the
/// clock of the samples.
#[derive(Clone, Copy, Debug)]
pub struct Ended {
    /// Everything that it shows.
    pub reading: Reading,
    pub(crate) start: u64,
    pub(crate) stop: u64,
}

impl Gauge {
    /// Instruments around this clock.
    pub fn new(clock: SampleClock) -> Self {
        Self::measured(clock, ThreadUsage::cpu_overhead_ns() as f64, false)
    }

    /// Instruments that were measured before, in another process of the run. They tell callgrind
    /// where batches begin and end if it counts these.
    pub(crate) fn measured(clock: SampleClock, cpu_overhead_ns: f64, marks: bool) -> Self {
        Self {
            clock,
            cpu_overhead_ns,
            marks,
        }
    }

    /// Has callgrind forget what was executed before, if it counts.
    pub(crate) fn mark_block(&self) {
        if self.marks {
            callgrind::forget();
        }
    }

    /// Has callgrind write down what the last sample executed, if it counts that.
    pub(crate) fn mark_sample(&self) {
        if self.marks {
            callgrind::dump();
        }
    }

    /// The clock.
    pub fn clock(&self) -> &SampleClock {
        &self.clock
    }

    /// Reads everything but the clock, then the clock.
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

    /// Reads the clock, then everything else.
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
                // What reading the CPU clock itself takes would shrink every
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

    /// The reading of `batch`.
    #[inline(always)]
    pub fn around(&self, batch: impl FnOnce()) -> Reading {
        let begun = self.begin();
        batch();
        self.end(begun).reading
    }
}

/// The clock of the operating system that samples may be timed by. It is
/// slewed towards the true time.
const OS_CLOCK: libc::clockid_t = libc::CLOCK_MONOTONIC;

/// The clock of the operating system that counters are held against. Unslewed
/// where there is one: an adjustment of up to 0.05 % must not look like a
/// counter gone astray.
#[cfg(any(target_os = "linux", target_os = "android", target_os = "macos"))]
const REFERENCE_CLOCK: libc::clockid_t = libc::CLOCK_MONOTONIC_RAW;
#[cfg(not(any(target_os = "linux", target_os = "android", target_os = "macos")))]
const REFERENCE_CLOCK: libc::clockid_t = libc::CLOCK_MONOTONIC;

/// A way to read the time. Only what this processor family has exists here, so
/// that a reading never needs a case for "not possible".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ticks {
    /// The time stamp counter, with `rdtscp` at the end.
    #[cfg(target_arch = "x86_64")]
    TscRdtscp,
    /// The time stamp counter of a processor without `rdtscp`.
    #[cfg(target_arch = "x86_64")]
    TscFenced,
    /// The virtual counter of 64-bit ARM.
    #[cfg(target_arch = "aarch64")]
    Cntvct,
    /// The monotonic clock, a tick of which is a nanosecond.
    Os,
}

impl Ticks {
    /// One word for it, for [`Ticks::from_word`].
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

    /// Back from its word; `None` for an instruction this processor lacks.
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

    /// Ticks per second as the machine states them, where it does.
    pub(super) fn stated_hertz(self) -> Option<f64> {
        match self {
            #[cfg(target_arch = "aarch64")]
            Self::Cntvct => Some(cntfrq() as f64),
            _ => None,
        }
    }

    /// A reading before the work: everything earlier is done, nothing later
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

    /// A reading after the work.
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

/// Nanoseconds of the clock that counters are held against.
pub(super) fn reference_ns() -> u64 {
    read_ns(REFERENCE_CLOCK)
}

/// The virtual counter. The first barrier keeps it from being read before
/// earlier instructions are done, the second keeps later ones from starting
/// before it is read.
#[cfg(target_arch = "aarch64")]
#[inline(always)]
fn cntvct() -> u64 {
    let ticks: u64;
    // SAFETY: reads a register that user programs may read. That `nomem` is
    // not promised keeps the compiler from moving memory accesses across.
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

/// Ticks of the virtual counter per second, as the firmware states them.
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

/// Returns whether the reading that waits for the work exists.
#[cfg(target_arch = "x86_64")]
pub(super) fn has_rdtscp() -> bool {
    extended_leaf(0x8000_0001).is_some_and(|leaf| leaf.edx & (1 << 27) != 0)
}

#[cfg(target_arch = "x86_64")]
pub(super) fn extended_leaf(leaf: u32) -> Option<CpuidResult> {
    // Newer compilers see that it is safe, older ones want the block.
    #[allow(unused_unsafe)]
    // SAFETY: every x86-64 processor has the instruction, and answers for the
    // leaves up to the one it names as its last.
    unsafe {
        (__cpuid(0x8000_0000).eax >= leaf).then(|| __cpuid(leaf))
    }
}

/// The counter when everything before is done and nothing after has begun.
/// `lfence` waits for all instructions before it on Intel, and on AMD since
/// kernels set it up so against Spectre.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn between_fences() -> u64 {
    let (low, high): (u64, u64);
    // SAFETY: reads a counter into two registers, whose upper halves the
    // instruction clears. That `nomem` is not promised keeps the compiler
    // from moving memory accesses across.
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

/// The counter when everything before is done; one fence cheaper, for
/// `rdtscp` waits by itself. Only where [`has_rdtscp`].
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn after_the_work() -> u64 {
    let (low, high): (u64, u64);
    // SAFETY: as above; the number of the core it leaves in `rcx` is declared.
    // Only chosen where the processor has the instruction.
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
