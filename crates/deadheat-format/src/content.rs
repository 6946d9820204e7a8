//! Reads files that other programs wrote, in bounded memory: the kind of file at a path; all bytes
//! of a file, standard input or a pipe, decompressed if necessary; or the lines of a file, read by
//! several threads.
//!
//! Readers refuse devices and stop at the limits of [`crate::limits`], which count decompressed
//! bytes.

#[cfg(feature = "read")]
mod lines;
#[cfg(feature = "read")]
mod unpacked;

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use deadheat_model::HELP;

use crate::error::{FormatError, cannot_read};
use crate::limits::{self, Bounded};
use crate::named_pipe::{is_pipe, open_to_read};
use crate::platform::is_device;

#[cfg(feature = "read")]
pub use lines::{Lines, in_parts, worthwhile_parts};
#[cfg(feature = "read")]
pub use unpacked::{read_content, unpacked, unpacking};

/// Size of a read buffer in bytes.
pub const BUFFER: usize = 1 << 16;

/// Opens a file that the user named. A pipe is allowed; a device is refused.
pub fn open(path: &Path) -> io::Result<Bounded<File>> {
    let about = fs::metadata(path)?;
    let kind = about.file_type();
    if is_device(kind) {
        return Err(io::Error::other("it is a device, not a file"));
    }
    // Without this check, a file of 2 GiB would be read for a minute before it is refused.
    if kind.is_file() {
        limits::refuse_larger(about.len())?;
    }
    Bounded::new(open_to_read(path)?)
}

/// Opens a file that is read more than once. Refuses a pipe, which can be read only once.
pub fn open_repeatedly(path: &Path) -> io::Result<Bounded<File>> {
    if is_pipe(path) {
        return Err(io::Error::other(format!(
            "it is a pipe, which can be read only once{HELP}write its content to a file first"
        )));
    }
    open(path)
}

/// Opens a file that the user did not name, such as a calibration. Refuses pipes and devices,
/// because opening a pipe would wait for a writer.
pub fn open_plain(path: &Path) -> io::Result<Bounded<File>> {
    let kind = fs::metadata(path)?;
    if !kind.is_file() && !kind.is_dir() {
        return Err(io::Error::other("it is not a plain file"));
    }
    open(path)
}

/// Reads a plain text file that the user did not name, such as a calibration. Returns `None` if the
/// file does not exist.
///
/// # Errors
///
/// The file cannot be read, is not a plain file, or is not UTF-8.
pub fn read_plain_text(path: &Path) -> Result<Option<String>, FormatError> {
    let mut text = String::new();
    let read = open_plain(path).and_then(|mut file| file.read_to_string(&mut text));
    match read {
        Ok(_) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(cannot_read(path)(error)),
    }
}

/// Reads all bytes of a file that the user named.
pub fn all_bytes(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

const GZIP: &[u8] = b"\x1f\x8b";
pub(crate) const ZSTD: &[u8] = b"\x28\xb5\x2f\xfd";

const ELF: &[u8] = b"\x7fELF";

/// Returns true if a file that begins with these bytes is compressed with gzip or zstd.
pub fn is_packed(beginning: &[u8]) -> bool {
    beginning.starts_with(GZIP) || beginning.starts_with(ZSTD)
}

/// Returns the kind of a binary file, such as "a PNG image", from its first bytes. Returns `None`
/// for text and for unknown kinds.
pub fn kind_of_bytes(beginning: &[u8]) -> Option<&'static str> {
    const KINDS: [(&[u8], &str); 18] = [
        (ELF, "an executable or a library"),
        (b"MZ", "an executable of Windows"),
        (b"\xcf\xfa\xed\xfe", "an executable of macOS"),
        (
            b"\xca\xfe\xba\xbe",
            "a Java class or an executable of macOS",
        ),
        (b"!<arch>\n", "a static library"),
        (b"\0asm", "a WebAssembly module"),
        (b"\x89PNG", "a PNG image"),
        (b"\xff\xd8\xff", "a JPEG image"),
        (b"GIF8", "a GIF image"),
        (b"%PDF", "a PDF document"),
        (b"SQLite format 3\0", "an SQLite database"),
        (b"\x89HDF", "an HDF5 file"),
        (b"PAR1", "a Parquet file"),
        (b"ARROW1", "an Arrow file"),
        (b"\x93NUMPY", "a NumPy array"),
        (b"PERFILE2", "a recording of perf record"),
        (b"\x80\x04\x95", "a Python pickle"),
        (b"\x80\x05\x95", "a Python pickle"),
    ];
    let known = KINDS.iter().find(|(sign, _)| beginning.starts_with(sign));
    // A text table may begin with the letters of a binary format.
    let is_text = || !beginning.contains(&0) && std::str::from_utf8(beginning).is_ok();
    known.filter(|_| !is_text()).map(|(_, kind)| *kind)
}

