//! Manages deadheat's stored files: chooses and trims the folders of builds; lists and removes
//! everything stored below given folders.

use std::any::Any;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use deadheat_link::{Digest, StoredLinks, TrackedError, refuse_tracked, tracked_files};

use crate::disk::{OURS, entries, is_folder, read, remove_all, top_of};
use crate::error::{BuildError, Note};
use crate::recipe::Recipe;
use crate::repository::{Commit, Repository};
use crate::slot::{Index, Slot};
use crate::tally::Tally;
use crate::tree;

/// The kinds of stored files, which differ in how they can be made again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Builds of revisions; the next race of the commit makes them again.
    Builds,
    /// Neutral links; the next race makes them again.
    NeutralLinks,
    /// Records of links and their objects; the next link of the program makes them again.
    Records,
    /// Run files, which cannot be made again.
    Runs,
    /// Records of bisections, which cannot be made again.
    Searches,
}

/// A stored file or folder that is removed as a whole.
#[derive(Debug)]
pub struct Stored {
    /// The kind of the item.
    pub kind: Kind,
    /// The path of the item.
    pub path: PathBuf,
    /// The bytes that the item takes on disk. A file with several hard links counts for the first
    /// item that contains it.
    pub bytes: u64,
    used: SystemTime,
    place: Place,
}

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

/// The reason why a stored item could not be removed.
#[derive(Debug, thiserror::Error)]
pub enum StorageError {
    /// A race or a build uses the item.
    #[error("{} is in use; nothing was removed", .0.display())]
    InUse(PathBuf),
    /// The operating system reports an error.
    #[error("{}: {problem}", path.display())]
    Refused {
        /// The folder or file.
        path: PathBuf,
        /// The operating system's error.
        problem: io::Error,
    },
}

impl Stored {
    /// Returns true if the item has not been used for longer than `age`.
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

