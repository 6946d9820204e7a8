//! The readings before and after a timed batch of calls, and their record.

use deadheat_model::{Block, BlockRecord, Flags, Metric, Sample};

use crate::callgrind;
use crate::clock::SampleClock;
use crate::counters::{Allocations, ThreadUsage, allocations_of_this_thread};
use crate::run_delay::{self, KeepWaiting, RunDelay};

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
    pub fn metrics(allocations_counted: bool) -> &'static [Metric] {
        if allocations_counted {
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
    pub(super) fn without_waiting_ns(&self) -> f64 {
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
    pub(super) fn beside(self, other: Reading) -> Reading {
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
    pub(super) start: u64,
    pub(super) stop: u64,
}

impl Gauge {
    /// Instruments around this clock.
    pub fn new(clock: SampleClock) -> Self {
        Self {
            clock,
            cpu_overhead_ns: ThreadUsage::cpu_overhead_ns() as f64,
            marks: false,
        }
    }

    /// Instruments that were measured before, in another process of the run.
    pub fn with_overhead(clock: SampleClock, cpu_overhead_ns: f64) -> Self {
        Self {
            clock,
            cpu_overhead_ns,
            marks: false,
        }
    }

    /// The same instruments, which tell callgrind where batches begin and end if it `counts` them.
    pub(crate) fn marking(self, counts: bool) -> Self {
        Self {
            marks: counts,
            ..self
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

    /// Nanoseconds that reading the CPU clock shows of itself.
    pub fn cpu_overhead_ns(&self) -> f64 {
        self.cpu_overhead_ns
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

/// Fills in what was measured in the slots of a block: a value of each metric
/// for every slot. `waiting` is the reason, if any, to count the time they waited
/// for a core.
pub(crate) fn fill(
    record: &mut BlockRecord,
    block: &Block,
    values: &[f64],
    metrics: &[Metric],
    iterations: u64,
    threads: u32,
    waiting: Option<KeepWaiting>,
) {
    let waiting = if threads > 1 {
        Flags::CONCURRENT
    } else {
        waiting.map_or(Flags::NONE, KeepWaiting::flag)
    };
    for (slot, values) in block.slots.iter().zip(values.chunks_exact(metrics.len())) {
        record.samples.push(Sample {
            contender: slot.contender,
            flags: evidence(values, metrics, threads).and(waiting),
            exit_code: None,
            iterations,
        });
        record.values.extend_from_slice(values);
    }
}

/// Evidence that something outside disturbed a sample. Threads that contend
/// are switched and moved by what they do themselves, so with several of them
/// it proves nothing.
fn evidence(values: &[f64], metrics: &[Metric], threads: u32) -> Flags {
    let seen = |metric: &Metric, flag: Flags| {
        let mut measured = metrics.iter().zip(values);
        if measured.any(|(other, count)| other == metric && *count > 0.0) && threads == 1 {
            flag
        } else {
            Flags::NONE
        }
    };
    let preempted = seen(&Metric::InvoluntarySwitches, Flags::PREEMPTED);
    let migrated = seen(&Metric::Migrations, Flags::MIGRATED);
    Flags::from_bits(preempted.bits() | migrated.bits())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::function::Reading;

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

    #[test]
    fn evidence_is_read_where_it_stands() {
        let found =
            |reading: Reading, threads| evidence(&reading.values(), &Reading::METRICS, threads);
        let reading = Reading {
            involuntary_switches: 1,
            ..Reading::default()
        };
        assert_eq!(found(reading, 1), Flags::PREEMPTED);
        assert_eq!(found(reading, 4), Flags::NONE);
        let reading = Reading {
            migrations: 1,
            ..Reading::default()
        };
        assert_eq!(found(reading, 1), Flags::MIGRATED);
        assert_eq!(evidence(&[1.0], &[Metric::Migrations], 1), Flags::MIGRATED);
        assert_eq!(evidence(&[1.0], &[Metric::Wall], 1), Flags::NONE);
    }
}
