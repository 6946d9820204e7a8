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
    let results = |text| {
        let in_pieces = Document::read_pieces(text);
        let whole = Document::read(text);
        assert!(in_pieces.is_none() || whole.is_ok());
        let whole = whole.ok()?.results(filter).ok();
        let in_pieces = in_pieces.and_then(|document| document.results(filter).ok());
        if let (Some(whole), Some(in_pieces)) = (&whole, &in_pieces) {
            let dump = |results| {
                let mut dump = String::new();
                let report = Report::of(results, results, true);
                report.map(|report| report.dump(&mut dump)).map(|_| dump)
            };
            assert_eq!(dump(in_pieces), dump(whole));
        }
        whole
    };
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
        let layout = Layout {
            aggregates_only: false,
            test: true,
            alpha: 0.05,
            colour: true,
        };
        let (mut table, mut dump) = (String::new(), String::new());
        report
            .table(&layout, &mut table)
            .expect("texts are written");
        assert!(table.ends_with('\n'));
        report.dump(&mut dump).expect("texts are written");
        assert!(dump.is_ascii());
        Document::read(dump.as_bytes()).expect("a dump is JSON");
    }
});
