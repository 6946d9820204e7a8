//! All bytes of a file, of standard input or of a pipe, unpacked.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;

use crate::error::{FormatError, cannot_read};

/// How a compressed file begins.
const GZIP: &[u8] = b"\x1f\x8b";
const ZSTD: &[u8] = b"\x28\xb5\x2f\xfd";

/// Reads a file to its end, `-` being standard input; what is packed by gzip or
/// zstd is unpacked, whatever it is called.
pub fn read_content(path: impl AsRef<Path>) -> Result<Vec<u8>, FormatError> {
    let path = path.as_ref();
    let mut bytes = Vec::new();
    if path == Path::new("-") {
        let read = io::stdin().lock().read_to_end(&mut bytes);
        read.map_err(cannot_read(path))?;
    } else {
        bytes = fs::read(path).map_err(cannot_read(path))?;
    }
    unpacked(path, bytes)
}

/// The bytes themselves, or what was packed in them.
fn unpacked(path: &Path, bytes: Vec<u8>) -> Result<Vec<u8>, FormatError> {
    let mut all = Vec::new();
    let read = if bytes.starts_with(GZIP) {
        MultiGzDecoder::new(&bytes[..]).read_to_end(&mut all)
    } else if bytes.starts_with(ZSTD) {
        frames(&bytes, &mut all)
    } else {
        return Ok(bytes);
    };
    read.map_err(cannot_read(path))?;
    Ok(all)
}

/// Unpacks one zstd frame after the other.
fn frames(mut packed: &[u8], all: &mut Vec<u8>) -> io::Result<usize> {
    while !packed.is_empty() {
        let frame = ruzstd::decoding::StreamingDecoder::new(&mut packed);
        frame.map_err(io::Error::other)?.read_to_end(all)?;
    }
    Ok(all.len())
}
