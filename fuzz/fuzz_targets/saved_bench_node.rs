//! The JSON and the CSV of bench-node → results → run → Go benchmark text → results.
#![no_main]

use deadheat_fuzz::saved::read_and_check;
use deadheat_import::SavedFormat;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    read_and_check(bytes, SavedFormat::BenchNode);
    read_and_check(bytes, SavedFormat::BenchNodeTable);
});
