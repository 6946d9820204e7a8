//! Jars: archives of Java, which `java` starts.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// The beginning of an archive, of the zip format.
const BEGINNING: &[u8] = b"PK\x03\x04";
/// The beginning of the record at its end, which says where the list of its files is.
const END: &[u8] = b"PK\x05\x06";
/// Bytes of that record, and of the comment behind it at most.
const END_BYTES: usize = 22;
const MOST_COMMENT: u64 = 65_535;
/// The file in which JMH lists the benchmarks of an archive.
const BENCHMARKS: &[u8] = b"META-INF/BenchmarkList";

/// Returns whether a file is a jar.
pub fn is_jar(path: &Path) -> bool {
    let mut beginning = [0; BEGINNING.len()];
    let read = |mut file: File| file.read_exact(&mut beginning);
    path.is_file() && File::open(path).and_then(read).is_ok() && beginning == BEGINNING
}

/// Returns whether a jar holds benchmarks of JMH.
pub(crate) fn holds_benchmarks_of_jmh(path: &Path) -> bool {
    let list = list_of_files(path).unwrap_or_default();
    list.windows(BENCHMARKS.len())
        .any(|window| window == BENCHMARKS)
}

/// The list of the files in an archive, as it stands there.
fn list_of_files(path: &Path) -> Option<Vec<u8>> {
    let mut file = File::open(path).ok()?;
    let length = file.metadata().ok()?.len();
    let from = length.saturating_sub(END_BYTES as u64 + MOST_COMMENT);
    file.seek(SeekFrom::Start(from)).ok()?;
    let mut tail = Vec::new();
    file.read_to_end(&mut tail).ok()?;
    let at = tail.windows(END.len()).rposition(|window| window == END)?;
    let end = tail.get(at..at + END_BYTES)?;
    let number = |at: usize| {
        let bytes: [u8; 4] = end[at..at + 4].try_into().expect("four bytes");
        u64::from(u32::from_le_bytes(bytes))
    };
    let (bytes, from) = (number(12), number(16));
    file.seek(SeekFrom::Start(from)).ok()?;
    let mut list = Vec::new();
    file.take(bytes).read_to_end(&mut list).ok()?;
    Some(list)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An archive as far as it is looked at: this list of files, and a comment at the end.
    fn archive(names: &[u8]) -> Vec<u8> {
        let mut bytes = [BEGINNING, b"the files"].concat();
        let from = bytes.len() as u32;
        bytes.extend(names);
        bytes.extend(END);
        bytes.extend([0; 8]);
        bytes.extend((names.len() as u32).to_le_bytes());
        bytes.extend(from.to_le_bytes());
        bytes.extend([7, 0]);
        bytes.extend(b"comment");
        bytes
    }

    #[test]
    fn a_jar_is_known_by_its_content_and_so_are_its_benchmarks() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("some file");
        let check = |content: &[u8]| {
            std::fs::write(&path, content).unwrap();
            (is_jar(&path), holds_benchmarks_of_jmh(&path))
        };
        let with = archive(b"..META-INF/MANIFEST.MF..META-INF/BenchmarkList..");
        assert_eq!(check(&with), (true, true));
        assert_eq!(check(&archive(b"META-INF/MANIFEST.MF")), (true, false));
        assert_eq!(check(&with[..with.len() - 12]), (true, false));
        assert_eq!(check(b"#!/bin/sh META-INF/BenchmarkList"), (false, false));
        assert_eq!(check(b"PK"), (false, false));
        assert!(!is_jar(folder.path()));
    }
}
