//! The folder of one build, its lock, and the index that marks the build as finished.
//!
//! ```text
//! KEY.lock         shared while the build is used; exclusive while it is made or removed
//! KEY/tree/        the sources of the commit, removed from git's list of worktrees after the build
//! KEY/target/      the output of cargo or Go
//! KEY/index.json   marks the build as finished, and lists its executables
//! ```

use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, SystemTime};

use deadheat_link::open_lock;
use serde::{Deserialize, Serialize};

use crate::benches::BenchTarget;
use crate::disk::{remove_folder, unless_gone};
use crate::error::{BuildError, Note};
use crate::key::PathDependency;
use crate::subprocess::Interruption;

const PAUSE: Duration = Duration::from_millis(20);

#[derive(Debug)]
pub(crate) struct Slot {
    pub(crate) folder: PathBuf,
    pub(crate) lock: File,
}

impl Slot {
    /// Locks the folder of the build `key` below `home`, and waits while another process holds the
    /// lock. If an index is returned, the build is finished and the lock is shared, so that no
    /// process removes the build. Otherwise the lock is exclusive, and the caller must make the
    /// build. Calls `waiting` when it starts to wait.
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
            // Another process may have made the build in the meantime.
            if Index::read(&folder).is_none() {
                return Ok((Self { folder, lock }, None));
            }
        }
    }

    /// Locks the folder of `key` exclusively; `None` if another process uses it.
    pub(crate) fn unused(home: &Path, key: &str) -> Option<Self> {
        let file = lock_file(home, key);
        let lock = open_lock(&file).ok()?;
        lock.try_lock().ok()?;
        same(&lock, &file).then(|| Self {
            folder: home.join(key),
            lock,
        })
    }

    /// Turns the lock into a shared one: other processes may use the build, but not remove it.
    pub(crate) fn share(&self) -> io::Result<()> {
        self.lock.lock_shared()
    }

    pub(crate) fn clear(self) -> io::Result<()> {
        remove_folder(&self.folder)?;
        let mut name = self.folder.into_os_string();
        name.push(".lock");
        fs::remove_file(PathBuf::from(name))?;
        // Unlocked explicitly, because a surviving child process may have inherited the lock.
        self.lock.unlock()
    }
}

fn lock_file(home: &Path, key: &str) -> PathBuf {
    home.join(format!("{key}.lock"))
}

/// Returns true if the path still refers to the open file.
fn same(opened: &File, file: &Path) -> bool {
    match (opened.metadata(), fs::metadata(file)) {
        (Ok(ours), Ok(theirs)) => (ours.dev(), ours.ino()) == (theirs.dev(), theirs.ino()),
        _ => false,
    }
}

/// Waits for the lock; `None` if the lock file was removed in the meantime.
fn wait(
    home: &Path,
    key: &str,
    attempt: fn(&File) -> Result<(), TryLockError>,
    interruption: &Interruption<'_>,
    waiting: &mut dyn FnMut(),
) -> Result<Option<File>, BuildError> {
    let file = lock_file(home, key);
    let lock = open_lock(&file).map_err(BuildError::at(&file))?;
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

const SCHEMA: &str = "deadheat.build/3";
const FILE: &str = "index.json";

/// The description of a finished build. It is written last and atomically, so a build with an index
/// is complete.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Index {
    schema: String,
    /// The folder of the build. The index is not valid in another folder, because its paths are
    /// absolute.
    folder: PathBuf,
    pub(crate) commit: String,
    pub(crate) executables: Vec<Executable>,
    pub(crate) benches: Vec<BenchTarget>,
    /// Files below the folder `target` that later builds may reuse.
    pub(crate) dependencies: Vec<PathBuf>,
    /// The packages outside of the repository that the build used.
    pub(crate) elsewhere: Vec<PathDependency>,
    /// The notes to repeat when the build is reused.
    pub(crate) notes: Vec<Note>,
}

/// An executable of a build.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Executable {
    /// The name of the bench target, the CMake target, the test package or the file.
    pub name: String,
    /// The absolute path of the file.
    pub path: PathBuf,
    /// The working directory in which the executable runs; `None` means that of the user.
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

    /// Reads the index of the build in `folder`, if the build is finished and its executables still
    /// exist.
    pub(crate) fn read(folder: &Path) -> Option<Self> {
        let text = fs::read(folder.join(FILE)).ok()?;
        let index: Self = serde_json::from_slice(&text).ok()?;
        let is_whole = index.schema == SCHEMA
            && index.folder == folder
            && index.executables.iter().all(|kept| kept.path.is_file());
        is_whole.then_some(index)
    }

    pub(crate) fn write(&self) -> io::Result<()> {
        let new = self.folder.join("index.new");
        let text = serde_json::to_vec_pretty(self)?;
        // A killed process may have left a file here, and a symbolic link must not be followed.
        unless_gone(fs::remove_file(&new))?;
        let written = fs::File::create_new(&new)
            .and_then(|mut file| io::Write::write_all(&mut file, &text))
            .and_then(|()| fs::File::open(&new)?.sync_all())
            .and_then(|()| fs::rename(&new, self.folder.join(FILE)));
        if written.is_err() {
            let _ = fs::remove_file(&new);
        }
        written
    }

    /// Returns true if the packages outside of the repository have not changed.
    pub(crate) fn is_current(&self) -> bool {
        self.elsewhere.iter().all(PathDependency::is_unchanged)
    }

    /// Marks the build as unfinished, so that it is made again.
    pub(crate) fn forget(&self) -> io::Result<()> {
        unless_gone(fs::remove_file(self.folder.join(FILE)))
    }

    pub(crate) fn touch(&self) -> io::Result<()> {
        let file = fs::File::options()
            .append(true)
            .open(self.folder.join(FILE))?;
        file.set_modified(SystemTime::now())
    }

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
    fn making_a_build_locks_exclusively_and_using_it_shares() {
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
        // Another test may be starting a process, which inherits the lock until it runs its
        // program.
        let unused = (0..500).find_map(|_| {
            sleep(PAUSE);
            Slot::unused(home, "k")
        });
        unused.unwrap().clear().unwrap();
        assert_eq!(fs::read_dir(home).unwrap().count(), 0);
    }

    #[test]
    fn waiting_for_a_removed_slot_opens_a_new_one() {
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
        // A copy of the repository does not contain a valid build.
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
    fn a_failed_write_of_an_index_leaves_no_files() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join(FILE)).unwrap();
        fs::write(folder.path().join(FILE).join("x"), "").unwrap();
        assert!(Index::new(folder.path(), "c").write().is_err());
        assert!(!folder.path().join("index.new").exists());
    }
}
