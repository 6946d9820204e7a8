//! An index of a history with other bytes at some places → its commits, series and races. Reading
//! may fail, and must not panic. Each change of the input is an offset of two bytes, a length and
//! as many bytes.
#![no_main]

use std::fs;
use std::sync::LazyLock;

use deadheat_fuzz::on_disk::on_disk;
use deadheat_history::HistoryIndex;
use libfuzzer_sys::fuzz_target;

/// An index without a race.
static WHOLE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut bytes = Vec::new();
    on_disk("index", b"", |file| {
        drop(HistoryIndex::create(file, || false).expect("an index"));
        bytes = fs::read(file).expect("a file");
    });
    bytes
});

fuzz_target!(|bytes: &[u8]| {
    let mut index = WHOLE.clone();
    let mut rest = bytes;
    while let [low, high, count, after @ ..] = rest {
        let (new, others) = after.split_at(usize::from(*count).min(after.len()));
        let at = usize::from(u16::from_le_bytes([*low, *high])).min(index.len());
        let end = (at + new.len()).min(index.len());
        index[at..end].copy_from_slice(&new[..end - at]);
        rest = others;
    }
    on_disk("index", &index, |file| {
        let Ok(Some(index)) = HistoryIndex::open(file, || false) else {
            return;
        };
        let _ = index.counts();
        let _ = index.has_before(u64::MAX);
        let Ok(commits) = index.commits_beginning("") else {
            return;
        };
        let numbers: Vec<i64> = commits.iter().map(|commit| commit.number).collect();
        for series in index.series_of(&numbers).into_iter().flatten() {
            let _ = index.races_of(series.number, &numbers);
        }
    });
});
