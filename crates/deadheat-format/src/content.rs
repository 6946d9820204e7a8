//! Files of any kind: what stands under a name, and all bytes of a file, of standard input or of a
//! pipe, unpacked.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use ruzstd::decoding::{FrameDecoder, StreamingDecoder};

use crate::bounded::{self, Bounded};
use crate::error::{FormatError, cannot_read};

/// The first bytes of compressed files.
const GZIP: &[u8] = b"\x1f\x8b";
pub(crate) const ZSTD: &[u8] = b"\x28\xb5\x2f\xfd";

/// The first bytes of an executable of this system.
const ELF: &[u8] = b"\x7fELF";

/// Reads a file to its end, `-` being standard input; what is packed by gzip or
/// zstd is unpacked, whatever it is called.
pub(crate) fn read_content(path: &Path) -> Result<Vec<u8>, FormatError> {
    let mut bytes = Vec::new();
    if path == Path::new("-") {
        let input = Bounded::new(io::stdin().lock());
        let read = input.and_then(|mut input| input.read_to_end(&mut bytes));
        read.map_err(cannot_read(path))?;
    } else {
        bytes = bounded::read(path).map_err(cannot_read(path))?;
    }
    unpacked(path, bytes)
}

/// Returns true for a file that begins as packed ones do.
pub(crate) fn is_packed(beginning: &[u8]) -> bool {
    beginning.starts_with(GZIP) || beginning.starts_with(ZSTD)
}

/// The bytes themselves, or what was packed in them.
pub(crate) fn unpacked(path: &Path, bytes: Vec<u8>) -> Result<Vec<u8>, FormatError> {
    let mut all = Vec::new();
    let read = if bytes.starts_with(GZIP) {
        Bounded::new(MultiGzDecoder::new(&bytes[..]))
            .and_then(|mut all_of| all_of.read_to_end(&mut all))
    } else if bytes.starts_with(ZSTD) {
        Bounded::new(Frames::of(&bytes)).and_then(|mut frames| frames.read_to_end(&mut all))
    } else {
        return Ok(bytes);
    };
    read.map_err(cannot_read(path))?;
    Ok(all)
}

/// Unpacks one zstd frame after the other.
struct Frames<'p> {
    frame: Option<StreamingDecoder<&'p [u8], FrameDecoder>>,
    packed: &'p [u8],
}

impl<'p> Frames<'p> {
    fn of(packed: &'p [u8]) -> Self {
        Self {
            frame: None,
            packed,
        }
    }
}

impl Read for Frames<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if let Some(frame) = &mut self.frame {
                match frame.read(buffer)? {
                    0 if !buffer.is_empty() => {
                        self.packed = *frame.get_ref();
                        self.frame = None;
                    }
                    read => return Ok(read),
                }
            }
            if self.packed.is_empty() {
                return Ok(0);
            }
            let frame = StreamingDecoder::new(self.packed);
            self.frame = Some(frame.map_err(io::Error::other)?);
        }
    }
}

/// A kind of thing that stands under a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// A folder.
    Folder,
    /// An executable file: of the system, or a script that names its interpreter.
    Program,
    /// Anything that can be read, or standard input.
    Data,
    /// Nothing.
    Nothing,
}

/// Tells what stands under a name, by the first bytes of a file. A pipe is not
/// read from: it holds data.
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

/// The first four bytes of a file, or all where there are fewer.
fn first_bytes(path: &Path) -> Result<Vec<u8>, FormatError> {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(4).read_to_end(&mut bytes));
    read.map_err(cannot_read(path))?;
    Ok(bytes)
}

/// The target of a path, symbolic links followed.
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

/// Opens a file, to be read piece by piece.
///
/// # Errors
///
/// A file that cannot be read.
pub fn open_pieces(path: impl AsRef<Path>) -> Result<impl Read, FormatError> {
    let path = path.as_ref();
    bounded::open(path).map_err(cannot_read(path))
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

#[cfg(test)]
mod tests {
    use super::*;

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
        assert!(error.contains("directory"), "{error}");
    }
}