/// The kind of thing at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// A folder.
    Folder,
    /// An executable of this or another system, or a script that names its interpreter.
    Program,
    /// Any other file, a pipe, a device, or standard input.
    Data,
    /// Nothing exists there.
    Nothing,
}

/// Determines from the first bytes of a file which kind of thing is at a path. A pipe counts as
/// data and is not read.
pub fn found_at(path: impl AsRef<Path>) -> Result<Found, FormatError> {
    let path = path.as_ref();
    if path == Path::new("-") {
        return Ok(Found::Data);
    }
    let about = match fs::metadata(path) {
        Ok(about) => about,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Found::Nothing),
        Err(error) => return Err(cannot_read(path)(error)),
    };
    if about.is_dir() {
        return Ok(Found::Folder);
    }
    if !about.is_file() {
        return Ok(Found::Data);
    }
    let beginning = first_bytes(path)?;
    let programs: [&[u8]; 5] = [ELF, b"#!", b"MZ", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe"];
    let program = programs.iter().any(|sign| beginning.starts_with(sign));
    Ok(if program { Found::Program } else { Found::Data })
}

fn first_bytes(path: &Path) -> Result<Vec<u8>, FormatError> {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(4).read_to_end(&mut bytes));
    read.map_err(cannot_read(path))?;
    Ok(bytes)
}

/// The kind of file that a path leads to, after symbolic links are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// Nothing exists there, or the path cannot be looked up.
    Missing,
    /// A folder, a pipe or a device.
    NotAFile,
    /// A file that begins like an executable of this system.
    Executable,
    /// Any other file.
    Plain,
}

/// Determines the kind of file at a path, from its first bytes.
///
/// # Errors
///
/// The file exists but cannot be read.
pub fn file_kind(path: impl AsRef<Path>) -> Result<FileKind, FormatError> {
    let path = path.as_ref();
    let Ok(metadata) = fs::metadata(path) else {
        return Ok(FileKind::Missing);
    };
    if !metadata.is_file() {
        return Ok(FileKind::NotAFile);
    }
    Ok(if first_bytes(path)? == ELF {
        FileKind::Executable
    } else {
        FileKind::Plain
    })
}

/// Checks that a file can be read. A folder is an error; a pipe is not opened.
///
/// # Errors
///
/// The path is a folder, or the operating system cannot open the file.
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

/// Opens a file for reading piece by piece.
///
/// # Errors
///
/// The file cannot be read.
pub fn open_pieces(path: impl AsRef<Path>) -> Result<impl Read, FormatError> {
    let path = path.as_ref();
    open(path).map_err(cannot_read(path))
}

/// Reads all bytes of a file.
///
/// # Errors
///
/// The file cannot be read.
pub fn read_bytes(path: impl AsRef<Path>) -> Result<Vec<u8>, FormatError> {
    let path = path.as_ref();
    all_bytes(path).map_err(cannot_read(path))
}

/// Returns the size of a file in bytes; `None` for a compressed file, and for anything that is not a
/// plain file.
pub fn plain_size(path: impl AsRef<Path>) -> Option<u64> {
    let file = open_plain(path.as_ref()).ok()?;
    let size = fs::metadata(path.as_ref()).ok()?.len();
    let mut beginning = Vec::new();
    file.take(ZSTD.len() as u64)
        .read_to_end(&mut beginning)
        .ok()?;
    (!is_packed(&beginning)).then_some(size)
}

#[cfg(test)]
mod tests {

    use super::*;

    #[test]
    fn a_device_is_refused_and_no_pipe_is_waited_for_where_a_plain_file_belongs() {
        let error = open(Path::new("/dev/zero")).unwrap_err().to_string();
        assert!(error.contains("device"), "{error}");
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
        let error = open_plain(&pipe).unwrap_err().to_string();
        assert!(error.contains("not a plain file"), "{error}");
        assert!(open_plain(&folder.path().join("missing")).is_err());
    }

    #[test]
    fn programs_and_data_are_told_by_their_first_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let found = |name: &str, bytes: &[u8]| {
            let path = folder.path().join(name);
            fs::write(&path, bytes).unwrap();
            found_at(path).unwrap()
        };
        assert_eq!(found("a", b"\x7fELF\x02"), Found::Program);
        assert_eq!(found("b.json", b"#!/bin/sh\n"), Found::Program);
        assert_eq!(found("c", b"{}"), Found::Data);
        assert_eq!(found("d", b""), Found::Data);
        assert_eq!(found_at(folder.path()).unwrap(), Found::Folder);
        assert_eq!(found_at(folder.path().join("e")).unwrap(), Found::Nothing);
        assert_eq!(found_at("-").unwrap(), Found::Data);
    }

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
        assert!(error.contains("it is a folder"), "{error}");
    }
}
