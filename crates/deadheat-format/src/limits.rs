//! The limits of everything that is read: bytes, lines, names, files of an archive, memory.
//!
//! 3.9 MB of gzip can hold 4 GB of blanks, a pack of 36 kB can hold a name of 1 GB, and `/dev/zero`
//! never ends; without limits, reading each of them exhausted the memory. `DEADHEAT_MAX_INPUT`
//! scales all limits except those on a line, on a path in a pack, and on the number of parameters.

mod memory;

use std::io::{self, BufRead, Read};

use deadheat_model::{HELP, byte_size};

/// Environment variable that sets the largest input, in bytes or with `K`, `M` or `G`.
const VARIABLE: &str = "DEADHEAT_MAX_INPUT";

/// Largest file that is read, in bytes after decompression, unless [`VARIABLE`] sets another limit
/// or less than 16 GiB of memory is usable. A Google Benchmark file of a million rows has 760 MB.
const MOST_BYTES: u64 = 1 << 30;

/// With less than 16 GiB of usable memory, the largest file is 1/16 of the memory, because two
/// files are read at once, decompression doubles its buffer, and reading needs [`MEMORY_FACTOR`]
/// times the size. A compressed file of 24 kB, with 256 MiB of brackets in it, exhausted a limit of
/// 1 GiB.
const PART_OF_MEMORY: u64 = 16;

/// Maximum length of a line in bytes. The longest line of a run file is its header, with a few kB
/// per benchmark.
const MOST_OF_A_LINE: u64 = 64 << 20;

/// Bytes of memory that a reader may use per input byte. The densest files that tools write need
/// about 3 bytes.
const MEMORY_FACTOR: u64 = 4;

/// Estimated memory in bytes for a JSON value of a line while the line is read: a node of the tree,
/// its name and its text, or a text in the tree and its copy.
#[cfg(feature = "read")]
const MEMORY_OF_JSON_VALUE: u64 = 128;

/// Estimated memory in bytes that remains in use for a JSON value of a line after the line was read.
/// A short text in a list needs 56 bytes.
#[cfg(feature = "read")]
const MEMORY_OF_KEPT_VALUE: u64 = 64;

