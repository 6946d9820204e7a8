//! Random addresses.

use deadheat_model::doctor::Facts;

use super::root::Root;

/// The bit of a personality that switches random addresses off.
const NO_RANDOMIZE: u64 = 0x004_0000;

/// What the kernel is set to, and whether this process was started without.
pub(super) fn aslr(root: &Root) -> Facts {
    let personality = root.line("proc/self/personality");
    Facts::Aslr {
        setting: root.number("proc/sys/kernel/randomize_va_space"),
        switched_off: personality.is_some_and(|text| is_switched_off(&text)),
    }
}

fn is_switched_off(personality: &str) -> bool {
    u64::from_str_radix(personality.trim(), 16).is_ok_and(|bits| bits & NO_RANDOMIZE != 0)
}

#[cfg(test)]
mod tests {
    use super::super::root::fake::machine;
    use super::*;

    #[test]
    fn the_setting_of_the_kernel_and_that_of_the_process_are_both_read() {
        let (_folder, root) = machine(&[
            ("proc/sys/kernel/randomize_va_space", "2\n"),
            ("proc/self/personality", "00040000\n"),
        ]);
        let facts = Facts::Aslr {
            setting: Some(2),
            switched_off: true,
        };
        assert_eq!(aslr(&root), facts);
        let (_folder, nothing) = machine(&[]);
        let facts = Facts::Aslr {
            setting: None,
            switched_off: false,
        };
        assert_eq!(aslr(&nothing), facts);
    }

    #[test]
    fn only_that_one_bit_counts() {
        assert!(!is_switched_off("00000000\n") && !is_switched_off("00200000"));
        assert!(is_switched_off("00240000") && !is_switched_off("many"));
    }
}
