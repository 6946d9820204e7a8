//! Temporary files and folders that are removed on drop.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use deadheat_model::under_new_name;

use crate::error::{FormatError, cannot_write};
use crate::platform;

/// A new folder that only this user may enter. It is removed with all its contents on drop.
#[derive(Debug)]
pub struct ScratchFolder {
    path: PathBuf,
    /// A file in the folder that is locked while the folder is in use, so that other processes do
    /// not remove the folder.
    _busy: Option<File>,
}

impl ScratchFolder {
    /// Creates a folder in the system's folder for temporary files.
    ///
    /// # Errors
    ///
    /// No folder can be created there.
    pub fn create() -> Result<Self, FormatError> {
        Self::create_in(std::env::temp_dir())
    }

    /// Creates a temporary folder in `folder`.
    ///
    /// # Errors
    ///
    /// No folder can be created there.
    pub fn create_in(folder: impl AsRef<Path>) -> Result<Self, FormatError> {
        Self::create_with_prefix(folder.as_ref(), "deadheat-")
    }

    fn create_with_prefix(folder: &Path, prefix: &str) -> Result<Self, FormatError> {
        let name = |random: u64| format!("{prefix}{random:016x}");
        let (path, ()) = create_under_new_name(folder, name, |path| {
            platform::private_folders().create(path)
        })?;
        Ok(Self { path, _busy: None })
    }

    /// Creates a folder for large contents in the system's folder for temporary files. Removes such
    /// folders of this user that killed processes left there.
    ///
    /// # Errors
    ///
    /// No folder can be created there.
    pub fn create_large() -> Result<Self, FormatError> {
        Self::create_large_in(&std::env::temp_dir())
    }

    fn create_large_in(folder: &Path) -> Result<Self, FormatError> {
        let mut made = Self::create_with_prefix(folder, LARGE)?;
        let busy = made.path.join(BUSY);
        let new = busy.with_extension("new");
        // The file is locked before it gets the name that other processes look for.
        let locked = File::create_new(&new).and_then(|file| {
            let _ = file.try_lock();
            fs::rename(&new, &busy)?;
            Ok(file)
        });
        made._busy = Some(locked.map_err(cannot_write(&busy))?);
        if let Ok(own) = fs::metadata(&made.path) {
            remove_abandoned(folder, platform::owner(&own));
        }
        Ok(made)
    }

    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Copies a file, with its permissions, to `folder/name` inside this folder and returns the
    /// path of the copy.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or its copy cannot be written.
    pub fn copy(&self, file: &Path, folder: &str, name: &str) -> Result<PathBuf, FormatError> {
        let folder = self.path.join(folder);
        fs::create_dir_all(&folder).map_err(cannot_write(&folder))?;
        let copy = folder.join(name);
        fs::copy(file, &copy).map_err(cannot_write(&copy))?;
        Ok(copy)
    }

    /// Removes a file in this folder, if it exists.
    pub fn forget(&self, name: &str) {
        let _ = fs::remove_file(self.path.join(name));
    }
}

impl Drop for ScratchFolder {
    fn drop(&mut self) {
        // A destructor cannot report the error.
        let _ = fs::remove_dir_all(&self.path);
    }
}

const LARGE: &str = "deadheat-large-";

/// Name of the lock file in a folder for large contents.
const BUSY: &str = ".deadheat-busy";