    /// Locks the item against use until the lock is dropped; `None` if the item is in use.
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
            // Fails for folders that are not empty, which must stay.
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

/// Lists everything that deadheat stores below these folders, and in the working trees that contain
/// them. Symbolic links are not followed. Files that git tracks are left out, because they came
/// with a commit. `is_run` recognises the default names of run files, `is_search`
/// the names of records of searches.
///
/// # Errors
///
/// Git cannot list the files that it tracks.
pub fn stored_below(
    folders: &[PathBuf],
    is_run: impl Fn(&str) -> bool,
    is_search: impl Fn(&str) -> bool,
) -> Result<Vec<Stored>, TrackedError> {
    let mut tracked = Vec::new();
    let mut builds = BTreeSet::new();
    let mut found = Vec::new();
    for folder in our_folders(folders) {
        tracked.extend(tracked_files(&folder)?);
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
            if name_of(&path).is_some_and(&is_search) {
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
    let in_cache = tops.filter_map(Home::outside).chain(Home::of_libraries());
    for home in in_cache {
        if tracked_files(&home.folder)?.is_empty() {
            builds.insert(home.resolved().folder);
        }
    }
    for home in builds {
        for path in wanted_entries(&home, |about| about.is_dir()) {
            if let Some(key) = name_of(&path).filter(|name| is_key(name)) {
                let (home, key) = (home.clone(), key.to_owned());
                found.push((Kind::Builds, path, Place::Build { home, key }));
            }
        }
    }
    found.retain(|(_, path, _)| !tracked.iter().any(|file| file.starts_with(path)));
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
        // The times of the sources are those of the check-out, not of the last use.
        if let Place::Build { .. } = stored.place
            && let Some(used) = Index::used(&stored.path)
        {
            stored.used = used;
        }
        stored
    });
    Ok(measured.collect())
}

/// Removes these items, or none of them if any is in use.
///
/// # Errors
///
/// [`StorageError`] for the first item that is in use or cannot be removed.
pub fn remove(all: &[Stored]) -> Result<(), StorageError> {
    let refused = |stored: &Stored| {
        let path = stored.path.clone();
        move |problem| StorageError::Refused { path, problem }
    };
    // All locks are held until everything is removed.
    let mut locks = Vec::new();
    let mut homes = BTreeSet::new();
    for stored in all {
        // Neutral links and records of one folder share a lock.
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

/// Returns the bytes that removing these items frees. Files with other hard links do not count.
pub fn freed_by(all: &[Stored]) -> u64 {
    let mut tally = Tally::default();
    for part in all.iter().flat_map(Stored::parts) {
        tally.add(&part);
    }
    tally.free()
}

/// Returns the folders named `.deadheat` below `folders`, and at the tops of the working trees that
/// contain them.
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

/// Returns the wanted entries of a folder; empty if the folder is a symbolic link.
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

/// Returns the folders in which deadheat builds commits of the working tree that contains `folder`.
/// Their paths have no symbolic links, except below the top of the working tree.
pub fn homes_of_builds(folder: &Path) -> Vec<PathBuf> {
    let Some(top) = top_of(folder).and_then(|top| top.canonicalize().ok()) else {
        return Vec::new();
    };
    // The inner folder is not resolved: a symbolic link there could have come with a commit.
    let outside = Home::outside(&top).map(Home::resolved);
    let homes = [Some(Home::inside(&top)), outside];
    homes
        .into_iter()
        .flatten()
        .map(|home| home.folder)
        .collect()
}

/// Returns true for the key of a build: a shortened commit id, a dash, and 16 hexadecimal digits.
fn is_key(name: &str) -> bool {
    let is_hexadecimal = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
    name.split_once('-').is_some_and(|(commit, digest)| {
        !commit.is_empty() && is_hexadecimal(commit) && digest.len() == 16 && is_hexadecimal(digest)
    })
}

/// Returns the user's folder for caches. It may be in a working tree: some CI systems keep only
/// folders in the checkout for the next run.
fn cache() -> Option<PathBuf> {
    caches().next()
}

/// Returns the folders that may be the user's folder for caches, in the order of preference.
fn caches() -> impl Iterator<Item = PathBuf> {
    let absolute = |name: &str| {
        let folder = PathBuf::from(std::env::var_os(name)?);
        folder.is_absolute().then_some(folder)
    };
    let usual = absolute("HOME").map(|home| home.join(".cache"));
    absolute("XDG_CACHE_HOME").into_iter().chain(usual)
}

fn is_inside(folder: &Path, top: &Path) -> bool {
    folder.starts_with(top) || resolved_so_far(folder).starts_with(resolved_so_far(top))
}

/// Resolves the symbolic links in the part of a path that exists, and returns the whole path.
fn resolved_so_far(path: &Path) -> PathBuf {
    let mut above = path.ancestors();
    let found = above.find_map(|folder| {
        let below = path.strip_prefix(folder).ok()?;
        Some(folder.canonicalize().ok()?.join(below))
    });
    found.unwrap_or_else(|| path.to_owned())
}

const MOST_BUILDS: usize = 16;
/// The largest total size of the builds in a folder, in bytes.
const MOST_BYTES: u64 = 2 << 30;

/// The file in a folder of builds that contains the path of the working tree.
const WORKING_TREE: &str = "working-tree";

/// A folder that contains builds, each under its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Home {
    pub(crate) folder: PathBuf,
}

impl Home {
    /// Returns the folder for builds of commits. It is in the user's cache, outside of the working
    /// tree, because many tools and programs look for files in parent folders, and would find those
    /// of the working tree.
    pub(crate) fn of(
        repository: &Repository<'_>,
        commit: &Commit,
        recipe: &Recipe,
        tell: &mut dyn FnMut(Note),
    ) -> Result<Self, BuildError> {
        let top = &repository.top;
        let outside = Self::outside(top).ok_or(BuildError::NoCacheOutside)?;
        let outside = outside.untracked()?.create(top)?;
        outside.note_the_working_tree(top)?;
        if matches!(recipe, Recipe::Command(_)) {
            // The command may run cargo.
            for path in CARGO_CONFIGURATION.map(PathBuf::from) {
                let file = top.join(&path);
                if file.exists() && tracked_files(&file)?.is_empty() {
                    let revision = commit.name.clone();
                    tell(Note::ConfigurationLeftOut { revision, path });
                }
            }
        }
        Ok(outside)
    }

    /// Returns the folder in which tools without a default output folder (CMake, Go, pip, npm)
    /// build the working tree: `.deadheat/builds` at its top, or a folder in the user's cache if
    /// git tracks files there.
    pub(crate) fn of_working_tree(top: &Path) -> Result<Self, BuildError> {
        let tracked = Self::inside(top).tracked()?;
        let home = match Self::outside(top) {
            Some(outside) if tracked.is_some() => outside.untracked(),
            _ => Self::inside(top).untracked(),
        };
        home?.create(top)
    }

    /// Returns a file in this folder that git tracks, if any. A commit, and so a pull request, can
    /// contain files that look like stored builds, or a symbolic link to a folder of the user's. If
    /// the folder is in a `.deadheat`, every tracked file there counts, except a project's data,
    /// because build tools would read a configuration file there for all builds below it.
    fn tracked(&self) -> Result<Option<PathBuf>, BuildError> {
        let ours = self.folder.parent().filter(|ours| ours.ends_with(OURS));
        if let Some(ours) = ours {
            // The path as git prints it.
            let ours = &resolved_so_far(ours);
            let is_data = |path: &PathBuf| {
                let mut data = DATA.iter();
                data.any(|name| path.starts_with(ours.join(name)))
            };
            let mut tracked = tracked_files(ours)?.into_iter();
            if let Some(path) = tracked.find(|path| !is_data(path)) {
                return Ok(Some(path));
            }
        }
        match refuse_tracked(&self.folder) {
            // The user's cache may be in a working tree as well, and git may know it by another
            // path. It can be the working tree of the project, of a project around it, or of the
            // home folder.
            Ok(()) => Ok(tracked_files(&self.folder)?.into_iter().next()),
            Err(TrackedError::Tracked(path)) => Ok(Some(path)),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns this folder, or an error if git tracks a file in it or a link on the way to it.
    pub(crate) fn untracked(self) -> Result<Self, BuildError> {
        match self.tracked()? {
            None => Ok(self),
            Some(path) => Err(TrackedError::Tracked(path).into()),
        }
    }

    pub(crate) fn resolved(self) -> Self {
        let folder = self.folder.canonicalize();
        folder.map_or(self, |folder| Self { folder })
    }

    pub(crate) fn inside(top: &Path) -> Self {
        Self {
            folder: top.join(".deadheat").join("builds"),
        }
    }

    /// Returns the folder of builds in the user's cache; `None` if all folders for caches are in
    /// the working tree itself.
    pub(crate) fn outside(top: &Path) -> Option<Self> {
        let cache = caches().find(|cache| !is_inside(cache, top))?;
        let Digest(digest) = Digest::of(top.as_os_str().as_bytes());
        let name = top.file_name().unwrap_or_default().to_string_lossy();
        let name = format!("{name}-{}", &digest[..12]);
        Some(Self {
            folder: cache.join("deadheat").join("builds").join(name),
        })
    }

    /// Returns the folder in the user's cache for deadheat's own benchmark libraries, which all
    /// repositories share.
    pub(crate) fn of_libraries() -> Option<Self> {
        let folder = cache()?.join("deadheat").join("libraries");
        Some(Self { folder })
    }

    /// Returns the folder of [`Home::of_libraries`] if it is outside of `top`, the working tree of
    /// the race. Inside, build tools would apply configuration files of the project to the
    /// libraries. The inner `Err` says why such a folder does not exist.
    pub(crate) fn of_libraries_for(top: &Path) -> Result<Result<Self, String>, BuildError> {
        let home = Self::of_libraries().filter(|home| !is_inside(&home.folder, top));
        let Some(home) = home else {
            let why = "deadheat found no cache folder outside of the working tree; set HOME or \
                       XDG_CACHE_HOME";
            return Ok(Err(why.to_owned()));
        };
        Ok(Ok(home.untracked()?.resolved()))
    }

    /// Returns all folders that may contain builds for this working tree, except one that git
    /// tracks.
    pub(crate) fn all(top: &Path) -> Result<Vec<Self>, BuildError> {
        let mut homes = vec![Self::inside(top)];
        homes.extend(Self::outside(top));
        let mut untracked = Vec::new();
        for home in homes {
            if home.tracked()?.is_none() {
                untracked.push(home.resolved());
            }
        }
        Ok(untracked)
    }

    /// Creates the folder, and resolves symbolic links in its path, as cargo does in its messages.
    /// Otherwise packages in this folder would count as packages outside of it.
    ///
    /// A new `.deadheat` in a working tree gets a `.gitignore` that makes git ignore all of it.
    fn create(self, top: &Path) -> Result<Self, BuildError> {
        let ours = top.join(".deadheat");
        let is_new = self.folder.starts_with(&ours) && !ours.exists();
        fs::create_dir_all(&self.folder).map_err(BuildError::at(&self.folder))?;
        if is_new {
            let ignore = ours.join(".gitignore");
            fs::write(&ignore, "*\n").map_err(BuildError::at(&ignore))?;
        }
        Ok(self.resolved())
    }

    /// Records which working tree the builds in this folder of the cache belong to. The first time,
    /// also removes the builds of deleted working trees, because no race will run there again and
    /// remove them.
    fn note_the_working_tree(&self, top: &Path) -> Result<(), BuildError> {
        let note = self.folder.join(WORKING_TREE);
        // A killed process may have left it empty.
        if read(&note).is_ok_and(|top| !top.is_empty()) {
            return Ok(());
        }
        fs::write(&note, top.as_os_str().as_bytes()).map_err(BuildError::at(&note))?;
        for folder in self.folder.parent().into_iter().flat_map(entries) {
            let note = folder.join(WORKING_TREE);
            let is_gone = |top: Vec<u8>| {
                let top = Path::new(OsStr::from_bytes(&top));
                top.is_absolute() && top.try_exists().is_ok_and(|exists| !exists)
            };
            let is_gone = is_folder(&folder) && read(&note).is_ok_and(is_gone);
            if is_gone {
                // Builds that cannot be removed stay.
                let home = Self { folder };
                for key in home.keys() {
                    let _ = Slot::unused(&home.folder, &key).map(Slot::clear);
                }
                if home.keys().is_empty() {
                    let _ = fs::remove_file(&note);
                    let _ = fs::remove_dir(&home.folder);
                }
            }
        }
        Ok(())
    }

    /// Removes the remains of killed processes: entries in git's list of worktrees, and unfinished
    /// builds.
    pub(crate) fn clear_abandoned(&self, repository: &Repository<'_>) -> Result<(), BuildError> {
        for key in self.keys() {
            let is_finished = self.folder.join(&key).join("index.json").exists();
            if !is_finished && let Some(slot) = Slot::unused(&self.folder, &key) {
                tree::remove_worktree(repository, &slot.folder);
                // If this fails, the next run tries again.
                let _ = slot.clear();
            }
        }
        for path in tree::worktrees(repository, &repository.interruption)? {
            if path.ends_with(tree::NAME)
                && let Some(folder) = path.parent()
                && folder.parent() == Some(&*self.folder)
                && let Some(key) = folder.file_name().and_then(|key| key.to_str())
                && self.folder.is_dir()
                && let Some(slot) = Slot::unused(&self.folder, key)
            {
                tree::remove_worktree(repository, &slot.folder);
                if Index::read(&slot.folder).is_none() {
                    let _ = slot.clear();
                }
            }
        }
        Ok(())
    }

    /// Removes the least recently used builds beyond the limits. Builds in use stay.
    pub(crate) fn trim(&self) {
        let mut builds: Vec<_> = self
            .keys()
            .into_iter()
            .filter_map(|key| Some((Index::used(&self.folder.join(&key))?, key)))
            .collect();
        builds.sort();
        // Builds share dependencies by hard links, so one tally counts them all.
        let mut tally = Tally::default();
        let mut bytes = 0;
        for (count, (_, key)) in builds.iter().rev().enumerate() {
            let (size, _) = tally.add(&self.folder.join(key));
            bytes += size;
            let is_too_much = count >= MOST_BUILDS || (count > 3 && bytes > MOST_BYTES);
            if is_too_much && let Some(slot) = Slot::unused(&self.folder, key) {
                bytes -= size;
                let _ = slot.clear();
            }
        }
    }

    /// Returns the keys of all builds, finished or not. Folders with other names are not
    /// deadheat's.
    fn keys(&self) -> Vec<String> {
        let folders = entries(&self.folder).filter(|path| is_folder(path));
        let names = folders.filter_map(|path| Some(path.file_name()?.to_str()?.to_owned()));
        names.filter(|name| is_key(name)).collect()
    }
}

/// Files and folders of a `.deadheat` that a project may commit.
const DATA: [&str; 3] = ["accepted.toml", ".gitignore", "runs"];

/// The files in which cargo looks for configuration, also in all folders above.
const CARGO_CONFIGURATION: [&str; 2] = [".cargo/config.toml", ".cargo/config"];

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

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

    fn key(age: u64) -> String {
        format!("{age:08x}-0123456789abcdef")
    }

    fn build(home: &Home, key: &str, age: u64) {
        let folder = home.folder.join(key);
        fs::create_dir_all(&folder).unwrap();
        Index::new(&folder, key).write().unwrap();
        let file = fs::File::options()
            .append(true)
            .open(folder.join("index.json"));
        let then = SystemTime::now() - Duration::from_secs(age);
        file.unwrap().set_modified(then).unwrap();
    }

    #[test]
    fn trim_removes_the_least_recently_used_builds_not_in_use() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home {
            folder: folder.path().to_owned(),
        };
        for age in 0..MOST_BUILDS as u64 + 4 {
            build(&home, &key(age), age * 100);
        }
        fs::create_dir(home.folder.join("notes")).unwrap();
        let held = Slot::unused(&home.folder, &key(MOST_BUILDS as u64 + 2)).unwrap();
        held.share().unwrap();
        home.trim();
        let mut keys = home.keys();
        keys.sort();
        let newest: Vec<String> = (0..MOST_BUILDS as u64).map(key).collect();
        assert_eq!(keys[..MOST_BUILDS], newest);
        assert_eq!(keys[MOST_BUILDS..], [key(MOST_BUILDS as u64 + 2)]);
        drop(held);
        // A program that another test is starting may hold the lock until it calls exec.
        for _ in 0..500 {
            home.trim();
            if home.keys().len() == MOST_BUILDS {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        assert_eq!(home.keys().len(), MOST_BUILDS);
        assert!(home.folder.join("notes").is_dir());
    }

    #[test]
    fn builds_of_working_trees_that_no_longer_exist_are_removed() {
        let cache = tempfile::tempdir().unwrap();
        let home = |name: &str| Home {
            folder: cache.path().join(name),
        };
        let tree = tempfile::tempdir().unwrap();
        let (gone, there, new) = (home("gone"), home("there"), home("new"));
        for (home, top) in [(&gone, Path::new("/no/such/folder")), (&there, tree.path())] {
            build(home, &key(1), 0);
            home.note_the_working_tree(top).unwrap();
        }
        let unknown = home("unknown");
        build(&unknown, &key(1), 0);
        fs::create_dir(&new.folder).unwrap();
        new.note_the_working_tree(tree.path()).unwrap();
        assert!(!gone.folder.exists());
        assert_eq!(there.keys().len(), 1);
        assert_eq!(unknown.keys().len(), 1);
    }

    #[test]
    fn a_cache_with_files_of_a_commit_is_refused() {
        let top = tempfile::tempdir().unwrap();
        let git = |args: &[&str]| {
            let mut git = std::process::Command::new("git");
            let done = git.args(args).current_dir(top.path()).output();
            done.is_ok_and(|done| done.status.success())
        };
        if !git(&["init", "--quiet"]) {
            return;
        }
        let folder = top.path().join(".cache/deadheat/libraries");
        fs::create_dir_all(folder.join("0-0")).unwrap();
        fs::write(folder.join("0-0/provider.cmake"), "").unwrap();
        // Once by the path that git knows, and once through a symbolic link.
        let link = tempfile::tempdir().unwrap().keep().join("checkout");
        std::os::unix::fs::symlink(top.path(), &link).unwrap();
        let linked = link.join(".cache/deadheat/libraries");
        let homes = || {
            [&folder, &linked].map(|folder| Home {
                folder: folder.clone(),
            })
        };
        assert!(homes().into_iter().all(|home| home.untracked().is_ok()));
        assert!(git(&["add", "--force", "."]));
        assert!(homes().into_iter().all(|home| home.untracked().is_err()));
        assert_eq!(
            resolved_so_far(&link.join("a/b")),
            resolved_so_far(&top.path().join("a/b"))
        );
        fs::remove_dir_all(link.parent().unwrap()).unwrap();
    }

    #[test]
    fn a_new_deadheat_folder_is_ignored_by_git_and_an_existing_one_unchanged() {
        let top = tempfile::tempdir().unwrap();
        let create = || Home::inside(top.path()).create(top.path());
        create().unwrap();
        let ignore = top.path().join(".deadheat/.gitignore");
        assert_eq!(fs::read_to_string(&ignore).unwrap(), "*\n");
        fs::remove_file(&ignore).unwrap();
        create().unwrap();
        assert!(!ignore.exists());
    }
}
