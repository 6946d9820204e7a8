//! The place of one build, who may change it, and the index that says it is finished.
//!
//! ```text
//! KEY.lock         held by all who use the build; by one alone while it is made or removed
//! KEY/tree/        the sources of the commit, unknown to git once they are built
//! KEY/target/      what cargo or Go made of them
//! KEY/index.json   that the build is finished, and where its executables are
//! ```

use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use crate::benches::BenchTarget;
use crate::disk::{remove_folder, unless_gone};
use crate::error::{BuildError, Note};
use crate::key::PathDependency;
use crate::subprocess::Interruption;

/// Between two looks at a lock that somebody else has.
const PAUSE: Duration = Duration::from_millis(20);

/// A build's place, held.
#[derive(Debug)]
pub(crate) struct Slot {
    pub(crate) folder: PathBuf,
    pub(crate) lock: File,
}

impl Slot {
    /// The place of `key` below `home`, once nobody is at work there, and the index of the finished
    /// build in it, which nobody removes while the slot is held. Without an index nobody else makes
    /// the build. Calls `waiting` when that takes time.
    pub(crate) fn open(
        home: &Path,
        key: &str,
        interruption: &Interruption<'_>,
        waiting: &mut dyn FnMut(),
    ) -> Result<(Self, Option<Index>), BuildError> {
        let folder = home.join(key);
        loop {
            let Some(lock) = wait(home, key, File::try_lock_shared, interruption, waiting)? else {
                continue;
            };
            if let Some(index) = Index::read(&folder) {
                return Ok((Self { folder, lock }, Some(index)));
            }
            drop(lock);
            let Some(lock) = wait(home, key, File::try_lock, interruption, waiting)? else {
                continue;
            };
            // Somebody may have made it while we waited.
            if Index::read(&folder).is_none() {
                return Ok((Self { folder, lock }, None));
            }
        }
    }

    /// The place of `key` if nobody uses it.
    pub(crate) fn unused(home: &Path, key: &str) -> Option<Self> {
        let file = lock_file(home, key);
        let lock = open(&file).ok()?;
        lock.try_lock().ok()?;
        same(&lock, &file).then(|| Self {
            folder: home.join(key),
            lock,
        })
    }

    /// Lets others use what is in it, and nobody remove it.
    pub(crate) fn share(&self) -> io::Result<()> {
        self.lock.lock_shared()
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

/// Returns true if the open file is still the one of this name.
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
    let mut has_said_so = false;
    loop {
        match attempt(&lock) {
            Ok(()) => return Ok(same(&lock, &file).then_some(lock)),
            Err(TryLockError::Error(problem)) => return Err(BuildError::at(&file)(problem)),
            Err(TryLockError::WouldBlock) if (interruption.0)() => {
                return Err(BuildError::Interrupted);
            }
            Err(TryLockError::WouldBlock) => {
                if !std::mem::replace(&mut has_said_so, true) {
                    waiting();
                }
                sleep(PAUSE);
            }
        }
    }
}

const SCHEMA: &str = "deadheat.build/2";
const FILE: &str = "index.json";

/// A finished build. It is written last, as a whole or not at all, so what has one is complete.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Index {
    schema: String,
    /// The folder in which it was built: the paths in it lead nowhere else.
    folder: PathBuf,
    pub(crate) commit: String,
    pub(crate) executables: Vec<Executable>,
    /// The bench targets they are of, where cargo built them.
    pub(crate) benches: Vec<BenchTarget>,
    /// Files that later builds may take over, below the folder `target`.
    pub(crate) dependencies: Vec<PathBuf>,
    /// The packages it was made of besides the commit.
    pub(crate) elsewhere: Vec<PathDependency>,
    /// The notes that are as true when it is raced again.
    pub(crate) notes: Vec<Note>,
}

/// An executable of a build.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Executable {
    /// Of the bench target, or of the file.
    pub name: String,
    /// Absolute.
    pub path: PathBuf,
    /// The folder in which it is to run, if that matters.
    #[serde(default)]
    pub directory: Option<PathBuf>,
}

