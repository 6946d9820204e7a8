//! How the kernel shares a core between two tasks: two threads start equal loops at the same moment
//! on one core, repeatedly, and each reads the CPU time of its loop.
//!
//! `deadheat run` races commands in this way, so a kernel that favours one of two equal loops would
//! also favour one of two equal commands.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use deadheat_engine::pin_this_thread;
use deadheat_model::doctor::NotMeasured;

use crate::watch::Work;

/// CPU time of a loop in nanoseconds: two time slices of 4 ms, the length with 250 ticks per
/// second.
pub(crate) const LOOP_NS: f64 = 8e6;

/// The largest number of pairs of equal loops in a measurement.
const MOST_PAIRS: usize = 100;
/// The smallest number of pairs of equal loops for a result.
const FEWEST_PAIRS: usize = 4;

/// The thread that should run first sleeps this long, so that it reaches the barrier last and
/// continues immediately.
const HEAD_START: Duration = Duration::from_micros(200);

/// The result of two equal loops on one core.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Pair {
    /// CPU time of each loop.
    used_ns: [f64; 2],
    /// CPU time that each of the two loops had used when the first one ended.
    together_ns: [f64; 2],
    /// How often the kernel preempted one of the loops.
    switches: u64,
}

/// A summary of repeated pairs of equal loops on one core.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Shared {
    pub(crate) pairs: usize,
    /// The mean logarithm of the ratio of the CPU times of the first and the second loop.
    pub(crate) difference: f64,
    /// The standard error of `difference`.
    pub(crate) error: f64,
    /// The standard deviation, between pairs, of the logarithm of the ratio of the CPU times.
    pub(crate) scatter: f64,
    /// CPU time of the loop that ended first, as a share of the CPU time that both loops had used
    /// by then.
    pub(crate) first: f64,
    /// Preemptions per second of CPU time, while both loops ran.
    pub(crate) switches: f64,
    /// The average CPU time of an uninterrupted turn.
    pub(crate) turn_ns: f64,
}

impl Shared {
    /// Summarises pairs of loops; `None` if there are too few pairs.
    fn of(pairs: &[Pair]) -> Option<Self> {
        if pairs.len() < FEWEST_PAIRS {
            return None;
        }
        let count = pairs.len() as f64;
        let mean = |of: &dyn Fn(&Pair) -> f64| pairs.iter().map(of).sum::<f64>() / count;
        let relative = |pair: &Pair| (pair.used_ns[0] / pair.used_ns[1]).ln();
        let both_ns = |pair: &Pair| pair.together_ns.iter().sum::<f64>();
        let difference = mean(&relative);
        let variance = mean(&|pair| (relative(pair) - difference).powi(2)) * count / (count - 1.0);
        let all_ns: f64 = pairs.iter().map(both_ns).sum();
        let switches = pairs.iter().map(|pair| pair.switches).sum::<u64>() as f64;
        Some(Self {
            pairs: pairs.len(),
            difference,
            error: (variance / count).sqrt(),
            scatter: variance.sqrt(),
            first: mean(&|pair| {
                let [one, other] = pair.together_ns;
                one.max(other) / both_ns(pair)
            }),
            switches: switches / (all_ns / 1e9),
            // The last turn of each loop ends with the loop.
            turn_ns: all_ns / (switches + count),
        })
    }
}

/// Races pairs of equal loops on one core for `seconds`, and summarises them.
pub(crate) fn share(work: &Work, core: u32, seconds: f64) -> Result<Shared, NotMeasured> {
    let pairs = thread::scope(|scope| scope.spawn(|| race(work, core, seconds)).join());
    let pairs = pairs.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    Shared::of(&pairs.ok_or(NotMeasured::Hidden)?).ok_or(NotMeasured::TooBusy)
}

/// Races pairs of loops on this core; `None` if it may not be used.
fn race(work: &Work, core: u32, seconds: f64) -> Option<Vec<Pair>> {
    pin_this_thread(core).ok()?;
    let turnstile = Turnstile {
        barrier: Barrier::new(2),
        is_over: AtomicBool::new(false),
        clocks: [AtomicI32::new(0), AtomicI32::new(0)],
    };
    let begin = Instant::now();
    let is_late = || begin.elapsed().as_secs_f64() >= seconds;
    thread::scope(|scope| {
        // A new thread inherits the affinity of its parent.
        let other = scope.spawn(|| turnstile.run(work, 1, || false));
        let one = turnstile.run(work, 0, is_late);
        let other = other.join();
        let other = other.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        Some(
            one.iter()
                .zip(&other)
                .map(|(one, other)| pair(one, other))
                .collect(),
        )
    })
}

/// The state shared by the two threads that run the loops.
struct Turnstile {
    barrier: Barrier,
    is_over: AtomicBool,
    clocks: [AtomicI32; 2],
}

/// One loop, with readings of CPU clocks in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Loop {
    start_ns: u64,
    end_ns: u64,
    /// The reading of the other thread's CPU clock when this loop ended.
    other_ns: u64,
    switches: u64,
}

