//! The clock that times samples of functions.

use super::frequency;
use super::ticks::Ticks;

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

/// What a [`SampleClock`] reads.
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
    /// The best clock of this machine, measured; and in plain words why it is
    /// not the counter of the processor, when it is not. Takes 10 ms, or
    /// twice that on a machine that disturbs the measurement.
    pub fn choose() -> (Self, Option<String>) {
        let counter = Ticks::of_processor()
            .and_then(|ticks| frequency::measure(ticks).map(|rate| (ticks, rate)));
        match counter {
            Ok((ticks, ns_per_tick)) => (Self::measured(ticks, ns_per_tick), None),
            Err(reason) => (Self::os(), Some(reason)),
        }
    }

    /// The monotonic clock of the operating system, measured.
    pub fn os() -> Self {
        Self::measured(Ticks::Os, 1.0)
    }

    fn measured(ticks: Ticks, ns_per_tick: f64) -> Self {
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

    /// What the clock reads.
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

    /// What a step amounts to, in nanoseconds: of a counter the time it counts
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

    /// What an empty sample shows, in nanoseconds: the median of some hundred.
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
