//! What a core does to measurements, watched for a moment: by a loop on it that reads the clock and
//! notices when it was gone, by what the kernel counts meanwhile, and by a fixed piece of work, how
//! evenly that gets done and what becomes of it when another core is busy.

use std::hint::black_box;
use std::sync::atomic::{AtomicU8, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use deadheat_engine::{SampleClock, pin_this_thread};
use deadheat_model::doctor::{BusyLine, CoreWatch};

use crate::procfs::{InterruptCounts, Interrupts, Root, Stat, interrupts, stat, waited_ns};

/// A core as it was watched, and what interrupted it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Watched {
    pub(crate) watch: CoreWatch,
    /// Interrupts of the timer and of devices, per second.
    pub(crate) timer: Option<f64>,
    pub(crate) device: Option<f64>,
    pub(crate) busiest: Option<BusyLine>,
    /// Share of the time that each core of the machine was busy meanwhile.
    pub(crate) busy: Vec<(u32, f64)>,
}

impl Watched {
    /// Share of the time that a core of the machine was busy meanwhile.
    pub(crate) fn busy_share(&self, core: u32) -> Option<f64> {
        let of_core = self.busy.iter().find(|(one, _)| *one == core);
        of_core.map(|(_, share)| *share)
    }
}

/// Counts of the kernel since the start.
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

/// Watches the core that the calling thread is held on, or wherever it is moved to.
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

/// The stolen share of the watched core, and how busy every core was.
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

/// Gaps shorter than this many nanoseconds are no interruption: a cache that has to be filled takes
/// that long. The shortest interrupt takes longer.
const SHORTEST_GAP_NS: f64 = 1_000.0;

/// And no shorter than so many readings: where reading is a system call, readings differ among
/// themselves.
const READINGS: f64 = 10.0;

/// The gaps that a loop noticed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Gaps {
    pub(crate) count: u64,
    pub(crate) longest_ns: f64,
    pub(crate) lost_ns: f64,
    pub(crate) watched_ns: f64,
}

/// Reads the clock for this long, on the core the calling thread is on.
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

/// A piece takes about this long: short beside the time between interrupts, long beside a reading
/// of the clock.
const PIECE_NS: f64 = 40_000.0;

/// Most pieces that are kept, for whatever the clock says.
const MOST_PIECES: usize = 200_000;

/// Fewest pieces that say anything.
const FEWEST_PIECES: usize = 20;

/// A piece of work that takes about 40 µs on this machine, always the same.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Work {
    clock: SampleClock,
    rounds: u64,
}

/// The spread and drift of the times of pieces.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Evenness {
    /// The middle 80 % of them, relative to the median.
    pub(crate) spread: f64,
    /// The change of the median from the first quarter to the last.
    pub(crate) drift: f64,
}

impl Work {
    /// Chooses how much work a piece is. Takes a few milliseconds.
    pub(crate) fn sized(clock: &SampleClock) -> Self {
        let mut work = Self {
            clock: *clock,
            rounds: 1_000,
        };
        // The first pieces wake the core up.
        let best = (0..50).map(|_| work.piece()).fold(f64::INFINITY, f64::min);
        let scale = PIECE_NS / best.max(1.0);
        work.rounds = ((work.rounds as f64 * scale) as u64).clamp(100, 10_000_000);
        work
    }

    /// Does one piece and gives its nanoseconds.
    pub(crate) fn piece(&self) -> f64 {
        let start = self.clock.start();
        black_box(churn(black_box(self.rounds)));
        let stop = self.clock.stop();
        self.clock.ns_between(start, stop)
    }

    /// Appends the times of pieces, one after the other for so long.
    pub(crate) fn pieces(&self, seconds: f64, times: &mut Vec<f64>) {
        let begin = self.clock.start();
        while times.len() < MOST_PIECES {
            times.push(self.piece());
            if self.clock.ns_between(begin, self.clock.start()) >= seconds * 1e9 {
                break;
            }
        }
    }

    /// Does pieces for so long; `None` when they were too few to say anything.
    pub(crate) fn evenness(&self, seconds: f64) -> Option<Evenness> {
        let mut times = Vec::new();
        self.pieces(seconds, &mut times);
        evenness(&mut times)
    }

    /// Does a fixed amount of the same work, which takes about this many nanoseconds.
    pub(crate) fn churn_for(&self, ns: f64) {
        let rounds = self.rounds as f64 * (ns / PIECE_NS);
        black_box(churn(black_box(rounds as u64)));
    }

    /// Keeps a core busy with the same work for a moment.
    pub(crate) fn keep_busy(&self) {
        black_box(churn(black_box(self.rounds)));
    }
}

/// Six chains at a time, so that the core has as much to do as it can take: a thread that waits for
/// its own results would leave room for its sibling.
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

/// The value below which this part of the values lies; their order is lost.
pub(crate) fn quantile(values: &mut [f64], part: f64) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    let place = ((values.len() - 1) as f64 * part).round() as usize;
    let (_, value, _) = values.select_nth_unstable_by(place, f64::total_cmp);
    Some(*value)
}

/// Windows in which the other core is idle or busy: as in a race, so that what drifts cancels.
const WINDOWS: [bool; 8] = [false, true, true, false, true, false, false, true];

/// The longest wait for the other core to get busy or come to rest.
const PATIENCE: Duration = Duration::from_millis(20);

/// After that it has to be busy for a moment: frequencies follow.
const SETTLING: Duration = Duration::from_millis(1);

const REST: u8 = 0;
const BUSY: u8 = 1;
const OVER: u8 = 2;

/// The relative change of the time of a piece of work on this core while the same work keeps
/// `other` busy: 0.01 is one per cent longer. `None` when the other core may not be used, or too
/// little got done.
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
    fn where_the_kernel_tells_nothing_the_loop_still_does() {
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
        // 100, 101, … 199: a climb.
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
    fn a_core_that_is_there_gives_a_number() {
        let (clock, _) = SampleClock::choose();
        let work = Work::sized(&clock);
        let cores = deadheat_engine::cores_of_this_thread().unwrap();
        let found = slowdown(&work, cores[0], 0.05);
        assert!(found.is_some_and(|change| change > -1.0), "{found:?}");
    }
}
