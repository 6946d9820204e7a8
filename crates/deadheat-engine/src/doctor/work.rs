//! A fixed piece of work, to see how evenly the machine gets it done.

use std::hint::black_box;

use crate::clock::SampleClock;

/// A piece takes about this long: short beside the time between interrupts,
/// long beside a reading of the clock.
const PIECE_NS: f64 = 40_000.0;

/// Most pieces that are kept, for whatever the clock says.
const MOST_PIECES: usize = 200_000;

/// Fewest pieces that say anything.
const FEWEST_PIECES: usize = 20;

/// A piece of work that takes about 40 µs on this machine, always the same.
#[derive(Clone, Copy, Debug)]
pub(super) struct Work {
    clock: SampleClock,
    rounds: u64,
}

/// How long the pieces took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Evenness {
    /// The middle 80 % of them, relative to the median.
    pub(super) spread: f64,
    /// The change of the median from the first quarter to the last.
    pub(super) drift: f64,
}

impl Work {
    /// Chooses how much work a piece is. Takes a few milliseconds.
    pub(super) fn sized(clock: &SampleClock) -> Self {
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
    pub(super) fn piece(&self) -> f64 {
        let start = self.clock.start();
        black_box(churn(black_box(self.rounds)));
        let stop = self.clock.stop();
        self.clock.ns_between(start, stop)
    }

    /// Appends the times of pieces, one after the other for so long.
    pub(super) fn pieces(&self, seconds: f64, times: &mut Vec<f64>) {
        let begin = self.clock.start();
        while times.len() < MOST_PIECES {
            times.push(self.piece());
            if self.clock.ns_between(begin, self.clock.start()) >= seconds * 1e9 {
                break;
            }
        }
    }

    /// Does pieces for so long; `None` when they were too few to say anything.
    pub(super) fn evenness(&self, seconds: f64) -> Option<Evenness> {
        let mut times = Vec::new();
        self.pieces(seconds, &mut times);
        evenness(&mut times)
    }

    /// Keeps a core busy with the same work for a moment.
    pub(super) fn keep_busy(&self) {
        black_box(churn(black_box(self.rounds)));
    }
}

/// Six chains at a time, so that the core has as much to do as it can take:
/// a thread that waits for its own results would leave room for its sibling.
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
pub(super) fn quantile(values: &mut [f64], part: f64) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    let place = ((values.len() - 1) as f64 * part).round() as usize;
    let (_, value, _) = values.select_nth_unstable_by(place, f64::total_cmp);
    Some(*value)
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
}
