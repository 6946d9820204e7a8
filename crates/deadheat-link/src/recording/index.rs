//! What is known of files that were kept before, so that nothing is read twice.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// Files below this many bytes are read again: that costs less than to
/// remember them.
const SMALL: u64 = 16 * 1024;

/// A file that changed so shortly before it was read may have changed again
/// without its time telling: a file system's clock ticks slowly.
const TICK: Duration = Duration::from_millis(100);

/// Which files were read, and what the kept ones are like.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Index {
    /// By absolute path: the file as it was when it was read.
    files: BTreeMap<String, Seen>,
    /// By name in the store.
    pub(crate) inputs: BTreeMap<String, Findings>,
}

/// A file as it was when it was read.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Seen {
    stamp: Stamp,
    name: String,
}

/// What tells a file from what it was before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stamp {
    device: u64,
    inode: u64,
    size: u64,
    /// Nanoseconds since 1970, of its contents and of anything about it.
    modified_ns: i128,
    changed_ns: i128,
}

/// What was seen of a kept file while it was aligned. Each entry is what comes
/// after the name of the file: nothing, or a member in parentheses.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Findings {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) link_time_code: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) unsectioned: Vec<String>,
}

impl Stamp {
    pub(crate) fn of(metadata: &Metadata) -> Self {
        let ns = |seconds: i64, ns: i64| i128::from(seconds) * 1_000_000_000 + i128::from(ns);
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            size: metadata.size(),
            modified_ns: ns(metadata.mtime(), metadata.mtime_nsec()),
            changed_ns: ns(metadata.ctime(), metadata.ctime_nsec()),
        }
    }

    /// Whether a change after this moment would show.
    fn is_settled(&self, now: SystemTime) -> bool {
        let now = now.duration_since(UNIX_EPOCH).unwrap_or_default();
        let tick = TICK.as_nanos() as i128;
        self.modified_ns.max(self.changed_ns) + tick < now.as_nanos() as i128
    }
}

impl Index {
    /// The name in the store of `file`, if it is still the one that was read.
    pub(crate) fn name_of(&self, file: &Path, stamp: &Stamp) -> Option<&str> {
        let seen = self.files.get(file.to_str()?)?;
        (seen.stamp == *stamp).then_some(&*seen.name)
    }

    /// Remembers that `file` was read at `now`, after its `stamp` was taken.
    pub(crate) fn remember(&mut self, file: &Path, stamp: Stamp, now: SystemTime, name: &str) {
        if let Some(file) = file.to_str()
            && stamp.size >= SMALL
            && stamp.is_settled(now)
        {
            let name = name.to_owned();
            self.files.insert(file.to_owned(), Seen { stamp, name });
        }
    }

    /// Forgets files that are gone, and all about inputs that are not `kept`.
    pub(crate) fn retain(&mut self, kept: impl Fn(&str) -> bool) {
        self.inputs.retain(|name, _| kept(name));
        self.files
            .retain(|file, seen| kept(&seen.name) && Path::new(file).exists());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_file_is_read_again_once_anything_about_it_changed() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("big.o");
        fs::write(&file, vec![0; 20_000]).unwrap();
        let later = SystemTime::now() + Duration::from_secs(1);
        let stamp = Stamp::of(&fs::metadata(&file).unwrap());
        let mut index = Index::default();
        index.remember(&file, stamp, later, "D.o");
        assert_eq!(index.name_of(&file, &stamp), Some("D.o"));
        // The same size, and the old time put back.
        let old = fs::metadata(&file).unwrap().modified().unwrap();
        fs::remove_file(&file).unwrap();
        std::thread::sleep(Duration::from_millis(20));
        fs::write(&file, vec![1; 20_000]).unwrap();
        fs::File::open(&file).unwrap().set_modified(old).unwrap();
        let stamp = Stamp::of(&fs::metadata(&file).unwrap());
        assert_eq!(index.name_of(&file, &stamp), None);
    }

    #[test]
    fn a_file_that_changed_a_moment_ago_and_a_small_one_are_not_remembered() {
        let folder = tempfile::tempdir().unwrap();
        let (file, small) = (folder.path().join("big.o"), folder.path().join("small.o"));
        fs::write(&file, vec![0; 20_000]).unwrap();
        fs::write(&small, "x").unwrap();
        let mut index = Index::default();
        let modified = fs::metadata(&file).unwrap().modified().unwrap();
        for (file, now) in [(&file, modified), (&small, modified + 10 * TICK)] {
            let stamp = Stamp::of(&fs::metadata(file).unwrap());
            index.remember(file, stamp, now, "D.o");
            assert_eq!(index.name_of(file, &stamp), None);
        }
    }
}
