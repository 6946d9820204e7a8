//! The folders in which builds of commits are kept, and for how long.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use deadheat_link::Digest;

use crate::disk::{Tally, entries};
use crate::error::BuildError;
use crate::recipe::Recipe;
use crate::repository::{Commit, Repository};
use crate::slot::{Index, Slot};
use crate::tree;

/// Builds that are kept, and the bytes they may take.
const MOST_BUILDS: usize = 8;
const MOST_BYTES: u64 = 2 << 30;

/// A folder of builds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Home {
    pub(crate) folder: PathBuf,
}

impl Home {
    /// The place where a commit is to be built: in `.deadheat/builds` at the top of the working
    /// tree. Only where cargo, Go or pytest would there take files of the working tree for those of
    /// the commit, in the user's cache.
    pub(crate) fn of(
        repository: &Repository<'_>,
        commit: &Commit,
        recipe: &Recipe,
    ) -> Result<Self, BuildError> {
        let top = &repository.top;
        // pytest looks for its configuration in all folders above.
        let is_apart = matches!(recipe, Recipe::Pytest(_));
        match Self::outside(top) {
            Some(outside) if is_apart || sees_the_working_tree(repository, commit)? => {
                outside.create(top)?;
                Ok(outside.resolved())
            }
            _ => Ok(Self::inside(top)),
        }
    }

    /// The same without symbolic links, once it is there.
    fn resolved(self) -> Self {
        let folder = self.folder.canonicalize();
        folder.map_or(self, |folder| Self { folder })
    }

    fn inside(top: &Path) -> Self {
        Self {
            folder: top.join(".deadheat").join("builds"),
        }
    }

    /// In the user's cache, if there is one that does not lie in the working tree itself.
    pub(crate) fn outside(top: &Path) -> Option<Self> {
        let absolute = |name: &str| {
            let folder = PathBuf::from(std::env::var_os(name)?);
            folder.is_absolute().then_some(folder)
        };
        let cache = absolute("XDG_CACHE_HOME")
            .or_else(|| Some(absolute("HOME")?.join(".cache")))
            .filter(|cache| !cache.starts_with(top))?;
        let Digest(digest) = Digest::of(top.as_os_str().as_bytes());
        let name = top.file_name().unwrap_or_default().to_string_lossy();
        let name = format!("{name}-{}", &digest[..12]);
        Some(Self {
            folder: cache.join("deadheat").join("builds").join(name),
        })
    }

    /// The place of builds of the working tree that have none of their own.
    pub(crate) fn of_working_tree(top: &Path) -> Self {
        Self::inside(top)
    }

    /// All there may be for this working tree.
    pub(crate) fn all(top: &Path) -> Vec<Self> {
        let homes = [Some(Self::inside(top)), Self::outside(top)];
        homes.into_iter().flatten().map(Self::resolved).collect()
    }

    /// Makes the folder; at the top of a working tree, one that git ignores.
    pub(crate) fn create(&self, top: &Path) -> Result<(), BuildError> {
        let ours = top.join(".deadheat");
        let is_new = self.folder.starts_with(&ours) && !ours.exists();
        fs::create_dir_all(&self.folder).map_err(BuildError::at(&self.folder))?;
        if is_new {
            let ignore = ours.join(".gitignore");
            fs::write(&ignore, "*\n").map_err(BuildError::at(&ignore))?;
        }
        Ok(())
    }

    /// Clears away what a deadheat left behind that was killed: entries in the list of worktrees,
    /// and builds that were never finished.
    pub(crate) fn clear_abandoned(&self, repository: &Repository<'_>) -> Result<(), BuildError> {
        for key in self.keys() {
            let is_finished = self.folder.join(&key).join("index.json").exists();
            if !is_finished && let Some(slot) = Slot::unused(&self.folder, &key) {
                tree::remove_worktree(repository, &slot.folder);
                // What is in the way now will be next time.
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

    /// Removes the builds that were used longest ago, beyond the newest few. Those in use stay.
    pub(crate) fn trim(&self) {
        let mut builds: Vec<_> = self
            .keys()
            .into_iter()
            .filter_map(|key| Some((Index::used(&self.folder.join(&key))?, key)))
            .collect();
        builds.sort();
        // Builds share the dependencies they took over from one another.
        let mut tally = Tally::default();
        let mut bytes = 0;
        for (count, (_, key)) in builds.iter().rev().enumerate() {
            let (size, _) = tally.add(&self.folder.join(key));
            bytes += size;
            let is_too_much = count >= MOST_BUILDS || (count > 1 && bytes > MOST_BYTES);
            if is_too_much && let Some(slot) = Slot::unused(&self.folder, key) {
                bytes -= size;
                let _ = slot.clear();
            }
        }
    }

    /// The keys of all builds, finished or not.
    fn keys(&self) -> Vec<String> {
        let folders = entries(&self.folder).filter(|path| path.is_dir());
        let keys = folders.filter_map(|path| Some(path.file_name()?.to_str()?.to_owned()));
        keys.collect()
    }
}

/// Returns true if cargo or Go, building a commit below the top of the working tree, would read
/// files that belong to the sources of the working tree.
fn sees_the_working_tree(repository: &Repository<'_>, commit: &Commit) -> Result<bool, BuildError> {
    for file in ["go.mod", "go.work"].map(Path::new) {
        if repository.top.join(file).exists() && repository.file_of(commit, file)?.is_none() {
            return Ok(true);
        }
    }
    // Files that git does not know are the user's own, and meant for all.
    let configuration = [".cargo/config.toml", ".cargo/config"];
    let exists = |file: &&str| repository.top.join(file).exists();
    if configuration.iter().any(exists) && repository.tracks(&configuration)? {
        return Ok(true);
    }
    let is_workspace = |text: &[u8]| {
        let text = String::from_utf8_lossy(text);
        text.lines()
            .any(|line| line.trim_start().starts_with("[workspace"))
    };
    let manifest = Path::new("Cargo.toml");
    match fs::read(repository.top.join(manifest)) {
        Ok(text) if is_workspace(&text) => {
            let theirs = repository.file_of(commit, manifest)?;
            Ok(!theirs.is_some_and(|text| is_workspace(&text)))
        }
        _ => Ok(false),
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::*;

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
    fn the_builds_used_longest_ago_go_unless_somebody_uses_them() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home {
            folder: folder.path().to_owned(),
        };
        for age in 0..12 {
            build(&home, &format!("k{age:02}"), age * 100);
        }
        let held = Slot::unused(&home.folder, "k10").unwrap();
        held.share().unwrap();
        home.trim();
        let mut keys = home.keys();
        keys.sort();
        let newest: Vec<String> = (0..8).map(|age| format!("k{age:02}")).collect();
        assert_eq!(keys[..8], newest);
        assert_eq!(keys[8..], ["k10"]);
        drop(held);
        // A program that another test starts at this moment holds the lock until it is itself.
        for _ in 0..500 {
            home.trim();
            if home.keys().len() == 8 {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        assert_eq!(home.keys().len(), 8);
    }

    #[test]
    fn a_new_folder_of_ours_is_ignored_by_git_and_an_old_one_is_left_as_it_is() {
        let top = tempfile::tempdir().unwrap();
        let home = Home::inside(top.path());
        home.create(top.path()).unwrap();
        let ignore = top.path().join(".deadheat/.gitignore");
        assert_eq!(fs::read_to_string(&ignore).unwrap(), "*\n");
        fs::remove_file(&ignore).unwrap();
        home.create(top.path()).unwrap();
        assert!(!ignore.exists());
    }
}
