//! Decompresses files and converts their text to UTF-8.

use std::io::{self, Read};
use std::path::Path;

use deadheat_model::HELP;
use flate2::read::MultiGzDecoder;
use ruzstd::decoding::{FrameDecoder, StreamingDecoder};

use super::{GZIP, all_bytes, is_packed};
use crate::error::{FormatError, cannot_read};
use crate::limits::Bounded;

/// Reads a file, or standard input for `-`, to its end. Decompresses gzip and zstd, whatever the
/// name of the file.
///
/// # Errors
///
/// The file cannot be read or decompressed, or is compressed with another method.
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

/// Returns the bytes, decompressed if necessary; text is converted to UTF-8. Errors name `path`.
///
/// # Errors
///
/// The bytes cannot be decompressed, or are compressed with another method.
pub fn unpacked(path: &Path, bytes: Vec<u8>) -> Result<Vec<u8>, FormatError> {
    let mut all = Vec::new();
    if is_packed(&bytes) {
        let read = unpacking(&bytes).and_then(|mut unpacking| unpacking.read_to_end(&mut all));
        read.map_err(cannot_read(path))?;
    } else {
        all = bytes;
    }
    if let Some(found) = packed_otherwise(&all) {
        return Err(FormatError::unknown(path, found));
    }
    Ok(to_utf8(all))
}

/// Returns a reader that decompresses the bytes of a file that [is packed](is_packed).
pub fn unpacking(packed: &[u8]) -> io::Result<impl Read> {
    let unpacking: Box<dyn Read + '_> = if packed.starts_with(GZIP) {
        Box::new(MultiGzDecoder::new(packed))
    } else {
        Box::new(Frames::of(packed))
    };
    Bounded::new(unpacking)
}

/// Returns an error text if the bytes are compressed with a method other than gzip and zstd.
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
        "is packed by {name}, but deadheat reads only gzip and zstd{HELP}unpack it first: {command} FILE"
    ))
}

/// Converts text in UTF-16 or UTF-32, which Windows shells write, to UTF-8; leaves other text
/// unchanged. A text without a byte order mark is recognised by the zeros next to its first
/// characters.
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
        // The decoder first collects in a buffer of its own as much as is asked for: 1.5 GB, when
        // the vector of a whole file was filled.
        const MOST_AT_ONCE: usize = 1 << 20;
        let room = buffer.len().min(MOST_AT_ONCE);
        let buffer = &mut buffer[..room];
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