/// Appends the next line, with its line end, to `line`. Returns its length in bytes; 0 at the end
/// of the input. Fails if the line is longer than 64 MiB.
pub fn read_line(reader: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<usize> {
    let bytes = reader.take(MOST_OF_A_LINE + 1).read_until(b'\n', line)?;
    if bytes as u64 > MOST_OF_A_LINE {
        return Err(io::Error::other("one of its lines is longer than 64 MiB"));
    }
    Ok(bytes)
}

/// A reader that fails if the input is larger than the limit.
#[derive(Debug)]
pub struct Bounded<R> {
    inner: R,
    left: u64,
    most: u64,
}

impl<R> Bounded<R> {
    /// Bounds a reader by the limit on the size of an input.
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

/// A reader that fails if a row of a table has too many cells. The limit is 1,048,576 by default,
/// scales with `DEADHEAT_MAX_INPUT`, and is at least 4,096. The parser needs more than 50 bytes for
/// each cell: a compressed file of 58 kB with one line of 60 MB of commas exhausted a limit of 4
/// GiB.
#[derive(Debug)]
pub struct FewCells<R> {
    inner: R,
    separator: u8,
    place: CellPlace,
    separators: u64,
    most: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CellPlace {
    Begin,
    Plain,
    Quoted,
    /// After a quotation mark inside quotes. It ends the quotes unless a second mark follows.
    AfterQuote,
}

impl<R> FewCells<R> {
    /// Bounds the rows of a table whose cells are separated by this byte.
    pub fn new(inner: R, separator: u8) -> io::Result<Self> {
        Ok(Self {
            inner,
            separator,
            place: CellPlace::Begin,
            separators: 0,
            most: (most_bytes()? >> 10).max(1 << 12),
        })
    }
}

impl<R: Read> Read for FewCells<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        for byte in &buffer[..read] {
            self.place = match (self.place, *byte) {
                (CellPlace::Begin | CellPlace::AfterQuote, b'"') => CellPlace::Quoted,
                (CellPlace::Quoted, b'"') => CellPlace::AfterQuote,
                (CellPlace::Quoted, _) => CellPlace::Quoted,
                (_, b'\n' | b'\r') => {
                    self.separators = 0;
                    CellPlace::Begin
                }
                (_, byte) if byte == self.separator => {
                    self.separators += 1;
                    CellPlace::Begin
                }
                _ => CellPlace::Plain,
            };
            if self.separators >= self.most {
                let most = self.most;
                return Err(io::Error::other(format!(
                    "one of its rows has more than {most} cells{HELP}set {VARIABLE}, such as \
                     {VARIABLE}=8G, which raises this limit, too"
                )));
            }
        }
        Ok(read)
    }
}

/// Fails if a file of this size in bytes is too large to be read.
pub(crate) fn refuse_larger(bytes: u64) -> io::Result<()> {
    let most = most_bytes()?;
    if bytes > most {
        return Err(too_large(most));
    }
    Ok(())
}

fn too_large(most: u64) -> io::Error {
    io::Error::other(format!(
        "it holds more than {most} bytes{HELP}{VARIABLE}=8G allows up to 8 GiB"
    ))
}

/// Returns true if a file of this size in bytes may be read.
pub fn holds(bytes: u64) -> bool {
    most_bytes().is_ok_and(|most| bytes <= most)
}

/// Returns how many files may be read at once, at least 1, so that reading needs at most half of the
/// usable memory. `largest` is the size in bytes of the largest file, after decompression.
pub fn files_at_once(largest: u64) -> usize {
    let most = most_bytes().unwrap_or(MOST_BYTES).min(largest);
    let of_a_file = most.saturating_mul(MEMORY_FACTOR).max(1);
    usize::try_from(memory::usable() / 2 / of_a_file).map_or(usize::MAX, |files| files.max(1))
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

/// Fails if the name of a benchmark is too long, because a report holds several copies of each
/// name. The limit is 64 KiB by default, scales with `DEADHEAT_MAX_INPUT`, and is at least 4 KiB.
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

/// Returns the largest total size of the names of a file's benchmarks, with their parameters, in
/// bytes: 16 MiB by default, at least 4 MiB, scaled by `DEADHEAT_MAX_INPUT`.
///
/// Many tools write the name of a group or a parameter once for all its benchmarks: from a file of
/// 95 kB, names of 240 MB were made, and their copies took 1.6 GB and 25 s. The patterns of a rules
/// file are compared with every name: 250 of them and names of 30 MB took 80 s.
pub fn most_bytes_of_names() -> io::Result<u64> {
    Ok((most_bytes()? >> 6).max(4 << 20))
}

/// Returns the largest estimated memory of all results that a command holds at once: twice the limit
/// on the size of a file. Without it, 16 files of 105 kB, each within its own limits, took 13 GB.
pub fn most_memory_of_results() -> io::Result<u64> {
    Ok(most_bytes()?.saturating_mul(2))
}

/// Fails if the names of a file's benchmarks are larger together than [`most_bytes_of_names`].
pub fn refuse_large_names(bytes: u64) -> io::Result<()> {
    let most = most_bytes_of_names()?;
    if bytes > most {
        return Err(io::Error::other(format!(
            "the names of its benchmarks have more than {most} bytes{HELP}set {VARIABLE}, such as \
             {VARIABLE}=8G, which raises this limit, too"
        )));
    }
    Ok(())
}

/// Returns the largest estimated memory for the JSON lines of a file, other than blocks of samples:
/// half of the limit on the size of a file, at least 4 MiB.
///
/// A compressed run file of 959 kB, whose lists had 2,000 empty texts each, took 6.3 GB. A header of
/// 65,536 benchmarks with two contenders needs an estimated 180 MB, and 400,000 placements (10,000
/// benchmarks with 40 replicates) need 310 MB.
#[cfg(feature = "read")]
pub(crate) fn most_memory_of_lines() -> io::Result<u64> {
    Ok((most_bytes()? >> 1).max(4 << 20))
}

/// Returns the largest number of benchmarks of a file, as [`refuse_many_benchmarks`] explains.
pub fn most_benchmarks() -> io::Result<u64> {
    Ok((most_bytes()? >> 13).max(1 << 12))
}

/// Fails if a file has too many benchmarks; each contender of a benchmark counts as one. The limit
/// is 131,072 by default, scales with `DEADHEAT_MAX_INPUT`, and is at least 4,096.
///
/// The analysis needs up to 10 kB of memory per benchmark, even if the file has only a few bytes for
/// it. Comparing two tables of 100,000 benchmarks and 4 MB each exhausted a limit of 1 GiB.
pub fn refuse_many_benchmarks(count: usize) -> io::Result<()> {
    let most = most_benchmarks()?;
    if count as u64 > most {
        return Err(io::Error::other(format!(
            "it has {count} benchmarks, counted once per contender, but deadheat reads at most \
             {most}{HELP}set {VARIABLE}, such as {VARIABLE}=8G, which raises this limit, too"
        )));
    }
    Ok(())
}

/// Fails if the benchmarks of a file have too many distinct metrics. The limit is the same as for
/// benchmarks, because each metric also has a name and a column of values.
pub fn refuse_many_metrics(count: usize) -> io::Result<()> {
    let most = most_benchmarks()?;
    if count as u64 > most {
        return Err(io::Error::other(format!(
            "its benchmarks have {count} metrics, but deadheat reads at most {most}{HELP}set \
             {VARIABLE}, such as {VARIABLE}=8G, which raises this limit, too"
        )));
    }
    Ok(())
}

/// Fails if a benchmark has more than 256 parameters. Each is compared with the others, and a
/// benchmark with 40,000 parameters took more than 30 s.
pub fn refuse_many_parameters(count: usize) -> io::Result<()> {
    const MOST: usize = 256;
    if count > MOST {
        return Err(io::Error::other(format!(
            "a benchmark in it has {count} parameters, but deadheat reads at most {MOST}"
        )));
    }
    Ok(())
}

/// The memory in bytes, or the number of files and folders, that a reader may still use.
#[derive(Clone, Debug)]
pub struct Allowance {
    left: u64,
    most: u64,
    unit: &'static str,
    what: &'static str,
}

impl Allowance {
    /// Returns an allowance for the estimated memory of one file's contents: [`MEMORY_FACTOR`]
    /// times the limit on its size, but at least the smaller of 256 MiB and a quarter of the usable
    /// memory.
    pub fn of_memory() -> io::Result<Self> {
        let least = (256 << 20).min(memory::usable() / 4);
        let most = most_bytes()?.saturating_mul(MEMORY_FACTOR).max(least);
        Ok(Self::to(most, "bytes of memory"))
    }

    /// Returns an allowance for [all results](most_memory_of_results) that a command holds at once.
    pub fn of_results() -> io::Result<Self> {
        Ok(Self {
            what: "the results together need",
            ..Self::to(most_memory_of_results()?, "bytes of memory")
        })
    }

    /// Returns an allowance of memory for the [lines](most_memory_of_lines) of a file.
    #[cfg(feature = "read")]
    pub(crate) fn of_lines() -> io::Result<Self> {
        Ok(Self {
            what: "its lines other than samples need",
            ..Self::to(most_memory_of_lines()?, "bytes of memory")
        })
    }

    /// Returns the estimated memory in bytes that a line of JSON needs after it was read.
    ///
    /// # Errors
    ///
    /// Reading the line needs more memory than the whole allowance.
    #[cfg(feature = "read")]
    pub(crate) fn memory_of_line(&self, line: &[u8]) -> io::Result<u64> {
        let values = line
            .iter()
            .filter(|byte| matches!(byte, b'{' | b',' | b'['));
        let values = values.count() as u64;
        let memory = |of_value| line.len() as u64 + of_value * values;
        // The tree of a line is dropped before the next line is read.
        let mut whole = Self {
            left: self.most,
            ..self.clone()
        };
        whole.take(memory(MEMORY_OF_JSON_VALUE))?;
        Ok(memory(MEMORY_OF_KEPT_VALUE))
    }

    /// Returns an allowance for the number of files and folders in an archive: 262,144 by default,
    /// at least 4,096.
    pub fn of_files() -> io::Result<Self> {
        let most = (most_bytes()? >> 12).max(1 << 12);
        Ok(Self::to(most, "files and folders"))
    }

    fn to(most: u64, unit: &'static str) -> Self {
        Self {
            left: most,
            most,
            unit,
            what: "it needs",
        }
    }

    /// Subtracts `amount` from the allowance.
    ///
    /// # Errors
    ///
    /// `amount` is more than what is left. The message names the limit and the setting that raises
    /// it.
    pub fn take(&mut self, amount: u64) -> io::Result<()> {
        self.left = self.left.checked_sub(amount).ok_or_else(|| {
            let Self {
                most, unit, what, ..
            } = self;
            io::Error::other(format!(
                "{what} more than {most} {unit}{HELP}set {VARIABLE}, such as {VARIABLE}=8G, which \
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

    #[test]
    fn a_line_with_more_values_than_memory_holds_is_refused() {
        let values = |count: usize| format!("[{}1]", "1,".repeat(count - 1));
        let line = values(10);
        let bytes = line.len() as u64;
        let memory = Allowance::to(bytes + 1280, "bytes of memory");
        let kept = memory.memory_of_line(line.as_bytes()).unwrap();
        assert_eq!(kept, bytes + 640);
        memory.memory_of_line(values(11).as_bytes()).unwrap_err();
    }
}
