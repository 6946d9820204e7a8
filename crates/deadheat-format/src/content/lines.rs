//! Reads the lines of a file with several threads.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::thread;

use memchr::memchr;

use crate::limits::read_line;
use crate::platform::read_at;

/// Smallest part of a file, in bytes, that is worth a thread.
const LEAST_PART: u64 = 1 << 20;

/// Number of bytes of a part to read at once, unless a line is longer.
const STEP: usize = 1 << 18;

/// Returns the number of parts in which to read a file: one per core, but at most one per whole
/// MiB, so 0 for a file of less than 1 MiB. Returns `None` if the file cannot be looked up.
pub fn worthwhile_parts(path: &Path) -> Option<usize> {
    let worth_it = fs::metadata(path).ok()?.len() / LEAST_PART;
    let cores = thread::available_parallelism().map_or(1, usize::from);
    Some(cores.min(worth_it as usize))
}

/// Splits the bytes from `from` to `to` of a file at line ends into `parts` parts, at least one,
/// and calls `read` with the lines of each part in a separate thread. Returns `None` if a part
/// cannot be read.
pub fn in_parts<T: Send>(
    file: &File,
    (from, to): (u64, u64),
    parts: usize,
    read: impl Fn(Lines<'_>) -> Option<T> + Sync,
) -> Option<Vec<T>> {
    let parts = parts.max(1) as u64;
    let border = |part: u64| match part {
        0 => Some(from),
        part if part == parts => Some(to),
        // The border moves to the beginning of the next line.
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
pub struct Lines<'f> {
    file: &'f File,
    from: u64,
    to: u64,
}

impl Lines<'_> {
    /// Calls `take` with each line, including its line end, and with the position of its first byte
    /// in the file. Returns `None` if a line cannot be read or `take` returns `None`.
    pub fn each(self, mut take: impl FnMut(&[u8], u64) -> Option<()>) -> Option<()> {
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
struct Part<'a> {
    file: &'a File,
    at: u64,
    end: u64,
}

impl<'a> Part<'a> {
    fn new(file: &'a File, at: u64, end: u64) -> Self {
        Self { file, at, end }
    }
}

impl Read for Part<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.end.saturating_sub(self.at);
        let most = buffer
            .len()
            .min(usize::try_from(left).unwrap_or(usize::MAX));
        let bytes = read_at(self.file, &mut buffer[..most], self.at)?;
        self.at += bytes as u64;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
