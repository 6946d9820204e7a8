//! Everything that deadheat keeps below some folders: its size, its users, and its removal.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use deadheat_link::{StoredLinks, Unused};

use crate::home::Home;
use crate::index::Index;
use crate::slot::Slot;

/// The name of deadheat's own folders.
const OURS: &str = ".deadheat";

/// The kinds of what is kept, by what it takes to have it again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Builds of revisions: a race of the same commit makes them again.
    Builds,
    /// Neutral links: a race makes them again.
    NeutralLinks,
    /// Records of links and the objects in them: the next link of the program makes them again.
    Records,
    /// Run files: nobody makes them again.
    Runs,
}

/// One thing that is kept, and goes as a whole.
#[derive(Debug)]
pub struct Stored {
    /// Its kind.
    pub kind: Kind,
    /// Its folder or file.
    pub path: PathBuf,
    /// The bytes it takes on the disk. A file of several names counts where it is met first.
    pub bytes: u64,
    used: SystemTime,
    place: Place,
}

/// The place of something kept, for whoever removes it.
#[derive(Debug)]
enum Place {
    Build {
        home: PathBuf,
        key: String,
    },
    Links {
        links: StoredLinks,
        parts: Vec<PathBuf>,
    },
    Run,
}

/// Why something could not be removed.
#[derive(Debug, thiserror::Error)]
pub enum StorageError {
    /// A race or a build uses it.
    #[error("{} is in use; nothing was removed", .0.display())]
    InUse(PathBuf),
    /// The system refuses.
    #[error("{}: {problem}", path.display())]
    Refused {
        /// The folder or file that was to go.
        path: PathBuf,
        /// Why it did not.
        problem: io::Error,
    },
}

impl Stored {
    /// Returns true when nobody has used it for longer than `age`.
    pub fn is_older_than(&self, age: Duration) -> bool {
        let unused = SystemTime::now().duration_since(self.used);
        unused.is_ok_and(|unused| unused > age)
    }

    fn parts(&self) -> Vec<PathBuf> {
        match &self.place {
            Place::Build { home, key } => vec![home.join(key), home.join(format!("{key}.lock"))],
            Place::Links { parts, .. } => parts.clone(),
            Place::Run => vec![self.path.clone()],
        }
    }

    /// `None` while somebody uses it.
    fn unused(&self) -> io::Result<Option<Taken>> {
        match &self.place {
            Place::Build { home, key } => Ok(Slot::unused(home, key).map(Taken::Build)),
            Place::Links { links, .. } => Ok(links.unused()?.map(Taken::Links)),
            Place::Run => {
                let file = File::open(&self.path)?;
                match file.try_lock() {
                    Ok(()) => Ok(Some(Taken::Run(file))),
                    Err(TryLockError::WouldBlock) => Ok(None),
                    Err(TryLockError::Error(problem)) => Err(problem),
                }
            }
        }
    }

    /// Gives back what is still held.
    fn remove(&self, taken: Taken) -> io::Result<Option<Taken>> {
        if let Taken::Build(slot) = taken {
            slot.clear()?;
            return Ok(None);
        }
        for part in self.parts() {
            let removed = if is_folder(&part) {
                fs::remove_dir_all(&part)
            } else {
                fs::remove_file(&part)
            };
            // Somebody else may have been faster.
            removed.or_else(|problem| match problem.kind() {
                io::ErrorKind::NotFound => Ok(()),
                _ => Err(problem),
            })?;
        }
        if let Place::Links { links, .. } = &self.place {
            // Those that hold anything else stay.
            for folder in ["inputs", "placements", ""] {
                let _ = fs::remove_dir(links.home().join(folder));
            }
        }
        Ok(Some(taken))
    }
}

/// The lock that keeps others away until it is gone.
#[derive(Debug)]
#[expect(
    dead_code,
    reason = "the locks are held, and nothing else is done with them"
)]
enum Taken {
    Build(Slot),
    Links(Unused),
    Run(File),
    /// It goes with another that has the lock of both.
    WithAnother,
}

/// Everything that deadheat keeps below these folders, and of the working trees they are in.
/// Symbolic links are not followed. `is_run` knows the names of run files that nobody chose.
pub fn stored_below(folders: &[PathBuf], is_run: impl Fn(&str) -> bool) -> Vec<Stored> {
    let mut builds = BTreeSet::new();
    let mut found = Vec::new();
    for folder in our_folders(folders) {
        builds.insert(folder.join("builds"));
        let home = folder.join("links");
        if is_folder(&home) {
            let links = StoredLinks::at(home.clone());
            for (kind, parts) in [
                (Kind::NeutralLinks, links.neutral_links()),
                (Kind::Records, links.records()),
            ] {
                let links = links.clone();
                if !parts.is_empty() {
                    found.push((kind, home.clone(), Place::Links { links, parts }));
                }
            }
        }
        for path in entries(&folder.join("runs"), |about| about.is_file()) {
            if name_of(&path).is_some_and(&is_run) {
                found.push((Kind::Runs, path, Place::Run));
            }
        }
    }
    let tops = folders.iter().filter_map(|folder| top_of(folder));
    builds.extend(tops.filter_map(Home::outside).map(|home| home.folder));
    for home in builds {
        for path in entries(&home, |about| about.is_dir()) {
            if let Some(key) = name_of(&path).filter(|name| is_key(name)) {
                let (home, key) = (home.clone(), key.to_owned());
                found.push((Kind::Builds, path, Place::Build { home, key }));
            }
        }
    }
    found.sort_by(|one, other| (one.0, &one.1).cmp(&(other.0, &other.1)));
    let mut tally = Tally::default();
    let measured = found.into_iter().map(|(kind, path, place)| {
        let mut stored = Stored {
            kind,
            path,
            bytes: 0,
            used: SystemTime::UNIX_EPOCH,
            place,
        };
        for part in stored.parts() {
            let (bytes, newest) = tally.add(&part);
            stored.bytes += bytes;
            stored.used = stored.used.max(newest);
        }
        // Sources have the times of their check-out, and tell nothing of races.
        if let Place::Build { .. } = stored.place
            && let Some(used) = Index::used(&stored.path)
        {
            stored.used = used;
        }
        stored
    });
    measured.collect()
}

