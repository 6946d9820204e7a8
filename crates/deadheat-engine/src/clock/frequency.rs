//! How fast a counter ticks, and whether it still does.

use std::time::Duration;

use super::SampleClock;
use super::ticks::{Ticks, reference_ns};

/// The frequency is measured over this long twice, or over a few of them until
/// two neighbours agree. Slept through, not spun: the core may go idle or the
/// thread wake up on another one, and a counter that cannot stand either is
/// found out here.
const SECTION: Duration = Duration::from_millis(4);
const MOST_SECTIONS: usize = 4;

/// Two sections, or what is measured and what the machine states, agree when
/// they differ by less than this part.
const AGREEMENT: f64 = 1e-3;

/// Of so many tries to read both clocks at one moment the tightest counts. One
/// takes well below a microsecond, and an interrupt spoils few of them.
const TRIES: usize = 48;

/// A counter and the clock of the operating system at one moment.
#[derive(Clone, Copy, Debug)]
struct Moment {
    /// Halfway between the readings of the counter around the other.
    ticks: f64,
    /// Ticks the moment may lie earlier or later.
    doubt: f64,
    reference_ns: u64,
}

impl Moment {
    fn now(counter: Ticks) -> Self {
        let mut tightest = Self::bracket(counter);
        for _ in 1..TRIES {
            let moment = Self::bracket(counter);
            if moment.doubt < tightest.doubt {
                tightest = moment;
            }
        }
        tightest
    }

    fn bracket(counter: Ticks) -> Self {
        let before = counter.start();
        let reference_ns = reference_ns();
        let half = counter.start().saturating_sub(before) as f64 / 2.0;
        Self {
            ticks: before as f64 + half,
            doubt: half,
            reference_ns,
        }
    }

    /// Nanoseconds per tick from here to a later moment, if the counter moved.
    fn ns_per_tick(&self, later: &Self) -> Option<f64> {
        let rate = self.ns_until(later) / (later.ticks - self.ticks);
        (rate.is_finite() && rate > 0.0).then_some(rate)
    }

    fn ns_until(&self, later: &Self) -> f64 {
        later.reference_ns.saturating_sub(self.reference_ns) as f64
    }
}

/// Nanoseconds per tick of a counter, or in plain words why it is no clock.
/// Takes 8 ms, or twice that when the first sections disagree; longer only
/// where the scheduler lets the thread wait. The moments are good to some ten
/// nanoseconds, the rate to a few parts in a million.
pub(super) fn measure(counter: Ticks) -> Result<f64, String> {
    let mut moments = [Moment::now(counter); 3];
    let mut seen = None;
    for section in 1..=MOST_SECTIONS {
        std::thread::sleep(SECTION);
        moments = [moments[1], moments[2], Moment::now(counter)];
        if section < 2 {
            continue;
        }
        let halves = (
            moments[0].ns_per_tick(&moments[1]),
            moments[1].ns_per_tick(&moments[2]),
        );
        seen = halves.0.zip(halves.1);
        if seen.is_some_and(|(first, second)| agree(first, second))
            && let Some(measured) = moments[0].ns_per_tick(&moments[2])
        {
            return against_statement(measured, counter.stated_hertz());
        }
    }
    Err(match seen {
        Some((first, second)) => format!(
            "the counter of the processor does not run evenly: {:.2} MHz, then {:.2} MHz",
            1e3 / first,
            1e3 / second
        ),
        None => "the counter of the processor does not move".to_owned(),
    })
}

/// Where the machine states a frequency that the measurement confirms, it is
/// the better number.
fn against_statement(measured: f64, hertz: Option<f64>) -> Result<f64, String> {
    let Some(hertz) = hertz else {
        return Ok(measured);
    };
    if hertz > 0.0 && agree(measured, 1e9 / hertz) {
        return Ok(1e9 / hertz);
    }
    Err(format!(
        "the counter of the processor runs at {:.2} MHz where the machine states {:.2} MHz",
        1e3 / measured,
        hertz / 1e6
    ))
}

