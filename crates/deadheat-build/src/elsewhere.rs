//! Sources that a build read from outside of its repository, by path: no
//! commit says what was in them.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use deadheat_link::Digest;
use serde::{Deserialize, Serialize};

/// Folders that hold no sources.
const PASSED_OVER: [&str; 4] = ["target", ".git", ".deadheat", "node_modules"];

/// A package elsewhere, as it was when it was built.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Elsewhere {
    folder: PathBuf,
    stamp: String,
}

impl Elsewhere {
    /// The package in this folder, as it is now.
    pub(crate) fn now(folder: PathBuf) -> Self {
        let mut seen = Vec::new();
        walk(&folder, &mut seen);
        seen.sort();
        let Digest(stamp) = Digest::of(seen.join("\n").as_bytes());
        Self { folder, stamp }
    }

    /// Whether nothing in it has changed since.
    pub(crate) fn is_unchanged(&self) -> bool {
        Self::now(self.folder.clone()) == *self
    }
}

/// Notes down names, times and sizes of all files.
fn walk(folder: &Path, seen: &mut Vec<String>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, Ok(about)) = (entry.path(), entry.metadata()) else {
            continue;
        };
        let name = entry.file_name();
        if about.is_dir() && !PASSED_OVER.iter().any(|passed| name == *passed) {
            walk(&path, seen);
        } else if !about.is_dir() {
            let (seconds, ns) = (about.mtime(), about.mtime_nsec());
            seen.push(format!("{path:?} {} {seconds}.{ns}", about.size()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_changes_comes_or_goes_is_noticed_and_a_build_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::create_dir_all(path("src")).unwrap();
        fs::write(path("src/lib.rs"), "1").unwrap();
        let before = || Elsewhere::now(folder.path().to_owned());
        let first = before();
        fs::create_dir(path("target")).unwrap();
        fs::write(path("target/made"), "").unwrap();
        assert!(first.is_unchanged());
        fs::write(path("src/lib.rs"), "22").unwrap();
        assert!(!first.is_unchanged());
        let second = before();
        fs::write(path("src/new.rs"), "").unwrap();
        assert!(!second.is_unchanged());
        let third = before();
        fs::remove_file(path("src/lib.rs")).unwrap();
        assert!(!third.is_unchanged());
    }
}
