//! Reads, lists and removes files and folders.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

pub(crate) const OURS: &str = ".deadheat";

/// Returns true if `path` is a folder, and false if it is a symbolic link to one.
pub(crate) fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|about| about.is_dir())
}

/// Returns the top of the git working tree that contains a folder.
pub fn top_of(folder: &Path) -> Option<&Path> {
    folder
        .ancestors()
        .find(|folder| folder.join(".git").exists())
}

/// Returns the paths in a folder; empty if the folder cannot be read.
pub(crate) fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path())
}

const MOST_BYTES: u64 = 64 << 20;

/// Reads a regular file of at most 64 MiB. Rejects everything else, because a link in a commit may
/// lead to `/dev/zero`, to `/proc/kmsg` or to a named pipe.
pub(crate) fn read(path: impl AsRef<Path>) -> io::Result<Vec<u8>> {
    let path = path.as_ref();
    let about = fs::metadata(path)?;
    let is_kernels = |path: PathBuf| path.starts_with("/proc") || path.starts_with("/sys");
    if !about.is_file() || path.canonicalize().is_ok_and(is_kernels) {
        return Err(io::Error::other("it is not a file"));
    }
    let mut bytes = Vec::new();
    File::open(path)?
        .take(MOST_BYTES + 1)
        .read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(io::Error::other("it is larger than 64 MiB"));
    }
    Ok(bytes)
}

pub(crate) fn read_text(path: impl AsRef<Path>) -> io::Result<String> {
    String::from_utf8(read(path)?).map_err(io::Error::other)
}

pub(crate) fn remove_all(path: &Path) -> io::Result<()> {
    if is_folder(path) {
        remove_folder(path)
    } else {
        unless_gone(fs::remove_file(path))
    }
}

pub(crate) fn remove_folder(folder: &Path) -> io::Result<()> {
    unless_gone(fs::remove_dir_all(folder))
}

/// Turns a "not found" error of a removal into success.
pub(crate) fn unless_gone(removed: io::Result<()>) -> io::Result<()> {
    removed.or_else(|problem| match problem.kind() {
        io::ErrorKind::NotFound => Ok(()),
        _ => Err(problem),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_a_usual_size_are_read() {
        let scratch = tempfile::tempdir().unwrap();
        let path = |name: &str| scratch.path().join(name);
        fs::write(path("file"), "text").unwrap();
        for (name, target) in [("link", "file"), ("endless", "/dev/zero"), ("folder", ".")] {
            std::os::unix::fs::symlink(target, path(name)).unwrap();
        }
        let made = std::process::Command::new("mkfifo")
            .arg(path("pipe"))
            .status();
        assert!(made.unwrap().success());
        let large = File::create(path("large")).unwrap();
        large.set_len(MOST_BYTES + 1).unwrap();
        assert_eq!(read_text(path("link")).unwrap(), "text");
        for name in ["endless", "folder", "pipe", "large", "missing"] {
            assert!(read(path(name)).is_err(), "{name}");
        }
    }
}
