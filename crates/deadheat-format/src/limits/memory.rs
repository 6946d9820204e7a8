//! The memory that this process may use.

use std::fs;
use std::sync::OnceLock;

/// Returns the memory that this process may use, in bytes: the smallest of the machine's memory,
/// the limit of its control group and `ulimit`. Returns `u64::MAX` if none of them can be read, as
/// on systems other than Linux.
pub(super) fn usable() -> u64 {
    static USABLE: OnceLock<u64> = OnceLock::new();
    *USABLE.get_or_init(|| {
        let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let of_group = [
            "/sys/fs/cgroup/memory.max",
            "/sys/fs/cgroup/memory/memory.limit_in_bytes",
        ];
        let of_group = of_group.map(|path| read(path).trim().parse().ok());
        let all = of_group
            .into_iter()
            .chain([of_machine(&read("/proc/meminfo"))])
            .chain(of_process(&read("/proc/self/limits")));
        all.flatten().min().unwrap_or(u64::MAX)
    })
}

fn of_machine(meminfo: &str) -> Option<u64> {
    let total = meminfo
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kilobytes: u64 = total.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}

/// Returns the soft limits on address space and data; `None` if unlimited.
fn of_process(limits: &str) -> [Option<u64>; 2] {
    ["Max address space", "Max data size"].map(|name| {
        let limit = limits.lines().find_map(|line| line.strip_prefix(name))?;
        limit.split_whitespace().next()?.parse().ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_read_as_the_kernel_writes_it() {
        assert_eq!(
            of_machine("MemTotal:       16 kB\nMemFree: 1 kB\n"),
            Some(16 << 10)
        );
        assert_eq!(of_machine(""), None);
        let limits = "Limit                     Soft Limit           Hard Limit           Units     \n\
                      Max data size             unlimited            unlimited            bytes     \n\
                      Max address space         1073741824           unlimited            bytes     \n";
        assert_eq!(of_process(limits), [Some(1 << 30), None]);
        assert_eq!(of_process(""), [None, None]);
    }
}
