//! The limits of everything that is read: bytes, lines, names, files of an archive, memory.
//!
//! 3.9 MB of gzip can hold 4 GB of blanks, 36 kB of a pack can hold a name of 1 GB, and `/dev/zero`
//! never ends: each was read until the memory was full. One setting scales all limits but those of
//! a line and of a name.

mod memory;

use std::io::{self, BufRead, Read};

use deadheat_model::{HELP, byte_size};

/// Another limit, in bytes or with `K`, `M` or `G`.
const VARIABLE: &str = "DEADHEAT_MAX_INPUT";

/// The largest file that is read, in bytes after decompression, unless [`VARIABLE`] sets another limit
/// or less than 16 GiB of memory is usable. A Google Benchmark file of a million rows has 760 MB.
const MOST_BYTES: u64 = 1 << 30;

/// With less than 16 GiB of usable memory, a file may have this part of it: two files are read at
/// once, unpacking doubles its buffer, and reading needs [`MEMORY_FACTOR`] times the size. A compressed
/// file of 24 kB, with 256 MiB of brackets in it, exhausted a limit of 1 GiB.
const PART_OF_MEMORY: u64 = 16;

/// Bytes of a line of a run file: the longest is its header, with some kB a benchmark.
const MOST_OF_A_LINE: u64 = 64 << 20;

/// Memory that a reader may need for each byte that it may read. The densest files that tools write
/// need about 3 bytes for each.
const MEMORY_FACTOR: u64 = 4;

/// Reads a line with its end behind what is in `line`, and gives back its bytes: none at the end.
pub fn read_line(reader: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<usize> {
    let bytes = reader.take(MOST_OF_A_LINE + 1).read_until(b'\n', line)?;
    if bytes as u64 > MOST_OF_A_LINE {
        return Err(io::Error::other("a line of it is longer than 64 MiB"));
    }
    Ok(bytes)
}

/// A reader that fails if there is more than the limit.
#[derive(Debug)]
pub struct Bounded<R> {
    inner: R,
    left: u64,
    most: u64,
}

impl<R> Bounded<R> {
    /// Bounds a reader by the limit that holds for all.
    pub fn new(inner: R) -> io::Result<Self> {
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
                _ => Err(too_large(self.most)),
            };
        }
        let room = usize::try_from(self.left).unwrap_or(usize::MAX);
        let room = room.min(buffer.len());
        let read = self.inner.read(&mut buffer[..room])?;
        self.left -= read as u64;
        Ok(read)
    }
}

/// Refuses a file of this size before any of it is read.
pub(crate) fn refuse_larger(bytes: u64) -> io::Result<()> {
    let most = most_bytes()?;
    if bytes > most {
        return Err(too_large(most));
    }
    Ok(())
}

fn too_large(most: u64) -> io::Error {
    io::Error::other(format!(
        "it holds more than {most} bytes{HELP}{VARIABLE}=8G reads as much as 8 GiB"
    ))
}

/// Returns true if a file of this size may be read.
pub fn holds(bytes: u64) -> bool {
    most_bytes().is_ok_and(|most| bytes <= most)
}

fn most_bytes() -> io::Result<u64> {
    match std::env::var_os(VARIABLE).filter(|value| !value.is_empty()) {
        None => Ok(MOST_BYTES.min(memory::usable() / PART_OF_MEMORY)),
        Some(value) => value.to_str().and_then(byte_size).ok_or_else(|| {
            let value = value.display();
            io::Error::other(format!(
                "{VARIABLE}={value} is not a size\nhelp: write a number with K, M or G, such as 2G"
            ))
        }),
    }
}

/// Refuses the name of a benchmark that is longer than 64 KiB, or more if the limit of all bytes is
/// raised: an answer holds several copies of each name.
pub fn refuse_long_name(name: &str) -> io::Result<()> {
    let most = (most_bytes()? >> 14).max(1 << 12);
    if name.len() as u64 > most {
        let begin: String = name.chars().take(40).collect();
        return Err(io::Error::other(format!(
            "the name of a benchmark in it, '{begin}…', is longer than {most} bytes{HELP}set {VARIABLE}, \
             such as {VARIABLE}=8G, which raises this limit, too"
        )));
    }
    Ok(())
}

/// Refuses a benchmark of more than 256 parameters: each is compared with the others, and 40,000 of one
/// benchmark took more than 30 s.
pub fn refuse_many_parameters(count: usize) -> io::Result<()> {
    const MOST: usize = 256;
    if count > MOST {
        return Err(io::Error::other(format!(
            "a benchmark in it has {count} parameters, and {MOST} at most are read"
        )));
    }
    Ok(())
}

/// Counts down what a reader may still keep.
#[derive(Clone, Debug)]
pub struct Allowance {
    left: u64,
    most: u64,
    unit: &'static str,
}

impl Allowance {
    /// The memory that the contents of one file may need by estimate: [`MEMORY_FACTOR`] times the
    /// limit of its bytes, but at least the smaller of 256 MiB and a quarter of the usable memory.
    pub fn of_memory() -> io::Result<Self> {
        let least = (256 << 20).min(memory::usable() / 4);
        let most = most_bytes()?.saturating_mul(MEMORY_FACTOR).max(least);
        Ok(Self::to(most, "bytes of memory"))
    }

    /// Files of an archive and the folders above each: 262,144, and at least 4,096.
    pub fn of_files() -> io::Result<Self> {
        let most = (most_bytes()? >> 12).max(1 << 12);
        Ok(Self::to(most, "files and folders"))
    }

    fn to(most: u64, unit: &'static str) -> Self {
        Self {
            left: most,
            most,
            unit,
        }
    }

    /// Takes `amount` from what is left.
    ///
    /// # Errors
    ///
    /// Less is left. The message names the limit and the setting that raises it.
    pub fn take(&mut self, amount: u64) -> io::Result<()> {
        self.left = self.left.checked_sub(amount).ok_or_else(|| {
            let Self { most, unit, .. } = self;
            io::Error::other(format!(
                "it needs more than {most} {unit}{HELP}set {VARIABLE}, such as {VARIABLE}=8G, which \
                 raises this limit, too"
            ))
        })?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

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

    #[test]
    fn an_allowance_is_used_up_and_names_its_limit_and_how_to_raise_it() {
        let mut files = Allowance::to(5, "files and folders");
        files.take(5).unwrap();
        let error = files.take(1).unwrap_err().to_string();
        assert!(error.contains("more than 5 files and folders"), "{error}");
        assert!(error.contains("DEADHEAT_MAX_INPUT=8G"), "{error}");
        let error = Allowance::to(1, "x").take(u64::MAX).unwrap_err();
        assert!(error.to_string().contains(VARIABLE));
    }
}
