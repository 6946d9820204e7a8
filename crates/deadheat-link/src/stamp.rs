//! Files that are known again without being read.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// A file that changed so shortly before it was read may have changed again without its time
/// telling: a file system's clock ticks slowly.
pub(crate) const TICK: Duration = Duration::from_millis(100);

/// The state of a file, without its contents: another one says that the file may have changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stamp {
    device: u64,
    inode: u64,
    pub(crate) size: u64,
    /// Nanoseconds since 1970, of its contents and of anything about it.
    modified_ns: i128,
    changed_ns: i128,
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

    /// Returns true if a change after this moment would show.
    pub(crate) fn is_settled(&self, now: SystemTime) -> bool {
        let now = now.duration_since(UNIX_EPOCH).unwrap_or_default();
        let tick = TICK.as_nanos() as i128;
        self.modified_ns.max(self.changed_ns) + tick < now.as_nanos() as i128
    }
}
