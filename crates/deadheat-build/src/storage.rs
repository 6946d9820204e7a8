//! Everything that deadheat keeps below some folders: its size, its users, and its removal.

use std::any::Any;
use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use deadheat_link::StoredLinks;

use crate::disk::{Tally, entries, is_folder, remove_all};
use crate::home::Home;
use crate::slot::{Index, Slot};

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
    /// Records of searches for a commit: nobody makes them again either.
    Searches,
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

/// The reason why something could not be removed.
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
        /// The reason why it did not.
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

    /// The lock that keeps others away until it is dropped; `None` while somebody uses it.
    fn lock(&self) -> io::Result<Option<Box<dyn Any>>> {
        Ok(match &self.place {
            Place::Build { home, key } => Slot::unused(home, key).map(boxed),
            Place::Links { links, .. } => links.unused()?.map(boxed),
            Place::Run => {
                let file = File::open(&self.path)?;
                match file.try_lock() {
                    Err(TryLockError::WouldBlock) => None,
                    locked => Some(boxed(locked.map(|()| file)?)),
                }
            }
        })
    }

    fn remove(&self) -> io::Result<()> {
        for part in self.parts() {
            remove_all(&part)?;
        }
        if let Place::Links { links, .. } = &self.place {
            // Those that hold anything else stay.
            for folder in ["inputs", "placements", ""] {
                let _ = fs::remove_dir(links.home().join(folder));
            }
        }
        Ok(())
    }
}

fn boxed<T: Any>(lock: T) -> Box<dyn Any> {
    Box::new(lock)
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
            let neutral_links = (Kind::NeutralLinks, links.neutral_links());
            for (kind, parts) in [neutral_links, (Kind::Records, links.records())] {
                let links = links.clone();
                if !parts.is_empty() {
                    found.push((kind, home.clone(), Place::Links { links, parts }));
                }
            }
        }
        for path in wanted_entries(&folder.join("bisect"), |about| about.is_file()) {
            if name_of(&path).is_some_and(|name| name.contains(".jsonl")) {
                found.push((Kind::Searches, path, Place::Run));
            }
        }
        for path in wanted_entries(&folder.join("runs"), |about| about.is_file()) {
            if name_of(&path).is_some_and(&is_run) {
                found.push((Kind::Runs, path, Place::Run));
            }
        }
    }
    let tops = folders.iter().filter_map(|folder| top_of(folder));
    builds.extend(tops.filter_map(Home::outside).map(|home| home.folder));
    for home in builds {
        for path in wanted_entries(&home, |about| about.is_dir()) {
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
    // No lock is given back while anything is still to go.
    let mut locks = Vec::new();
    let mut homes = BTreeSet::new();
    for stored in all {
        // Neutral links and records of one folder have one lock.
        if let Place::Links { links, .. } = &stored.place
            && !homes.insert(links.home())
        {
            continue;
        }
        match stored.lock().map_err(refused(stored))? {
            Some(lock) => locks.push(lock),
            None => return Err(StorageError::InUse(stored.path.clone())),
        }
    }
    all.iter()
        .try_for_each(|stored| stored.remove().map_err(refused(stored)))
}

/// The bytes that become free when these go: none of files that have names elsewhere.
pub fn freed_by(all: &[Stored]) -> u64 {
    let mut tally = Tally::default();
    for part in all.iter().flat_map(Stored::parts) {
        tally.add(&part);
    }
    tally.free()
}

/// Folders `.deadheat` below these, and of the working trees they are in.
fn our_folders(folders: &[PathBuf]) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    let resolved = |folder: &PathBuf| folder.canonicalize().unwrap_or_else(|_| folder.clone());
    let mut waiting: Vec<PathBuf> = folders.iter().map(resolved).collect();
    let tops = waiting.iter().filter_map(|folder| top_of(folder));
    let of_tops = tops.map(|top| top.join(OURS));
    found.extend(of_tops.filter(|ours| is_folder(ours)));
    while let Some(folder) = waiting.pop() {
        if name_of(&folder) == Some(OURS) {
            found.insert(folder);
        } else if name_of(&folder) != Some(".git") {
            waiting.extend(wanted_entries(&folder, |about| about.is_dir()));
        }
    }
    found
}

/// The entries of a folder; none where that is a symbolic link.
fn wanted_entries(
    folder: &Path,
    is_wanted: impl Fn(&fs::Metadata) -> bool,
) -> impl Iterator<Item = PathBuf> {
    let is_wanted = move |path: &PathBuf| fs::symlink_metadata(path).is_ok_and(|it| is_wanted(&it));
    let entries = is_folder(folder).then(|| entries(folder));
    entries.into_iter().flatten().filter(is_wanted)
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

#[cfg(test)]
mod tests {
    use super::*;

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
