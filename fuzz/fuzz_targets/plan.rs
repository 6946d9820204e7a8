//! A plan → the race that it describes.
#![no_main]

use deadheat::parts::read_plan;
use deadheat_fuzz::on_disk::on_disk;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    on_disk("plan", bytes, |file| {
        if let Ok(plan) = read_plan(file) {
            assert!(!plan.environment.programs.is_empty());
            assert!(plan.plan.validate().is_ok());
        }
    });
});
