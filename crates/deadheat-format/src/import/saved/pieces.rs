//! A file read piece by piece: no more of it is held than the piece, and what began before its end.

use std::io::{ErrorKind, Read};

use deadheat_model::JsonScan;

use super::json::without_mark;

/// Bytes that are read at once.
const PIECE: usize = 256 << 10;

/// Bytes that one step may need: a row takes some hundred.
const MOST: usize = 4 << 20;

/// A text that comes in pieces, and a place in it.
pub(super) struct Pieces<R> {
    input: R,
    buffer: Vec<u8>,
    /// The part of the buffer that was not read yet.
    begin: usize,
    end: usize,
    ended: bool,
}

impl<R: Read> Pieces<R> {
    /// The text of an input; a byte-order mark is passed over.
    pub(super) fn new(input: R) -> Self {
        let mut pieces = Pieces {
            input,
            buffer: Vec::new(),
            begin: 0,
            end: 0,
            ended: false,
        };
        pieces.more();
        pieces.begin = pieces.end - without_mark(pieces.rest()).len();
        pieces
    }

    fn rest(&self) -> &[u8] {
        &self.buffer[self.begin..self.end]
    }

    /// Reads on from the place. A step that finds what it wants goes on behind it; one that does
    /// not, perhaps because the piece ends, is tried again with more of the text, and gives `None`
    /// when there is no more.
    pub(super) fn step<T>(
        &mut self,
        mut step: impl FnMut(&mut JsonScan<'_>) -> Option<T>,
    ) -> Option<T> {
        loop {
            let mut scan = JsonScan::new(self.rest());
            if let Some(found) = step(&mut scan) {
                self.begin += scan.at();
                return Some(found);
            }
            self.more()?;
        }
    }

    /// Returns true if nothing but white space follows.
    pub(super) fn is_at_end(&mut self) -> bool {
        self.step(|scan| scan.peek()).is_none() && self.ended
    }

    /// Reads another piece behind what was not read yet. `None` at the end, of an input that fails,
    /// and of a step that has had enough: all these are for a reader of whole files.
    fn more(&mut self) -> Option<()> {
        if self.ended || self.end - self.begin > MOST {
            return None;
        }
        self.buffer.copy_within(self.begin..self.end, 0);
        self.end -= self.begin;
        self.begin = 0;
        self.buffer
            .resize(self.buffer.len().max(self.end + PIECE), 0);
        let room = self.end + PIECE;
        while self.end < room {
            match self.input.read(&mut self.buffer[self.end..room]) {
                Ok(0) => {
                    self.ended = true;
                    break;
                }
                Ok(read) => self.end += read,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return None,
            }
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives one byte at a time.
    struct Dripping<'t>(&'t [u8]);

    impl Read for Dripping<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let some = buffer.len().min(1);
            self.0.read(&mut buffer[..some])
        }
    }

    #[test]
    fn a_step_gets_more_until_it_has_enough() {
        let long = format!("\u{feff} \"{}\" 1", "a".repeat(PIECE * 2));
        let mut pieces = Pieces::new(Dripping(long.as_bytes()));
        let length = pieces.step(|scan| Some(scan.text()?.len()));
        assert_eq!(length, Some(PIECE * 2));
        assert!(!pieces.is_at_end());
        assert!(pieces.step(|scan| scan.take(b'1').then_some(())).is_some());
        assert!(pieces.is_at_end());
        assert!(pieces.step(|scan| scan.peek()).is_none());
    }

    #[test]
    fn a_step_that_never_has_enough_ends() {
        let mut pieces = Pieces::new(std::io::repeat(b'a'));
        assert!(pieces.step(|scan| scan.take(b'b').then_some(())).is_none());
        assert!(pieces.buffer.len() < 2 * MOST);
    }
}
