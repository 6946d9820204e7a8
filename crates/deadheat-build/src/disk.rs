//! Files and folders on the disk: their entries, the room they take, and their removal.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use std::{fs, io};

/// Returns true for a folder, and not for a symbolic link to one.
pub(crate) fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|about| about.is_dir())
}

/// The paths in a folder; none where it cannot be read.
pub(crate) fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path())
}

/// Removes a file, or a folder with all that is in it; one that is gone already is no error.
pub(crate) fn remove_all(path: &Path) -> io::Result<()> {
    if is_folder(path) {
        remove_folder(path)
    } else {
        unless_gone(fs::remove_file(path))
    }
}

/// Removes a folder; one that is gone already is no error.
pub(crate) fn remove_folder(folder: &Path) -> io::Result<()> {
    unless_gone(fs::remove_dir_all(folder))
}

/// Takes a removal as done where there was nothing to remove.
pub(crate) fn unless_gone(removed: io::Result<()>) -> io::Result<()> {
    removed.or_else(|problem| match problem.kind() {
        io::ErrorKind::NotFound => Ok(()),
        _ => Err(problem),
    })
}

/// The bytes that everything below a folder takes on the disk.
pub fn bytes_below(folder: &Path) -> u64 {
    Tally::default().add(folder).0
}

/// Files by what they are on the disk, so that those of several names count once.
#[derive(Debug, Default)]
pub(crate) struct Tally(BTreeMap<(u64, u64), Counted>);

#[derive(Debug)]
struct Counted {
    bytes: u64,
    names: u64,
    met: u64,
}

impl Tally {
    /// Adds all that is below a path: the bytes that are new, and when any of it was changed last.
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
                    // The names of a folder are those in it.
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

    /// The bytes of files all of whose names were met.
    pub(crate) fn free(&self) -> u64 {
        let gone = self.0.values().filter(|file| file.met >= file.names);
        gone.map(|file| file.bytes).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_two_names_counts_once_and_is_freed_with_the_second() {
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
