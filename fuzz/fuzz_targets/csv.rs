//! Tidy CSV → run → analysis → answer.
#![no_main]

use deadheat_fuzz::{analyse_and_check, recording_plan};
use deadheat_import::read_csv_from;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(run) = read_csv_from(bytes, "fuzz.csv", &recording_plan()) {
        analyse_and_check(&run);
    }
});
