//! What a process asks of callgrind, in which it runs: to collect or not, and to write down what it
//! has collected.
//!
//! Valgrind knows these requests by a sequence of instructions that does nothing elsewhere
//! (`valgrind.h`, "client requests"). They need no symbols, which a stripped program has none of, and
//! no function around the calls, which would change how these are compiled.
#![allow(unsafe_code)]

/// The requests of callgrind begin here: 'C' and 'T' in the upper half.
const BASE: usize = ((b'C' as usize) << 24) | ((b'T' as usize) << 16);

/// Begins to collect, or ends it, in the calling thread.
#[cold]
#[inline(never)]
pub(crate) fn toggle() {
    request(BASE + 2);
}

/// Forgets what was collected.
#[cold]
#[inline(never)]
pub(crate) fn forget() {
    request(BASE + 1);
}

/// Writes down all that was collected since the last time, and forgets it.
#[cold]
#[inline(never)]
pub(crate) fn dump() {
    request(BASE);
}

#[cfg(target_arch = "x86_64")]
fn request(code: usize) {
    let arguments = [code, 0, 0, 0, 0, 0];
    // SAFETY: rdi is turned by 128 bits in all and keeps its value, rbx is exchanged with itself.
    // Under Valgrind rdx is written and the array read, which lives until the end.
    unsafe {
        std::arch::asm!(
            "rol rdi, 3",
            "rol rdi, 13",
            "rol rdi, 61",
            "rol rdi, 51",
            "xchg rbx, rbx",
            in("rax") arguments.as_ptr(),
            inlateout("rdx") 0_usize => _,
        );
    }
}

#[cfg(target_arch = "aarch64")]
fn request(code: usize) {
    let arguments = [code, 0, 0, 0, 0, 0];
    // SAFETY: x12 is turned by 128 bits in all and keeps its value, x10 is combined with itself.
    // Under Valgrind x3 is written and the array read, which lives until the end.
    unsafe {
        std::arch::asm!(
            "ror x12, x12, #3",
            "ror x12, x12, #13",
            "ror x12, x12, #51",
            "ror x12, x12, #61",
            "orr x10, x10, x10",
            in("x4") arguments.as_ptr(),
            inlateout("x3") 0_usize => _,
        );
    }
}

/// Elsewhere there are no marks, and the coordinator says so when no part comes.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn request(_code: usize) {}

#[cfg(test)]
mod tests {
    #[test]
    fn outside_of_valgrind_a_request_does_nothing() {
        super::toggle();
        super::toggle();
        super::forget();
        super::dump();
    }
}
