//! The counters behind the clock of the samples, one instruction or one call
//! each.
#![allow(unsafe_code)]

#[cfg(target_arch = "x86_64")]
use super::tsc;

/// The clock of the operating system that samples may be timed by. It is
/// slewed towards the true time.
const OS_CLOCK: libc::clockid_t = libc::CLOCK_MONOTONIC;

/// The clock of the operating system that counters are held against. Unslewed
/// where there is one: an adjustment of up to 0.05 % must not look like a
/// counter gone astray.
#[cfg(any(target_os = "linux", target_os = "android", target_os = "macos"))]
const REFERENCE_CLOCK: libc::clockid_t = libc::CLOCK_MONOTONIC_RAW;
#[cfg(not(any(target_os = "linux", target_os = "android", target_os = "macos")))]
const REFERENCE_CLOCK: libc::clockid_t = libc::CLOCK_MONOTONIC;

/// How the time is read. Only what this processor family has exists here, so
/// that a reading never needs a case for "not possible".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ticks {
    /// The time stamp counter, with `rdtscp` at the end.
    #[cfg(target_arch = "x86_64")]
    TscRdtscp,
    /// The time stamp counter of a processor without `rdtscp`.
    #[cfg(target_arch = "x86_64")]
    TscFenced,
    /// The virtual counter of 64-bit ARM.
    #[cfg(target_arch = "aarch64")]
    Cntvct,
    /// The monotonic clock, a tick of which is a nanosecond.
    Os,
}

impl Ticks {
    /// The counter of this processor, or in plain words why it is no clock.
    pub(super) fn of_processor() -> Result<Self, String> {
        #[cfg(target_arch = "x86_64")]
        return match tsc::objection() {
            Some(objection) => Err(objection),
            None if tsc::has_rdtscp() => Ok(Self::TscRdtscp),
            None => Ok(Self::TscFenced),
        };
        #[cfg(target_arch = "aarch64")]
        return Ok(Self::Cntvct);
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        return Err(format!(
            "no counter of {} processors is known to deadheat",
            std::env::consts::ARCH
        ));
    }

    /// One word for it, for [`Ticks::from_word`].
    pub(super) fn word(self) -> &'static str {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::TscRdtscp => "tsc-rdtscp",
            #[cfg(target_arch = "x86_64")]
            Self::TscFenced => "tsc-fenced",
            #[cfg(target_arch = "aarch64")]
            Self::Cntvct => "cntvct",
            Self::Os => "os",
        }
    }

    /// Back from its word; `None` for an instruction this processor lacks.
    pub(super) fn from_word(word: &str) -> Option<Self> {
        match word {
            #[cfg(target_arch = "x86_64")]
            "tsc-rdtscp" => tsc::has_rdtscp().then_some(Self::TscRdtscp),
            #[cfg(target_arch = "x86_64")]
            "tsc-fenced" => Some(Self::TscFenced),
            #[cfg(target_arch = "aarch64")]
            "cntvct" => Some(Self::Cntvct),
            "os" => Some(Self::Os),
            _ => None,
        }
    }

    /// Ticks per second as the machine states them, where it does.
    pub(super) fn stated_hertz(self) -> Option<f64> {
        match self {
            #[cfg(target_arch = "aarch64")]
            Self::Cntvct => Some(cntfrq() as f64),
            _ => None,
        }
    }

    /// A reading before the work: everything earlier is done, nothing later
    /// has begun.
    #[inline(always)]
    pub(super) fn start(self) -> u64 {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::TscRdtscp | Self::TscFenced => tsc::between_fences(),
            #[cfg(target_arch = "aarch64")]
            Self::Cntvct => cntvct(),
            Self::Os => read_ns(OS_CLOCK),
        }
    }

    /// A reading after the work.
    #[inline(always)]
    pub(super) fn stop(self) -> u64 {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::TscRdtscp => tsc::after_the_work(),
            #[cfg(target_arch = "x86_64")]
            Self::TscFenced => tsc::between_fences(),
            #[cfg(target_arch = "aarch64")]
            Self::Cntvct => cntvct(),
            Self::Os => read_ns(OS_CLOCK),
        }
    }
}

/// Nanoseconds of the clock that counters are held against.
pub(super) fn reference_ns() -> u64 {
    read_ns(REFERENCE_CLOCK)
}

/// Nanoseconds of a clock of the operating system.
#[inline]
pub(crate) fn read_ns(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the pointer is valid for writes. The call fails for unknown
    // clocks only, and then leaves the zeros.
    unsafe { libc::clock_gettime(clock, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// The virtual counter. The first barrier keeps it from being read before
/// earlier instructions are done, the second keeps later ones from starting
/// before it is read.
#[cfg(target_arch = "aarch64")]
#[inline(always)]
fn cntvct() -> u64 {
    let ticks: u64;
    // SAFETY: reads a register that user programs may read. That `nomem` is
    // not promised keeps the compiler from moving memory accesses across.
    unsafe {
        std::arch::asm!(
            "isb",
            "mrs {ticks}, cntvct_el0",
            "isb",
            ticks = out(reg) ticks,
            options(nostack, preserves_flags)
        );
    }
    ticks
}

/// Ticks of the virtual counter per second, as the firmware states them.
#[cfg(target_arch = "aarch64")]
fn cntfrq() -> u64 {
    let hertz: u64;
    // SAFETY: reads a register that user programs may read.
    unsafe {
        std::arch::asm!(
            "mrs {hertz}, cntfrq_el0",
            hertz = out(reg) hertz,
            options(nomem, nostack, preserves_flags)
        );
    }
    hertz
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_counter_comes_back_from_its_word() {
        let counters = [Some(Ticks::Os), Ticks::of_processor().ok()];
        for ticks in counters.into_iter().flatten() {
            assert_eq!(Ticks::from_word(ticks.word()), Some(ticks));
        }
        assert_eq!(Ticks::from_word("sundial"), None);
    }

    #[test]
    fn both_clocks_of_the_operating_system_run() {
        for clock in [OS_CLOCK, REFERENCE_CLOCK] {
            let before = read_ns(clock);
            std::thread::sleep(std::time::Duration::from_millis(1));
            assert!(before > 0 && read_ns(clock) > before);
        }
    }
}
