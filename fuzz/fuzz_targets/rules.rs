//! deadheat.toml → rules.
#![no_main]

use std::path::Path;

use deadheat::parts::format::read_rules_from;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Err(error) = read_rules_from(bytes, Path::new("fuzz.toml")) {
        // Every error says of which file it speaks.
        assert!(error.to_string().starts_with("fuzz.toml"), "{error}");
    }
});
