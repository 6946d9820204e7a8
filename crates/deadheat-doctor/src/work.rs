//! A fixed piece of work: how evenly the machine gets it done, and what it does to it when another
//! core is busy.

use std::hint::black_box;
use std::sync::atomic::{AtomicU8, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use deadheat_engine::{SampleClock, pin_this_thread};

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
