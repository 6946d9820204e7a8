//! Lines of the worker protocol, in both directions.
#![no_main]

use deadheat::parts::engine::message_survives;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| assert!(message_survives(bytes)));
