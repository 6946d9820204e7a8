//! Files of others, read in bounded memory: what a path leads to, and all bytes of a file, of
//! standard input or of a pipe, unpacked, or its lines, read in parts of the file at once.
//!
//! A reader stops at the limits of [`crate::limits`], unpacked bytes counted, and opens no device.

// A build that reads only run files, or only calibrations, needs a part of it.
#![cfg_attr(
    not(all(feature = "saved", feature = "reports")),
    allow(dead_code, unused_imports)
)]

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::fs::{FileExt, FileTypeExt};
use std::path::Path;
use std::thread;

use deadheat_model::HELP;
#[cfg(feature = "saved")]
use flate2::read::MultiGzDecoder;
#[cfg(feature = "read")]
use memchr::memchr;
#[cfg(feature = "saved")]
use ruzstd::decoding::{FrameDecoder, StreamingDecoder};

use crate::error::{FormatError, cannot_read};
use crate::limits::{self, Bounded, read_line};
use crate::named_pipe::{is_pipe, open_to_read};

/// Opens a file that the user named. A pipe is read as it comes; a device is refused.
pub(crate) fn open(path: &Path) -> io::Result<Bounded<File>> {
    let about = fs::metadata(path)?;
    let kind = about.file_type();
    if kind.is_char_device() || kind.is_block_device() {
        return Err(io::Error::other("it is a device, not a file"));
    }
    // One of 2 GiB would be read for a minute before it is refused.
    if kind.is_file() {
        limits::refuse_larger(about.len())?;
    }
    Bounded::new(open_to_read(path)?)
}

/// Opens a file that is read more than once, which a pipe cannot be.
pub(crate) fn open_repeatedly(path: &Path) -> io::Result<Bounded<File>> {
    if is_pipe(path) {
        return Err(io::Error::other(format!(
            "it is a pipe, which can be read only once{HELP}write its content to a file first"
        )));
    }
    open(path)
}

/// Opens a file that nobody named, where deadheat looks for it: a pipe there would be waited for.
pub(crate) fn open_plain(path: &Path) -> io::Result<Bounded<File>> {
    let kind = fs::metadata(path)?;
    if !kind.is_file() && !kind.is_dir() {
        return Err(io::Error::other("it is not a plain file"));
    }
    open(path)
}

/// The text of a plain file where deadheat looks for one; `None` if the file does not exist.
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

/// All bytes of a file that the user named.
pub(crate) fn all_bytes(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The first bytes of compressed files.
const GZIP: &[u8] = b"\x1f\x8b";
pub(crate) const ZSTD: &[u8] = b"\x28\xb5\x2f\xfd";

/// The first bytes of an executable of this system.
const ELF: &[u8] = b"\x7fELF";

/// Reads a file to its end, `-` being standard input; what is packed by gzip or
/// zstd is unpacked, whatever it is called.
///
/// # Errors
///
/// The file cannot be read or unpacked, or is packed in another way.
#[cfg(feature = "saved")]
pub fn read_content(path: &Path) -> Result<Vec<u8>, FormatError> {
    let mut bytes = Vec::new();
    if path == Path::new("-") {
        let input = Bounded::new(io::stdin().lock());
        let read = input.and_then(|mut input| input.read_to_end(&mut bytes));
        read.map_err(cannot_read(path))?;
    } else {
        bytes = all_bytes(path).map_err(cannot_read(path))?;
    }
    unpacked(path, bytes)
}

/// Returns true for a file that begins as packed ones do.
pub(crate) fn is_packed(beginning: &[u8]) -> bool {
    beginning.starts_with(GZIP) || beginning.starts_with(ZSTD)
}

/// What a file of bytes is, by how it begins: never a file of results.
pub(crate) fn kind_of_bytes(beginning: &[u8]) -> Option<&'static str> {
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
    // A table may begin with the same letters.
    let is_text = || !beginning.contains(&0) && std::str::from_utf8(beginning).is_ok();
    known.filter(|_| !is_text()).map(|(_, kind)| *kind)
}

