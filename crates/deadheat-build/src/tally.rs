//! Measures files and folders.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::SystemTime;

use crate::disk::entries;

/// Returns the bytes on disk of everything below a folder.
pub fn bytes_below(folder: &Path) -> u64 {
    Tally::default().add(folder).0
}

/// Counts files by their identity on disk, so that a file with several hard links counts once.
#[derive(Debug, Default)]
pub(crate) struct Tally(BTreeMap<(u64, u64), Counted>);

#[derive(Debug)]
struct Counted {
    bytes: u64,
    names: u64,
    met: u64,
}

impl Tally {
    /// Adds everything below a path. Returns the bytes of files that are new to the tally, and the
    /// time of the last change.
    pub(crate) fn add(&mut self, path: &Path) -> (u64, SystemTime) {
        let (mut bytes, mut newest) = (0, SystemTime::UNIX_EPOCH);
        let mut waiting = vec![path.to_owned()];
        while let Some(path) = waiting.pop() {
            let Ok(about) = fs::symlink_metadata(&path) else {
                continue;
            };
            newest = newest.max(about.modified().unwrap_or(newest));
            let counted = self.0.entry((about.dev(), about.ino())).or_insert_with(|| {
                let size = 512 * about.blocks();
                bytes += size;
                Counted {
                    bytes: size,
                    // The link count of a folder counts its subfolders.
                    names: if about.is_dir() { 1 } else { about.nlink() },
                    met: 0,
                }
            });
            counted.met += 1;
            if about.is_dir() {
                waiting.extend(entries(&path));
            }
        }
        (bytes, newest)
    }

    /// Returns the bytes that would become free if everything in the tally were removed. A file
    /// counts only if all its hard links were added.
    pub(crate) fn free(&self) -> u64 {
        let gone = self.0.values().filter(|file| file.met >= file.names);
        gone.map(|file| file.bytes).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hard_linked_file_counts_once_and_is_free_when_all_links_go() {
        let folder = tempfile::tempdir().unwrap();
        let [one, two] = ["one", "two"].map(|name| folder.path().join(name));
        fs::create_dir_all(&one).unwrap();
        fs::create_dir_all(&two).unwrap();
        fs::write(one.join("a"), vec![1; 100_000]).unwrap();
        let file = bytes_below(&one.join("a"));
        assert!((100_000..120_000).contains(&file), "{file}");
        fs::hard_link(one.join("a"), two.join("b")).unwrap();
        let mut tally = Tally::default();
        let first = tally.add(&one).0;
        assert!(first >= file && tally.free() < file);
        assert!(tally.add(&two).0 < file);
        assert!(tally.free() >= file);
    }
}
