//! The files kept of the links into one folder, for those who measure them or clear them away.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use crate::cache::{alone_in, is_of_neutral_links};
use crate::record::{Digest, LinkRecord};
use crate::store::lock_file;

/// A folder `.deadheat/links`. What is not known to be deadheat's is never named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredLinks {
    home: PathBuf,
}

impl StoredLinks {
    /// The files in `home`, a folder `.deadheat/links`.
    pub fn at(home: PathBuf) -> Self {
        Self { home }
    }

    /// The folder.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// Neutral links: they are made again with the next race that draws their seed.
    pub fn neutral_links(&self) -> Vec<PathBuf> {
        let placements = self.home.join("placements");
        entries(&placements, |entry, _| is_of_neutral_links(entry))
    }

    /// Records of links, and the objects they were made from: they are made again with the next
    /// link.
    pub fn records(&self) -> Vec<PathBuf> {
        let mut known = entries(&self.home.join("inputs"), |_, name| {
            let name = name.strip_suffix(".new").unwrap_or(name);
            Digest::is_spelled(name.split('.').next().unwrap_or(name))
        });
        known.extend(entries(&self.home, |entry, name| {
            let is_record = name.ends_with(".json") && LinkRecord::is_at(entry);
            is_record || ["index", "index.new", "lock"].contains(&name)
        }));
        known
    }

    /// Takes the folder for whoever clears it away: as long as the locks live, nobody uses it, and
    /// nobody begins to. `None` while a race or a link does.
    ///
    /// # Errors
    ///
    /// A lock that cannot be had for another reason.
    pub fn unused(&self) -> io::Result<Option<[File; 2]>> {
        let Some(races) = alone_in(&self.home)? else {
            return Ok(None);
        };
        let links = lock_file(&self.home)?;
        match links.try_lock() {
            Ok(()) => Ok(Some([races, links])),
            Err(fs::TryLockError::WouldBlock) => Ok(None),
            Err(fs::TryLockError::Error(error)) => Err(error),
        }
    }
}

/// Files and folders in a folder whose names are known; none where it leads elsewhere.
fn entries(folder: &Path, is_known: impl Fn(&Path, &str) -> bool) -> Vec<PathBuf> {
    if fs::symlink_metadata(folder).is_ok_and(|about| about.is_symlink()) {
        return Vec::new();
    }
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    let is_known = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| is_known(path, name))
    };
    paths.filter(is_known).collect()
}