fn agree(one: f64, other: f64) -> bool {
    (one / other - 1.0).abs() < AGREEMENT
}

/// Holds a clock against that of the operating system for as long as the
/// process lives: a machine that was suspended or moved to another host, or a
/// counter that changes its speed, is noticed once at the end.
#[derive(Clone, Copy, Debug)]
pub struct ClockCheck {
    clock: SampleClock,
    from: Moment,
}

impl ClockCheck {
    /// Notes both clocks. Takes a few microseconds.
    pub fn start(clock: &SampleClock) -> Self {
        Self {
            clock: *clock,
            from: Moment::now(clock.ticks()),
        }
    }

    /// By what part of the time since the start the clock has gone ahead of
    /// the clock of the operating system or behind it: 0.01 is one per cent.
    /// What the moments themselves leave in doubt is taken off, so that a
    /// short life raises no alarm; a long one shows the few millionths to
    /// which the rate of the clock is known. Always 0 for the clock of the
    /// operating system; 1 for a counter that was set back. Takes a few
    /// microseconds.
    pub fn disagreement(&self) -> f64 {
        if self.clock.ticks() == Ticks::Os {
            return 0.0;
        }
        apart(
            &self.from,
            &Moment::now(self.clock.ticks()),
            self.clock.ns_per_tick(),
        )
    }
}

fn apart(from: &Moment, to: &Moment, ns_per_tick: f64) -> f64 {
    let by_reference = from.ns_until(to);
    let by_clock = (to.ticks - from.ticks).max(0.0) * ns_per_tick;
    let doubt = (from.doubt + to.doubt) * ns_per_tick;
    let apart = ((by_clock - by_reference).abs() - doubt).max(0.0);
    if apart == 0.0 {
        0.0
    } else {
        apart / by_reference.max(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(ticks: f64, reference_ns: u64) -> Moment {
        Moment {
            ticks,
            doubt: 10.0,
            reference_ns,
        }
    }

    #[test]
    fn the_rate_is_the_ratio_of_both_clocks() {
        let rate = moment(1000.0, 500).ns_per_tick(&moment(3000.0, 1500));
        assert_eq!(rate, Some(0.5));
    }

    #[test]
    fn a_counter_that_stands_still_or_runs_backwards_has_no_rate() {
        let from = moment(1000.0, 500);
        assert_eq!(from.ns_per_tick(&moment(1000.0, 1500)), None);
        assert_eq!(from.ns_per_tick(&moment(900.0, 1500)), None);
    }

    #[test]
    fn a_stated_frequency_counts_when_the_measurement_confirms_it() {
        assert_eq!(against_statement(40.01, Some(25e6)), Ok(40.0));
        assert_eq!(against_statement(40.01, None), Ok(40.01));
        let error = against_statement(10.0, Some(25e6)).unwrap_err();
        assert!(error.contains("100.00 MHz") && error.contains("25.00 MHz"));
        assert!(against_statement(10.0, Some(0.0)).is_err());
    }

    #[test]
    fn a_clock_that_gains_a_tenth_is_a_tenth_apart() {
        let from = moment(0.0, 0);
        let share = apart(&from, &moment(2_200_020.0, 1_000_000), 0.5);
        assert!((share - 0.1).abs() < 1e-4, "{share}");
        let behind = apart(&from, &moment(1_800_000.0, 1_000_000), 0.5);
        assert!((behind - 0.1).abs() < 1e-4, "{behind}");
    }

    #[test]
    fn what_the_readings_leave_in_doubt_is_no_disagreement() {
        let from = moment(0.0, 0);
        assert_eq!(apart(&from, &moment(115.0, 50), 0.5), 0.0);
        assert_eq!(apart(&from, &from, 0.5), 0.0);
    }

    #[test]
    fn a_counter_that_was_set_back_has_lost_all_of_the_time() {
        let lost = apart(&moment(1e12, 0), &moment(5.0, 1_000_000), 0.5);
        assert!(lost > 0.99 && lost <= 1.0, "{lost}");
    }
}