/// The bytes themselves, or what was packed in them; text comes in UTF-8. Errors name `path`.
///
/// # Errors
///
/// The bytes cannot be unpacked, or are packed in another way.
#[cfg(feature = "saved")]
pub fn unpacked(path: &Path, bytes: Vec<u8>) -> Result<Vec<u8>, FormatError> {
    let mut all = Vec::new();
    let read = if bytes.starts_with(GZIP) {
        Bounded::new(MultiGzDecoder::new(&bytes[..]))
            .and_then(|mut all_of| all_of.read_to_end(&mut all))
    } else if bytes.starts_with(ZSTD) {
        Bounded::new(Frames::of(&bytes)).and_then(|mut frames| frames.read_to_end(&mut all))
    } else {
        all = bytes;
        Ok(0)
    };
    read.map_err(cannot_read(path))?;
    if let Some(found) = packed_otherwise(&all) {
        return Err(FormatError::unknown(path, found));
    }
    Ok(to_utf8(all))
}

/// What is said of a file that is packed in a way that is not read here.
#[cfg(feature = "saved")]
fn packed_otherwise(bytes: &[u8]) -> Option<String> {
    const PACKINGS: [(&[u8], &str, &str); 9] = [
        (b"\xfd7zXZ\0", "xz", "xz -d"),
        (b"BZh", "bzip2", "bzip2 -d"),
        (b"PK\x03\x04", "zip", "unzip"),
        (b"PK\x05\x06", "zip", "unzip"),
        (b"7z\xbc\xaf\x27\x1c", "7z", "7z x"),
        (b"\x04\x22\x4d\x18", "lz4", "lz4 -d"),
        (b"\x5d\0\0", "lzma", "xz -d"),
        (b"\x1f\x9d", "compress", "uncompress"),
        (b"Rar!", "rar", "unrar x"),
    ];
    let known = PACKINGS.iter().find(|(sign, ..)| bytes.starts_with(sign));
    let known = known.map(|(_, name, command)| (*name, *command));
    let archive = bytes.get(257..262) == Some(b"ustar");
    let (name, command) = known.or(archive.then_some(("tar", "tar -xf")))?;
    Some(format!(
        "is packed by {name}, which is not read (gzip and zstd are){HELP}unpack it first: {command} FILE"
    ))
}

/// A text in UTF-16 or UTF-32, as shells of Windows write it, in UTF-8; any other as it is. A text
/// without a byte order mark is recognised by the zeros next to its first characters.
#[cfg(feature = "saved")]
fn to_utf8(text: Vec<u8>) -> Vec<u8> {
    let wide = match text[..] {
        [0xff, 0xfe, 0, 0, ..] => Some((4, true, 4)),
        [0, 0, 0xfe, 0xff, ..] => Some((4, false, 4)),
        [0xff, 0xfe, ..] => Some((2, true, 2)),
        [0xfe, 0xff, ..] => Some((2, false, 2)),
        [1..=0xff, 0, 0, 0, ..] => Some((4, true, 0)),
        [0, 0, 0, 1..=0xff, ..] => Some((4, false, 0)),
        [1..=0xff, 0, 1..=0xff, 0, ..] => Some((2, true, 0)),
        [0, 1..=0xff, 0, 1..=0xff, ..] => Some((2, false, 0)),
        _ => None,
    };
    let Some((width, little, begin)) = wide else {
        return text;
    };
    let unit = |bytes: &[u8]| {
        let digits = bytes.iter().map(|byte| u32::from(*byte));
        let join = |value: u32, byte: u32| value << 8 | byte;
        if little {
            digits.rev().fold(0, join)
        } else {
            digits.fold(0, join)
        }
    };
    let units = text[begin..].chunks_exact(width).map(unit);
    let decoded: String = if width == 4 {
        units
            .map(|unit| char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER))
            .collect()
    } else {
        char::decode_utf16(units.map(|unit| unit as u16))
            .map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER))
            .collect()
    };
    decoded.into_bytes()
}

