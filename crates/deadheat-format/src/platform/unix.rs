//! Files of Linux and macOS.

use std::fs::{FileType, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{
    FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _,
};
use std::path::{Path, PathBuf};
#[cfg(feature = "read")]
use std::{
    fs::{DirBuilder, File},
    os::unix::fs::{DirBuilderExt as _, FileExt as _},
};

/// Returns the absolute path without links.
///
/// # Errors
///
/// The path does not exist, or cannot be followed.
pub fn canonicalize(path: impl AsRef<Path>) -> io::Result<PathBuf> {
    std::fs::canonicalize(path)
}

pub(crate) fn is_pipe(kind: FileType) -> bool {
    kind.is_fifo()
}

pub(crate) fn is_socket(kind: FileType) -> bool {
    kind.is_socket()
}

#[cfg(any(feature = "read", feature = "reports"))]
pub(crate) fn is_device(kind: FileType) -> bool {
    kind.is_char_device() || kind.is_block_device()
}

/// Returns the numbers of the device and of the inode.
pub(crate) fn identity(_path: &Path, about: &Metadata) -> Option<(u64, u64)> {
    Some((about.dev(), about.ino()))
}

pub(crate) fn owner(about: &Metadata) -> u32 {
    about.uid()
}

pub(crate) fn have_one_owner(one: &Metadata, other: &Metadata) -> bool {
    (one.uid(), one.gid()) == (other.uid(), other.gid())
}

/// Returns true if users other than the owner can write.
pub(crate) fn is_open_to_others(about: &Metadata) -> bool {
    about.mode() & 0o022 != 0
}

pub(crate) fn is_executable(about: &Metadata) -> bool {
    about.permissions().mode() & 0o111 != 0
}

/// Lets only this user read and write a file that will be created.
pub(crate) fn for_this_user(options: &mut OpenOptions) -> &mut OpenOptions {
    options.mode(0o600)
}

/// Returns a builder of folders that only this user may enter.
#[cfg(feature = "read")]
pub(crate) fn private_folders() -> DirBuilder {
    let mut builder = DirBuilder::new();
    builder.mode(0o700);
    builder
}

#[cfg(feature = "read")]
pub(crate) fn read_at(file: &File, buffer: &mut [u8], at: u64) -> io::Result<usize> {
    file.read_at(buffer, at)
}

#[cfg(feature = "read")]
pub(crate) fn read_exact_at(file: &File, buffer: &mut [u8], at: u64) -> io::Result<()> {
    file.read_exact_at(buffer, at)
}
