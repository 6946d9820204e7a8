//! What the hypervisor calls itself.
#![allow(unsafe_code)]

/// The name of the hypervisor below this machine, where the processor is one
/// that can be asked. Only for a machine whose processor says it has one.
#[cfg(target_arch = "x86_64")]
pub(super) fn hypervisor() -> Option<String> {
    // Newer compilers see that it is safe, older ones want the block.
    #[allow(unused_unsafe)]
    // SAFETY: every x86-64 processor has the instruction; a leaf it does not
    // know gives numbers without meaning, and no fault.
    let leaf = unsafe { std::arch::x86_64::__cpuid(0x4000_0000) };
    let mut letters = Vec::new();
    for part in [leaf.ebx, leaf.ecx, leaf.edx] {
        letters.extend(part.to_le_bytes());
    }
    name(&letters)
}

/// Other processors cannot be asked.
#[cfg(not(target_arch = "x86_64"))]
pub(super) fn hypervisor() -> Option<String> {
    None
}

/// The maker of these twelve letters; those of an unknown one as they are.
#[cfg(target_arch = "x86_64")]
fn name(letters: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(letters);
    let text = text.trim_matches(|c: char| c == '\0' || c.is_whitespace());
    let known = match text {
        "KVMKVMKVM" => "KVM",
        "Microsoft Hv" => "Hyper-V",
        "VMwareVMware" => "VMware",
        "XenVMMXenVMM" => "Xen",
        "VBoxVBoxVBox" => "VirtualBox",
        "TCGTCGTCGTCG" => "QEMU",
        "bhyve bhyve" => "bhyve",
        other => other,
    };
    let shown = !known.is_empty() && known.chars().all(|c| c == ' ' || c.is_ascii_graphic());
    shown.then(|| known.to_owned())
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    #[test]
    fn makers_are_known_by_twelve_letters() {
        assert_eq!(name(b"KVMKVMKVM\0\0\0").as_deref(), Some("KVM"));
        assert_eq!(name(b"Microsoft Hv").as_deref(), Some("Hyper-V"));
        assert_eq!(name(b"SRESRESRESRE").as_deref(), Some("SRESRESRESRE"));
        assert_eq!(name(&[0; 12]), None);
        assert_eq!(name(&[7; 12]), None);
    }
}
