//! What callgrind writes → a profile, set beside itself.
#![no_main]

use deadheat_explain::{paired_functions, paired_stacks, read_callgrind};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    if let Ok(profile) = read_callgrind("dump", &text) {
        let sides = [&profile, &profile];
        assert!(
            paired_functions(sides)
                .iter()
                .all(|one| one.difference() == 0)
        );
        for stack in paired_stacks(sides) {
            assert_eq!(stack.counts[0], stack.counts[1]);
        }
    }
});
