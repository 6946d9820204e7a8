//! Watches a core for a short time: with a loop that reads the clock and detects gaps, with the
//! kernel's counters, and with a fixed piece of work, whose times show how even the core is and how
//! much it slows down while another core is busy.

use std::hint::black_box;
use std::sync::atomic::{AtomicU8, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use deadheat_engine::{SampleClock, pin_this_thread};
use deadheat_model::doctor::{BusyLine, CoreWatch};

use crate::procfs::{InterruptCounts, Interrupts, Root, Stat, interrupts, stat, waited_ns};

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Watched {
    pub(crate) watch: CoreWatch,
    /// Timer interrupts per second on the watched core.
    pub(crate) timer: Option<f64>,
    /// Device interrupts per second on the watched core.
    pub(crate) device: Option<f64>,
    pub(crate) busiest: Option<BusyLine>,
    /// The share of the time that each core of the machine was busy while one core was watched.
    pub(crate) busy: Vec<(u32, f64)>,
}

impl Watched {
    /// Returns the share of the watched time during which `core` was busy; `None` if it is unknown.
    pub(crate) fn busy_share(&self, core: u32) -> Option<f64> {
        let of_core = self.busy.iter().find(|(one, _)| *one == core);
        of_core.map(|(_, share)| *share)
    }
}

struct Counted {
    stat: Option<Stat>,
    interrupts: Option<Interrupts>,
    waited_ns: Option<u64>,
}

impl Counted {
    fn now(root: &Root) -> Self {
        Self {
            stat: root.read("proc/stat", stat),
            interrupts: root.read("proc/interrupts", interrupts),
            waited_ns: root.read("proc/thread-self/schedstat", waited_ns),
        }
    }
}

/// Watches the core to which the calling thread is pinned, or any core to which the scheduler moves
/// the thread.
pub(crate) fn watch(
    clock: &SampleClock,
    root: &Root,
    core: Option<u32>,
    isolated: bool,
    seconds: f64,
) -> Watched {
    let before = Counted::now(root);
    let gaps = spin(clock, seconds);
    let after = Counted::now(root);
    let watched_s = gaps.watched_ns / 1e9;
    let came = before
        .interrupts
        .zip(after.interrupts)
        .and_then(|(before, after)| after.since(&before, core));
    let waited = before
        .waited_ns
        .zip(after.waited_ns)
        .map(|(before, after)| after.saturating_sub(before) as f64 / gaps.watched_ns);
    let (stolen, busy) = match before.stat.zip(after.stat) {
        Some((before, after)) => passed(&before, &after, core),
        None => (None, Vec::new()),
    };
    let rate =
        |of: fn(&InterruptCounts) -> u64| came.as_ref().map(|came| of(came) as f64 / watched_s);
    Watched {
        watch: CoreWatch {
            core,
            seconds: watched_s,
            taken_away: gaps.count as f64 / watched_s,
            longest_ns: gaps.longest_ns,
            lost: gaps.lost_ns / gaps.watched_ns,
            waiting: waited.map(|share| share.min(1.0)),
            stolen,
            interrupts: rate(|came| came.all),
            isolated,
        },
        timer: rate(|came| came.timer),
        device: rate(|came| came.device),
        busiest: came.and_then(|came| {
            let (label, name, count) = came.busiest?;
            Some(BusyLine {
                label,
                name,
                per_second: count as f64 / watched_s,
            })
        }),
        busy,
    }
}

/// Returns the stolen share of the watched core, and the busy share of every core.
fn passed(before: &Stat, after: &Stat, core: Option<u32>) -> (Option<f64>, Vec<(u32, f64)>) {
    let of_core = |core: &u32| Some(after.cores.get(core)?.since(*before.cores.get(core)?));
    let watched = match core {
        None => Some(after.all.since(before.all)),
        Some(core) => of_core(&core),
    };
    let busy = after.cores.keys();
    let busy = busy.filter_map(|core| Some((*core, of_core(core)?.busy_share()?)));
    (
        watched.and_then(|times| times.stolen_share()),
        busy.collect(),
    )
}

/// Gaps shorter than this many nanoseconds are not interruptions: a cache miss can take that long,
/// and the shortest interrupt takes longer.
const SHORTEST_GAP_NS: f64 = 1_000.0;

/// A gap must also last this many clock readings: if reading the clock is a system call, its
/// duration varies.
const READINGS: f64 = 10.0;

/// The gaps between clock readings that a loop on a core detected, during which other work had the
/// core.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Gaps {
    pub(crate) count: u64,
    pub(crate) longest_ns: f64,
    pub(crate) lost_ns: f64,
    pub(crate) watched_ns: f64,
}