impl Turnstile {
    /// Runs one of the two loops of every pair. The first thread decides which pair is the last.
    fn run(&self, work: &Work, place: usize, is_late: impl Fn() -> bool) -> Vec<Loop> {
        let own_clock = own_cpu_clock();
        self.clocks[place].store(own_clock, Ordering::Release);
        let mut loops = Vec::with_capacity(MOST_PAIRS);
        loop {
            self.barrier.wait();
            // The other thread reads the flag only after the second barrier.
            if place == 0 && (loops.len() == MOST_PAIRS || is_late()) {
                self.is_over.store(true, Ordering::Release);
            }
            if loops.len() % 2 == place {
                thread::sleep(HEAD_START);
            }
            self.barrier.wait();
            if self.is_over.load(Ordering::Acquire) {
                return loops;
            }
            let other_clock = self.clocks[1 - place].load(Ordering::Acquire);
            let switches = involuntary_switches();
            let start_ns = read_ns(own_clock);
            work.churn_for(LOOP_NS);
            let (end_ns, other_ns) = (read_ns(own_clock), read_ns(other_clock));
            loops.push(Loop {
                start_ns,
                end_ns,
                other_ns,
                switches: involuntary_switches().saturating_sub(switches),
            });
        }
    }
}

fn pair(one: &Loop, other: &Loop) -> Pair {
    let used_ns = |one: &Loop| one.end_ns.saturating_sub(one.start_ns).max(1) as f64;
    let when_other_ended = |one: &Loop, other: &Loop| {
        let clock_ns = other.other_ns.clamp(one.start_ns, one.end_ns);
        (clock_ns - one.start_ns) as f64
    };
    Pair {
        used_ns: [used_ns(one), used_ns(other)],
        together_ns: [when_other_ended(one, other), when_other_ended(other, one)],
        switches: one.switches + other.switches,
    }
}

/// Returns the CPU clock of the calling thread, which other threads can read too.
#[allow(unsafe_code)]
fn own_cpu_clock() -> libc::clockid_t {
    let mut clock = libc::CLOCK_THREAD_CPUTIME_ID;
    // SAFETY: the thread is alive, and the pointer is valid for writes.
    unsafe { libc::pthread_getcpuclockid(libc::pthread_self(), &mut clock) };
    clock
}

#[allow(unsafe_code)]
fn read_ns(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the pointer is valid for writes; a clock that is gone leaves the zeros.
    unsafe { libc::clock_gettime(clock, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Returns how often the kernel has preempted the calling thread.
#[allow(unsafe_code)]
fn involuntary_switches() -> u64 {
    // SAFETY: zeros are a valid `rusage`.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is valid for writes; a failure leaves the zeros.
    unsafe { libc::getrusage(libc::RUSAGE_THREAD, &mut usage) };
    usage.ru_nivcsw as u64
}

#[cfg(test)]
mod tests {
    use deadheat_engine::{SampleClock, cores_of_this_thread};

    use super::*;

    /// A pair in which the first loop ended when the second had used `other_ns`.
    fn ended(used_ns: [f64; 2], other_ns: f64) -> Pair {
        Pair {
            used_ns,
            together_ns: [used_ns[0], other_ns],
            switches: 2,
        }
    }

    #[test]
    fn pairs_are_summarised_by_the_mean_and_the_scatter_of_their_difference() {
        let pairs = [
            ended([8.08e6, 8e6], 4e6),
            ended([8e6, 8.08e6], 4e6),
            ended([8.08e6, 8e6], 4e6),
            ended([8e6, 8.08e6], 4e6),
        ];
        let shared = Shared::of(&pairs).unwrap();
        assert_eq!(shared.pairs, 4);
        assert!(shared.difference.abs() < 1e-12, "{shared:?}");
        let expected = 1.01_f64.ln() * (4.0_f64 / 3.0).sqrt();
        assert!((shared.scatter - expected).abs() < 1e-12, "{shared:?}");
        assert!((shared.error - expected / 2.0).abs() < 1e-12, "{shared:?}");
        assert!((shared.first - 2.0 / 3.0).abs() < 0.01, "{shared:?}");
        assert!((shared.switches - 2.0 / 0.01204).abs() < 0.1, "{shared:?}");
        assert!((shared.turn_ns - 12.04e6 / 3.0).abs() < 1.0, "{shared:?}");
        assert_eq!(Shared::of(&pairs[..3]), None, "too few");
    }

    #[test]
    fn the_clock_of_the_other_thread_says_how_far_its_loop_was() {
        let first = Loop {
            start_ns: 100,
            end_ns: 900,
            other_ns: 1_400,
            switches: 1,
        };
        let later = Loop {
            start_ns: 1_000,
            end_ns: 1_810,
            other_ns: 950,
            switches: 2,
        };
        let expected = Pair {
            used_ns: [800.0, 810.0],
            together_ns: [800.0, 400.0],
            switches: 3,
        };
        assert_eq!(pair(&first, &later), expected);
        let waited = Loop {
            other_ns: 990,
            ..first
        };
        let alone = pair(&waited, &later);
        assert_eq!(alone.together_ns, [800.0, 0.0], "the other had not begun");
    }

    #[test]
    fn two_loops_share_a_core_that_is_there() {
        let (clock, _) = SampleClock::choose();
        let work = Work::sized(&clock);
        let core = cores_of_this_thread().unwrap()[0];
        let pairs = race(&work, core, 0.05).unwrap();
        assert!(!pairs.is_empty() && pairs.len() <= MOST_PAIRS);
        for pair in &pairs {
            assert!(pair.used_ns.iter().all(|ns| *ns > 1.0), "{pair:?}");
            let together = pair.together_ns.iter().zip(pair.used_ns);
            assert!(
                together.into_iter().all(|(part, all)| *part <= all),
                "{pair:?}"
            );
        }
        assert_eq!(share(&work, 1023, 0.05), Err(NotMeasured::Hidden));
    }
}
