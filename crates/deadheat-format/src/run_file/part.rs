//! A part of a file, read from where it stands, so that several can be read at
//! once.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;

/// Reads the bytes from `at` to `end`, or to the end of the file.
pub(super) struct Part<'a> {
    file: &'a File,
    at: u64,
    end: u64,
}

impl<'a> Part<'a> {
    pub(super) fn new(file: &'a File, at: u64, end: u64) -> Self {
        Self { file, at, end }
    }
}

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
}