/// Reads the clock in a loop for `seconds`, and returns the gaps between readings.
pub(crate) fn spin(clock: &SampleClock, seconds: f64) -> Gaps {
    let shortest = SHORTEST_GAP_NS.max(READINGS * clock.resolution_ns());
    let mut gaps = Gaps::default();
    let begin = clock.start();
    let mut last = begin;
    loop {
        let now = clock.start();
        let step_ns = clock.ns_between(last, now);
        if step_ns >= shortest {
            gaps.count += 1;
            gaps.lost_ns += step_ns;
            gaps.longest_ns = gaps.longest_ns.max(step_ns);
        }
        last = now;
        gaps.watched_ns = clock.ns_between(begin, now);
        if gaps.watched_ns >= seconds * 1e9 {
            return gaps;
        }
    }
}

/// The approximate duration of a piece of work: much shorter than the time between interrupts, much
/// longer than a clock reading.
const PIECE_NS: f64 = 40_000.0;

/// The largest number of stored times, in case the clock is wrong.
const MOST_PIECES: usize = 200_000;

const FEWEST_PIECES: usize = 20;

/// A fixed piece of work that takes about 40 µs on this machine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Work {
    clock: SampleClock,
    rounds: u64,
}

/// The spread and drift of the times of a repeated piece of work.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Evenness {
    /// The range of the middle 80% of the times, relative to their median.
    pub(crate) spread: f64,
    /// The relative change of the median time from the first quarter of the pieces of work to the
    /// last.
    pub(crate) drift: f64,
}

impl Work {
    /// Measures the work and chooses the number of rounds in a piece of it. Takes a few
    /// milliseconds.
    pub(crate) fn sized(clock: &SampleClock) -> Self {
        let mut work = Self {
            clock: *clock,
            rounds: 1_000,
        };
        // The first pieces only wake up the core.
        let best = (0..50).map(|_| work.piece()).fold(f64::INFINITY, f64::min);
        let scale = PIECE_NS / best.max(1.0);
        work.rounds = ((work.rounds as f64 * scale) as u64).clamp(100, 10_000_000);
        work
    }

    /// Runs one piece of work and returns its time in nanoseconds.
    pub(crate) fn piece(&self) -> f64 {
        let start = self.clock.start();
        black_box(churn(black_box(self.rounds)));
        let stop = self.clock.stop();
        self.clock.ns_between(start, stop)
    }

    /// Runs pieces of work for `seconds` and appends their times to `times`.
    pub(crate) fn pieces(&self, seconds: f64, times: &mut Vec<f64>) {
        let begin = self.clock.start();
        while times.len() < MOST_PIECES {
            times.push(self.piece());
            if self.clock.ns_between(begin, self.clock.start()) >= seconds * 1e9 {
                break;
            }
        }
    }

    /// Runs pieces of work for `seconds`; returns `None` if there are too few for a result.
    pub(crate) fn evenness(&self, seconds: f64) -> Option<Evenness> {
        let mut times = Vec::new();
        self.pieces(seconds, &mut times);
        evenness(&mut times)
    }

    /// Runs a fixed amount of the work, which takes about `ns` nanoseconds.
    pub(crate) fn churn_for(&self, ns: f64) {
        let rounds = self.rounds as f64 * (ns / PIECE_NS);
        black_box(churn(black_box(rounds as u64)));
    }

    /// Keeps a core busy with the same work for a moment.
    pub(crate) fn keep_busy(&self) {
        black_box(churn(black_box(self.rounds)));
    }
}

