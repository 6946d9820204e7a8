//! The record of a search → the search, and its page.
#![no_main]

use deadheat_bisect::{
    BisectSearch, Bisection, read_bisect_log, to_bisect_json, to_bisect_markdown, to_bisect_page,
};
use deadheat_fuzz::on_disk::on_disk;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    on_disk("bisect", bytes, |file| {
        let Ok(log) = read_bisect_log(file) else {
            return;
        };
        let Ok((_, standings)) = BisectSearch::replayed(&log) else {
            return;
        };
        let bisection = Bisection {
            log,
            standings,
            details: Vec::new(),
            commands: Vec::new(),
        };
        to_bisect_json(&bisection);
        to_bisect_markdown(&bisection);
        to_bisect_page(&bisection);
    });
});
