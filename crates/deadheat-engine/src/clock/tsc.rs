//! The time stamp counter of x86-64: whether it is a clock, and how to read it
//! without the processor mixing the reading into the work.
#![allow(unsafe_code)]

use std::arch::asm;
use std::arch::x86_64::{__cpuid, CpuidResult};

use crate::machine;

/// Timers the kernel falls back to when it has found the counter unreliable.
/// The clocks of hypervisors are not among them: they are made from the
/// counter.
const TIMERS_WITHOUT_TSC: [&str; 4] = ["hpet", "acpi_pm", "jiffies", "refined-jiffies"];

/// Why the counter of this machine is no clock, in plain words.
pub(super) fn objection() -> Option<String> {
    let (current, available) = machine::timers();
    objection_to(is_invariant(), current.as_deref(), available.as_deref())
}

/// The processor has to promise that the counter runs at one speed in all
/// states. Hypervisors hide that promise at times; then it is enough that the
/// kernel keeps time by the counter. Where the kernel has dropped it, it
/// knows more than the processor: it compares the counters of all cores.
fn objection_to(invariant: bool, current: Option<&str>, available: Option<&str>) -> Option<String> {
    if current == Some("tsc") {
        return None;
    }
    let keeps_time_by = match current {
        Some(timer) => format!("the kernel keeps time by {timer}"),
        None => "the kernel does not say by what it keeps time".to_owned(),
    };
    if !invariant {
        return Some(format!(
            "the processor does not promise a time stamp counter of constant speed, and {keeps_time_by}"
        ));
    }
    let fell_back = current.is_some_and(|timer| TIMERS_WITHOUT_TSC.contains(&timer));
    let dropped = available.is_some_and(|all| !all.split_whitespace().any(|one| one == "tsc"));
    (fell_back && dropped)
        .then(|| format!("{keeps_time_by} and has dropped the time stamp counter"))
}

/// The promise of a counter of one speed in all power states.
fn is_invariant() -> bool {
    extended_leaf(0x8000_0007).is_some_and(|leaf| leaf.edx & (1 << 8) != 0)
}

/// Whether the reading that waits for the work exists.
pub(super) fn has_rdtscp() -> bool {
    extended_leaf(0x8000_0001).is_some_and(|leaf| leaf.edx & (1 << 27) != 0)
}

fn extended_leaf(leaf: u32) -> Option<CpuidResult> {
    // Newer compilers see that it is safe, older ones want the block.
    #[allow(unused_unsafe)]
    // SAFETY: every x86-64 processor has the instruction, and answers for the
    // leaves up to the one it names as its last.
    unsafe {
        (__cpuid(0x8000_0000).eax >= leaf).then(|| __cpuid(leaf))
    }
}

/// The counter when everything before is done and nothing after has begun.
/// `lfence` waits for all instructions before it on Intel, and on AMD since
/// kernels set it up so against Spectre.
#[inline(always)]
pub(super) fn between_fences() -> u64 {
    let (low, high): (u64, u64);
    // SAFETY: reads a counter into two registers, whose upper halves the
    // instruction clears. That `nomem` is not promised keeps the compiler
    // from moving memory accesses across.
    unsafe {
        asm!(
            "lfence",
            "rdtsc",
            "lfence",
            out("rax") low,
            out("rdx") high,
            options(nostack, preserves_flags)
        );
    }
    high << 32 | low
}

/// The counter when everything before is done; one fence cheaper, for
/// `rdtscp` waits by itself. Only where [`has_rdtscp`].
#[inline(always)]
pub(super) fn after_the_work() -> u64 {
    let (low, high): (u64, u64);
    // SAFETY: as above; the number of the core it leaves in `rcx` is declared.
    // Only chosen where the processor has the instruction.
    unsafe {
        asm!(
            "rdtscp",
            "lfence",
            out("rax") low,
            out("rdx") high,
            out("rcx") _,
            options(nostack, preserves_flags)
        );
    }
    high << 32 | low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
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
    fn without_either_the_objection_names_what_the_kernel_uses() {
        let objection = objection_to(false, Some("hpet"), Some("hpet acpi_pm")).unwrap();
        assert!(objection.contains("does not promise") && objection.contains("hpet"));
        assert!(objection_to(false, None, None).is_some());
    }

    #[test]
    fn a_counter_the_kernel_has_dropped_is_not_used_whatever_the_processor_says() {
        let dropped = objection_to(true, Some("hpet"), Some("hpet acpi_pm")).unwrap();
        assert!(dropped.contains("dropped"));
        let someones_choice = objection_to(true, Some("hpet"), Some("tsc hpet acpi_pm"));
        assert_eq!(someones_choice, None);
    }

    #[test]
    fn the_counter_goes_forward_from_either_instruction_to_the_other() {
        let first = between_fences();
        let second = if has_rdtscp() {
            after_the_work()
        } else {
            between_fences()
        };
        assert!(first > 0 && second > first);
    }
}
