//! Files of others, read in bounded memory.
//!
//! 3.9 MB of gzip can hold 4 GB of blanks, and `/dev/zero` never ends: both were read until the
//! memory was full. So a reader stops at a limit, unpacked bytes counted, and opens no device.

use std::fs::{self, File};
#[cfg(feature = "read")]
use std::io::BufRead;
use std::io::{self, Read};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use deadheat_model::byte_size;

/// Another limit, in bytes or with `K`, `M` or `G`.
const VARIABLE: &str = "DEADHEAT_MAX_INPUT";

/// Bytes read of one file unless [`VARIABLE`] says otherwise. A million rows of Google Benchmark
/// take 760 MB.
const MOST_BYTES: u64 = 1 << 30;

/// Bytes of a line of a run file: the longest is its header, with some kB a benchmark.
#[cfg(feature = "read")]
const MOST_OF_A_LINE: u64 = 64 << 20;

/// Opens a file that the user named. A pipe is read as it comes; a device is refused.
pub(crate) fn open(path: &Path) -> io::Result<Bounded<File>> {
    let kind = fs::metadata(path)?.file_type();
    if kind.is_char_device() || kind.is_block_device() {
        return Err(io::Error::other("it is a device, not a file"));
    }
    Bounded::new(File::open(path)?)
}

/// Opens a file that nobody named, where deadheat looks for it: a pipe there would be waited for.
#[cfg(feature = "reports")]
pub(crate) fn open_plain(path: &Path) -> io::Result<Bounded<File>> {
    let kind = fs::metadata(path)?;
    if !kind.is_file() && !kind.is_dir() {
        return Err(io::Error::other("it is no plain file"));
    }
    open(path)
}

/// All bytes of a file that the user named.
#[cfg(feature = "saved")]
pub(crate) fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads a line with its end behind what is in `line`, and gives back its bytes: none at the end.
#[cfg(feature = "read")]
pub(crate) fn read_line(reader: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<usize> {
    let bytes = reader.take(MOST_OF_A_LINE + 1).read_until(b'\n', line)?;
    if bytes as u64 > MOST_OF_A_LINE {
        return Err(io::Error::other("a line of it is longer than 64 MiB"));
    }
    Ok(bytes)
}

/// A reader that fails where there is more than the limit.
#[derive(Debug)]
pub(crate) struct Bounded<R> {
    inner: R,
    left: u64,
    most: u64,
}

impl<R> Bounded<R> {
    /// Bounds a reader by the limit that holds for all.
    pub(crate) fn new(inner: R) -> io::Result<Self> {
        Ok(Self::to(most_bytes()?, inner))
    }

    fn to(most: u64, inner: R) -> Self {
        Self {
            inner,
            left: most,
            most,
        }
    }
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 && !buffer.is_empty() {
            return match self.inner.read(&mut [0])? {
                0 => Ok(0),
                _ => Err(io::Error::other(format!(
                    "it holds more than {} bytes; {VARIABLE}=8G reads as much as 8 GiB",
                    self.most
                ))),
            };
        }
        let room = usize::try_from(self.left).unwrap_or(usize::MAX);
        let room = room.min(buffer.len());
        let read = self.inner.read(&mut buffer[..room])?;
        self.left -= read as u64;
        Ok(read)
    }
}

/// Returns true where a reader takes so many bytes.
#[cfg(feature = "saved")]
pub(crate) fn holds(bytes: u64) -> bool {
    most_bytes().is_ok_and(|most| bytes <= most)
}

fn most_bytes() -> io::Result<u64> {
    match std::env::var_os(VARIABLE).filter(|value| !value.is_empty()) {
        None => Ok(MOST_BYTES),
        Some(value) => value.to_str().and_then(byte_size).ok_or_else(|| {
            let value = value.display();
            io::Error::other(format!("{VARIABLE}={value} is no size, as 2G is"))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufReader;

    fn all(mut reader: impl Read) -> Result<usize, String> {
        let mut bytes = Vec::new();
        let read = reader.read_to_end(&mut bytes);
        read.map_err(|error| error.to_string())
    }

    #[test]
    fn what_just_fits_is_read_and_one_byte_more_is_too_much() {
        assert_eq!(all(Bounded::to(5, &b"12345"[..])), Ok(5));
        assert_eq!(all(Bounded::to(0, &b""[..])), Ok(0));
        let error = all(Bounded::to(5, &b"123456"[..])).unwrap_err();
        assert!(error.contains("more than 5 bytes"), "{error}");
        assert!(error.contains(VARIABLE), "{error}");
        let endless = all(Bounded::to(1 << 16, io::repeat(b' ')));
        assert!(endless.is_err());
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
        assert!(error.contains("no plain file"), "{error}");
        assert!(open_plain(&folder.path().join("missing")).is_err());
    }

    #[test]
    fn lines_are_read_one_by_one_and_an_endless_one_is_not() {
        let mut reader = BufReader::new(&b"one\ntwo"[..]);
        let mut line = Vec::new();
        assert_eq!(read_line(&mut reader, &mut line).unwrap(), 4);
        line.clear();
        assert_eq!(read_line(&mut reader, &mut line).unwrap(), 3);
        assert_eq!(line, b"two");
        assert_eq!(read_line(&mut reader, &mut line).unwrap(), 0);
        line.clear();
        let mut endless = BufReader::new(io::repeat(0));
        let error = read_line(&mut endless, &mut line).unwrap_err();
        assert!(error.to_string().contains("64 MiB"), "{error}");
    }
}
