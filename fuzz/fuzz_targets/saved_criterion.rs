//! The files of a set of criterion. The first byte says which of them the rest
//! is.
#![no_main]

use std::path::Path;

use deadheat::format::read_criterion_set;
use deadheat_fuzz::check_benchmark;
use libfuzzer_sys::fuzz_target;

const ID: &[u8] = br#"{"full_id":"g/f/1","throughput":{"Bytes":1024}}"#;

fuzz_target!(|bytes: &[u8]| {
    let Some((which, text)) = bytes.split_first() else {
        return;
    };
    let samples: &[u8] = br#"{"iters":[1,2],"times":[3,4]}"#;
    let folder = Path::new("g/f/1/new");
    let read = match *which {
        b'b' => read_criterion_set(folder, text, Some(samples), None),
        b'e' => read_criterion_set(folder, ID, None, Some(text)),
        _ => read_criterion_set(folder, ID, Some(text), None),
    };
    if let Ok(benchmark) = read {
        check_benchmark(&benchmark);
    }
});