impl Index {
    pub(crate) fn new(folder: &Path, commit: &str) -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            folder: folder.to_owned(),
            commit: commit.to_owned(),
            executables: Vec::new(),
            benches: Vec::new(),
            dependencies: Vec::new(),
            elsewhere: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// That of the build in `folder`, if it is finished and its executables are still there.
    pub(crate) fn read(folder: &Path) -> Option<Self> {
        let text = fs::read(folder.join(FILE)).ok()?;
        let index: Self = serde_json::from_slice(&text).ok()?;
        let is_whole = index.schema == SCHEMA
            && index.folder == folder
            && index.executables.iter().all(|kept| kept.path.is_file());
        is_whole.then_some(index)
    }

    /// Declares the build finished.
    pub(crate) fn write(&self) -> io::Result<()> {
        let new = self.folder.join("index.new");
        let text = serde_json::to_vec_pretty(self)?;
        let written = fs::write(&new, text)
            .and_then(|()| fs::File::open(&new)?.sync_all())
            .and_then(|()| fs::rename(&new, self.folder.join(FILE)));
        if written.is_err() {
            let _ = fs::remove_file(&new);
        }
        written
    }

    /// Returns true if a build now would be made of the same.
    pub(crate) fn is_current(&self) -> bool {
        self.elsewhere.iter().all(PathDependency::is_unchanged)
    }

    /// Lets the build be made again.
    pub(crate) fn forget(&self) -> io::Result<()> {
        unless_gone(fs::remove_file(self.folder.join(FILE)))
    }

    /// Remembers that the build was used just now.
    pub(crate) fn touch(&self) -> io::Result<()> {
        let file = fs::File::options()
            .append(true)
            .open(self.folder.join(FILE))?;
        file.set_modified(SystemTime::now())
    }

    /// The time when the build in `folder` was used last.
    pub(crate) fn used(folder: &Path) -> Option<SystemTime> {
        fs::metadata(folder.join(FILE)).ok()?.modified().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened(home: &Path) -> (Slot, Option<Index>) {
        Slot::open(home, "k", &Interruption(&|| false), &mut || {}).unwrap()
    }

    #[test]
    fn who_makes_a_build_is_alone_and_who_uses_it_is_not() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path();
        let (making, None) = opened(home) else {
            panic!("nobody made it");
        };
        let mut waits = 0;
        let stop = Interruption(&|| true);
        let error = Slot::open(home, "k", &stop, &mut || waits += 1).unwrap_err();
        assert!(matches!(error, BuildError::Interrupted), "{error}");
        assert!(Slot::unused(home, "k").is_none());
        fs::create_dir(&making.folder).unwrap();
        Index::new(&making.folder, "c").write().unwrap();
        making.share().unwrap();
        let (using, Some(_)) = opened(home) else {
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
        let (old, None) = opened(home) else {
            panic!("nobody made it");
        };
        std::thread::scope(|scope| {
            let (sender, waits) = std::sync::mpsc::channel();
            let waiter = scope.spawn(move || {
                let mut waiting = || sender.send(()).unwrap();
                Slot::open(home, "k", &Interruption(&|| false), &mut waiting).unwrap()
            });
            waits.recv().unwrap();
            old.clear().unwrap();
            let (new, None) = waiter.join().unwrap() else {
                panic!("nobody made it");
            };
            assert!(same(&new.lock, &lock_file(home, "k")));
        });
    }

    #[test]
    fn only_a_finished_build_whose_executables_are_there_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        assert_eq!(Index::read(folder), None);
        let mut index = Index::new(folder, "c0ffee");
        let path = folder.join("program");
        index.executables.push(Executable {
            name: "program".to_owned(),
            path: path.clone(),
            directory: None,
        });
        index.write().unwrap();
        assert_eq!(Index::read(folder), None, "the executable is gone");
        fs::write(&path, "").unwrap();
        assert_eq!(Index::read(folder), Some(index.clone()));
        // A copy of the repository has none of its own.
        let copy = tempfile::tempdir().unwrap();
        fs::copy(folder.join(FILE), copy.path().join(FILE)).unwrap();
        assert_eq!(Index::read(copy.path()), None);
        fs::write(
            folder.join(FILE),
            &serde_json::to_vec(&index).unwrap()[..40],
        )
        .unwrap();
        assert_eq!(Index::read(folder), None, "torn");
    }

    #[test]
    fn an_index_that_cannot_be_written_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join(FILE)).unwrap();
        fs::write(folder.path().join(FILE).join("x"), "").unwrap();
        assert!(Index::new(folder.path(), "c").write().is_err());
        assert!(!folder.path().join("index.new").exists());
    }
}
