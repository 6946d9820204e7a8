//! A pack → files below one folder. The input is the archive before compression, or after.
#![no_main]

use std::fs;
use std::path::Path;

use deadheat::parts::format::unpack;
use deadheat_fuzz::on_disk::on_disk;
use libfuzzer_sys::fuzz_target;

/// The largest content of a block of a zstd frame that is stored as it is.
const BLOCK: usize = 1 << 16;

fuzz_target!(|bytes: &[u8]| {
    let Some((compressed, bytes)) = bytes.split_first() else {
        return;
    };
    let pack = match compressed {
        b'z' => bytes.to_vec(),
        _ => stored(bytes),
    };
    on_disk("pack", &pack, |file| {
        let folder = file.with_file_name("unpacked");
        fs::create_dir(&folder).expect("a folder");
        let read = unpack(file, &folder);
        if let Ok(plan) = &read {
            assert!(plan.starts_with(&folder) && plan.is_file());
        }
        only_plain(&folder);
        // Nothing lies next to the folder but the pack.
        let entries = fs::read_dir(file.parent().expect("a folder"));
        assert_eq!(entries.expect("a folder").count(), 2);
    });
});

/// A zstd frame that stores the bytes in raw blocks.
fn stored(bytes: &[u8]) -> Vec<u8> {
    // No checksum, no size, a window of 8 MiB.
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x68];
    let mut blocks = bytes.chunks(BLOCK).peekable();
    while let Some(block) = blocks.next() {
        let last = u32::from(blocks.peek().is_none());
        let header = (block.len() as u32) << 3 | last;
        frame.extend(&header.to_le_bytes()[..3]);
        frame.extend(block);
    }
    frame
}

fn only_plain(folder: &Path) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let entry = entry.expect("an entry");
        let kind = entry.file_type().expect("a kind");
        assert!(kind.is_dir() || kind.is_file(), "{entry:?}");
        if kind.is_dir() {
            only_plain(&entry.path());
        }
    }
}
