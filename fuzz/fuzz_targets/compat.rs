//! A filter and two JSON texts → table and dump, in the manner of compare.py.
#![no_main]

use deadheat_compat::{Document, Layout, Report};
use libfuzzer_sys::fuzz_target;

/// Stands between the filter, the first text and the second.
const BORDER: u8 = b'\x1f';

fuzz_target!(|bytes: &[u8]| {
    let mut parts = bytes.splitn(3, |byte| *byte == BORDER);
    let mut part = || parts.next().unwrap_or_default();
    let (filter, old, new) = (part(), part(), part());
    let filter = String::from_utf8_lossy(filter);
    let filter = Some(filter.as_ref()).filter(|filter| !filter.is_empty());
    let results = |text| Document::read(text).ok()?.results(filter).ok();
    let Some(old) = results(old) else {
        return;
    };
    // One text is compared with itself.
    let new = results(new).unwrap_or_else(|| old.clone());
    let (old, new) = match filter {
        None => (old, new.of_second_side()),
        Some(filter) => {
            let name = format!("[{filter}]");
            match (old.family(filter, &name), new.family(filter, &name)) {
                (Ok(old), Ok(new)) => (old, new),
                _ => return,
            }
        }
    };
    if let Ok(report) = Report::of(&old, &new, true) {
        let (table, _) = report.table(&Layout {
            aggregates_only: false,
            test: true,
            alpha: 0.05,
            colour: true,
        });
        assert!(table.ends_with('\n'));
        let dump = report.dump();
        assert!(dump.is_ascii());
        Document::read(dump.as_bytes()).expect("a dump is JSON");
    }
});
