//! Run file → run → analysis → answer.
#![no_main]

use deadheat::parts::format::read_run_from;
use deadheat_fuzz::analyse_and_check;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(run) = read_run_from(bytes, "fuzz.jsonl") {
        analyse_and_check(&run);
    }
});
