//! Checks that the counter of the processor is a reliable clock and measures its frequency.

use std::time::Duration;

use super::sample::{SampleClock, Ticks, reference_ns};
#[cfg(target_arch = "x86_64")]
use super::sample::{extended_leaf, has_rdtscp};
#[cfg(target_arch = "x86_64")]
use crate::machine;

/// The length of one section of the frequency measurement. The measurement takes two sections, or
/// up to `MOST_SECTIONS` until two consecutive ones agree. The thread sleeps instead of spinning,
/// so that the core may go idle or the thread may wake up on another core: this exposes counters
/// that stop when idle or differ between cores.
const SECTION: Duration = Duration::from_millis(4);
const MOST_SECTIONS: usize = 4;

/// The shortest section of a clock measurement that runs alongside other work. Each reading is
/// uncertain by about 10 ns, which is 3 parts in 100,000 of a section.
const LEAST_SECTION: Duration = Duration::from_millis(1);

/// Two rates agree if they differ by less than this share.
const AGREEMENT: f64 = 1e-3;

/// The number of attempts to read both clocks at the same moment; the tightest attempt counts. An
/// attempt takes well below a microsecond, so interrupts spoil only a few of them.
const TRIES: usize = 48;

impl SampleClock {
    /// Measures and returns the best clock of this machine, and the reason if this is not the
    /// counter of the processor. Takes 10 ms, or 20 ms if other load disturbs the measurement.
    pub fn choose() -> (Self, Option<String>) {
        let counter =
            counter_of_processor().and_then(|ticks| measure(ticks).map(|rate| (ticks, rate)));
        Self::chosen(counter)
    }

    fn chosen(counter: Result<(Ticks, f64), String>) -> (Self, Option<String>) {
        match counter {
            Ok((ticks, ns_per_tick)) => (Self::measured(ticks, ns_per_tick), None),
            Err(reason) => (Self::os(), Some(reason)),
        }
    }
}

/// A clock measurement that runs alongside other work. If deadheat slept during the measurement
/// instead, this would take 8 of the 34 ms of a short race.
#[derive(Debug)]
pub(crate) struct ClockChoice {
    counter: Result<Ticks, String>,
    /// Readings of both clocks at the start and at each later request for a clock.
    moments: Vec<Moment>,
}

impl ClockChoice {
    /// Starts a measurement: reads the counter and the clock of the operating system. Takes a few
    /// microseconds.
    pub(crate) fn begin() -> Self {
        let counter = counter_of_processor();
        let moments = counter.iter().map(|counter| Moment::now(*counter));
        Self {
            moments: moments.collect(),
            counter,
        }
    }

    /// Returns a clock for the calibration run, accurate to a few parts in 100,000. Sleeps until at
    /// least 1 ms has passed since the last reading.
    pub(crate) fn provisional(&mut self) -> SampleClock {
        let Ok(counter) = self.counter else {
            return SampleClock::os();
        };
        self.end_section(counter);
        let rate = match &self.moments[..] {
            [first, .., last] => first.ns_per_tick(last),
            _ => None,
        };
        rate.map_or_else(SampleClock::os, |rate| SampleClock::measured(counter, rate))
    }

    /// Returns the same choice as [`SampleClock::choose`], from all readings so far and a final
    /// one. A section is the time from one reading to the next. If there are fewer than two
    /// sections, or two consecutive ones give different rates, it measures again from scratch.
    pub(crate) fn finish(mut self) -> (SampleClock, Option<String>) {
        let chosen = self.counter.clone().and_then(|counter| {
            self.end_section(counter);
            match even_rate(&self.moments) {
                Some(rate) => against_statement(rate, counter.stated_hertz()),
                None => measure(counter),
            }
            .map(|rate| (counter, rate))
        });
        SampleClock::chosen(chosen)
    }

    /// Reads the counter and the clock of the operating system once at least [`LEAST_SECTION`] has
    /// passed since the last reading.
    fn end_section(&mut self, counter: Ticks) {
        let begun = self.moments.last().map_or(0, |moment| moment.reference_ns);
        let passed = Duration::from_nanos(reference_ns().saturating_sub(begun));
        let missing = LEAST_SECTION.saturating_sub(passed);
        if !missing.is_zero() {
            std::thread::sleep(missing);
        }
        self.moments.push(Moment::now(counter));
    }
}

