//! The lock on a folder of neutral links: races share it, and whoever clears them away is alone.

use std::fs::{File, TryLockError, metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The lock on a folder `.deadheat/links`, held as long as this lives. It is on the folder
/// itself, which the engine locks as well for as long as a race runs.
#[derive(Debug)]
pub(crate) struct Hold {
    _folder: File,
}

impl Hold {
    /// Lets others hold the folder too, and nobody clear it away, as the engine does.
    #[cfg(test)]
    pub(crate) fn shared(home: &Path) -> io::Result<Option<Self>> {
        Self::of(home, File::try_lock_shared)
    }

    /// Keeps everybody else out; `None` where a race runs.
    pub(crate) fn alone(home: &Path) -> io::Result<Option<Self>> {
        Self::of(home, File::try_lock)
    }

    fn of(home: &Path, attempt: fn(&File) -> Result<(), TryLockError>) -> io::Result<Option<Self>> {
        let folder = File::open(home)?;
        match attempt(&folder) {
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error),
            Ok(()) => {}
        }
        // It may have been removed and made again in between.
        let (ours, there) = (folder.metadata()?, metadata(home)?);
        let is_there = (ours.dev(), ours.ino()) == (there.dev(), there.ino());
        Ok(is_there.then_some(Self { _folder: folder }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn races_hold_a_folder_together_and_keep_out_who_clears_it_away() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path();
        let races = [Hold::shared(home), Hold::shared(home)].map(|hold| hold.unwrap().unwrap());
        assert!(Hold::alone(home).unwrap().is_none());
        drop(races);
        let alone = Hold::alone(home).unwrap().unwrap();
        assert!(Hold::shared(home).unwrap().is_none());
        drop(alone);
        assert!(Hold::shared(home).unwrap().is_some());
        assert!(Hold::shared(&home.join("gone")).is_err());
    }
}
