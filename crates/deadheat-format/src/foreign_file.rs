//! Files of which only the bytes matter: what other programs wrote, or will write.

use std::fs::{self, File, OpenOptions};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::bounded;
use crate::error::{FormatError, cannot_read, cannot_write};

/// What a path leads to, symbolic links followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// Nothing, or nothing that may be seen.
    Missing,
    /// A folder, a pipe, a device.
    NotAFile,
    /// A file that begins as executables of this system do.
    Executable,
    /// Any other file.
    Plain,
}

/// Looks at a path, and at the first bytes of the file there.
///
/// # Errors
///
/// A file that cannot be read.
pub fn file_kind(path: impl AsRef<Path>) -> Result<FileKind, FormatError> {
    const EXECUTABLE: &[u8; 4] = b"\x7fELF";
    let path = path.as_ref();
    let Ok(metadata) = fs::metadata(path) else {
        return Ok(FileKind::Missing);
    };
    if !metadata.is_file() {
        return Ok(FileKind::NotAFile);
    }
    let mut start = Vec::new();
    let opened = File::open(path).map_err(cannot_read(path))?;
    opened
        .take(EXECUTABLE.len() as u64)
        .read_to_end(&mut start)
        .map_err(cannot_read(path))?;
    Ok(if start == EXECUTABLE {
        FileKind::Executable
    } else {
        FileKind::Plain
    })
}

/// Finds out whether a file can be read; a folder cannot, and a pipe is not opened.
///
/// # Errors
///
/// What the system says when the file is opened.
pub fn ensure_readable(path: impl AsRef<Path>) -> Result<(), FormatError> {
    let path = path.as_ref();
    let metadata = fs::metadata(path).map_err(cannot_read(path))?;
    if metadata.is_dir() {
        return Err(cannot_read(path)(io::ErrorKind::IsADirectory.into()));
    }
    if metadata.is_file() {
        File::open(path).map_err(cannot_read(path))?;
    }
    Ok(())
}

/// All bytes of a file.
///
/// # Errors
///
/// A file that cannot be read.
pub fn read_bytes(path: impl AsRef<Path>) -> Result<Vec<u8>, FormatError> {
    let path = path.as_ref();
    bounded::read(path).map_err(cannot_read(path))
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
        let folder = std::path::absolute(&folder).map_err(cannot_write(folder.as_ref()))?;
        for attempt in 0_u8..=u8::MAX {
            // Every one of these hashers begins with keys of its own.
            let mut random = RandomState::new().hash_one(attempt);
            let mut name = String::from("tmp");
            for _ in 0..8 {
                name.push(char::from(LETTERS[(random % 37) as usize]));
                random /= 37;
            }
            let path = folder.join(name);
            let mut options = OpenOptions::new();
            match options.write(true).create_new(true).mode(0o600).open(&path) {
                Ok(_) => return Ok(Self { path }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(cannot_write(&path)(error)),
            }
        }
        Err(cannot_write(&folder)(io::ErrorKind::AlreadyExists.into()))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_what_its_first_bytes_say() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        assert_eq!(file_kind(&path).unwrap(), FileKind::Missing);
        assert!(ensure_readable(&path).is_err());
        for (bytes, kind) in [
            (b"\x7fELF\x02".as_slice(), FileKind::Executable),
            (b"\x7fEL", FileKind::Plain),
            (b"", FileKind::Plain),
        ] {
            fs::write(&path, bytes).unwrap();
            assert_eq!(file_kind(&path).unwrap(), kind);
            assert_eq!(read_bytes(&path).unwrap(), bytes);
            ensure_readable(&path).unwrap();
        }
        assert_eq!(file_kind(folder.path()).unwrap(), FileKind::NotAFile);
        let error = ensure_readable(folder.path()).unwrap_err().to_string();
        assert!(error.contains("directory"), "{error}");
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
