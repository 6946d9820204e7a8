//! What a sample costs beyond the calls in it.

use std::fmt::Write as _;
use std::hint::black_box;
use std::time::Instant;

use deadheat::engine::{
    ByReference, FunctionBenchmark, Gauge, Reading, SampleClock, ThreadUsage,
    allocations_of_this_thread,
};
use deadheat_validation::process::median;
use deadheat_validation::workloads::steps;

use crate::Setting;
use deadheat_validation::bars::{Bar, Section, spread, up};

const OVERHEAD_NS: f64 = 10.0;

pub fn section(setting: &Setting) -> Section {
    let clocks: Vec<SampleClock> = (0..setting.count(21, 3))
        .map(|_| SampleClock::choose().0)
        .collect();
    let gauge = Gauge::new(clocks[0]);
    let overheads: Vec<f64> = clocks.iter().map(SampleClock::overhead_ns).collect();
    let overhead = median(overheads.iter().copied());

    let samples = setting.count(20_000, 2_000);
    let mut nothing = ByReference::new(|seed| seed);
    nothing.add(|_| ());
    let empty = taken(&mut nothing, &gauge, samples);
    let mut work = ByReference::new(|seed| seed);
    work.add(steps(0.0));
    let worked = taken(&mut work, &gauge, samples);

    let usage_ns = usage_ns(samples);
    let shown = median(empty.readings.iter().map(|reading| reading.wall_ns));
    let beyond = (shown - overhead).max(0.0);
    let in_samples: u64 = worked
        .readings
        .iter()
        .map(|reading| reading.allocations)
        .sum();

    let source = clocks[0].source().name();
    let mut text = format!(
        "## The cost of a sample\n\n\
         Measured in this process with the parts that workers use, over {samples} samples; the clock is `{source}` \
         ({:.4} ns a tick), measured {} times.\n\n\
         | what | |\n| --- | --- |\n",
        clocks[0].ns_per_tick(),
        clocks.len(),
    );
    let mut row = |what: &str, value: String| {
        let _ = writeln!(text, "| {what} | {value} |");
    };
    row(
        "clock readings of a sample, by construction",
        "2: `SampleClock::start` before the first call, `SampleClock::stop` after the last"
            .to_owned(),
    );
    row(
        "what two readings with nothing between them show, ns",
        spread(&overheads, 2),
    );
    row(
        "what a sample of one empty call shows, median, ns",
        up(shown, 2),
    );
    row("… beyond the two readings, ns", up(beyond, 2));
    row(
        "outside the timed region: the account of the thread, before and after, ns",
        up(usage_ns, 0),
    );
    row(
        "outside the timed region: all there is around an empty sample, ns",
        up(empty.around_ns, 0),
    );
    row(
        &format!("allocations inside {samples} samples of the 25 µs function"),
        in_samples.to_string(),
    );
    row(
        "… and around them, from before the first to after the last",
        worked.allocations.to_string(),
    );
    text += "\nThe account of the thread is CPU clock, page faults, context switches and core. It is read outside the \
             wall-clock readings and does not count as the sample's time.\n\n";
    Section {
        text,
        bars: vec![
            Bar::told(
                "clock readings per sample",
                "at most 2",
                "2, by construction",
                true,
            ),
            Bar::at_most(
                "what a sample costs in its timed region beyond the two readings",
                beyond,
                OVERHEAD_NS,
                2,
                "ns",
            ),
            Bar::at_most(
                format!("allocations in and around {samples} samples"),
                (in_samples + worked.allocations) as f64,
                0.0,
                0,
                "",
            ),
        ],
    }
}

/// Samples taken in a row.
struct Taken {
    readings: Vec<Reading>,
    /// Nanoseconds per sample that are not in the sample.
    around_ns: f64,
    /// What was asked of the allocator meanwhile.
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
fn usage_ns(pairs: usize) -> f64 {
    let start = Instant::now();
    for _ in 0..pairs {
        let before = ThreadUsage::before();
        black_box(ThreadUsage::after().since(&before));
    }
    start.elapsed().as_nanos() as f64 / pairs as f64
}
