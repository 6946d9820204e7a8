//! Programs of C whose work is known, and what an explanation counts of their functions.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::Track;

/// A worker with a function that adds up numbers, `TIMES` times each: as many as `COUNT` says, or
/// none.
pub const WORKER: &str = r#"
#define DEADHEAT_IMPLEMENTATION
#include <deadheat.h>
__attribute__((noinline)) static uint64_t added(uint64_t count)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < count * TIMES; i++) {
        sum += i;
        __asm__ volatile("" : "+r"(sum));
    }
    return sum;
}
DEADHEAT_BENCHMARK(sum) { deadheat_keep(added(COUNT)); }
DEADHEAT_BENCHMARK(other) { deadheat_keep(added(0)); }
DEADHEAT_MAIN();
"#;

/// Builds a program of C and returns its path.
pub fn built(track: &Track, name: &str, source: &str, options: &[&str]) -> PathBuf {
    let file = track.path(&format!("{name}.c"));
    fs::write(&file, source).unwrap();
    let program = track.path(name);
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../include");
    let done = Command::new("gcc")
        .args(["-std=gnu11", "-O2", "-g", "-pthread"])
        .args(options)
        .arg("-I")
        .arg(include)
        .arg("-o")
        .args([&program, &file])
        .output()
        .unwrap();
    assert!(done.status.success(), "{done:?}");
    program
}

/// The instructions or samples of a function itself, on both sides.
#[track_caller]
pub fn own(pair: &Value, function: &str) -> [u64; 2] {
    let functions = pair["functions"].as_array().unwrap();
    let found = functions.iter().find(|one| one["function"] == function);
    let own = &found.unwrap_or_else(|| panic!("{function}: {pair:#}"))["own"];
    ["baseline", "candidate"].map(|side| own[side].as_u64().unwrap())
}