/// Removes the large folders of a user that no running process has locked.
fn remove_abandoned(folder: &Path, user: u32) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_large = entry.file_name().to_string_lossy().starts_with(LARGE);
        // `DirEntry::metadata` does not follow links.
        let own = |about: fs::Metadata| about.is_dir() && platform::owner(&about) == user;
        if !is_large || !entry.metadata().is_ok_and(own) {
            continue;
        }
        let busy = File::open(entry.path().join(BUSY));
        if busy.is_ok_and(|busy| busy.try_lock().is_ok()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// An empty file for another program to write to. Removed on drop.
#[derive(Debug)]
pub struct TemporaryFile {
    path: PathBuf,
}

impl TemporaryFile {
    /// Creates a file in `folder` that only this user may read. Its name is `tmp` and eight
    /// characters.
    ///
    /// # Errors
    ///
    /// No file can be created in the folder.
    pub fn create_in(folder: impl AsRef<Path>) -> Result<Self, FormatError> {
        const LETTERS: &[u8; 37] = b"abcdefghijklmnopqrstuvwxyz0123456789_";
        let name = |mut random: u64| {
            let mut name = String::from("tmp");
            for _ in 0..8 {
                name.push(char::from(LETTERS[(random % 37) as usize]));
                random /= 37;
            }
            name
        };
        let created = create_under_new_name(folder.as_ref(), name, |path| {
            let mut options = OpenOptions::new();
            platform::for_this_user(options.write(true).create_new(true)).open(path)
        });
        let (path, _) = created?;
        Ok(Self { path })
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        // The program that wrote the file may have removed it, too.
        let _ = fs::remove_file(&self.path);
    }
}

/// Calls `create` with absolute paths in `folder` with random names until a name is free.
fn create_under_new_name<T>(
    folder: &Path,
    name: impl Fn(u64) -> String,
    create: impl Fn(&Path) -> io::Result<T>,
) -> Result<(PathBuf, T), FormatError> {
    let folder = std::path::absolute(folder).map_err(cannot_write(folder))?;
    under_new_name(&folder, name, create).map_err(|(path, error)| cannot_write(&path)(error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_folder_goes_with_all_that_is_in_it() {
        let base = tempfile::tempdir().unwrap();
        let one = ScratchFolder::create_in(base.path()).unwrap();
        let other = ScratchFolder::create_in(base.path()).unwrap();
        assert_ne!(one.path(), other.path());
        let path = one.path().to_owned();
        fs::write(path.join("run"), "x").unwrap();
        one.forget("run");
        one.forget("never there");
        assert!(!path.join("run").exists());
        fs::write(path.join("left"), "x").unwrap();
        drop(one);
        assert!(!path.exists() && other.path().exists());
        assert!(ScratchFolder::create_in("/no/such/folder").is_err());
    }

    #[test]
    fn a_large_folder_is_removed_by_the_next_process_only_if_its_owner_was_killed() {
        let base = tempfile::tempdir().unwrap();
        let used = ScratchFolder::create_large_in(base.path()).unwrap();
        let foreign = base.path().join("deadheat-large-foreign");
        fs::create_dir(&foreign).unwrap();
        let killed = ScratchFolder::create_large_in(base.path()).unwrap();
        let left = killed.path().to_owned();
        let mut killed = std::mem::ManuallyDrop::new(killed);
        drop(killed._busy.take());
        let link = base.path().join("deadheat-large-link");
        std::os::unix::fs::symlink(&left, &link).unwrap();
        let next = ScratchFolder::create_large_in(base.path()).unwrap();
        assert!(!left.exists(), "nobody uses it");
        assert!(used.path().exists() && next.path().exists());
        assert!(foreign.exists() && link.is_symlink(), "not of ours");
    }

    #[test]
    fn a_copy_of_a_program_can_be_started_like_the_program() {
        let base = tempfile::tempdir().unwrap();
        let program = base.path().join("program");
        fs::write(&program, "#!/bin/sh\n").unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let scratch = ScratchFolder::create_in(base.path()).unwrap();
        let copy = scratch.copy(&program, "a", "program").unwrap();
        assert_eq!(copy, scratch.path().join("a/program"));
        let mode = fs::metadata(&copy).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o755);
        let missing = scratch.copy(Path::new("/no/such/file"), "a", "x");
        assert!(missing.unwrap_err().to_string().contains("a/x"));
    }

    #[test]
    fn a_temporary_file_goes_with_its_owner() {
        let folder = tempfile::tempdir().unwrap();
        let one = TemporaryFile::create_in(folder.path()).unwrap();
        let other = TemporaryFile::create_in(folder.path()).unwrap();
        assert_ne!(one.path(), other.path());
        assert!(one.path().is_absolute() && one.path().exists());
        let path = one.path().to_owned();
        drop(one);
        assert!(!path.exists());
        assert!(TemporaryFile::create_in("/no/such/folder").is_err());
    }
}
