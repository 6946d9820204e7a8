//! The cost of a sample beyond the calls in it, measured in this process with the parts that
//! workers use.

use std::hint::black_box;
use std::time::Instant;

use deadheat::parts::engine::{
    ByReference, FunctionBenchmark, Gauge, Reading, SampleClock, ThreadUsage,
    allocations_of_this_thread,
};

use crate::bars::Bar;
use crate::process::median;
use crate::workloads::steps;

/// The most that a sample may cost in its timed region beyond the two readings, in nanoseconds.
const OVERHEAD_NS: f64 = 10.0;

/// The measurements, in nanoseconds.
pub struct SampleCost {
    /// The number of samples of each kind.
    pub samples: usize,
    pub clocks: Vec<SampleClock>,
    /// The time that two readings with nothing between them show, by each of these.
    pub overheads: Vec<f64>,
    pub shown: f64,
    pub usage: f64,
    pub around: f64,
    /// Allocations inside the samples of a function of 25 µs.
    pub allocations_inside: u64,
    pub allocations_around: u64,
}

impl SampleCost {
    /// Takes so many samples of each kind, and measures the clock so often.
    pub fn measured(samples: usize, clocks: usize) -> Self {
        let clocks: Vec<SampleClock> = (0..clocks).map(|_| SampleClock::choose().0).collect();
        let gauge = Gauge::new(clocks[0]);
        let mut nothing = ByReference::new(|seed| seed);
        nothing.add(|_| ());
        let empty = taken(&mut nothing, &gauge, samples);
        let mut work = ByReference::new(|seed| seed);
        work.add(steps(0.0));
        let worked = taken(&mut work, &gauge, samples);
        let inside = worked.readings.iter().map(|reading| reading.allocations);
        Self {
            samples,
            overheads: clocks.iter().map(SampleClock::overhead_ns).collect(),
            clocks,
            shown: median(empty.readings.iter().map(|reading| reading.wall_ns)),
            usage: usage_ns(samples),
            around: empty.around_ns,
            allocations_inside: inside.sum(),
            allocations_around: worked.allocations,
        }
    }

    pub fn beyond(&self) -> f64 {
        (self.shown - median(self.overheads.iter().copied())).max(0.0)
    }

    pub fn bars(&self) -> Vec<Bar> {
        let allocations = self.allocations_inside + self.allocations_around;
        vec![
            Bar::at_most(
                "cost of a sample in its timed region beyond the two clock readings",
                self.beyond(),
                OVERHEAD_NS,
                2,
                "ns",
            ),
            Bar::at_most(
                format!("allocations in and around {} samples", self.samples),
                allocations as f64,
                0.0,
                0,
                "",
            ),
        ]
    }
}

struct Taken {
    readings: Vec<Reading>,
    /// Nanoseconds per sample that are not in the sample.
    around_ns: f64,
    allocations: u64,
}

fn taken(benchmark: &mut dyn FunctionBenchmark, gauge: &Gauge, samples: usize) -> Taken {
    benchmark.prepare(1);
    let mut readings = Vec::with_capacity(samples);
    // Once beforehand, for what only the first needs.
    black_box(benchmark.sample(0, 1, gauge));
    let before = allocations_of_this_thread().expect("the allocator of this program counts");
    let start = Instant::now();
    for _ in 0..samples {
        readings.push(benchmark.sample(0, 1, gauge));
    }
    let took = start.elapsed().as_nanos() as f64;
    let after = allocations_of_this_thread().expect("the allocator of this program counts");
    let inside: f64 = readings.iter().map(|reading| reading.wall_ns).sum();
    Taken {
        around_ns: (took - inside) / samples as f64,
        allocations: after.since(&before).count,
        readings,
    }
}

/// Nanoseconds that the two readings of the thread's account take.
pub fn usage_ns(pairs: usize) -> f64 {
    let start = Instant::now();
    for _ in 0..pairs {
        let before = ThreadUsage::before();
        black_box(ThreadUsage::after().since(&before));
    }
    start.elapsed().as_nanos() as f64 / pairs as f64
}
