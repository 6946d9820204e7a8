//! A file read piece by piece: no more of it is held than the piece, and what began before its end.

use std::io::{ErrorKind, Read};

use crate::json::{Broken, Reader};

/// Bytes that are read at once.
const PIECE: usize = 256 << 10;

/// Bytes that one step may need: a row takes some hundred.
const MOST: usize = 4 << 20;

/// A text that comes in pieces, and a place in it.
pub(crate) struct Pieces<R> {
    input: R,
    buffer: Vec<u8>,
    /// The part of the buffer that was not read yet.
    begin: usize,
    end: usize,
    ended: bool,
}

impl<R: Read> Pieces<R> {
    pub(crate) fn new(input: R) -> Self {
        Self {
            input,
            buffer: Vec::new(),
            begin: 0,
            end: 0,
            ended: false,
        }
    }

    /// Reads on from the place, within so many brackets. A step that fails, perhaps because the
    /// piece ends, is tried again with more of the text; `None` when there is no more.
    pub(crate) fn step<T>(
        &mut self,
        depth: usize,
        mut step: impl FnMut(&mut Reader<'_>) -> Result<T, Broken>,
    ) -> Option<T> {
        loop {
            let mut reader = Reader::within(&self.buffer[self.begin..self.end], depth);
            reader.space();
            if let Ok(found) = step(&mut reader)
                // At the end of a piece more may belong to what was read.
                && (self.ended || reader.peek().is_some())
            {
                let read = reader.at();
                // Outside of texts there is nothing but ASCII.
                std::str::from_utf8(&self.buffer[self.begin..self.begin + read]).ok()?;
                self.begin += read;
                return Some(found);
            }
            self.more()?;
        }
    }

    /// Returns true if nothing but white space follows.
    pub(crate) fn is_at_end(&mut self) -> bool {
        let more = self.step(0, |reader| match reader.peek() {
            Some(_) => Ok(()),
            None => reader.wrong(""),
        });
        more.is_none() && self.ended
    }

    /// Reads another piece behind what was not read yet. `None` at the end, of an input that fails,
    /// and of a step that has had enough: all these are for a reader of whole texts.
    fn more(&mut self) -> Option<()> {
        if self.ended || self.end - self.begin > MOST {
            return None;
        }
        self.buffer.copy_within(self.begin..self.end, 0);
        self.end -= self.begin;
        self.begin = 0;
        let room = self.end + PIECE;
        self.buffer.resize(self.buffer.len().max(room), 0);
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
    use crate::value::{Number, Value};

    #[test]
    fn a_step_gets_more_until_it_has_enough() {
        let long = format!(" \"{}\" 12", "a".repeat(PIECE * 2));
        let mut pieces = Pieces::new(long.as_bytes());
        let length = pieces.step(0, |reader| match reader.value()? {
            Value::Text(text) => Ok(text.as_bytes().len()),
            _ => reader.wrong("a string should stand here"),
        });
        assert_eq!(length, Some(PIECE * 2));
        let number = pieces.step(0, |reader| {
            Ok(reader.value()? == Value::Number(Number::Whole(12)))
        });
        assert_eq!(number, Some(true));
        assert_eq!(pieces.step(0, |reader| reader.skip()), None);
    }

    #[test]
    fn a_step_that_never_has_enough_ends() {
        let mut pieces = Pieces::new(std::io::repeat(b'a'));
        assert_eq!(pieces.step(0, |reader| reader.skip()), None);
        assert!(pieces.buffer.len() < 2 * MOST);
    }
}