#[cfg(feature = "saved")]
/// Unpacks one zstd frame after the other.
struct Frames<'p> {
    frame: Option<StreamingDecoder<&'p [u8], FrameDecoder>>,
    packed: &'p [u8],
}

#[cfg(feature = "saved")]
impl<'p> Frames<'p> {
    fn of(packed: &'p [u8]) -> Self {
        Self {
            frame: None,
            packed,
        }
    }
}

#[cfg(feature = "saved")]
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
    open(path).map_err(cannot_read(path))
}

/// All bytes of a file.
///
/// # Errors
///
/// A file that cannot be read.
pub fn read_bytes(path: impl AsRef<Path>) -> Result<Vec<u8>, FormatError> {
    let path = path.as_ref();
    all_bytes(path).map_err(cannot_read(path))
}

/// Parts of a file smaller than this are not worth a thread.
#[cfg(feature = "read")]
const LEAST_PART: u64 = 1 << 20;

/// Bytes of a part that are read at once, unless a line is longer.
#[cfg(feature = "read")]
const STEP: usize = 1 << 18;

/// The number of parts that a file is worth reading in at once: as many as there are cores, and
/// fewer of a small one.
#[cfg(feature = "read")]
pub(crate) fn worthwhile_parts(path: &Path) -> Option<usize> {
    let worth_it = fs::metadata(path).ok()?.len() / LEAST_PART;
    let cores = thread::available_parallelism().map_or(1, usize::from);
    Some(cores.min(worth_it as usize))
}

/// Reads the lines of a file from one place to another in so many parts at once, and one at least;
/// `read` is given the lines of each. `None` when one of them cannot be read.
#[cfg(feature = "read")]
pub(crate) fn in_parts<T: Send>(
    file: &File,
    (from, to): (u64, u64),
    parts: usize,
    read: impl Fn(Lines<'_>) -> Option<T> + Sync,
) -> Option<Vec<T>> {
    let parts = parts.max(1) as u64;
    let border = |part: u64| match part {
        0 => Some(from),
        part if part == parts => Some(to),
        // Where the first line at or behind that place begins.
        part => {
            let before = (from + (to - from) / parts * part).checked_sub(1)?;
            let mut reader = BufReader::new(Part::new(file, before, to));
            Some(before + reader.skip_until(b'\n').ok()? as u64)
        }
    };
    thread::scope(|scope| {
        let (read, mut found) = (&read, Vec::new());
        for part in 0..parts {
            let lines = Lines {
                file,
                from: border(part)?,
                to: border(part + 1)?,
            };
            found.push(scope.spawn(move || read(lines)));
        }
        found.into_iter().map(|part| part.join().ok()?).collect()
    })
}

/// The lines of a part of a file.
#[cfg(feature = "read")]
pub(crate) struct Lines<'f> {
    file: &'f File,
    from: u64,
    to: u64,
}

#[cfg(feature = "read")]
impl Lines<'_> {
    /// Gives each line to `take`, with its end and with the place where it begins. `None` when one
    /// cannot be read, or `take` does not want it.
    pub(crate) fn each(self, mut take: impl FnMut(&[u8], u64) -> Option<()>) -> Option<()> {
        let Self { file, from, to } = self;
        let mut reader = BufReader::with_capacity(STEP, Part::new(file, from, to));
        let (mut at, mut long) = (from, Vec::new());
        loop {
            let ahead = reader.fill_buf().ok()?;
            let bytes = match memchr(b'\n', ahead) {
                Some(end) => {
                    take(&ahead[..=end], at)?;
                    reader.consume(end + 1);
                    end + 1
                }
                None => {
                    long.clear();
                    let bytes = read_line(&mut reader, &mut long).ok()?;
                    if bytes == 0 {
                        return Some(());
                    }
                    take(&long, at)?;
                    bytes
                }
            };
            at += bytes as u64;
        }
    }
}

/// Reads the bytes from `at` to `end`, or to the end of the file.
#[cfg(feature = "read")]
struct Part<'a> {
    file: &'a File,
    at: u64,
    end: u64,
}