/// Computes `rounds` rounds in six chains that do not depend on each other, so that the core's
/// execution units stay busy. A single chain would wait for its own results and leave the units to
/// the sibling thread.
fn churn(rounds: u64) -> u64 {
    let mut lanes = [1u64, 2, 3, 4, 5, 6];
    for round in 0..rounds {
        for lane in &mut lanes {
            let mixed = (*lane ^ (*lane >> 29)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            *lane = mixed.wrapping_add(round);
        }
    }
    lanes.iter().fold(0, |sum, lane| sum ^ lane)
}

fn evenness(times: &mut [f64]) -> Option<Evenness> {
    if times.len() < FEWEST_PIECES {
        return None;
    }
    let quarter = times.len() / 4;
    let first = quantile(&mut times[..quarter].to_vec(), 0.5)?;
    let last = quantile(&mut times[times.len() - quarter..].to_vec(), 0.5)?;
    let low = quantile(times, 0.1)?;
    let high = quantile(times, 0.9)?;
    let median = quantile(times, 0.5).filter(|median| *median > 0.0)?;
    (first > 0.0).then(|| Evenness {
        spread: (high - low) / median,
        drift: last / first - 1.0,
    })
}

/// Returns the quantile of the values for `part`, a share from 0 to 1. Reorders the values.
pub(crate) fn quantile(values: &mut [f64], part: f64) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    let place = ((values.len() - 1) as f64 * part).round() as usize;
    let (_, value, _) = values.select_nth_unstable_by(place, f64::total_cmp);
    Some(*value)
}

/// True for each window of time in which the other core is busy. The windows alternate, so that
/// drift cancels.
const WINDOWS: [bool; 8] = [false, true, true, false, true, false, false, true];

/// The longest wait for the other core to become busy or idle.
const PATIENCE: Duration = Duration::from_millis(20);

/// The time for which the other core is busy before a measurement, because frequencies adapt.
const SETTLING: Duration = Duration::from_millis(1);

const REST: u8 = 0;
const BUSY: u8 = 1;
const OVER: u8 = 2;

/// Returns the relative change of the time of a piece of work on this core while the same work
/// keeps `other` busy: 0.01 is 1% longer. `None` if the other core may not be used, or there are
/// too few pieces.
pub(crate) fn slowdown(work: &Work, other: u32, seconds: f64) -> Option<f64> {
    let wanted = AtomicU8::new(REST);
    let state = AtomicU8::new(REST);
    thread::scope(|scope| {
        let rival = scope.spawn(|| {
            if pin_this_thread(other).is_err() {
                state.store(OVER, Ordering::Release);
                return;
            }
            compete(work, &wanted, &state);
        });
        let mut times = [Vec::new(), Vec::new()];
        for busy in WINDOWS {
            wanted.store(if busy { BUSY } else { REST }, Ordering::Release);
            rival.thread().unpark();
            wait_for(&state, if busy { BUSY } else { REST });
            let window = seconds / WINDOWS.len() as f64;
            work.pieces(window, &mut times[usize::from(busy)]);
        }
        let failed = state.load(Ordering::Acquire) == OVER;
        wanted.store(OVER, Ordering::Release);
        rival.thread().unpark();
        let [quiet, busy] = &mut times;
        let medians = quantile(quiet, 0.5).zip(quantile(busy, 0.5));
        let (quiet, busy) = medians.filter(|(quiet, _)| *quiet > 0.0 && !failed)?;
        Some(busy / quiet - 1.0)
    })
}

fn compete(work: &Work, wanted: &AtomicU8, state: &AtomicU8) {
    loop {
        match wanted.load(Ordering::Acquire) {
            REST => {
                state.store(REST, Ordering::Release);
                thread::park();
            }
            BUSY => {
                state.store(BUSY, Ordering::Release);
                work.keep_busy();
            }
            _ => return,
        }
    }
}