/// Returns the nanoseconds per tick of the counter from the first to the last reading, or `None` if
/// there are fewer than two sections or consecutive sections disagree.
fn even_rate(moments: &[Moment]) -> Option<f64> {
    let sections = moments.windows(2);
    let rates: Option<Vec<f64>> = sections.map(|two| two[0].ns_per_tick(&two[1])).collect();
    let rates = rates.filter(|rates| rates.len() >= 2)?;
    let even = rates.windows(2).all(|two| agree(two[0], two[1]));
    even.then(|| moments[0].ns_per_tick(moments.last()?))?
}

fn counter_of_processor() -> Result<Ticks, String> {
    #[cfg(target_arch = "x86_64")]
    return match objection() {
        Some(objection) => Err(objection),
        None if has_rdtscp() => Ok(Ticks::TscRdtscp),
        None => Ok(Ticks::TscFenced),
    };
    #[cfg(target_arch = "aarch64")]
    return Ok(Ticks::Cntvct);
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    return Err(format!(
        "deadheat cannot read a time counter of {} processors",
        std::env::consts::ARCH
    ));
}

/// Timers that the kernel falls back to if it finds the counter unreliable. The clocks of
/// hypervisors are not in the list because they are derived from the counter.
#[cfg(target_arch = "x86_64")]
const TIMERS_WITHOUT_TSC: [&str; 4] = ["hpet", "acpi_pm", "jiffies", "refined-jiffies"];

#[cfg(target_arch = "x86_64")]
fn objection() -> Option<String> {
    let (current, available) = machine::timers();
    objection_to(is_invariant(), current.as_deref(), available.as_deref())
}

/// Returns the reason why the counter cannot serve as a clock. A counter that the kernel uses as
/// its clock is always accepted, because some hypervisors hide the processor's guarantee of
/// constant speed. Otherwise the processor must give that guarantee. A counter that the kernel has
/// dropped is rejected, because the kernel compares the counters of all cores.
#[cfg(target_arch = "x86_64")]
fn objection_to(invariant: bool, current: Option<&str>, available: Option<&str>) -> Option<String> {
    if current == Some("tsc") {
        return None;
    }
    let keeps_time_by = match current {
        Some(timer) => format!("the kernel keeps time by {timer}"),
        None => "the kernel does not say which clock it uses".to_owned(),
    };
    if !invariant {
        return Some(format!(
            "the processor does not guarantee a time stamp counter of constant speed, and \
             {keeps_time_by}"
        ));
    }
    let fell_back = current.is_some_and(|timer| TIMERS_WITHOUT_TSC.contains(&timer));
    let dropped = available.is_some_and(|all| !all.split_whitespace().any(|one| one == "tsc"));
    (fell_back && dropped)
        .then(|| format!("{keeps_time_by} and has rejected the time stamp counter"))
}

/// Returns true if the processor guarantees that its time stamp counter runs at constant speed in
/// all power states.
#[cfg(target_arch = "x86_64")]
fn is_invariant() -> bool {
    extended_leaf(0x8000_0007).is_some_and(|leaf| leaf.edx & (1 << 8) != 0)
}

/// A reading of the counter and of the operating system's clock at the same moment.
#[derive(Clone, Copy, Debug)]
struct Moment {
    /// The midpoint of the two counter readings around the reading of the other clock.
    ticks: f64,
    /// The uncertainty of `ticks`, in ticks in each direction.
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

    /// Returns the nanoseconds per tick of the counter between this reading and a later one, or
    /// `None` if the counter did not advance.
    fn ns_per_tick(&self, later: &Self) -> Option<f64> {
        let rate = self.ns_until(later) / (later.ticks - self.ticks);
        (rate.is_finite() && rate > 0.0).then_some(rate)
    }

    fn ns_until(&self, later: &Self) -> f64 {
        later.reference_ns.saturating_sub(self.reference_ns) as f64
    }
}

/// Measures the nanoseconds per tick of a counter, or returns the reason why it cannot serve as a
/// clock. Takes 8 ms, 16 ms if the first sections disagree, and longer only if the scheduler delays
/// the thread. Readings are accurate to about 10 ns and the rate to a few parts per million.
fn measure(counter: Ticks) -> Result<f64, String> {
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
            "the processor's time counter does not run at a constant rate: {:.2} MHz, then {:.2} \
             MHz",
            1e3 / first,
            1e3 / second
        ),
        None => "the processor's time counter does not advance".to_owned(),
    })
}

