//! The clock of the operating system, beside that of samples.

use deadheat_model::doctor::Facts;

use super::root::Root;
use crate::clock::{SampleClock, read_ns};

/// Readings of the clock of the system whose cost is averaged.
const SYSTEM_READINGS: u32 = 2_000;

/// What one reading of the clock of the operating system takes.
pub(super) fn system_clock_cost_ns() -> f64 {
    let begin = read_ns(libc::CLOCK_MONOTONIC);
    for _ in 1..SYSTEM_READINGS {
        std::hint::black_box(read_ns(libc::CLOCK_MONOTONIC));
    }
    let end = read_ns(libc::CLOCK_MONOTONIC);
    end.saturating_sub(begin) as f64 / f64::from(SYSTEM_READINGS)
}

/// What samples are timed by, and what the kernel keeps time by.
pub(super) fn clock_facts(root: &Root, clock: &SampleClock, fallback: Option<String>) -> Facts {
    let folder = "sys/devices/system/clocksource/clocksource0";
    let available = root.line(&format!("{folder}/available_clocksource"));
    let available = available.unwrap_or_default();
    Facts::Clock {
        source: clock.source().name().to_owned(),
        fallback,
        kernel: root.line(&format!("{folder}/current_clocksource")),
        available: available.split_whitespace().map(str::to_owned).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::root::fake::machine;
    use super::*;

    #[test]
    fn the_clocks_of_the_kernel_are_read() {
        let folder = "sys/devices/system/clocksource/clocksource0";
        let (_folder, root) = machine(&[
            (&*format!("{folder}/current_clocksource"), "hpet\n"),
            (
                &*format!("{folder}/available_clocksource"),
                "hpet acpi_pm \n",
            ),
        ]);
        let (clock, fallback) = SampleClock::choose();
        let told = clock_facts(&root, &clock, fallback);
        let Facts::Clock {
            kernel, available, ..
        } = told
        else {
            panic!("it is about the clock");
        };
        assert_eq!(kernel.as_deref(), Some("hpet"));
        assert_eq!(available, ["hpet", "acpi_pm"]);
    }

    #[test]
    fn a_reading_takes_time() {
        assert!(system_clock_cost_ns() > 0.0);
    }
}