fn wait_for(state: &AtomicU8, wanted: u8) {
    let since = Instant::now();
    while state.load(Ordering::Acquire) != wanted && since.elapsed() < PATIENCE {
        std::hint::spin_loop();
    }
    let since = Instant::now();
    while since.elapsed() < SETTLING {
        std::hint::spin_loop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::procfs::fake::machine;

    #[test]
    fn watching_works_without_kernel_counters() {
        let (clock, _) = SampleClock::choose();
        let (_folder, root) = machine(&[]);
        let seen = watch(&clock, &root, None, false, 0.01);
        assert!(seen.watch.seconds >= 0.01 && (0.0..=1.0).contains(&seen.watch.lost));
        assert_eq!((seen.watch.waiting, seen.watch.stolen), (None, None));
        assert_eq!((seen.timer, seen.busiest), (None, None));
        assert!(seen.busy.is_empty());
    }

    #[test]
    fn shares_are_those_of_the_watched_core() {
        let at = |steal: u32| {
            let text =
                format!("cpu 0 0 0 0 0 0 0 0\ncpu0 9 0 0 9 0 0 0 0\ncpu1 5 0 0 5 0 0 0 {steal}\n");
            stat(&text).unwrap()
        };
        let (stolen, busy) = passed(&at(0), &at(30), Some(1));
        assert_eq!(stolen, Some(1.0));
        assert_eq!(busy, [(1, 0.0)], "nothing passed on the other");
        assert_eq!(passed(&at(0), &at(30), Some(7)).0, None);
    }

    #[test]
    fn gaps_lie_within_the_time_that_was_watched() {
        let (clock, _) = SampleClock::choose();
        let gaps = spin(&clock, 0.02);
        assert!(gaps.watched_ns >= 0.02e9);
        assert!(gaps.longest_ns <= gaps.lost_ns && gaps.lost_ns <= gaps.watched_ns);
        assert_eq!(gaps.count == 0, gaps.lost_ns == 0.0);
    }

    #[test]
    fn the_same_rounds_are_the_same_work() {
        assert_eq!(churn(1_000), churn(1_000));
        assert_ne!(churn(1_000), churn(1_001));
    }

    #[test]
    fn a_piece_takes_time_and_pieces_fill_the_time_they_were_given() {
        let (clock, _) = SampleClock::choose();
        let work = Work::sized(&clock);
        let mut times = Vec::new();
        work.pieces(0.01, &mut times);
        assert!(times.iter().all(|ns| *ns > 0.0));
        assert!(times.iter().sum::<f64>() <= 1e10);
    }

    #[test]
    fn spread_and_drift_are_relative_to_medians() {
        // The times 100, 101, … 199, which rise.
        let mut climb: Vec<f64> = (100..200).map(f64::from).collect();
        let found = evenness(&mut climb).unwrap();
        assert!((found.spread - 80.0 / 150.0).abs() < 0.02, "{found:?}");
        assert!((found.drift - 75.0 / 112.0).abs() < 0.02, "{found:?}");
        let mut even = vec![5.0; 40];
        let none = Evenness {
            spread: 0.0,
            drift: 0.0,
        };
        assert_eq!(evenness(&mut even), Some(none));
        assert_eq!(evenness(&mut [1.0; 5]), None);
    }

    #[test]
    fn a_quantile_is_one_of_the_values() {
        assert_eq!(quantile(&mut [3.0, 1.0, 2.0], 0.5), Some(2.0));
        assert_eq!(quantile(&mut [3.0, 1.0], 1.0), Some(3.0));
        assert_eq!(quantile(&mut [], 0.5), None);
    }

    #[test]
    fn a_core_that_is_not_there_competes_with_nobody() {
        let (clock, _) = SampleClock::choose();
        assert_eq!(slowdown(&Work::sized(&clock), 1023, 0.01), None);
    }

    #[test]
    fn both_halves_of_the_windows_have_as_many_of_each() {
        for half in WINDOWS.chunks(4) {
            assert_eq!(half.iter().filter(|busy| **busy).count(), 2);
        }
    }

    #[test]
    fn measures_the_slowdown_by_an_existing_core() {
        let (clock, _) = SampleClock::choose();
        let work = Work::sized(&clock);
        let cores = deadheat_engine::cores_of_this_thread().unwrap();
        let found = slowdown(&work, cores[0], 0.05);
        assert!(found.is_some_and(|change| change > -1.0), "{found:?}");
    }
}
