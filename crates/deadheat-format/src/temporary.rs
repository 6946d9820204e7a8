//! Files and folders that go when their owner does.

use std::fs::{self, DirBuilder, OpenOptions};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::error::{FormatError, cannot_write};

/// A new folder that only this user may enter; it goes with all that is in it when this is dropped.
#[derive(Debug)]
pub struct ScratchFolder {
    path: PathBuf,
}

impl ScratchFolder {
    /// Makes one among the temporary files of the system.
    ///
    /// # Errors
    ///
    /// When no folder can be made there.
    pub fn create() -> Result<Self, FormatError> {
        Self::create_in(std::env::temp_dir())
    }

    /// Makes one in this folder.
    ///
    /// # Errors
    ///
    /// When no folder can be made there.
    pub fn create_in(folder: impl AsRef<Path>) -> Result<Self, FormatError> {
        let name = |random: u64| format!("deadheat-{:08x}", random as u32);
        let path = create_under_new_name(folder.as_ref(), name, |path| {
            DirBuilder::new().mode(0o700).create(path)
        })?;
        Ok(Self { path })
    }

    /// Makes one of this name among the temporary files of the system, in place of what an earlier
    /// one left that was killed.
    ///
    /// # Errors
    ///
    /// When something of this name is there that cannot be removed, as that of another user.
    pub fn create_named(name: &str) -> Result<Self, FormatError> {
        let path = std::env::temp_dir().join(name);
        match fs::remove_dir_all(&path) {
            Err(problem) if problem.kind() != io::ErrorKind::NotFound => {
                return Err(cannot_write(&path)(problem));
            }
            _ => {}
        }
        let made = DirBuilder::new().mode(0o700).create(&path);
        made.map_err(cannot_write(&path))?;
        Ok(Self { path })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Copies a file into a folder of this name in it, rights and all, and says where the copy is.
    ///
    /// # Errors
    ///
    /// When the file cannot be read or there is no room for its copy.
    pub fn copy(&self, file: &Path, folder: &str, name: &str) -> Result<PathBuf, FormatError> {
        let folder = self.path.join(folder);
        fs::create_dir_all(&folder).map_err(cannot_write(&folder))?;
        let copy = folder.join(name);
        fs::copy(file, &copy).map_err(cannot_write(&copy))?;
        Ok(copy)
    }

    /// Removes a file in it that nobody needs any more, if it is there.
    pub fn forget(&self, name: &str) {
        let _ = fs::remove_file(self.path.join(name));
    }
}

impl Drop for ScratchFolder {
    fn drop(&mut self) {
        // Nobody is left to be told that it cannot be removed.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// An empty file for another program to write to; removed when this is dropped.
#[derive(Debug)]
pub struct TemporaryFile {
    path: PathBuf,
}

impl TemporaryFile {
    /// Creates a file that only this user may read, `tmp` and eight characters, in a folder.
    ///
    /// # Errors
    ///
    /// A folder in which no file can be created.
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
        let path = create_under_new_name(folder.as_ref(), name, |path| {
            let mut options = OpenOptions::new();
            options.write(true).create_new(true).mode(0o600);
            options.open(path).map(drop)
        })?;
        Ok(Self { path })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        // Whoever wrote to it may have removed it as well.
        let _ = fs::remove_file(&self.path);
    }
}

/// Creates something in a folder under a name made of a random number, and tries other numbers
/// where there is something of that name.
fn create_under_new_name(
    folder: &Path,
    name: impl Fn(u64) -> String,
    create: impl Fn(&Path) -> io::Result<()>,
) -> Result<PathBuf, FormatError> {
    let folder = std::path::absolute(folder).map_err(cannot_write(folder))?;
    for attempt in 0_u8..=u8::MAX {
        // Every one of these hashers begins with keys of its own.
        let path = folder.join(name(RandomState::new().hash_one(attempt)));
        match create(&path) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(cannot_write(&path)(error)),
        }
    }
    Err(cannot_write(&folder)(io::ErrorKind::AlreadyExists.into()))
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
