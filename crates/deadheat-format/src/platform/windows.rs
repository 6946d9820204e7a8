//! Files of Windows.
//!
//! Windows has access control lists in place of owners and permission bits. A new file inherits the
//! list of its folder, and other users cannot enter the folders of a user's profile, which include
//! the folder of temporary files. So no function here restricts a file or tells owners apart.

use std::fs::{FileType, Metadata, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
#[cfg(feature = "read")]
use std::{
    fs::{DirBuilder, File},
    os::windows::fs::FileExt as _,
};

use winapi_util::{Handle, file};

/// Returns the absolute path without links. Prefers the form `C:\folder`, which other programs
/// understand, to `\\?\C:\folder`.
///
/// # Errors
///
/// The path does not exist, or cannot be followed.
pub fn canonicalize(path: impl AsRef<Path>) -> io::Result<PathBuf> {
    dunce::canonicalize(path)
}

/// Returns false, because named pipes of Windows are not in folders, and the shells lack
/// `<(COMMAND)`.
pub(crate) fn is_pipe(_kind: FileType) -> bool {
    false
}

pub(crate) fn is_socket(_kind: FileType) -> bool {
    false
}

#[cfg(any(feature = "read", feature = "reports"))]
pub(crate) fn is_device(kind: FileType) -> bool {
    !kind.is_file() && !kind.is_dir()
}

/// Returns the serial number of the volume and the index of the file on it.
pub(crate) fn identity(path: &Path, _about: &Metadata) -> Option<(u64, u64)> {
    let found = file::information(Handle::from_path_any(path).ok()?).ok()?;
    Some((found.volume_serial_number(), found.file_index()))
}

/// Returns the same number for every file, as if all files had one owner.
pub(crate) fn owner(_about: &Metadata) -> u32 {
    0
}

pub(crate) fn have_one_owner(_one: &Metadata, _other: &Metadata) -> bool {
    true
}

pub(crate) fn is_open_to_others(_about: &Metadata) -> bool {
    false
}

/// Returns true, because Windows has no separate permission to execute a file.
pub(crate) fn is_executable(_about: &Metadata) -> bool {
    true
}

pub(crate) fn for_this_user(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

#[cfg(feature = "read")]
pub(crate) fn private_folders() -> DirBuilder {
    DirBuilder::new()
}

#[cfg(feature = "read")]
pub(crate) fn read_at(file: &File, buffer: &mut [u8], at: u64) -> io::Result<usize> {
    file.seek_read(buffer, at)
}

#[cfg(feature = "read")]
pub(crate) fn read_exact_at(file: &File, mut buffer: &mut [u8], mut at: u64) -> io::Result<()> {
    while !buffer.is_empty() {
        match read_at(file, buffer, at)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            read => {
                buffer = &mut buffer[read..];
                at += read as u64;
            }
        }
    }
    Ok(())
}