/// Returns the counter's rate as the machine states it, because that rate is more accurate; the
/// measured rate if the machine states none. Returns an error if the two rates disagree.
fn against_statement(measured: f64, hertz: Option<f64>) -> Result<f64, String> {
    let Some(hertz) = hertz else {
        return Ok(measured);
    };
    if hertz > 0.0 && agree(measured, 1e9 / hertz) {
        return Ok(1e9 / hertz);
    }
    Err(format!(
        "the processor's time counter runs at {:.2} MHz, but the machine says that it runs at {:.2} MHz",
        1e3 / measured,
        hertz / 1e6
    ))
}

fn agree(one: f64, other: f64) -> bool {
    (one / other - 1.0).abs() < AGREEMENT
}

/// Compares a clock with that of the operating system over the lifetime of the process. One check
/// at the end detects a suspended or migrated machine and a counter that changed its speed.
#[derive(Clone, Copy, Debug)]
pub struct ClockCheck {
    clock: SampleClock,
    from: Moment,
}

impl ClockCheck {
    /// Starts the comparison: reads `clock` and the clock of the operating system. Takes a few
    /// microseconds.
    pub fn start(clock: &SampleClock) -> Self {
        Self {
            clock: *clock,
            from: Moment::now(clock.ticks()),
        }
    }

    /// Returns the difference between this clock and the clock of the operating system since the
    /// start, as a share of the elapsed time: 0.01 is 1%. The uncertainty of the readings is
    /// subtracted, so the difference is 0 in a short-lived process. In a long-lived process it is
    /// some millionths, because the rate of the clock is known only to that accuracy. Always 0 for
    /// the clock of the operating system; 1 for a counter that was set back. Takes a few
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
    fn sections_beside_other_work_give_a_rate_if_two_of_them_agree() {
        let even = [moment(0.0, 0), moment(4000.0, 2000), moment(9000.0, 4500)];
        assert_eq!(even_rate(&even), Some(0.5));
        assert_eq!(even_rate(&even[..2]), None);
        let uneven = [moment(0.0, 0), moment(4000.0, 2000), moment(9000.0, 4600)];
        assert_eq!(even_rate(&uneven), None);
        let stopped = [moment(0.0, 0), moment(4000.0, 2000), moment(4000.0, 2600)];
        assert_eq!(even_rate(&stopped), None);
    }

    #[test]
    fn a_clock_chosen_beside_other_work_is_that_of_one_that_was_slept_for() {
        let mut choice = ClockChoice::begin();
        let provisional = choice.provisional();
        let (chosen, objection) = choice.finish();
        let (slept_for, same_objection) = SampleClock::choose();
        assert_eq!(chosen.source(), slept_for.source());
        assert_eq!(provisional.source(), slept_for.source());
        assert_eq!(objection.is_some(), same_objection.is_some());
        for clock in [provisional, chosen] {
            assert!(agree(clock.ns_per_tick(), slept_for.ns_per_tick()));
        }
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

    #[test]
    fn every_counter_comes_back_from_its_word() {
        let counters = [Some(Ticks::Os), counter_of_processor().ok()];
        for ticks in counters.into_iter().flatten() {
            assert_eq!(Ticks::from_word(ticks.word()), Some(ticks));
        }
        assert_eq!(Ticks::from_word("sundial"), None);
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn a_promise_of_the_processor_or_the_kernels_own_use_is_enough() {
        assert_eq!(objection_to(true, None, None), None);
        assert_eq!(
            objection_to(true, Some("kvm-clock"), Some("kvm-clock")),
            None
        );
        assert_eq!(
            objection_to(false, Some("tsc"), Some("tsc kvm-clock")),
            None
        );
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn without_either_the_objection_names_what_the_kernel_uses() {
        let objection = objection_to(false, Some("hpet"), Some("hpet acpi_pm")).unwrap();
        assert!(objection.contains("does not guarantee") && objection.contains("hpet"));
        assert!(objection_to(false, None, None).is_some());
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn a_counter_the_kernel_has_dropped_is_not_used_whatever_the_processor_says() {
        let dropped = objection_to(true, Some("hpet"), Some("hpet acpi_pm")).unwrap();
        assert!(dropped.contains("rejected"));
        let someones_choice = objection_to(true, Some("hpet"), Some("tsc hpet acpi_pm"));
        assert_eq!(someones_choice, None);
    }
}
