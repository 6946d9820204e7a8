//! The place of one build, and who may change it.
//!
//! ```text
//! KEY.lock         held by all who use the build; by one alone while it is made or removed
//! KEY/tree/        the sources of the commit, unknown to git once they are built
//! KEY/target/      what cargo made of them
//! KEY/index.json   that the build is finished, and where its executables are
//! ```

use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use crate::child::Interruption;
use crate::error::BuildError;
use crate::index::Index;

/// Between two looks at a lock that somebody else has.
const PAUSE: Duration = Duration::from_millis(20);

/// A build's place, held.
#[derive(Debug)]
pub(crate) struct Slot {
    pub(crate) folder: PathBuf,
    pub(crate) lock: File,
}

/// What is in a slot.
#[derive(Debug)]
pub(crate) enum Found {
    /// A finished build, held so that nobody removes it.
    Finished(Slot, Index),
    /// Nothing that could be used. Nobody else is making it.
    Nothing(Slot),
}

impl Slot {
    /// The place of `key` below `home`, once nobody is at work there. Says so
    /// through `waiting` when that takes time.
    pub(crate) fn open(
        home: &Path,
        key: &str,
        interruption: &Interruption<'_>,
        waiting: &mut dyn FnMut(),
    ) -> Result<Found, BuildError> {
        let folder = home.join(key);
        loop {
            let Some(lock) = wait(home, key, File::try_lock_shared, interruption, waiting)? else {
                continue;
            };
            let slot = Self {
                folder: folder.clone(),
                lock,
            };
            if let Some(index) = Index::read(&folder) {
                return Ok(Found::Finished(slot, index));
            }
            drop(slot);
            let Some(lock) = wait(home, key, File::try_lock, interruption, waiting)? else {
                continue;
            };
            // Somebody may have made it while we waited.
            if Index::read(&folder).is_none() {
                return Ok(Found::Nothing(Self { folder, lock }));
            }
        }
    }

    /// The place of `key` if nobody uses it.
    pub(crate) fn unused(home: &Path, key: &str) -> Option<Self> {
        let lock = open(&lock_file(home, key)).ok()?;
        lock.try_lock().ok()?;
        let slot = Self {
            folder: home.join(key),
            lock,
        };
        slot.is_at(&lock_file(home, key)).then_some(slot)
    }

    /// Lets others use what is in it, and nobody remove it.
    pub(crate) fn share(&self) -> io::Result<()> {
        self.lock.lock_shared()
    }

    fn is_at(&self, file: &Path) -> bool {
        same(&self.lock, file)
    }

    /// Removes all that is in it, and the place itself.
    pub(crate) fn clear(self) -> io::Result<()> {
        remove_folder(&self.folder)?;
        let mut name = self.folder.into_os_string();
        name.push(".lock");
        fs::remove_file(PathBuf::from(name))?;
        // Also for those that were started with it and live on.
        self.lock.unlock()
    }
}

/// Removes a folder; one that is gone already is no error.
pub(crate) fn remove_folder(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(problem) if problem.kind() != io::ErrorKind::NotFound => Err(problem),
        _ => Ok(()),
    }
}

fn lock_file(home: &Path, key: &str) -> PathBuf {
    home.join(format!("{key}.lock"))
}

fn open(file: &Path) -> io::Result<File> {
    File::options()
        .create(true)
        .truncate(false)
        .read(true)
        .write(true)
        .open(file)
}

/// Whether the open file is still the one of this name.
fn same(opened: &File, file: &Path) -> bool {
    match (opened.metadata(), fs::metadata(file)) {
        (Ok(ours), Ok(theirs)) => (ours.dev(), ours.ino()) == (theirs.dev(), theirs.ino()),
        _ => false,
    }
}

/// The lock; `None` when it was removed meanwhile.
fn wait(
    home: &Path,
    key: &str,
    attempt: fn(&File) -> Result<(), TryLockError>,
    interruption: &Interruption<'_>,
    waiting: &mut dyn FnMut(),
) -> Result<Option<File>, BuildError> {
    let file = lock_file(home, key);
    let lock = open(&file).map_err(BuildError::at(&file))?;
    let mut told = false;
    loop {
        match attempt(&lock) {
            Ok(()) => return Ok(same(&lock, &file).then_some(lock)),
            Err(TryLockError::Error(problem)) => return Err(BuildError::at(&file)(problem)),
            Err(TryLockError::WouldBlock) if (interruption.0)() => {
                return Err(BuildError::Interrupted);
            }
            Err(TryLockError::WouldBlock) => {
                if !std::mem::replace(&mut told, true) {
                    waiting();
                }
                sleep(PAUSE);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened(home: &Path) -> Found {
        Slot::open(home, "k", &Interruption(&|| false), &mut || {}).unwrap()
    }

    #[test]
    fn who_makes_a_build_is_alone_and_who_uses_it_is_not() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path();
        let Found::Nothing(making) = opened(home) else {
            panic!("nobody made it");
        };
        let mut told = 0;
        let stop = Interruption(&|| true);
        let error = Slot::open(home, "k", &stop, &mut || told += 1).unwrap_err();
        assert!(matches!(error, BuildError::Interrupted), "{error}");
        assert!(Slot::unused(home, "k").is_none());
        fs::create_dir(&making.folder).unwrap();
        Index::new(&making.folder, "c").write().unwrap();
        making.share().unwrap();
        let Found::Finished(using, _) = opened(home) else {
            panic!("it is finished");
        };
        drop(making);
        assert!(Slot::unused(home, "k").is_none());
        drop(using);
        Slot::unused(home, "k").unwrap().clear().unwrap();
        assert_eq!(fs::read_dir(home).unwrap().count(), 0);
    }

    #[test]
    fn who_waits_for_a_place_that_is_removed_gets_a_new_one() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path();
        let Found::Nothing(old) = opened(home) else {
            panic!("nobody made it");
        };
        std::thread::scope(|scope| {
            let (tell, told) = std::sync::mpsc::channel();
            let waiter = scope.spawn(move || {
                let mut waiting = || tell.send(()).unwrap();
                Slot::open(home, "k", &Interruption(&|| false), &mut waiting).unwrap()
            });
            told.recv().unwrap();
            old.clear().unwrap();
            let Found::Nothing(new) = waiter.join().unwrap() else {
                panic!("nobody made it");
            };
            assert!(new.is_at(&lock_file(home, "k")));
        });
    }
}