/// Removes what is named, all or nothing where somebody uses any of it.
///
/// # Errors
///
/// [`StorageError`] with the first that is in use, or that cannot be removed.
pub fn remove(all: &[Stored]) -> Result<(), StorageError> {
    let refused = |stored: &Stored| {
        let path = stored.path.clone();
        move |problem| StorageError::Refused { path, problem }
    };
    let mut taken: Vec<Taken> = Vec::new();
    let mut homes = BTreeSet::new();
    for stored in all {
        // Neutral links and records of one folder have one lock.
        if let Place::Links { links, .. } = &stored.place
            && !homes.insert(links.home())
        {
            taken.push(Taken::WithAnother);
            continue;
        }
        match stored.unused().map_err(refused(stored))? {
            Some(one) => taken.push(one),
            None => return Err(StorageError::InUse(stored.path.clone())),
        }
    }
    // No lock of a folder is given back while anything in it is still to go.
    let mut held = Vec::new();
    for (stored, taken) in all.iter().zip(taken) {
        held.extend(stored.remove(taken).map_err(refused(stored))?);
    }
    Ok(())
}

/// The bytes that become free when these go: none of files that have names elsewhere.
pub fn freed_by(all: &[Stored]) -> u64 {
    let mut tally = Tally::default();
    for part in all.iter().flat_map(Stored::parts) {
        tally.add(&part);
    }
    tally.free()
}

/// The bytes that everything below a folder takes on the disk.
pub fn bytes_below(folder: &Path) -> u64 {
    Tally::default().add(folder).0
}

/// Folders `.deadheat` below these, and of the working trees they are in.
fn our_folders(folders: &[PathBuf]) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    let mut waiting: Vec<PathBuf> = folders
        .iter()
        .map(|folder| folder.canonicalize().unwrap_or_else(|_| folder.clone()))
        .collect();
    let tops = waiting.iter().filter_map(|folder| top_of(folder));
    found.extend(
        tops.map(|top| top.join(OURS))
            .filter(|ours| is_folder(ours)),
    );
    while let Some(folder) = waiting.pop() {
        if name_of(&folder) == Some(OURS) {
            found.insert(folder);
        } else if name_of(&folder) != Some(".git") {
            waiting.extend(entries(&folder, |about| about.is_dir()));
        }
    }
    found
}

/// Returns true for a folder, and not for a symbolic link to one.
fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|about| about.is_dir())
}

/// The entries of a folder; none where that is a symbolic link.
fn entries(folder: &Path, wanted: impl Fn(&fs::Metadata) -> bool) -> Vec<PathBuf> {
    if !is_folder(folder) {
        return Vec::new();
    }
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.metadata().is_ok_and(|about| wanted(&about)))
        .map(|entry| entry.path())
        .collect()
}

fn name_of(path: &Path) -> Option<&str> {
    path.file_name()?.to_str()
}

/// The top of the working tree of git that a folder is in.
pub fn top_of(folder: &Path) -> Option<&Path> {
    folder
        .ancestors()
        .find(|folder| folder.join(".git").exists())
}

/// Returns true for the name of a build: a commit, shortened, and 16 digits.
fn is_key(name: &str) -> bool {
    let is_hexadecimal = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
    name.split_once('-').is_some_and(|(commit, digest)| {
        !commit.is_empty() && is_hexadecimal(commit) && digest.len() == 16 && is_hexadecimal(digest)
    })
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
                let entries = fs::read_dir(&path).into_iter().flatten().flatten();
                waiting.extend(entries.map(|entry| entry.path()));
            }
        }
        (bytes, newest)
    }

    /// The bytes of files all of whose names were met.
    fn free(&self) -> u64 {
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

    #[test]
    fn builds_are_known_by_their_names() {
        assert!(is_key("bce8edc0-bbf60cdb6da73f20"));
        for name in [
            "notes",
            "bce8edc0",
            "bce8edc0-bbf6",
            "-bbf60cdb6da73f20",
            "x-bbf60cdb6da73f20",
        ] {
            assert!(!is_key(name), "{name}");
        }
    }
}
