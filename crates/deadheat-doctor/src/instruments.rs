//! The instruments of a race: the clocks, and the hardware counters.

use std::time::Instant;

use deadheat_engine::{Counters, SampleClock};
use deadheat_model::doctor::{Facts, Refused};

use crate::root::Root;

/// Readings of the clock of the system whose cost is averaged.
const SYSTEM_READINGS: u32 = 2_000;

/// The cost of one reading of the clock of the operating system.
pub(crate) fn system_clock_cost_ns() -> f64 {
    let begin = Instant::now();
    for _ in 1..SYSTEM_READINGS {
        std::hint::black_box(Instant::now());
    }
    begin.elapsed().as_nanos() as f64 / f64::from(SYSTEM_READINGS)
}

/// The clock that times samples, and the one the kernel keeps time by.
pub(crate) fn clock_facts(root: &Root, clock: &SampleClock, fallback: Option<String>) -> Facts {
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

/// The setting of the kernel, and what came of trying: settings do not know of sandboxes, nor of
/// machines without counters.
pub(crate) fn counters(root: &Root) -> Facts {
    Facts::Counters {
        paranoid: root.number("proc/sys/kernel/perf_event_paranoid"),
        refused: Counters::open().err().map(|error| refused(&error)),
    }
}

fn refused(error: &std::io::Error) -> Refused {
    match error.raw_os_error() {
        Some(libc::EACCES | libc::EPERM) => Refused::NotPermitted,
        Some(libc::ENOENT | libc::ENODEV | libc::EOPNOTSUPP) => Refused::NotThere,
        Some(libc::ENOSYS) => Refused::NotBuilt,
        _ => Refused::Other(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::root::fake::machine;

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
        let facts = clock_facts(&root, &clock, fallback);
        let Facts::Clock {
            kernel, available, ..
        } = facts
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

    #[test]
    fn what_refuses_them_is_facts_apart() {
        let of = |errno| refused(&std::io::Error::from_raw_os_error(errno));
        assert_eq!(of(libc::EACCES), Refused::NotPermitted);
        assert_eq!(of(libc::ENOENT), Refused::NotThere);
        assert_eq!(of(libc::ENOSYS), Refused::NotBuilt);
        assert!(matches!(of(libc::EMFILE), Refused::Other(_)));
    }

    #[test]
    fn the_setting_is_read_and_the_counters_are_tried() {
        let (_folder, root) = machine(&[("proc/sys/kernel/perf_event_paranoid", "-1\n")]);
        let Facts::Counters { paranoid, refused } = counters(&root) else {
            panic!("they are about counters");
        };
        assert_eq!(paranoid, Some(-1));
        assert_eq!(refused.is_none(), Counters::open().is_ok());
    }
}
