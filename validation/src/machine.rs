//! The machine the figures hold for.

use std::fs;

/// Processor, cores, kernel and what else was going on, in one sentence.
pub fn machine() -> String {
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    format!(
        "Machine: {}, load {} at the start.",
        sitting_facts(),
        load.split(' ').next().unwrap_or("unknown")
    )
}

/// The model of the processor.
pub fn processor() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with("model name"));
    let name = line.and_then(|line| line.split(':').nth(1));
    name.unwrap_or("unknown").trim().to_owned()
}

/// Processor, cores and kernel, which stay the same for a sitting.
pub fn sitting_facts() -> String {
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!(
        "{}, {} cores, Linux {}",
        processor(),
        cores(),
        kernel.trim()
    )
}

/// Cores this process may use.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