#[cfg(feature = "read")]
impl<'a> Part<'a> {
    fn new(file: &'a File, at: u64, end: u64) -> Self {
        Self { file, at, end }
    }
}

#[cfg(feature = "read")]
impl Read for Part<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.end.saturating_sub(self.at);
        let most = buffer
            .len()
            .min(usize::try_from(left).unwrap_or(usize::MAX));
        let bytes = self.file.read_at(&mut buffer[..most], self.at)?;
        self.at += bytes as u64;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {

    use super::*;

    #[cfg(feature = "saved")]
    #[test]
    fn wide_text_becomes_utf8_with_a_mark_and_without() {
        let text = "{\"größe\": \"∑ 和 🐎\"}\n";
        let wide = |width: usize, little: bool, mark: bool| -> Vec<u8> {
            let all = format!("{}{text}", if mark { "\u{feff}" } else { "" });
            let units: Vec<u32> = match width {
                2 => all.encode_utf16().map(u32::from).collect(),
                _ => all.chars().map(u32::from).collect(),
            };
            let bytes = |unit: u32| match little {
                true => unit.to_le_bytes()[..width].to_vec(),
                false => unit.to_be_bytes()[4 - width..].to_vec(),
            };
            units.into_iter().flat_map(bytes).collect()
        };
        for width in [2, 4] {
            for little in [true, false] {
                for mark in [true, false] {
                    let read = unpacked(Path::new("a"), wide(width, little, mark)).unwrap();
                    assert_eq!(read, text.as_bytes(), "{width} {little} {mark}");
                }
            }
        }
        for text in ["", "a", "{}", "\u{feff}{}", "größe"] {
            assert_eq!(to_utf8(text.as_bytes().to_vec()), text.as_bytes());
        }
    }

    #[cfg(feature = "saved")]
    #[test]
    fn other_packings_are_named() {
        let mut archive = vec![0; 512];
        archive[257..262].copy_from_slice(b"ustar");
        for (bytes, name) in [
            (&b"\xfd7zXZ\0 "[..], "xz"),
            (b"BZh91AY", "bzip2"),
            (b"PK\x03\x04 ", "zip"),
            (b"7z\xbc\xaf\x27\x1c", "7z"),
            (b"\x04\x22\x4d\x18", "lz4"),
            (&archive, "tar"),
        ] {
            let error = unpacked(Path::new("a.json"), bytes.to_vec()).unwrap_err();
            let told = error.to_string();
            assert!(
                told.starts_with(&format!("a.json is packed by {name}, ")),
                "{told}"
            );
        }
    }

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

    #[test]
    fn a_part_ends_where_it_should_or_with_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, "0123456789").unwrap();
        let file = File::open(path).unwrap();
        let read = |at, end| {
            let mut text = String::new();
            Part::new(&file, at, end).read_to_string(&mut text).unwrap();
            text
        };
        assert_eq!(read(2, 5), "234");
        assert_eq!(read(8, 50), "89");
        assert_eq!(read(20, 50), "");
        assert_eq!(read(5, 2), "");
    }

    #[test]
    fn every_line_is_in_one_part_with_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let text = "head\none\n\na longer line\nlast";
        std::fs::write(&path, text).unwrap();
        let file = File::open(path).unwrap();
        for parts in 0..9 {
            let read = |lines: Lines<'_>| {
                let mut read = Vec::new();
                lines.each(|line, at| {
                    read.push((String::from_utf8(line.to_vec()).unwrap(), at));
                    Some(())
                })?;
                Some(read)
            };
            let read = in_parts(&file, (5, text.len() as u64), parts, read).unwrap();
            assert_eq!(read.len(), parts.max(1));
            let mut at = 5;
            for (line, place) in read.concat() {
                assert_eq!((place, &text[at..at + line.len()]), (at as u64, &line[..]));
                at += line.len();
            }
            assert_eq!(at, text.len());
        }
    }
}
